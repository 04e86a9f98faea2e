// One row, whole: what the server embeds of it, drawn by the scripts that draw an opened question of a list.
"use strict";
const WORDS = JSON.parse(document.getElementById("words").textContent);
const RUN = document.getElementById("run").dataset.run;
const { line, detail, passages, columns, differences, labels = [] } = JSON.parse(document.getElementById("given").textContent);
const LABELLED_AT = JSON.parse(document.getElementById("labels-at").textContent);
const severalSystems = new Set([...columns.map((column) => column.system), ...detail.answers.map((answer) => answer.system)]).size > 1;
const judged = columns.some((column) => column.model !== "none");
const passageOf = (number) => passages[number];
const detailOf = () => detail;
const part = (id) => document.getElementById(id);

/** Give what the run answers, or throw an Error in its words. */
async function ask(what, query = {}) {
  const reply = await fetch(`${RUN}/${what}?${new URLSearchParams(query)}`, { headers: { Accept: "application/json" } });
  const said = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Error(said.detail || `The server said ${reply.status}.`);
  return said;
}
const callsOf = () => ask("calls", { question: line.id });

// ---- marks in texts that are drawn already

/** Mark stretches [from, to] of a node's text; buttons that were put into it, and the space before them, are not of it. */
function markStretches(node, marked, make) {
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const pieces = [];
  let at = 0;
  while (walker.nextNode()) {
    const piece = walker.currentNode;
    if (piece.parentElement.closest("button") || (piece.data === " " && piece.nextSibling?.matches?.("button"))) continue;
    pieces.push([piece, at]);
    at += piece.length;
  }
  for (const [piece, start] of pieces) {
    const cuts = marked.map(([from, to]) => [Math.max(from - start, 0), Math.min(to - start, piece.length)]).filter(([from, to]) => from < to);
    for (const [from, to] of cuts.reverse()) {
      const rest = piece.splitText(from);
      rest.splitText(to - from);
      rest.replaceWith(make(rest.data));
    }
  }
}
/** spans: in code points, as the server counts. */
function markDifferences(node, words, spans) {
  const places = [...words].reduce((ends, sign) => (ends.push(ends.at(-1) + sign.length), ends), [0]);
  markStretches(node, spans.map(([start, end]) => [places[start], places[end]]), (data) => el("span", { class: "differs" }, data));
}
/** Mark in the contexts the passages that the evaluation set names as those with the answer. */
function markEvidence(root) {
  const passagesWithIt = (detail.evidence ?? []).map(([, words]) => words.trim()).filter((words) => words.length > 2);
  for (const node of root.querySelectorAll("[data-contexts] .passage > .text")) {
    const words = node.textContent;
    const spans = passagesWithIt.map((each) => [words.indexOf(each), each.length]).filter(([at]) => at >= 0);
    for (const [at, length] of spans) markStretches(node, [[at, at + length]], (data) => el("b", { class: "evidence", title: "evidence: the evaluation set says that the answer is here" }, data));
  }
}

// ---- answers beside each other

