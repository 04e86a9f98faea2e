// The list of questions: filter, sort, search, page through, link.
const A_PAGE = 50;
const MOST_GROUPS = 40; // offered: a longer menu is worse than the search
const FAR = 1e9;
const control = (name) => document.getElementById("tool-" + name);

// ---- filter and sort

const RESULTS = [
  ["low", "low: below the middle of its scale", isLow],
  ["high", "high: the middle or above", isHigh],
  ["unscored", "not scored, for whatever reason", (cell) => typeof cell === "string"],
  ...Object.entries(WORDS).map(([status, words]) => ["is-" + status, words, (cell) => cell === status]),
  ["absent", "no judgement", (cell) => cell === null],
];
const FOUND = {
  found: (line) => line.found > 0,
  first: (line) => line.found === 1,
  missed: (line) => line.found === 0,
  unknown: (line) => line.found === undefined,
};
function chosenColumns() {
  const chosen = control("judge").value;
  if (chosen !== "any") return [Number(chosen)];
  const all = columns.map((_, place) => place);
  return judged ? all.filter((place) => columns[place].model !== "none") : all;
}
function scoreOf(line, chosen) {
  const shares = chosen.filter((place) => typeof line.cells[place] === "number").map((place) => {
    const { low, high } = columns[place];
    return high > low ? (line.cells[place] - low) / (high - low) : line.cells[place];
  });
  return shares.length ? Math.min(...shares) : null;
}
const SORTS = {
  lowest: (chosen) => (line) => scoreOf(line, chosen) ?? FAR,
  highest: (chosen) => (line) => -(scoreOf(line, chosen) ?? -FAR),
  rank: () => (line) => (line.found === 0 ? -FAR : -(line.found ?? -FAR)),
};
const plain = (value) => value.normalize("NFKC").toLowerCase();
function haystackOf(line) {
  if (line.haystack === undefined) {
    const detail = detailOf(line);
    const answers = detail.answers.map((answer) => answer.answer);
    const tags = groupsOf(line).flat();
    line.haystack = plain([line.id, line.question ?? "", ...tags, ...detail.references, ...answers].join("\n"));
  }
  return line.haystack;
}
function select() {
  const chosen = chosenColumns();
  const result = RESULTS.find(([value]) => value === control("result").value);
  const found = FOUND[control("found").value];
  const cause = control("cause").value;
  const group = groups[control("group").value];
  const terms = plain(control("search").value).split(/\s+/).filter(Boolean);
  const kept = lines.filter((line) =>
    (!result || chosen.some((place) => result[2](line.cells[place], columns[place]))) &&
    (!found || found(line)) &&
    (!group || groupsOf(line).some((one) => sameGroup(one, group))) &&
    (cause === "any" || (line.causes ?? []).includes(cause)) &&
    terms.every((term) => haystackOf(line).includes(term)));
  const key = SORTS[control("sort").value]?.(chosen);
  return key ? kept.map((line) => [key(line), line]).sort((a, b) => a[0] - b[0]).map((pair) => pair[1]) : kept;
}
function offerCauses() {
  const counts = new Map();
  for (const line of lines) for (const cause of line.causes ?? []) counts.set(cause, (counts.get(cause) ?? 0) + 1);
  const ordered = [...counts].sort((a, b) => b[1] - a[1]);
  control("cause").append(...ordered.map(([cause, n]) => el("option", { value: cause }, `${cause} (${n.toLocaleString("en")})`)));
  control("cause").parentElement.hidden = !counts.size;
}
const sameGroup = (a, b) => a[0] === b[0] && a[1] === b[1];
/** [key, value, number of questions] of the largest groups, a key's beside each other; and how many there are. */
function largestGroups() {
  const counts = new Map();
  for (const line of lines) {
    for (const [key, value] of groupsOf(line)) {
      if (!counts.has(key)) counts.set(key, new Map());
      counts.get(key).set(value, (counts.get(key).get(value) ?? 0) + 1);
    }
  }
  const keys = [...counts.keys()].sort((a, b) => (b === "lang") - (a === "lang") || (a < b ? -1 : 1));
  const all = [...counts].flatMap(([key, values]) => [...values].map(([value, n]) => [key, value, n])).sort((a, b) => b[2] - a[2]);
  const kept = all.slice(0, MOST_GROUPS).sort((a, b) => keys.indexOf(a[0]) - keys.indexOf(b[0]) || b[2] - a[2]);
  return [kept, all.length];
}
const [groups, nGroups] = largestGroups();
function offerGroups() {
  // The value is isolated, so that a right-to-left one leaves its number in place.
  control("group").append(...groups.map(([key, value, n], place) =>
    el("option", { value: String(place) }, `${key}: \u2068${value}\u2069 (${n.toLocaleString("en")})`)));
  const left = nGroups - groups.length;
  if (left) control("group").append(el("option", { disabled: true }, `${left.toLocaleString("en")} smaller: use the search`));
  control("group").parentElement.hidden = !groups.length;
}
function offerResults() {
  const menu = control("result");
  const before = menu.value;
  const chosen = chosenColumns();
  const options = RESULTS.map(([value, words, matches]) => {
    const n = lines.filter((line) => chosen.some((place) => matches(line.cells[place], columns[place]))).length;
    return n ? el("option", { value }, `${words} (${n.toLocaleString("en")})`) : null;
  });
  menu.replaceChildren(el("option", { value: "any" }, "any result"), ...options.filter(Boolean));
  menu.value = [...menu.options].some((option) => option.value === before) ? before : "any";
}

