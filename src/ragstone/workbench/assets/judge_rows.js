"use strict";
/* Judging chosen answers: nothing is asked before its forecast was seen; then the job is followed to its run. */
(() => {
  const box = document.getElementById("job"), form = document.getElementById("judge");
  if (!form) return;
  const words = document.getElementById("job-words"), share = document.getElementById("job-share");
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
    seen.textContent = "Press Forecast to see what this will ask and cost.";
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

  function follow() { box.hidden = false; box.classList.remove("bad"); share.hidden = false; box.scrollIntoView({ block: "nearest" }); look(); }
  async function look() {
    let job = null;
    try {
      const reply = await fetch(`${box.dataset.own}/job?${new URLSearchParams({ run: box.dataset.run })}`, { headers: { Accept: "application/json" } });
      if (reply.ok) job = await reply.json();
    } catch { /* the server is away for a moment: ask again */ }
    if (!job) { setTimeout(look, 2000); return; }
    if (job.life !== "running") { over(job); return; }
    const rows = job.total === null ? job.done : `${job.done} of ${job.total}`;
    const spent = job.spent_usd === null ? "cost unknown" : `${job.spent_usd.toFixed(4)} USD`;
    words.textContent = `${job.stage || "starting"}, ${rows} done; ${job.calls} calls made, ${spent}.`;
    if (job.total) { share.max = job.total; share.value = job.done; } else share.removeAttribute("value");
    setTimeout(look, 500);
  }
  function over(job) {
    if (job.life === "done" && target) { location.href = `${box.dataset.runs}/${target.split("/").map(encodeURIComponent).join("/")}`; return; }
    share.hidden = true;
    begin.disabled = false;
    words.textContent = job.life === "done" ? "It is done: the list of runs has the new run." : job.words || "It was stopped. What is finished is in the ledger and costs nothing again.";
    box.classList.toggle("bad", job.life !== "done");
  }
  document.getElementById("job-stop").addEventListener("click", async () => {
    await post(`${box.dataset.own}/stop?${new URLSearchParams({ run: box.dataset.run })}`, {}).catch((mistake) => { words.textContent = mistake.message; });
  });
  if (box.dataset.running) follow();
})();