function labelElement(system) {
  if (LABELLED_AT[system]) return el("a", { href: LABELLED_AT[system], class: "small" }, "Label this answer");
  if (part("run").dataset.pick === undefined) return null;
  const button = el("button", { type: "button", class: "small" }, "Label this answer");
  button.addEventListener("click", () => pick(system));
  return button;
}
function answerElement(answer, place) {
  const chosen = columns.map((_, at) => at).filter((at) => columns[at].system === answer.system && line.cells[at] !== null);
  const chips = chosen.map((at) => el("span", { class: "chip " + (typeof line.cells[at] === "string" ? "unscored" : isLow(line.cells[at], columns[at]) ? "low" : ""), title: columns[at].model },
    judgeOf(columns[at]) + " ", el("b", {}, scoreText(line.cells[at], columns[at])), isLow(line.cells[at], columns[at]) ? " (low)" : null));
  const words = answer.answer;
  const body = answer.error ? el("p", {}, el("b", {}, "The application failed: "), el("bdi", {}, answer.error))
    : text(words ? markedParts(words, lackingOf(answer, detail), 0.5, lackingElement) : "(empty)");
  if (!answer.error && words && differences) markDifferences(body, words, differences.spans[place]);
  const spent = [
    answer.latency_s !== undefined ? `${round(answer.latency_s)} s` : null,
    answer.cost_usd !== undefined ? `${Number(answer.cost_usd.toPrecision(2))} USD` : null,
  ].filter(Boolean).join(" · ");
  const causes = causesElement({ answers: [answer], causes: (detail.causes ?? []).filter((one) => one.system === answer.system) });
  return el("article", { class: "row-answer" + (differences?.against === answer.system ? " differs-base" : "") + (severalSystems && asked() === answer.system ? " asked-for" : ""), "data-system": answer.system },
    el("h3", { dir: "auto" }, answer.system === "default" && !severalSystems ? "Answer" : answer.system),
    chips.length ? el("div", { class: "chips" }, chips) : null, body,
    spent ? el("p", { class: "muted small" }, spent) : null,
    causes?.querySelector("p") ? causes : null,
    severalSystems ? el("p", {}, labelElement(answer.system)) : null);
}
const asked = () => new URLSearchParams(location.search).get("system");
function referenceElement() {
  const none = detail.answerable === false ? "None: the documents cannot answer this question." : "None given.";
  return el("article", { class: "row-answer reference" },
    el("h3", {}, detail.references.length > 1 ? "Reference: any one of" : "Reference"),
    detail.references.length ? detail.references.map((reference) => text(reference)) : el("p", { class: "muted" }, none));
}
function legendElement() {
  if (detail.answers.filter((answer) => answer.answer && !answer.error).length < 2) return null;
  if (!differences) return el("p", { class: "legend small muted" }, "These answers are too long to mark their differences.");
  const equal = differences.spans.every((spans) => !spans.length);
  if (equal) return el("p", { class: "legend small muted" }, "The answers have the same words; case and punctuation are not compared.");
  const box = el("input", { type: "checkbox", id: "marks", checked: true });
  box.addEventListener("change", () => document.querySelector(".row-answers").classList.toggle("plain", !box.checked));
  return el("p", { class: "legend small muted" }, el("label", {}, box, "Mark differences"),
    el("span", {}, "Marked: words that ", el("bdi", {}, differences.against), " does not have; in ", el("bdi", {}, differences.against), ", words that no other answer has."));
}
function answersPart() {
  const first = asked();
  const order = detail.answers.map((answer, place) => [answer, place]).sort(([one], [other]) => (other.system === first) - (one.system === first));
  const cards = order.map(([answer, place]) => answerElement(answer, place));
  return el("section", { "aria-labelledby": "answers" }, el("h2", { id: "answers" }, detail.answers.length > 1 ? `${detail.answers.length} answers` : "Answer"),
    el("div", { class: "row-answers" }, cards.length ? cards : el("article", { class: "row-answer" }, el("p", { class: "muted" }, "No system has answered this question yet.")), referenceElement()),
    legendElement());
}

// ---- what judges and people say, what was given, what was asked

