// The candidates of a build: filter, sort, open. Rows reach the page as text nodes only.
"use strict";
const A_PAGE = 50;
const index = JSON.parse(document.getElementById("index").textContent);
const { lines, reasons, threshold } = index;
const control = (name) => document.getElementById("tool-" + name);
lines.forEach((line, place) => { line.place = place; });

const parsed = new Map();
function block(id) {
  if (!parsed.has(id)) parsed.set(id, JSON.parse(document.getElementById(id).textContent));
  return parsed.get(id);
}
const detailOf = (line) => block("details-" + Math.floor(line.place / index.details_a_block))[line.place % index.details_a_block];

const named = (values) => Object.entries(values ?? {});

// ---- filter and sort

const plain = (value) => value.normalize("NFKC").toLowerCase();
const WHICH = [
  ["accepted", "accepted", (line) => line.lost === undefined],
  ["lost", "lost, for whatever reason", (line) => line.lost !== undefined],
  ...named(reasons).map(([reason, words]) => ["is-" + reason, words, (line) => line.lost === reason]),
];
const lowest = (line) => Math.min(9, ...Object.values(line.scores ?? {}));
const SORTS = { lowest, shortest: (line) => line.question.length };
function select() {
  const which = WHICH.find(([value]) => value === control("which").value);
  const terms = plain(control("search").value).split(/\s+/).filter(Boolean);
  const kept = lines.filter((line) =>
    (!which || which[2](line)) &&
    ["style", "lang"].every((name) => control(name).value === "any" || line[name] === control(name).value.slice(1)) &&
    terms.every((term) => plain([line.id, line.question, line.preview ?? ""].join("\n")).includes(term)));
  const key = SORTS[control("sort").value];
  return key ? kept.map((line) => [key(line), line]).sort((a, b) => a[0] - b[0]).map((pair) => pair[1]) : kept;
}
function offer() {
  const counted = WHICH.map(([value, words, fits]) => [value, words, lines.filter(fits).length]);
  control("which").append(el("option", { value: "any" }, `accepted or lost (${lines.length.toLocaleString("en")})`),
    ...counted.filter(([, , n]) => n).map(([value, words, n]) => el("option", { value }, `${words} (${n.toLocaleString("en")})`)));
  for (const name of ["style", "lang"]) {
    const values = [...new Set(lines.map((line) => line[name]).filter((value) => value !== undefined))].sort();
    control(name).append(el("option", { value: "any" }, "any"), ...values.map((value) => el("option", { value: "=" + value }, value)));
    control(name).closest("label").hidden = values.length < 2;
  }
}

// ---- one line of the list

function lineElement(line) {
  const lost = line.lost === undefined ? null : el("span", { class: "chip lost" }, "lost: ", reasons[line.lost] ?? line.lost);
  const chips = named(line.scores).map(([critic, score]) =>
    el("span", { class: score < threshold ? "chip low" : "chip" }, el("bdi", {}, critic), " ", el("b", {}, String(score))));
  const summary = el("summary", {},
    el("span", { class: "asked", dir: "auto" }, line.question || "(empty)"),
    line.preview ? el("span", { class: "preview", dir: "auto" }, line.preview) : null,
    el("span", { class: "chips" }, lost, chips));
  const details = el("details", { class: "question", id: "q-" + line.id }, summary);
  details.addEventListener("toggle", () => {
    if (details.open && !details.querySelector(".opened")) details.append(openedElement(line));
  });
  return el("li", {}, details);
}

// ---- an opened candidate

function openedElement(line) {
  const detail = detailOf(line);
  return el("div", { class: "opened" },
    line.lost === undefined ? null : [el("h4", {}, "Why it was lost"),
      el("p", {}, reasons[line.lost] ?? line.lost, detail.detail ? [": ", el("bdi", {}, detail.detail)] : null)],
    el("h4", {}, detail.references.length > 1 ? "Answer: any one of" : "Answer"),
    detail.references.length ? detail.references.map((one) => text(one))
      : el("p", { class: "muted" }, detail.answerable === false ? "None: the documents cannot answer this question." : "None given."),
    detail.passages.map((one) => passageElement(one, detail)),
    criticsElement(line, detail),
    notesElement(detail),
    tagsElement(line, detail));
}
function passageElement([number, spans], detail) {
  const passage = block("passages")[number];
  const letters = Array.from(passage.text); // offsets count code points
  const parts = [];
  let at = 0;
  for (const [start, end] of spans) {
    if (start < at) continue;
    parts.push(letters.slice(at, start).join(""), el("mark", {}, letters.slice(start, end).join("")));
    at = end;
  }
  parts.push(letters.slice(at).join(""));
  const where = [passage.document, passage.title].filter(Boolean).join(" · ");
  const how = detail.found === "fuzzy" ? " · not quoted word for word: the most similar place" : "";
  const heading = detail.answerable === false ? "Tempting passage" : spans.length ? "Passage, with the evidence marked" : "Passage";
  return [el("h4", {}, heading, el("span", { class: "small" }, " · ", el("bdi", {}, where), how)),
    el("div", { class: "source" }, text(parts))];
}
function criticsElement(line, detail) {
  const scores = named(line.scores);
  if (!scores.length) return null;
  const rows = scores.map(([critic, score]) => el("tr", {},
    el("th", { scope: "row" }, el("bdi", {}, critic)),
    el("td", {}, el("span", { class: score < threshold ? "chip low" : "chip" }, el("b", {}, String(score)))),
    el("td", {}, detail.rationales?.[critic] ? text(detail.rationales[critic]) : null)));
  const head = el("tr", {}, ["Critic", "Score", "Reason"].map((name) => el("th", { scope: "col" }, name)));
  return el("div", {}, el("h4", {}, "Critics"), el("table", { class: "wide judged" }, el("thead", {}, head), el("tbody", {}, rows)));
}
function notesElement(detail) {
  const notes = named(detail.notes);
  if (!notes.length) return null;
  return [el("h4", {}, "Notes"), el("dl", { class: "pairs small" },
    notes.map(([name, value]) => [el("dt", {}, el("bdi", {}, name.replaceAll("_", " "))), el("dd", { dir: "auto" }, value)]))];
}
function tagsElement(line, detail) {
  const tags = [...(line.lang ? [["language", line.lang]] : []), ...named(detail.tags)];
  return el("div", { class: "tag-list" }, el("span", { class: "muted" }, "id ", el("bdi", {}, line.id)),
    tags.map(([key, value]) => el("span", { class: "chip" }, el("bdi", {}, `${key}: ${value}`))),
    el("a", { href: "#q-" + encodeURIComponent(line.id) }, "Link to this question"));
}

// ---- what the list needs of this page

const rowsReady = Promise.resolve();
const told = (n, all) => (n === all ? `${all.toLocaleString("en")} in all` : `${n.toLocaleString("en")} of ${all.toLocaleString("en")}`);
const offered = () => {};
function begin() {
  if (lines.some((line) => line.lost === undefined)) control("which").value = "accepted";
  refresh();
}
offer();
