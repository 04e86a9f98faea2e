"use strict";
/* Pages of traces: what an address names is opened, notes are kept, ticks are counted. */
(() => {
  /** Open the step that the address names, and what it is in. */
  function openTarget() {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!place?.matches(".spans > li")) return;
    const details = place.querySelector("details");
    details.open = true;
    details.querySelector("summary").focus({ preventScroll: true });
    place.scrollIntoView({ block: "start" });
  }
  addEventListener("hashchange", openTarget);
  openTarget();

  const own = document.getElementById("notes")?.dataset.own;
  const stay = (span) => {
    if (span) location.hash = `span-${span}`;
    location.reload();
  };
  for (const form of document.querySelectorAll("form.note")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const wrong = form.querySelector("[role=alert]");
      const { text, tags } = Object.fromEntries(new FormData(form));
      try {
        await post(`${own}/notes`, { text, tags, span: form.dataset.span });
        stay(form.dataset.span);
      } catch (mistake) {
        wrong.textContent = mistake.message;
        wrong.hidden = false;
      }
    });
  }
  for (const button of document.querySelectorAll("[data-remove-note]")) {
    button.addEventListener("click", async () => {
      const span = button.closest(".spans > li")?.id.slice("span-".length);
      try { await post(`${own}/notes/remove`, { id: button.dataset.removeNote }); stay(span); } catch (mistake) { button.insertAdjacentText("afterend", ` ${mistake.message}`); }
    });
  }

  const ticks = [...document.querySelectorAll("input[form=chosen][name=id]")];
  const every = document.getElementById("tick-all"), all = document.getElementById("take-all"), said = document.getElementById("ticked");
  if (!said) return;
  const buttons = document.querySelectorAll(".choosing button");
  function count() {
    const n = ticks.filter((tick) => tick.checked).length;
    said.textContent = all?.checked ? "All that match:" : n ? `${n} ticked:` : "Tick traces, then:";
    said.parentElement.classList.toggle("on", n > 0 || Boolean(all?.checked));
    for (const button of buttons) button.disabled = !n && !all?.checked;
    every.checked = n === ticks.length;
    every.indeterminate = n > 0 && n < ticks.length;
  }
  every.hidden = false;
  every.addEventListener("change", () => { for (const tick of ticks) tick.checked = every.checked; count(); });
  document.addEventListener("change", count);
  addEventListener("pageshow", count);
  if (window.addKeys) addKeys({ x: ["tick the row", () => document.activeElement?.closest("tr")?.querySelector(".tick input")?.click()] });
  count();
})();
