"use strict";
/* A look at the test part: its forecast, the confirmation, then the card. */
(() => {
  const own = document.getElementById("job").dataset.own;
  const form = document.getElementById("look");
  if (!form) return;
  const said = document.getElementById("said");
  const forecast = document.getElementById("forecast");

  function asked() {
    const fields = new FormData(form);
    return Object.fromEntries(["labels", "model", "threshold", "mapping", "budget"].map((name) => [name, fields.get(name) ?? ""]));
  }

  function show(words) { said.textContent = words || ""; said.hidden = !words; }

  async function ask() {
    try {
      const found = await post(`${own}/test/forecast`, asked());
      forecast.textContent = found.lines.join("\n");
      if (found.calls && !form.elements.budget.value) form.elements.budget.value = found.budget;
    } catch (mistake) { show(mistake.message); }
  }

  form.elements.labels.addEventListener("change", () => {
    location.href = `${own}/test?labels=${encodeURIComponent(form.elements.labels.value)}`;
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    show("");
    try {
      await post(`${own}/test`, asked());
      form.hidden = true;
      window.followJob();
    } catch (mistake) { show(mistake.message); }
  });
  document.addEventListener("DOMContentLoaded", ask); // when workbench.js, with post(), is there too
})();
