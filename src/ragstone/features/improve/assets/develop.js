"use strict";
/* The editor of a judge or a prompt: typed text is kept in the browser until it is run; problems are shown with their line. */
(() => {
  const own = document.getElementById("job").dataset.own;
  const form = document.getElementById("draft");
  const text = document.getElementById("text");
  const numbers = document.getElementById("numbers");
  const problem = document.getElementById("problem");
  const said = document.getElementById("said");
  const forecast = document.getElementById("forecast");
  const key = `ragstone-draft ${own}`; // of this browser, for text that was typed and not run
  const given = text.value;
  const press = document.getElementById("run").textContent;
  let wrongLine = null;

  function show(place, words) { place.textContent = words || ""; place.hidden = !words; }

  function number() {
    const n = text.value.split("\n").length;
    numbers.replaceChildren(...Array.from({ length: n }, (_, at) => {
      const line = document.createElement(at + 1 === wrongLine ? "b" : "span");
      line.textContent = at + 1 === wrongLine ? `${at + 1}` : `${at + 1}\n`;
      return line;
    }));
    numbers.scrollTop = text.scrollTop;
  }

  function keep() {
    try {
      if (text.value === given) localStorage.removeItem(key);
      else localStorage.setItem(key, JSON.stringify({ text: text.value, base: form.dataset.base }));
    } catch { /* storage is full or forbidden: a run saves the text all the same */ }
  }

  function kept() {
    try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
  }

  async function check() {
    const asked = text.value;
    let found;
    try { found = await post(`${own}/check`, { text: asked, row: window.chosenRow() }); } catch (mistake) { show(problem, mistake.message); return; }
    if (asked !== text.value || window.pendingFields()) return;
    document.dispatchEvent(new CustomEvent("checked", { detail: found }));
  }

  function told({ detail: found }) {
    show(problem, found.problem);
    text.setAttribute("aria-invalid", found.problem ? "true" : "false");
    wrongLine = found.line || null;
    number();
    if (found.problem) return;
    document.getElementById("prompts").replaceChildren(...found.prompts.flatMap((message) => {
      const role = document.createElement("h3");
      const content = document.createElement("pre");
      role.textContent = message.role;
      content.textContent = message.content;
      content.tabIndex = 0;
      return [role, content];
    }));
    if (!found.prompts.length) document.getElementById("prompts").textContent = "It calls no model.";
  }

  function asked() {
    const fields = new FormData(form);
    const base = Number(form.dataset.base);
    return { labels: "", ...Object.fromEntries(fields), text: text.value, rows: fields.getAll("rows"), base };
  }

  async function ask() {
    show(said, "");
    forecast.textContent = "Forecasting …";
    try {
      const found = await post(`${own}/forecast`, asked());
      forecast.textContent = found.lines.join("\n");
      if (found.calls && !form.elements.budget.value) form.elements.budget.value = found.budget;
      return true;
    } catch (mistake) {
      forecast.textContent = "";
      show(said, mistake.message);
      return false;
    }
  }

  async function run(event) {
    event.preventDefault();
    show(said, "");
    const button = document.getElementById("run");
    button.disabled = true;
    try {
      await window.settleFields();
      // Nothing is spent before the forecast was on the screen: the first press shows it.
      if (!form.dataset.forecast) {
        if (await ask()) { form.dataset.forecast = "1"; button.textContent = "Run: spend this"; }
        return;
      }
      const headers = { "Content-Type": "application/json", Accept: "application/json", "X-CSRF-Token": csrf };
      const reply = await fetch(`${own}/run`, { method: "POST", headers, body: JSON.stringify(asked()) });
      const found = await reply.json();
      if (found.draft) {
        form.dataset.base = found.draft;
        localStorage.removeItem(key);
      }
      if (found.running) window.followJob();
      else show(said, found.words || found.detail);
    } catch (mistake) {
      show(said, `${mistake.message} Your text is kept in this browser.`);
    } finally {
      button.disabled = false;
    }
  }

  window.chosenRow = () => form.querySelector("[name=rows]:checked")?.value || "";
  document.addEventListener("checked", told);
  let waiting = 0;
  text.addEventListener("input", ({ detail }) => {
    number();
    keep();
    clearTimeout(waiting);
    if (detail !== "fields") waiting = setTimeout(check, 600); // what fields changed is checked already
  });
  form.addEventListener("change", ({ target }) => { if (target.name === "rows") check(); });
  function unforecast() {
    delete form.dataset.forecast;
    document.getElementById("run").textContent = press;
  }
  form.addEventListener("input", unforecast);
  text.addEventListener("input", unforecast);
  text.addEventListener("scroll", () => { numbers.scrollTop = text.scrollTop; });
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  });
  form.addEventListener("submit", run);
  document.getElementById("ask-forecast").addEventListener("click", ask);
  document.getElementById("discard").addEventListener("click", () => {
    text.value = given;
    keep();
    document.getElementById("restored").hidden = true;
    number();
    check();
  });
  document.getElementById("freeze")?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const frozen = event.target;
    const alert = frozen.querySelector("[role=alert]");
    show(alert, "");
    try {
      await post(`${own}/freeze`, { draft: Number(frozen.dataset.draft), change: frozen.elements.change.value });
      location.href = `${own}/develop?draft=${frozen.dataset.draft}#found`;
      location.reload();
    } catch (mistake) { show(alert, mistake.message); }
  });

  document.getElementById("keep")?.addEventListener("submit", async (event) => {
    event.preventDefault();
    const [alert, done] = event.target.querySelectorAll("[role]");
    show(alert, "");
    show(done, "");
    try {
      await window.settleFields();
      const base = form.dataset.file;
      const found = await post(`${own}/keep`, { text: text.value, change: event.target.elements.change.value, ...(base === undefined ? {} : { base }) });
      localStorage.removeItem(key);
      show(done, `Kept as ${found.path}. Name it in ragstone.toml to use it.`);
      if (base !== undefined) location.assign(`${own}/develop?kept=${found.version}#edit`);
    } catch (mistake) { show(alert, mistake.message); }
  });

  const before = kept();
  if (before && before.text !== given) {
    text.value = before.text;
    document.getElementById("restored").hidden = false;
  }
  number();
  document.addEventListener("DOMContentLoaded", check); // when workbench.js, with post(), is there too
})();
