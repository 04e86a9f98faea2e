// A large run takes some seconds to be indexed: until then its first rows are shown, and how long it takes.
"use strict";
const LOOK_MS = 400;

function sayHowLong(making, n) {
  const seconds = making.remaining_s === null ? "a few seconds" : `about ${Math.max(1, Math.ceil(making.remaining_s))} s`;
  const first = n === 1 ? "The first question" : `The first ${n} questions`;
  const text = n ? `${first}, with the scores read so far. Filters, counts and all rows follow in ${seconds}.`
    : `The run is being indexed. Its rows appear in ${seconds}.`;
  const shown = document.getElementById("shown");
  if (shown.textContent !== text) shown.textContent = text;
}
/** Resolves once a run is indexed. Rows that the address does not ask for are not shown meanwhile. */
async function indexed() {
  const filters = [document.getElementById("where-help"), document.getElementById("reset")];
  let n = null;
  for (;;) {
    const first = await ask("first", n === null && !location.search ? {} : { shown: "true" });
    if (!first.making) break;
    if (n === null) {
      n = first.lines.length;
      columns = first.columns;
      judged = columns.some((column) => column.model !== "none");
      list.replaceChildren(...first.lines.map(elementOf));
      list.setAttribute("aria-busy", "true");
      for (const node of filters) node.hidden = true;
    }
    sayHowLong(first.making, n);
    await new Promise((wake) => { setTimeout(wake, LOOK_MS); });
  }
  list.removeAttribute("aria-busy");
  for (const node of filters) node.hidden = false;
}
/** Put rows in the place of the first ones: a question that is open by now stays so, and keeps the focus that is in it. */
function replaceFirst(rows) {
  const open = [...list.querySelectorAll("details[open]")].map((node) => node.id);
  const focused = list.contains(document.activeElement) ? document.activeElement.closest("details")?.id : null;
  list.replaceChildren(...rows);
  for (const id of open) { const node = document.getElementById(id); if (node) node.open = true; }
  document.getElementById(focused ?? "")?.querySelector("summary").focus({ preventScroll: true });
}
