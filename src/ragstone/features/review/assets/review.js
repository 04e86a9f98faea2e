"use strict";
/* One question under review: decide by key, edit, mark evidence. Nothing that was typed is lost. */
const review = document.getElementById("review");
const { base, question } = review.dataset;
const byId = (id) => document.getElementById(id);
const editing = byId("editing"), rejecting = byId("rejecting"), saidBox = byId("said");
let stands = review.dataset.stands;
let busy = false;

function element(tag, words, attributes = {}) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (words !== undefined) made.textContent = words;
  return made;
}
function tell(words, ...buttons) {
  saidBox.hidden = false;
  saidBox.querySelector("p").textContent = words;
  saidBox.querySelector(".acts").replaceChildren(...buttons);
  saidBox.scrollIntoView({ block: "nearest" });
}
function button(words, act) {
  const made = element("button", words, { type: "button" });
  made.addEventListener("click", act);
  return made;
}
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

// ---- deciding

/** Send a decision; the same id is sent again when nobody knows whether it has arrived. */
async function decide(decision, more = {}, id = newId()) {
  if (busy) return;
  busy = true;
  try {
    await post(`${base}/decide`, { id, question_id: question, decision, stands, ...more });
    forget();
    location.assign(review.dataset.following);
  } catch (mistake) {
    if (mistake.status === 409) await overtaken(mistake.message, () => decide(decision, more, id));
    else failed(mistake, () => decide(decision, more, id));
  } finally {
    busy = false;
  }
}
/** Somebody decided in the meantime: they are named before anything is overwritten. */
async function overtaken(words, again) {
  const now = await post(`${base}/stands`, { question_id: question }).catch(() => null);
  if (!now) return tell(`${words} Nothing was changed.`);
  tell(`${words} You have changed nothing so far.`,
    button("See it", () => { keep(); location.reload(); }),
    button("Decide anyway", () => { stands = now.stands; saidBox.hidden = true; again(); }));
}
function failed(mistake, again) {
  keep();
  if (mistake.status === 401 || /session|log in/i.test(mistake.message)) {
    const link = element("a", "Log in", { href: `/workbench/login?next=${encodeURIComponent(location.pathname + location.search)}`, class: "button", target: "_blank", rel: "noopener" });
    return tell("Your session has ended, so this was not saved. Log in in the new tab, then load this page: what you typed is still here.", link, button("Load this page", () => location.reload()));
  }
  const words = mistake.status ? mistake.message : "The server does not answer, so this was not saved. What you typed is still here.";
  tell(words, ...(mistake.status && mistake.status < 500 ? [] : [button("Try again", () => { saidBox.hidden = true; again(); })]));
}
async function undo() {
  if (busy) return;
  busy = true;
  try {
    const taken = await post(`${base}/undo`, stands ? { id: newId(), question_id: question } : { id: newId() });
    if (taken.question_id === question) return location.reload();
    const there = new URL(location.href);
    there.searchParams.set("question", taken.question_id);
    location.assign(there);
  } catch (mistake) {
    failed(mistake, undo);
  } finally {
    busy = false;
  }
}
function reject() {
  if (!rejecting) return;
  byId("reject-said").textContent = "";
  rejecting.showModal();
  rejecting.querySelector("input[name=reason]").focus();
}
rejecting?.addEventListener("keydown", (event) => {
  if (/^[1-9]$/.test(event.key) && event.target.id !== "comment") {
    const chosen = rejecting.querySelectorAll("input[name=reason]")[Number(event.key) - 1];
    if (!chosen) return;
    event.preventDefault();
    chosen.checked = true;
    if (chosen.value === "other") byId("comment").focus();
    else chosen.focus();
  }
});
rejecting?.querySelector("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const reason = rejecting.querySelector("input[name=reason]:checked")?.value;
  const comment = byId("comment").value.trim();
  if (!reason) return (byId("reject-said").textContent = "Choose a reason: press its number.");
  if (reason === "other" && !comment) return (byId("reject-said").textContent = "Write a reason.");
  rejecting.close();
  decide("reject", { reason, comment: comment || null });
});
byId("not-reject")?.addEventListener("click", () => rejecting.close());

// ---- editing

