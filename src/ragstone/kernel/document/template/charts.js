// Charts: drawn by Vega-Lite when they come into view, in the colours of the page, without eval.
"use strict";
const charts = (() => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  // What page.css has for print: before printing the page still has its colours of the screen.
  const PAPER = { ink: "#000", muted: "#444", line: "#bbb", accent: "#6b4600", gold: "#d3a548" };
  let printed = false;
  const figures = [...document.querySelectorAll("[data-chart]")];
  const drawn = new Map();

  // The libraries stand in the page as text that nobody runs, so that they do not delay the first paint.
  let loaded = false;
  function load() {
    if (loaded) return;
    loaded = true;
    for (const source of document.querySelectorAll("script[data-library]")) {
      const script = document.createElement("script");
      script.textContent = source.textContent;
      document.body.append(script);
    }
  }
  function theme(width) {
    const style = getComputedStyle(document.documentElement);
    const onDark = dark.matches && !printed;
    const colour = (name) => printed ? PAPER[name] : style.getPropertyValue("--" + name).trim();
    const font = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', Arial, sans-serif";
    const ink = colour("ink"), muted = colour("muted"), line = colour("line");
    return {
      background: null, font, padding: 4,
      view: { stroke: null },
      axis: {
        labelColor: ink, titleColor: muted, labelFontSize: 13, titleFontSize: 13, titleFontWeight: "normal",
        domainColor: line, tickColor: line, gridColor: line, labelPadding: 6, tickCount: 5, labelLimit: Math.max(110, width * 0.4),
      },
      legend: { labelColor: ink, titleColor: muted, labelFontSize: 13, titleFontSize: 13, orient: "top", symbolOpacity: 1, titleFontWeight: "normal", labelLimit: 260 },
      mark: { color: colour("accent"), tooltip: true },
      rule: { color: colour("gold") },
      text: { color: ink, fontSize: 12 },
      range: {
        category: onDark
          ? ["#e6b65c", "#7cc4e8", "#e58a78", "#9ecf8a", "#c9a4e0", "#d9d3c4", "#6fd0bd", "#e89bc0"]
          : ["#8a5a00", "#1d6fa5", "#b3402a", "#4b7f2c", "#7a4a9e", "#5b5f66", "#0f7c6c", "#b0437c"],
        ramp: onDark ? ["#e6b65c", "#7d6639", "#2f3338"] : ["#8a5a00", "#dcbd7c", "#e7e3da"],
      },
    };
  }
  function draw(figure) {
    load();
    const plot = figure.querySelector(".canvas");
    const spec = JSON.parse(document.getElementById("chart-" + figure.dataset.chart).textContent);
    const width = Math.floor(plot.clientWidth);
    if (!width) return;
    const whole = { width, autosize: { type: "fit-x", contains: "padding" }, ...spec };
    const compiled = vegaLite.compile(whole, { config: theme(width), logger: vega.logger(vega.Error) }).spec;
    drawn.get(figure)?.view.finalize();
    const view = new vega.View(vega.parse(compiled, null, { ast: true }), {
      expr: vegaInterpreter, renderer: "svg", container: plot, hover: false, logLevel: vega.Error,
    });
    view.run();
    for (const made of plot.querySelectorAll("svg")) made.setAttribute("aria-hidden", "true");
    drawn.set(figure, { view, width });
  }
  const again = () => drawn.forEach((_, figure) => draw(figure));

  function start() {
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        seen.unobserve(entry.target);
        draw(entry.target);
      }
    }, { rootMargin: "800px" });
    figures.forEach((figure) => seen.observe(figure));
    dark.addEventListener("change", again);
    let waiting;
    addEventListener("resize", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => drawn.forEach((one, figure) => {
        if (Math.abs(figure.querySelector(".canvas").clientWidth - one.width) > 4) draw(figure);
      }), 150);
    });
    addEventListener("beforeprint", () => { printed = true; figures.forEach(draw); });
    addEventListener("afterprint", () => { printed = false; again(); });
  }
  return { start };
})();
charts.start();
