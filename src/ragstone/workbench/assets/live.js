"use strict";
/* Runs that go on: each [data-live] is asked every two seconds; at the end the page shows what there is then. */
(() => {
  const EVERY_MS = 2000;
  for (const shown of document.querySelectorAll("[data-live]")) {
    const bar = shown.querySelector("progress"), words = shown.querySelector("[data-words]");
    if (bar?.hidden) continue; // it has ended already
    let failed = 0;
    const look = async () => {
      try {
        const reply = await fetch(shown.dataset.live, { headers: { Accept: "application/json" } });
        if (!reply.ok) throw new Error(String(reply.status));
        const told = await reply.json();
        failed = 0;
        if (told.life !== "going on") { location.reload(); return; }
        words.textContent = told.words;
        if (bar) {
          if (told.share === null) bar.removeAttribute("value");
          else bar.value = told.share;
        }
      } catch {
        if (++failed > 2) words.textContent = "The workbench does not answer. Is `ragstone serve` still running? This page keeps trying.";
      }
      setTimeout(look, EVERY_MS);
    };
    setTimeout(look, EVERY_MS);
  }
})();