const field = (id) => byId(`edit-${id}`);
const referenceFields = () => [...field("references").querySelectorAll("textarea")];
let evidence = JSON.parse(review.dataset.evidence);
const typed = () => ({
  question: field("question").value,
  reference: referenceFields().map((one) => one.value).filter((value) => value.trim()),
  kind: field("kind").value,
  answerable: { "": null, yes: true, no: false }[field("answerable").value],
  tags: field("tags").value,
  evidence,
});
let first = editing && typed();
function tagsIn(lines) {
  const tags = {};
  for (const line of lines.split("\n").filter((one) => one.trim())) {
    const at = line.indexOf(":");
    if (at < 1) throw new Error(`A tag is written as name: value; this is not: ${line}`);
    tags[line.slice(0, at).trim()] = line.slice(at + 1).trim();
  }
  return Object.keys(tags).length ? tags : null;
}
/** The fields that were changed; a browser changes the ends of lines, so those left alone are not sent. */
function change() {
  const now = typed(), changed = {};
  for (const name of Object.keys(now)) {
    if (JSON.stringify(now[name]) === JSON.stringify(first[name])) continue;
    if (name === "tags") changed.tags = tagsIn(now.tags);
    else if (name === "reference") changed.reference = now.reference.length > 1 ? now.reference : (now.reference[0] ?? null);
    else if (name === "evidence") changed.evidence = evidence.length ? evidence : null;
    else changed[name] = now[name];
  }
  return changed;
}
function edit() {
  if (!editing) return;
  editing.hidden = false;
  const columns = document.querySelector(".columns"); // the form beside the document, in which one marks
  columns.classList.add("editing");
  columns.querySelector("aside").prepend(editing);
  byId("deciding").hidden = true;
  drawEvidence();
  field("question").focus();
}
function leave() {
  forget();
  location.reload();
}
const draft = `ragstone-review:${base}:${question}`;
function keep() {
  if (editing && !editing.hidden) sessionStorage.setItem(draft, JSON.stringify({ ...typed(), stands }));
}
function forget() { sessionStorage.removeItem(draft); }
function restore() {
  const kept = editing && sessionStorage.getItem(draft);
  if (!kept) return;
  const was = JSON.parse(kept);
  field("question").value = was.question;
  while (referenceFields().length < was.reference.length) moreReferences();
  referenceFields().forEach((one, number) => (one.value = was.reference[number] ?? ""));
  field("kind").value = was.kind;
  field("answerable").value = { true: "yes", false: "no", null: "" }[String(was.answerable)];
  field("tags").value = was.tags;
  evidence = was.evidence;
  edit();
  drawPassages();
  tell(was.stands === stands ? "You typed this earlier and did not save it." : "You typed this earlier and did not save it. Somebody has since decided on this question.");
}
function moreReferences() {
  const made = element("textarea", "", { dir: "auto", rows: "2", "aria-label": `Reference ${referenceFields().length + 1}` });
  field("references").append(made);
  return made;
}
function drawEvidence() {
  const list = field("evidence");
  if (!list) return;
  list.replaceChildren(...evidence.map((one, number) => {
    const item = element("li"), words = element("q", one.text, { dir: "auto" });
    const gone = element("button", "Remove", { type: "button", "aria-label": `Remove evidence ${number + 1}` });
    gone.addEventListener("click", () => setEvidence(evidence.filter((other) => other !== one)));
    item.append(words, " ", element("span", one.document_id, { class: "muted small", dir: "auto" }), " ", gone);
    return item;
  }));
  if (!evidence.length) list.replaceChildren(element("li", "none", { class: "muted" }));
}
function setEvidence(now) {
  const place = (one) => JSON.stringify([one.document_id, one.start, one.end]);
  evidence = [...new Map(now.map((one) => [place(one), one])).values()];
  drawEvidence();
  drawPassages();
  keep();
  check();
}
let checking;
function check() {
  clearTimeout(checking);
  checking = setTimeout(async () => {
    const list = byId("warnings");
    try {
      const said = await post(`${base}/check`, { question_id: question, change: change() });
      list.replaceChildren(...said.warnings.map((words) => element("li", words, { dir: "auto" })));
    } catch (mistake) {
      list.replaceChildren(element("li", mistake.status === 401 ? "Your session has ended: what you type is kept." : mistake.message));
    }
  }, 400);
}
editing?.addEventListener("input", () => { keep(); check(); });
editing?.addEventListener("submit", (event) => {
  event.preventDefault();
  let changed;
  try {
    changed = change();
  } catch (mistake) {
    return tell(mistake.message);
  }
  decide("edit", { change: changed });
});
byId("leave-editing")?.addEventListener("click", leave);
byId("use-draft")?.addEventListener("click", () => {
  edit();
  const [reference] = byId("edit-references").querySelectorAll("textarea");
  reference.value = byId("draft").textContent;
  reference.dispatchEvent(new Event("input", { bubbles: true }));
  reference.focus();
});
byId("more-references")?.addEventListener("click", () => moreReferences().focus());

// ---- documents

