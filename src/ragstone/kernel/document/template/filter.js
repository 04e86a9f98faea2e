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

// ---- what the list needs of this page

const told = (n, all) => (n === all ? "" : `${n.toLocaleString("en")} of `) + `${all.toLocaleString("en")} questions`;
const offered = offerResults;
const begin = () => reset();
control("judge").append(...columns.map((column, place) => el("option", { value: String(place) }, optionName(column))));
control("judge").addEventListener("change", offerResults);
offerGroups();
offerCauses();
