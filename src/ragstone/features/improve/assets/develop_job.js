"use strict";
/* How far a judge's run is, told each second until it is over; then the page shows what it found. */
(() => {
  const box = document.getElementById("job");
  const words = document.getElementById("job-words");
  const share = document.getElementById("job-share");
  const own = box.dataset.own;

  function told(job) {
    const rows = job.total === null ? job.done : `${job.done} of ${job.total}`;
    const spent = job.spent_usd === null ? "cost unknown" : `${job.spent_usd.toFixed(4)} USD`;
    const what = { test: "A look at the test part", trial: "The trial", learn: "Learning" }[job.what] || `Draft ${job.number}`;
    return `${what}, started by ${job.who}: ${job.stage || "starting"}, ${rows} done; ${job.calls} calls made, ${spent}.`;
  }

  function over(job) {
    if (job.life === "done" && job.what === "trial") {
      location.href = `${own}?trial=${job.number}#found`;
    } else if (job.life === "done" && job.what === "learn") {
      location.href = `${own}/develop#learned`;
      location.reload();
    } else if (job.life === "done") {
      location.href = job.what === "test" ? `${own}/looks/${job.number}` : `${own}/develop?draft=${job.number}#found`;
    } else if (job.what === "dev") {
      location.href = `${own}/develop?draft=${job.number}`;
    } else {
      words.textContent = job.words || `It was stopped${job.what === "test" ? ", and no look was counted" : ""}. Finished calls are in the ledger.`;
      share.hidden = true;
      box.classList.add("bad");
    }
  }

  async function look() {
    let job = null;
    try {
      const reply = await fetch(`${own}/job`, { headers: { Accept: "application/json" } });
      if (reply.ok) job = await reply.json();
    } catch { /* the server is away for a moment: ask again */ }
    if (!job) { setTimeout(look, 2000); return; }
    if (job.life !== "running") { over(job); return; }
    words.textContent = told(job);
    if (job.total) { share.max = job.total; share.value = job.done; } else share.removeAttribute("value");
    setTimeout(look, 500);
  }

  window.followJob = () => { box.hidden = false; box.classList.remove("bad"); share.hidden = false; box.scrollIntoView({ block: "nearest" }); look(); };
  document.getElementById("job-stop")?.addEventListener("click", async (event) => {
    event.target.disabled = true;
    await post(`${own}/stop`, {}).catch((mistake) => { words.textContent = mistake.message; });
  });
  if (box.dataset.running) window.followJob();
})();
