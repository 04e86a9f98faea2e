"use strict";
/* Charts are drawn when one comes near: only then are the libraries asked for. charts.js is the report's own. */
(() => {
  const root = document.querySelector("link[href$='/page.css']").href.replace(/page\.css$/, "");
  const load = (name) => new Promise((ready, failed) => {
    const script = document.createElement("script");
    Object.assign(script, { src: root + name, onload: ready, onerror: failed });
    document.head.append(script);
  });
  const seen = new IntersectionObserver(async (entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    await load("vega.js");
    await load("charts.js");
  }, { rootMargin: "300px" });
  for (const figure of document.querySelectorAll("[data-chart]")) seen.observe(figure);
})();