const spans = () => JSON.stringify(evidence.map(({ document_id, start, end }) => ({ document_id, start, end })));
async function partOf(document_id, start, end) {
  const query = new URLSearchParams({ document: document_id, start, end, evidence: spans() });
  const reply = await fetch(`${base}/part?${query}`, { headers: { Accept: "application/json" } });
  const said = await reply.json().catch(() => ({}));
  if (!reply.ok) throw Object.assign(new Error(said.detail || `The server said ${reply.status}.`), { status: reply.status });
  return said;
}
/** Show a part of a document: as text, so that its characters are those of the document. */
function draw(article, part) {
  Object.assign(article.dataset, { document: part.document_id, start: part.start, end: part.end, length: part.length });
  article.querySelector(".words").replaceChildren(...part.pieces.map((piece) =>
    piece.of.length ? element("mark", piece.text) : document.createTextNode(piece.text)));
  article.querySelector(".earlier").hidden = part.start === 0;
  article.querySelector(".later").hidden = part.end === part.length;
}
async function drawPart(article, start, end) {
  try {
    draw(article, await partOf(article.dataset.document, start, end));
  } catch (mistake) {
    failed(mistake, () => drawPart(article, start, end));
  }
}
const articles = () => [...document.querySelectorAll(".passage-shown")];
const drawPassages = () => articles().forEach((one) => drawPart(one, one.dataset.start, one.dataset.end));
function addArticle(part) {
  let article = articles().find((one) => one.dataset.document === part.document_id);
  if (!article) {
    article = element("article", undefined, { class: "passage-shown" });
    article.append(element("h3", part.document_id, { dir: "auto" }), element("button", "Earlier text", { type: "button", class: "more earlier" }),
      element("p", "", { class: "text words", dir: "auto", tabindex: "0" }), element("button", "Later text", { type: "button", class: "more later" }));
    byId("passages").append(article);
    byId("no-documents")?.remove();
  }
  draw(article, part);
  return article;
}
byId("passages").addEventListener("click", (event) => {
  const article = event.target.closest(".passage-shown"), { start, end } = article?.dataset ?? {};
  if (event.target.matches(".earlier")) drawPart(article, Math.max(0, start - 2000), end);
  if (event.target.matches(".later")) drawPart(article, start, Number(end) + 2000);
});
/** What is selected in a document: where, in UTF-16 units from the beginning of what is shown, and the words. */
function selected() {
  const selection = getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  const words = articles().map((one) => one.querySelector(".words")).find((one) => range.intersectsNode(one));
  if (!words) return null;
  const whole = document.createRange();
  whole.selectNodeContents(words);
  const inside = range.cloneRange();
  if (inside.compareBoundaryPoints(Range.START_TO_START, whole) < 0) inside.setStart(whole.startContainer, whole.startOffset);
  if (inside.compareBoundaryPoints(Range.END_TO_END, whole) > 0) inside.setEnd(whole.endContainer, whole.endOffset);
  const before = whole.cloneRange();
  before.setEnd(inside.startContainer, inside.startOffset);
  const from = before.toString().length, text = inside.toString();
  return { article: words.closest(".passage-shown"), from, to: from + text.length, words: text };
}
let lastSelected = null; // a tap on the button takes the selection away on some phones
document.addEventListener("selectionchange", () => { lastSelected = selected() ?? lastSelected; });
async function useMarked() {
  if (!editing || editing.hidden) return;
  const marked = selected() ?? lastSelected;
  if (!marked || !marked.words.trim()) return tell("Mark words in the document first, then press m.");
  const { document: document_id, start, end } = marked.article.dataset;
  try {
    const found = await post(`${base}/mark`, { document_id, start: Number(start), end: Number(end), marked_from: marked.from, marked_to: marked.to, words: marked.words });
    saidBox.hidden = true;
    lastSelected = null;
    getSelection().removeAllRanges();
    setEvidence([...evidence, found]);
  } catch (mistake) {
    failed(mistake, useMarked);
  }
}
byId("use-marked")?.addEventListener("click", useMarked);
async function findWords() {
  const document_id = byId("find-document").value.trim(), words = byId("find-words").value;
  try {
    const found = await post(`${base}/find`, { document_id, words });
    saidBox.hidden = true;
    byId("find-words").value = "";
    addArticle(await partOf(document_id, Math.max(0, found.start - 1200), found.end + 1200));
    setEvidence([...evidence, found]);
  } catch (mistake) {
    failed(mistake, findWords);
  }
}
byId("find-it")?.addEventListener("click", findWords);
byId("find-words")?.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); findWords(); } });
byId("show-document")?.addEventListener("click", async () => {
  try {
    addArticle(await partOf(byId("find-document").value.trim(), 0, 2400)).scrollIntoView({ block: "nearest" });
    saidBox.hidden = true;
  } catch (mistake) {
    failed(mistake, () => byId("show-document").click());
  }
});

// ---- keys

const go = (where) => review.dataset[where] && location.assign(review.dataset[where]);
const isEditing = () => editing && !editing.hidden;
const unlessEditing = (act) => () => { if (!isEditing()) act(); };
const ACTS = { accept: () => decide("accept"), reject, edit, undo, before: () => go("before"), after: () => go("after") };
byId("deciding").addEventListener("click", (event) => ACTS[event.target.closest("[data-do]")?.dataset.do]?.());
addKeys({
  ...(byId("deciding").querySelector("[data-do=accept]") ? {
    a: ["accept", unlessEditing(ACTS.accept)],
    r: ["reject, with a reason", unlessEditing(reject)],
    u: ["undo the last decision", unlessEditing(undo)],
  } : {}),
  ...(editing ? { e: ["edit", unlessEditing(edit)], m: ["the marked words are evidence", useMarked] } : {}),
  j: ["next question", unlessEditing(ACTS.after)],
  k: ["previous question", unlessEditing(ACTS.before)],
  l: ["list of questions", unlessEditing(() => go("back"))],
});
addEventListener("beforeunload", keep);
restore();