// ---- one line of the list

function chip(line, place) {
  const cell = line.cells[place];
  if (cell === null) return null;
  const column = columns[place];
  const kind = typeof cell === "string" ? "unscored" : isLow(cell, column) ? "low" : "";
  return el("span", { class: "chip " + kind, title: column.caution ? `${column.model}: ${column.caution}` : column.model },
    nameOf(column) + " ", el("b", {}, scoreText(cell, column)), column.caution ? " †" : null);
}
function foundChip(line) {
  if (line.found === undefined) return null;
  return line.found ? el("span", { class: "chip" }, "found at ", el("b", {}, String(line.found)))
    : el("span", { class: "chip missed" }, "not found");
}
function causeChips(line) {
  return (line.causes ?? []).map((cause) => el("span", { class: "chip low" }, cause));
}
function lineElement(line) {
  const chosen = chosenColumns();
  const preview = line.preview ? el("span", { class: "preview", dir: "auto" }, line.preview) : null;
  const summary = el("summary", {},
    el("span", { class: "asked", dir: "auto" }, line.question ?? line.id), preview,
    el("span", { class: "chips" }, chosen.map((place) => chip(line, place)), foundChip(line), causeChips(line)));
  const details = el("details", { class: "question", id: "q-" + line.id }, summary);
  details.addEventListener("toggle", async () => {
    if (!details.open || details.querySelector(".opened")) return;
    await rowsReady;
    if (!details.querySelector(".opened")) details.append(openedElement(line));
  });
  return el("li", {}, details);
}

// ---- the list

let shown = lines;
let page = 0;
const list = document.getElementById("list");
function draw() {
  const last = Math.max(0, Math.ceil(shown.length / A_PAGE) - 1);
  page = Math.min(Math.max(page, 0), last);
  list.replaceChildren(...shown.slice(page * A_PAGE, (page + 1) * A_PAGE).map(lineElement));
  document.getElementById("nothing").hidden = shown.length > 0;
  const of = lines.length.toLocaleString("en");
  document.getElementById("shown").textContent = shown.length === lines.length
    ? `${of} questions` : `${shown.length.toLocaleString("en")} of ${of} questions`;
  for (const where of document.querySelectorAll("[data-pages]")) {
    where.hidden = last === 0;
    where.querySelector("span").textContent = `Page ${page + 1} of ${last + 1}`;
    where.querySelector("[data-step='-1']").disabled = page === 0;
    where.querySelector("[data-step='1']").disabled = page === last;
  }
}
async function refresh() {
  if (control("search").value.trim()) await rowsReady; // words stand in the rows, all else in the lines
  shown = select();
  page = 0;
  draw();
}
function reset() { document.getElementById("tools").reset(); offerResults(); refresh(); }
function openLinked() {
  if (!location.hash.startsWith("#q-")) return;
  let id;
  try { id = decodeURIComponent(location.hash.slice(3)); } catch { return; }
  const line = lines.find((other) => other.id === id);
  if (!line) return;
  if (!document.getElementById("q-" + id)) {
    if (!shown.includes(line)) reset();
    page = Math.floor(shown.indexOf(line) / A_PAGE);
    draw();
  }
  const node = document.getElementById("q-" + id);
  node.open = true;
  node.scrollIntoView();
  node.querySelector("summary").focus({ preventScroll: true });
}

control("judge").append(...columns.map((column, place) => el("option", { value: String(place) }, optionName(column))));
offerGroups();
offerCauses();
document.getElementById("tools").hidden = false;
// Up and down go from question to question, as in any list; Enter and Space open one.
list.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey || !event.target.matches(".question > summary")) return;
  const stops = [...list.querySelectorAll(".question > summary")];
  const next = stops[stops.indexOf(event.target) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
});
document.getElementById("tools").addEventListener("submit", (event) => event.preventDefault());
let waiting;
control("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(refresh, 150); });
for (const name of ["judge", "result", "found", "group", "cause", "sort"]) {
  control(name).addEventListener("change", () => { if (name === "judge") offerResults(); refresh(); });
}
document.getElementById("reset").addEventListener("click", reset);
for (const button of document.querySelectorAll("[data-step]")) {
  button.addEventListener("click", () => {
    page += Number(button.dataset.step);
    draw();
    document.getElementById("questions").scrollIntoView();
  });
}
addEventListener("hashchange", openLinked);
addEventListener("load", openLinked); // after the browser has looked for the element itself
reset();
