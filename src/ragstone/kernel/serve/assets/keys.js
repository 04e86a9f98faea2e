"use strict";
/* Keys of lists: j and k go from row to row, Enter opens, / searches, ? shows the keys.
   Rows are the elements [data-row] (links or summaries), and questions that flipped; the search is [data-search]. A page adds keys of its
   own with addKeys({ x: ["what it does", function] }). */
const ownKeys = {};
function addKeys(keys) { Object.assign(ownKeys, keys); }

const rowsOfPage = () => [...document.querySelectorAll("[data-row], .flips td:nth-child(2) a")].filter((row) => row.checkVisibility?.() ?? true);
function goBy(step) {
  const rows = rowsOfPage();
  if (!rows.length) return;
  const at = rows.findIndex((row) => row === document.activeElement || row.parentElement.contains(document.activeElement));
  const next = rows[at === -1 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + step, 0), rows.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}
const follow = (rel) => document.querySelector(`a[rel=${rel}], button[data-rel=${rel}]:not(:disabled)`)?.click();
const KEYS = {
  j: ["next row", () => goBy(1)],
  k: ["row before", () => goBy(-1)],
  "/": ["search", () => document.querySelector("[data-search]")?.focus()],
  n: ["next page", () => follow("next")],
  p: ["page before", () => follow("prev")],
  "?": ["these keys", () => showKeys()],
};
let keysShown;
function showKeys() {
  if (!keysShown) {
    keysShown = document.createElement("dialog");
    keysShown.className = "keys";
    keysShown.setAttribute("aria-label", "Keys");
    document.body.append(keysShown);
  }
  const list = document.createElement("dl");
  for (const [key, words] of [...Object.entries({ ...KEYS, ...ownKeys }).map(([key, [words]]) => [key, words]), ["Enter", "open"], ["Esc", "close"]]) {
    const term = document.createElement("dt"), said = document.createElement("dd"), cap = document.createElement("kbd");
    cap.textContent = key;
    said.textContent = words;
    term.append(cap);
    list.append(term, said);
  }
  const close = document.createElement("button");
  close.textContent = "Close";
  close.addEventListener("click", () => keysShown.close());
  keysShown.replaceChildren(list, close);
  keysShown.showModal();
}
addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  const writes = event.target.closest?.("input, select, textarea, [contenteditable]");
  if (writes) {
    if (event.key === "Escape") writes.blur();
    return;
  }
  const found = ownKeys[event.key] ?? KEYS[event.key];
  if (!found) return;
  event.preventDefault();
  found[1]();
});
