"use strict";
/* The keys of every page, in one table: ? lists those that do something here.
   Rows are the elements [data-row] (links or summaries), the summaries of lists, and questions that flipped; the
   search is [data-search]; entries of the navigation have [data-go]. A page adds keys of its own with
   addKeys({ x: ["what it does", function] }); one of its own in place of one of these is fine. */
globalThis.addKeys ??= (() => {
  const ROWS = "[data-row], .list > li > details > summary, .flips td:nth-child(2) a";
  const GO_MS = 1500; // after g, for the letter of a section
  const rowsOfPage = () => [...document.querySelectorAll(ROWS)].filter((row) => row.checkVisibility?.() ?? true);
  function goBy(step) {
    const rows = rowsOfPage();
    if (!rows.length) return;
    const at = rows.findIndex((row) => row === document.activeElement || row.parentElement.contains(document.activeElement));
    const next = rows[at === -1 ? (step > 0 ? 0 : rows.length - 1) : Math.min(Math.max(at + step, 0), rows.length - 1)];
    next.focus();
    next.scrollIntoView({ block: "nearest" });
  }
  const linkTo = (rel) => document.querySelector(`a[rel=${rel}], button[data-rel=${rel}]:not(:disabled)`);
  const search = () => document.querySelector("[data-search]");
  const sections = () => [...document.querySelectorAll("[data-go]")];
  let goesUntil = 0;
  // key: what it does, how, and whether it does anything on this page.
  const KEYS = {
    j: ["next row", () => goBy(1), () => rowsOfPage().length],
    k: ["previous row", () => goBy(-1), () => rowsOfPage().length],
    "/": ["search", () => search()?.focus(), search],
    n: ["next page", () => linkTo("next")?.click(), () => linkTo("next")],
    p: ["previous page", () => linkTo("prev")?.click(), () => linkTo("prev")],
    g: ["then a letter: go to a section", () => { goesUntil = Date.now() + GO_MS; }, () => false],
    "?": ["show these keys", () => showKeys(), () => true],
  };
  const ownKeys = {};
  const row = (keys, words) => {
    const term = document.createElement("dt"), said = document.createElement("dd");
    keys.forEach((key, place) => {
      const cap = document.createElement("kbd");
      cap.textContent = key;
      term.append(...(place ? [" "] : []), cap);
    });
    said.textContent = words;
    return [term, said];
  };
  const rowsOfSections = () => sections().flatMap((link) => row(["g", link.dataset.go], link.textContent));
  let keysShown;
  function showKeys() {
    if (!keysShown) {
      keysShown = document.createElement("dialog");
      keysShown.className = "keys";
      keysShown.setAttribute("aria-label", "Keys");
      document.body.append(keysShown);
    }
    const every = Object.entries({ ...KEYS, ...ownKeys }).filter(([, [, , works]]) => works?.() ?? true);
    const list = document.createElement("dl");
    list.append(
      ...every.flatMap(([key, [words]]) => row([key], words)), ...row(["Enter"], "open"), ...row(["Esc"], "close"), ...rowsOfSections(),
    );
    const close = document.createElement("button");
    close.textContent = "Close";
    close.addEventListener("click", () => keysShown.close());
    keysShown.replaceChildren(list, close);
    keysShown.showModal();
  }
  function pressed(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
    const writes = event.target.closest?.("input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]");
    if (writes) {
      if (event.key === "Escape") writes.blur();
      return;
    }
    const section = Date.now() < goesUntil && sections().find((link) => link.dataset.go === event.key);
    goesUntil = 0;
    const act = section ? () => section.click() : (ownKeys[event.key] ?? KEYS[event.key])?.[1];
    if (!act) return;
    event.preventDefault();
    act();
  }
  // After the scripts of the page: a key that one of them takes is its own.
  addEventListener("DOMContentLoaded", () => {
    document.querySelector("dialog.keys dl")?.append(...rowsOfSections()); // a page may have a table of its own
    addEventListener("keydown", pressed);
    // Which part of a long page is in view.
    const parts = [...document.querySelectorAll(".contents a")];
    const partOf = new Map(parts.map((link) => [document.getElementById(decodeURIComponent(link.hash.slice(1))), link]));
    partOf.delete(null);
    const mark = () => {
      const passed = [...partOf.keys()].filter((heading) => heading.getBoundingClientRect().top < innerHeight / 3);
      const link = partOf.get(passed.at(-1));
      if (link?.hasAttribute("aria-current")) return;
      for (const other of parts) other.removeAttribute("aria-current");
      if (!link) { parts[0].closest("ol").scrollLeft = 0; return; }
      link.setAttribute("aria-current", "true");
      const line = link.closest("ol");
      line.scrollLeft = link.offsetLeft - line.clientWidth / 3;
    };
    if (partOf.size) { addEventListener("scroll", mark, { passive: true }); mark(); }
  });
  return (keys) => Object.assign(ownKeys, keys);
})();
