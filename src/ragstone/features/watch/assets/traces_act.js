"use strict";
/* Chosen traces: the forecast is shown before anything is spent, and the job is followed to its end. */
(() => {
  const root = location.pathname.slice(0, -"/chosen".length), base = root.slice(0, -"/traces".length);
  const form = document.getElementById("act"), wrong = document.getElementById("wrong"), done = document.getElementById("done");
  const act = form.dataset.act;
  const show = (place, words) => { place.textContent = words || ""; place.hidden = !words; };
  function asked() {
    const fields = new FormData(form);
    const one = Object.fromEntries(["name", "model", "budget", "where"].filter((name) => fields.has(name)).map((name) => [name, fields.get(name)]));
    return { ...one, ids: fields.getAll("ids"), every: fields.has("every"), ...(act === "set" ? {} : { judges: fields.getAll("judges") }) };
  }
  function link(href, words) { const a = document.createElement("a"); a.href = href; a.textContent = words; a.className = "button"; return a; }
  function tell(words, ...links) {
    const p = document.createElement("p"), acts = document.createElement("p");
    p.textContent = words;
    acts.className = "acts";
    acts.append(...links);
    done.replaceChildren(p, acts);
    done.hidden = false;
    done.scrollIntoView({ block: "nearest" });
  }
  if (act === "set") {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      show(wrong, "");
      try {
        const { added, there, path } = await post(`${root}/set`, asked());
        tell(`${added} added to ${path}${there ? `; ${there} were there already or asked twice` : ""}. None has a reference yet: review them first.`, link(`${base}/review`, "Review them"), link(`${base}/data`, "Data sets"));
      } catch (mistake) { show(wrong, mistake.message); }
    });
    return;
  }
  const forecast = document.getElementById("forecast"), button = form.querySelector("button.main"), press = button.textContent;
  async function ask() {
    show(wrong, "");
    forecast.textContent = "Forecasting …";
    try {
      const found = await post(`${root}/judge/forecast`, asked());
      forecast.textContent = found.lines.join(" ");
      if (found.calls && !form.elements.budget.value) form.elements.budget.value = found.budget;
      form.dataset.forecast = found.calls ? "paid" : "free";
      button.textContent = found.calls ? "Judge: spend this" : press;
      return found;
    } catch (mistake) { forecast.textContent = ""; show(wrong, mistake.message); return null; }
  }
  function over({ state, run }) {
    jobBox.hidden = true;
    if (state.life === "done" && run) {
      const links = [link(`${base}/runs/${run.split("/").map(encodeURIComponent).join("/")}`, "See the run"), link(`${base}/label/new?run=${encodeURIComponent(run)}`, "Make a labelling queue")];
      tell(`${state.number} judgement${state.number === 1 ? "" : "s"} made.`, ...(act === "label" ? links.reverse() : links));
    } else { show(wrong, state.words || "It was stopped. Finished calls are in the ledger and cost nothing the next time."); form.hidden = false; }
  }
  form.addEventListener("input", () => { delete form.dataset.forecast; button.textContent = press; });
  document.getElementById("ask-forecast").addEventListener("click", ask);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    show(wrong, "");
    // Nothing is spent before the forecast was on the screen: the first press shows it.
    if (!form.dataset.forecast) { const found = await ask(); if (!found || found.calls) return; }
    try {
      const { job } = await post(`${root}/judge`, asked());
      form.hidden = true;
      watchJob({ address: job, stop: `${job}/stop`, over });
    } catch (mistake) { show(wrong, mistake.message); }
  });
})();
