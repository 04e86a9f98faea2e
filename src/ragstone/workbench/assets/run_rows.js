// Where the rows of a run come from: the server, a page and an opened question at a time. The scripts of the
// report (elements.js, opened.js, line.js) draw them, as they draw what the static page embeds.
"use strict";
const WORDS = JSON.parse(document.getElementById("words").textContent);
const RUN = document.getElementById("run").dataset.run;
let columns = [], severalSystems = false, judged = false;
const control = (name) => document.getElementById("tool-" + name);

/** Give what the run answers, or throw an Error in its words. */
async function ask(what, query = {}) {
  const reply = await fetch(`${RUN}/${what}?${new URLSearchParams(query)}`, { headers: { Accept: "application/json" } });
  const said = await reply.json().catch(() => ({}));
  if (!reply.ok) throw new Error(said.detail || `The server said ${reply.status}.`);
  return said;
}

const passages = [];
const passageOf = (number) => passages[number];
const details = new Map();
const detailOf = (line) => details.get(line.id);
/** Fetch what a line opens to; its passages are numbered after those that are here already. */
async function fetchDetail(line) {
  if (details.has(line.id)) return;
  const { detail, passages: given, is_cut: isCut } = await ask("question", { question: line.id });
  const first = passages.length;
  passages.push(...given);
  const listed = [...detail.answers.map((answer) => answer.contexts ?? []), ...detail.rankings.map((ranking) => ranking.places)];
  for (const places of listed) for (const place of places) place[0] += first;
  detail.page = () => `${RUN}/row?${new URLSearchParams({ ...queryOf(), question: line.id })}`;
  if (isCut) detail.whole = `${RUN}/question.txt?${new URLSearchParams({ question: line.id })}`;
  details.set(line.id, detail);
}
const callsOf = (line) => ask("calls", { question: line.id });

/** Resolves when the question that is being opened can be drawn; see run_list.js. */
let rowsReady = Promise.resolve();
function chosenColumns() {
  const chosen = control("judge").value;
  if (chosen !== "any") return [Number(chosen)];
  const all = columns.map((_, place) => place);
  return judged ? all.filter((place) => columns[place].model !== "none") : all;
}