function peopleElement() {
  if (!labels.length) return el("p", { class: "muted" }, "No labels of these answers are known here.");
  const rows = labels.map((label) => el("tr", {},
    el("th", { scope: "row", dir: "auto" }, label.system),
    el("td", {}, el("b", {}, round(label.score)), label.metric ? el("div", { class: "small muted", dir: "auto" }, label.metric) : null),
    el("td", {}, label.annotator ? el("bdi", {}, label.annotator) : el("span", { class: "muted" }, "not named"), label.settles ? el("div", { class: "small" }, "settles the difference") : null,
      el("div", { class: "small muted" }, el("bdi", {}, label.source), label.has_text ? null : ": matched by id and system alone")),
    el("td", {}, label.rationale ? text(label.rationale) : null)));
  const head = el("tr", {}, ["Answer of", "Label", "By", "Comment"].map((name) => el("th", { scope: "col" }, name)));
  return el("table", { class: "wide people" }, el("thead", {}, head), el("tbody", {}, rows));
}
function judgedPart() {
  return el("section", { "aria-labelledby": "judged" }, el("h2", { id: "judged" }, "What judges and people say"),
    judgementsElement(line, detail), el("h3", {}, "Labels by people"), peopleElement());
}
function givenPart() {
  const parts = [
    detail.answers.map(({ turns, system }) => turns && [severalSystems ? el("h3", { dir: "auto" }, system) : null, threadElement(turns)]),
    detail.answers.map((answer) => stepsElement(answer, detail)),
    detail.answers.map((answer) => contextsElement(answer, detail)),
    evidenceElement(detail), detail.rankings.map(rankingElement),
  ].flat(Infinity).filter(Boolean);
  return parts.length ? el("section", { "aria-labelledby": "given-part" }, el("h2", { id: "given-part" }, "What the answers were made from"), parts) : null;
}
function callsPart() {
  const calls = callsElement(line, detail);
  return calls && el("section", { "aria-labelledby": "calls" }, el("h2", { id: "calls" }, "Calls"), calls);
}
function draw() {
  const tags = tagsElement(line);
  tags.querySelector("a").remove();
  const whole = (line.question ?? "").length > document.getElementById("question").textContent.length
    ? el("details", { class: "folded" }, el("summary", {}, "Full question"), text(line.question)) : null;
  const parts = [whole, answersPart(), judgedPart(), givenPart(), callsPart(), tags].filter(Boolean);
  part("row").append(...parts);
  markEvidence(part("row"));
  const lists = [...document.querySelectorAll("[data-contexts]")]; // of several systems, those of one are open
  const shownFirst = lists.find((list) => list.dataset.contexts === asked()) ?? lists[0];
  for (const passage of document.querySelectorAll("[data-contexts] .passage")) if (!shownFirst.contains(passage)) passage.open = false;
  notesElement(line).then((box) => part("row").append(el("section", { id: "notes", class: "notes-here", "aria-labelledby": "notes-head" }, el("h2", { id: "notes-head" }, "Notes"), box)));
}

// ---- actions and keys

function tell(mistake) { part("row-wrong").hidden = false; part("row-wrong").textContent = mistake.message; }
async function pick(system) {
  try { location.href = (await post("/workbench/label/pick", { run: decodeURIComponent(RUN.split("/runs/")[1]), question: line.id, system })).go; } catch (mistake) { tell(mistake); }
}
async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    part("copied").textContent = "Copied";
  } catch { // an address without https, or a browser that asks first
    const field = el("input", { readonly: true, value: location.href, "aria-label": "Link to this row" });
    part("copied").replaceChildren(field);
    field.select();
  }
}
draw();
if (part("label")?.tagName === "BUTTON") part("label").addEventListener("click", () => pick(part("label").dataset.system));
part("copy").addEventListener("click", copyLink);
part("note")?.addEventListener("click", (event) => {
  event.preventDefault();
  const field = document.querySelector("#notes textarea");
  part("notes")?.scrollIntoView({ block: "center" });
  field?.focus({ preventScroll: true });
});
const toggle = (selector) => {
  const all = [...document.querySelectorAll(selector)], open = !all.some((each) => each.open);
  for (const each of all) each.open = open;
  if (open) all[0]?.scrollIntoView({ block: "nearest" });
};
addKeys({
  j: ["next row of the list", () => document.querySelector("a[rel=next]")?.click()],
  k: ["previous row of the list", () => document.querySelector("a[rel=prev]")?.click()],
  l: ["label this", () => part("label")?.click()],
  t: ["try another prompt on this row", () => part("try")?.click()],
  a: ["add a note", () => part("note")?.click()],
  y: ["copy the link", copyLink],
  d: ["show or hide differences", () => part("marks")?.click()],
  c: ["open or fold the contexts", () => toggle(".passage")],
  r: ["open or fold prompts and replies", () => toggle(".calls")],
  u: ["back to the list", () => part("to-list").click()],
});
