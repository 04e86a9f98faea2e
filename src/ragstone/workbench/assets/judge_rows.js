"use strict";
/* Judging chosen answers: nothing is asked before its forecast was seen; then the job is followed to its run. */
(() => {
  const form = document.getElementById("judge");
  if (!form) return;
  const box = jobBox;
  const said = document.getElementById("said"), begin = document.getElementById("run"), seen = document.getElementById("forecast");
  const field = (name) => form.elements.namedItem(name);
  let target = "";
  const asked = () => ({
    run: box.dataset.run, where: form.dataset.where, name: field("name").value, model: field("model").value, budget: field("budget").value,
    judges: [...form.querySelectorAll("[name=judges]:checked")].map((tick) => tick.value),
  });
  function tell(mistake) { said.hidden = !mistake; said.textContent = mistake ? mistake.message : ""; if (mistake) said.focus(); }

  // Another choice is another forecast.
  form.addEventListener("change", (event) => {
    if (!["judges", "model"].includes(event.target.name)) return;
    begin.disabled = true;
    seen.textContent = "Press Forecast to see the calls and their cost.";
  });
  document.getElementById("ask-forecast").addEventListener("click", async () => {
    tell(null);
    seen.textContent = "Counting…";
    try {
      const expected = await post(`${box.dataset.own}/forecast`, asked());
      seen.textContent = expected.calls ? expected.lines.join(" ") : "No model is called, so it costs nothing.";
      if (!field("budget").value && expected.calls) field("budget").value = expected.budget;
      begin.disabled = false;
    } catch (mistake) { seen.textContent = ""; tell(mistake); }
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    tell(null);
    begin.disabled = true;
    try { target = (await post(`${box.dataset.own}/run`, asked())).go; follow(); } catch (mistake) { begin.disabled = false; tell(mistake); }
  });

  function follow() {
    const query = new URLSearchParams({ run: box.dataset.run });
    watchJob({ address: `${box.dataset.own}/job?${query}`, stop: `${box.dataset.own}/stop?${query}`, over });
  }
  function over(job) {
    if (job.life === "done" && target) { location.href = `${box.dataset.runs}/${target.split("/").map(encodeURIComponent).join("/")}`; return; }
    begin.disabled = false;
    if (job.life === "done") endJob("Done: the new run is in the list of runs.", true);
    else endJob(job.words || "It was stopped. Finished calls are in the ledger and cost nothing the next time.");
  }
  if (box.dataset.running) follow();
})();
