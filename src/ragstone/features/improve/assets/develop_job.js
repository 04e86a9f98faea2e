"use strict";
/* How far a judge's run is, until it is over; then the page shows what it found. */
(() => {
  const own = jobBox.dataset.own;

  function naming(job) {
    const what = { test: "A look at the test part", trial: "The trial", learn: "Learning" }[job.what] || `Draft ${job.number}`;
    return `${what}, started by ${job.who}: `;
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
      endJob(job.words || `It was stopped${job.what === "test" ? ", and no look was counted" : ""}. Finished calls are in the ledger.`);
    }
  }

  window.followJob = () => watchJob({ address: `${own}/job`, stop: `${own}/stop`, over, naming });
  if (jobBox.dataset.running) window.followJob();
})();
