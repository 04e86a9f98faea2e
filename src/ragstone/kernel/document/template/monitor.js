// The monitor's page: which charts of groups are shown, and which questions.
"use strict";
const byId = (id) => document.getElementById(id);

// ---- charts by group: one metric by one tag at a time
const panelTools = byId("panel-tools");
if (panelTools) {
  const panels = [...document.querySelectorAll(".panel")];
  const show = () => {
    const metric = byId("panel-metric").value, tag = byId("panel-tag").value;
    let any = false;
    for (const panel of panels) {
      panel.hidden = panel.dataset.metric !== metric || panel.dataset.tag !== tag;
      any ||= !panel.hidden;
    }
    byId("panel-none").hidden = any;
  };
  panelTools.hidden = false;
  panelTools.addEventListener("change", show);
  panelTools.addEventListener("submit", (event) => event.preventDefault());
  show();
}

// ---- questions
const tools = byId("tools");
if (tools) {
  const items = [...byId("list").children];
  const plain = (value) => value.normalize("NFKC").toLowerCase();
  const texts = items.map(() => null);
  const textOf = (at) => (texts[at] ??= plain(items[at].textContent));
  const value = (name) => byId("tool-" + name).value;
  const show = () => {
    const low = value("low"), tag = value("tag"), gap = value("gap");
    const terms = plain(value("text")).split(/\s+/).filter(Boolean);
    let n = 0;
    items.forEach((item, at) => {
      const fits = (!low || item.dataset.low.split(" ").includes(low))
        && (!tag || item.dataset.tags.includes("|" + tag + "|"))
        && (!gap || item.dataset.gaps.includes(" " + gap + " "))
        && terms.every((term) => textOf(at).includes(term));
      item.hidden = !fits;
      n += fits;
    });
    const all = items.length.toLocaleString("en");
    byId("shown").textContent = n === items.length ? `${all} question${n === 1 ? "" : "s"}` : `${n.toLocaleString("en")} of ${all} questions`;
    byId("nothing").hidden = n > 0;
    byId("reset").hidden = n === items.length && !terms.length;
  };
  tools.hidden = false;
  tools.addEventListener("input", show);
  tools.addEventListener("submit", (event) => event.preventDefault());
  byId("reset").addEventListener("click", () => { tools.reset(); show(); byId("tool-text").focus(); });
  document.querySelectorAll(".gap").forEach((gap, at) => gap.querySelector("a")?.addEventListener("click", () => {
    tools.reset();
    byId("tool-gap").value = at + 1;
    show();
  }));
}
