"use strict";
/* A job of the server (jobs.py) in the box #job of a page: its progress until it is over; #job-stop stops it. */
const jobBox = document.getElementById("job"), jobWords = document.getElementById("job-words"), jobShare = document.getElementById("job-share");

/**
 * Follow the job whose state an address gives, by itself or as `state`. over: is called with what the address gives
 * once it is over. naming: what is said before its progress. stop: the address that stops it.
 */
function watchJob({ address, stop, over, naming = () => "" }) {
  jobBox.hidden = jobShare.hidden = false;
  jobBox.classList.remove("bad");
  jobBox.scrollIntoView({ block: "nearest" });
  const button = document.getElementById("job-stop");
  if (button) {
    button.disabled = false;
    button.onclick = () => { button.disabled = true; post(stop, {}).catch((mistake) => { jobWords.textContent = mistake.message; }); };
  }
  async function look() {
    let found = null;
    try {
      const reply = await fetch(address, { headers: { Accept: "application/json" } });
      found = await reply.json();
      if (!reply.ok) { jobWords.textContent = found.detail; found = null; }
    } catch { /* the server is away for a moment: ask again */ }
    if (!found) { setTimeout(look, 2000); return; }
    const job = found.state ?? found;
    if (job.life !== "running") { over(found); return; }
    const rows = job.total === null ? job.done : `${job.done} of ${job.total}`;
    const spent = job.spent_usd === null ? "cost unknown" : `${job.spent_usd.toFixed(4)} USD`;
    jobWords.textContent = `${naming(job)}${job.stage || "starting"}, ${rows} done; ${job.calls} calls made, ${spent}.`;
    if (job.total) { jobShare.max = job.total; jobShare.value = job.done; } else jobShare.removeAttribute("value");
    setTimeout(look, 500);
  }
  look();
}

/** Say what became of a job that is over. */
function endJob(text, isGood = false) {
  jobShare.hidden = true;
  jobBox.classList.toggle("bad", !isGood);
  jobWords.textContent = text;
}
