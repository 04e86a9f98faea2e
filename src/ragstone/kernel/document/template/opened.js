// An opened question: answers, judgements, what supports them, and what was asked of models.
function openedElement(line) {
  const detail = detailOf(line);
  return el("div", { class: "opened" },
    detail.page ? el("p", {}, el("a", { href: detail.page(), class: "small" }, "This row on a page of its own")) : null,
    detail.whole ? el("p", { class: "muted small" }, "Long texts are shortened here: ", el("a", { href: detail.whole }, "all rows of this question as plain text"), ".") : null,
    answersElement(detail),
    causesElement(detail),
    judgementsElement(line, detail),
    detail.answers.map(({ turns }) => turns && threadElement(turns)),
    detail.answers.map((answer) => stepsElement(answer, detail)),
    detail.answers.map((answer) => contextsElement(answer, detail)),
    evidenceElement(detail),
    detail.rankings.map(rankingElement),
    callsElement(line, detail),
    tagsElement(line));
}
function answersElement(detail) {
  const answers = detail.answers.map((answer) => [
    el("h3", {}, detail.answers.length > 1 || answer.system !== "default" ? `Answer of ${answer.system}` : "Answer"),
    answer.error ? el("p", {}, el("b", {}, "The application failed: "), el("bdi", {}, answer.error)) : text(answer.answer ? markedParts(answer.answer, lackingOf(answer, detail), 0.5, lackingElement) : "(empty)"),
    el("p", { class: "muted small" }, [
      answer.latency_s !== undefined ? `${round(answer.latency_s)} s` : null,
      answer.cost_usd !== undefined ? `${Number(answer.cost_usd.toPrecision(2))} USD` : null,
    ].filter(Boolean).join(" · ")),
  ]);
  const references = detail.references.length
    ? detail.references.map((reference) => text(reference))
    : [el("p", { class: "muted" }, detail.answerable === false ? "None: the documents cannot answer this question." : "None given.")];
  return el("div", { class: "split" },
    el("div", {}, answers.length ? answers : [el("h3", {}, "Answer"), el("p", { class: "muted" }, "answers.jsonl has none for this question.")]),
    el("div", {}, el("h3", {}, detail.references.length > 1 ? "Reference: any one of" : "Reference"), references));
}
function causesElement(detail) {
  if (!detail.causes) return null;
  const said = detail.causes.map((one) => el("p", {},
    detail.answers.length > 1 ? [el("bdi", {}, one.system), ": "] : null,
    el("b", { class: "caution" }, one.cause), ` (${one.component}). `, el("span", { dir: "auto" }, one.because)));
  return el("div", { class: "causes" }, el("h3", {}, "Why the point was lost"), said);
}
function judgementsElement(line, detail) {
  if (!detail.judgements.length) return el("p", { class: "muted" }, "No judge has judged this question.");
  const baselinesLast = [...detail.judgements].sort((a, b) => (columns[a.column].model === "none") - (columns[b.column].model === "none"));
  const rows = baselinesLast.map((row) => {
    const column = columns[row.column];
    const cell = line.cells[row.column];
    return el("tr", {},
      el("th", { scope: "row" }, nameOf(column), el("br", {}), el("span", { class: "muted small" }, column.model === "none" ? "baseline, no model" : column.model)),
      el("td", {}, el("span", { class: "chip " + (typeof cell === "string" ? "unscored" : isLow(cell, column) ? "low" : "") },
        el("b", {}, scoreText(cell, column))), scaleElement(column), column.caution ? el("div", { class: "small" }, "† ", column.caution) : null),
      el("td", {}, reasonElements(row, detail.answers.find((answer) => answer.system === column.system))));
  });
  const head = el("tr", {}, ["Judge", "Score", "Reason"].map((name) => el("th", { scope: "col" }, name)));
  return el("div", {}, el("h3", {}, "Judgements"), el("table", { class: "wide judged" }, el("thead", {}, head), el("tbody", {}, rows)));
}
/** The ends of a scale, where the score beside does not tell them: 0 to 1 goes without saying. */
function scaleElement({ low, high }) {
  return low === undefined || high === undefined || (low === 0 && high === 1) ? null : el("div", { class: "muted small" }, `scale ${round(low)} to ${round(high)}`);
}
function reasonElements(row, answer) {
  const parts = [];
  if (row.label !== undefined) parts.push(el("p", {}, "Label: ", el("bdi", {}, row.label)));
  if (row.rationale !== undefined) parts.push(text(row.rationale));
  if (row.error !== undefined) parts.push(el("p", { class: "muted text", dir: "auto" }, row.error));
  if (row.verdicts) parts.push(verdictsElements(row, answer));
  return parts;
}
const OF = { answer: "Statements of the answer", reference: "Statements of the reference", steps: "Steps", expected_steps: "Expected steps" };
const SAID = {
  answer: ["In the reference: ", "Not in the reference: "],
  reference: ["In the answer: ", "Not in the answer: "],
  contexts: ["Useful: ", "Not useful: "],
  steps: ["Right: ", "Not right: "],
  expected_steps: ["Called: ", "Not called: "],
};
function verdictsElements({ verdicts, column }, answer) {
  const sides = [...new Set(verdicts.map((verdict) => verdict.of))];
  return sides.map((of) => [
    OF[of] ? el("h4", {}, OF[of]) : null,
    el("ol", { class: "statements" }, verdicts.filter((verdict) => verdict.of === of).map((verdict) => verdictElement(verdict, answer, column))),
  ]);
}
function verdictElement(verdict, answer, column) {
  const [yes, no] = SAID[verdict.of] ?? ["Supported: ", "Not supported: "];
  return el("li", { value: verdict.id, class: verdict.supported ? "supported" : "unsupported", "data-verdict": `${column} ${verdict.id}`, tabindex: "-1" },
    el("b", {}, verdict.supported ? yes : no), el("bdi", {}, verdict.statement),
    verdict.context ? [" ", citeElement(verdict.context, answer)] : null,
    verdict.score === undefined ? null : el("span", { class: "muted small" }, " " + round(verdict.score)),
    verdict.reason ? el("div", { class: "muted small", dir: "auto" }, verdict.reason) : null);
}
function citeElement(number, answer) {
  const name = `context ${number}`;
  if (!answer?.contexts || number > answer.contexts.length) return el("span", { class: "muted small" }, name);
  const button = el("button", { class: "cite", type: "button", title: "Show this context" }, name);
  button.addEventListener("click", () => {
    const lists = [...button.closest(".opened").querySelectorAll("[data-contexts]")];
    const place = lists.find((list) => list.dataset.contexts === answer.system).querySelector("ol").children[number - 1];
    const passage = place.querySelector("details");
    for (const other of place.parentElement.querySelectorAll(".cited")) other.classList.remove("cited");
    passage.open = true;
    passage.classList.add("cited");
    (passage.querySelector("mark") ?? passage).scrollIntoView({ block: "nearest" });
    passage.querySelector("summary").focus({ preventScroll: true });
  });
  return button;
}
function stepsElement({ steps, n_steps: n, system }, detail) {
  if (!steps) return null;
  return el("div", {}, el("h3", {}, "Steps" + (detail.answers.length > 1 ? ` of ${system}` : "")),
    el("ol", { class: "statements" }, steps.map(stepElement)),
    n > steps.length ? el("p", { class: "muted" }, `And ${n - steps.length} more.`) : steps.length ? null : el("p", { class: "muted" }, "No tool was called."));
}
function contextsElement(answer, detail) {
  if (answer.contexts === undefined) return null;
  const whose = detail.answers.length > 1 ? ` to ${answer.system}` : "";
  const given = answer.contexts.length ? placesElement(answer.contexts, verdictsOf(answer, detail).filter((one) => one.supported))
    : el("p", { class: "muted" }, "Nothing was retrieved.");
  return el("div", { "data-contexts": answer.system }, el("h3", {}, "Contexts given" + whose), given);
}
/** supported: the statements that some of the places support, each by its `context`, from 1. */
function placesElement(places, supported = []) {
  return el("ol", { class: "passages" }, places.map((place, n) => el("li", {}, placeElement(place, n + 1, supported.filter((one) => one.context === n + 1)))));
}
function placeElement([number, score, relevant], rank, supported) {
  const { text: words, document: id, chunk, title } = passageOf(number);
  const name = [id ?? chunk, title].filter(Boolean).join(" · ");
  const glimpse = title || !words ? null : el("span", { class: "muted glimpse" }, (name ? " · " : "") + words.slice(0, 160));
  const summary = el("summary", { title: chunk ? "chunk " + chunk : null },
    el("span", { class: "muted" }, String(rank)),
    el("span", { class: "start", dir: "auto" }, name, glimpse),
    el("span", { class: "small" },
      supported.length ? [el("span", { class: "supports" }, "supports " + listed(supported)), " "] : null, relevant ? el("span", { class: "caution" }, "relevant") : null, score === null ? null : " " + round(score)));
  return el("details", { class: relevant ? "passage relevant" : "passage", open: relevant && Boolean(words) },
    summary, words === undefined ? text("The run holds no text of this passage.") : el("p", { class: "text", dir: "auto" }, markedParts(words, supported, LEAST_SHARED, supportElement)));
}

// ---- what supports a statement: the sentence of its context that shares most with it

const WORD = Intl.Segmenter && new Intl.Segmenter(undefined, { granularity: "word" });
const SENTENCE = Intl.Segmenter && new Intl.Segmenter(undefined, { granularity: "sentence" });
const LEAST_SHARED = 0.25; // of the statement's words, by weight: below it, no sentence is worth pointing at
const wordsOf = (value) => new Set([...WORD.segment(value.normalize("NFKC").toLowerCase())].filter((piece) => piece.isWordLike).map((piece) => piece.segment));

/** The verdicts on statements of this system's answer, each with its judge. */
function verdictsOf(answer, detail) {
  return detail.judgements.filter((row) => columns[row.column].system === answer.system).flatMap((row) =>
    (row.verdicts ?? []).filter((one) => one.of !== "contexts").map((one) => ({ ...one, column: row.column, judge: columns[row.column].judge })));
}
const CITES_NOTHING = "cites nothing"; // by a judge of citations: a passage may support it all the same
/** The statements that no context supports: as a model says where one was asked, else as words do. */
function lackingOf(answer, detail) {
  const found = verdictsOf(answer, detail).filter((one) => one.of === undefined);
  const asked = found.filter((one) => columns[one.column].model !== "none");
  return (asked.length ? asked : found).filter((one) => !one.supported && one.reason !== CITES_NOTHING);
}
function listed(supported) {
  return (supported.length > 1 ? "statements " : "statement ") + [...new Set(supported.map((one) => one.id))].join(", ");
}
function markedParts(words, stated, least, marked) {
  if (!stated.length || !SENTENCE) return words;
  const sentences = sentencesOf(words, stated).map((sentence) => ({ words: sentence, has: wordsOf(sentence), stated: [] }));
  const known = new Map(sentences.map((sentence) => [sentence.words.trim().replace(/\s+/g, " "), sentence]));
  for (const one of stated) (known.get(one.statement) ?? bestSentence(sentences, wordsOf(one.statement), least))?.stated.push(one);
  return sentences.map((sentence) => {
    if (!sentence.stated.length) return sentence.words;
    const bare = sentence.words.trimEnd();
    return [marked(bare, sentence.stated), sentence.words.slice(bare.length)];
  });
}
/** The sentences of a text: a statement that stands there, and what the browser takes for one of the rest. */
function sentencesOf(words, stated) {
  const known = stated.flatMap((one) => {
    const found = words.match(one.statement.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+"));
    return found?.[0] ? [[found.index, found.index + found[0].length]] : [];
  });
  const cuts = new Set([0, ...known.flat(), ...[...SENTENCE.segment(words)].map((piece) => piece.index)]);
  const kept = [...cuts].filter((at) => !known.some(([start, end]) => start < at && at < end)).sort((one, other) => one - other);
  return kept.map((at, n) => words.slice(at, kept[n + 1])).filter((sentence) => sentence);
}
function supportElement(words, stated) {
  return el("mark", { title: "supports " + stated.map((one) => `${one.judge}, statement ${one.id}`).join("; ") }, words);
}
/** The button says why when it has the focus, and leads to the verdict. */
function lackingElement(words, stated) {
  const why = stated.map((one) => one.judge + (one.reason ? `: ${one.reason}` : "")).join("; ");
  const button = el("button", { class: "lacking", type: "button", title: why }, "not supported");
  button.addEventListener("click", () => {
    const verdict = button.closest(".opened").querySelector(`[data-verdict="${stated[0].column} ${stated[0].id}"]`);
    verdict.scrollIntoView({ block: "center" });
    verdict.focus({ preventScroll: true });
  });
  return [el("mark", { title: why }, words), " ", button];
}
/** Rare words of the passage count for more; of equal sentences the shorter one points better. */
function bestSentence(sentences, stated, least) {
  const weight = new Map([...stated].map((word) => [word, 1 / (1 + sentences.filter((sentence) => sentence.has.has(word)).length)]));
  const all = [...weight.values()].reduce((sum, one) => sum + one, 0);
  let best = null, most = least;
  for (const sentence of sentences) {
    let shared = 0;
    for (const [word, worth] of weight) if (sentence.has.has(word)) shared += worth;
    const share = shared / all - sentence.has.size / 1e4;
    if (share > most) [best, most] = [sentence, share];
  }
  return best;
}

// ---- what was asked of models, word for word

const ROLES = { system: "Instructions", user: "Asked", assistant: "Reply" };
function callsElement(line, detail) {
  if (!document.getElementById("prompts-shared")) return null;
  const folded = el("details", { class: "folded calls" }, el("summary", {}, "Prompts and replies, word for word"));
  folded.addEventListener("toggle", async () => {
    if (!folded.open || folded.querySelector(".call")) return;
    const waiting = el("p", { class: "muted", role: "status" }, "Unpacking.");
    folded.append(waiting);
    let found;
    try { found = await callsOf(line); } catch { found = null; }
    waiting.remove();
    if (!found) return folded.append(el("p", {}, "This browser cannot unpack them: see calls.jsonl.gz in the run's folder."));
    if (!found.calls.length) return folded.append(el("p", { class: "muted call" }, "This file holds none for this question."));
    folded.append(...found.calls.map((call) => callElement(call, found.shared, line, detail)));
  });
  return folded;
}
function callElement(call, shared, line, detail) {
  const whose = call.judges.length ? call.judges.join(", ") : "Answer";
  const of = detail.answers.length > 1 ? " of " + call.systems.join(" and ") : "";
  const unanswered = call.messages.at(-1)[0] !== "assistant";
  return el("section", { class: "call", "aria-label": "Call: " + whose + of },
    el("h4", {}, el("bdi", {}, whose + of), el("span", { class: "muted" }, " · ", el("bdi", {}, call.model))),
    call.messages.map(([role, parts]) => [
      el("div", { class: "muted small" }, ROLES[role] ?? role),
      el("pre", { class: role, dir: "auto", tabindex: "0", role: "region", "aria-label": ROLES[role] ?? role }, parts.map((part) => partText(part, shared, line, detail)).join("") || "(empty)"),
    ]),
    unanswered ? el("p", { class: "muted small" }, "No reply came.") : null);
}
function partText(part, shared, line, detail) {
  if (typeof part === "string") return part;
  if (typeof part === "number") return shared[part];
  const [kind, at] = part;
  if (kind === "question") return line.question;
  if (kind === "reference") return detail.references[at];
  if (kind === "answer") return detail.answers[at].answer;
  return detail.answers[at].contexts.map(([number], n) => `[${n + 1}] ${passageOf(number).text}`).join("\n\n");
}

// ---- where the answer is, rankings, tags

function evidenceElement(detail) {
  if (!detail.relevant && !detail.evidence) return null;
  const named = (detail.relevant ?? []).map((id) => el("li", {}, el("bdi", {}, id)));
  const passages = (detail.evidence ?? []).map(([id, words]) => [el("p", { class: "muted small" }, el("bdi", {}, id)), text(words)]);
  return el("div", {}, el("h3", {}, "Where the answer is"), passages.length ? passages : el("ul", { class: "statements" }, named));
}
function rankingElement(ranking) {
  const first = ranking.first_relevant === undefined ? ""
    : ranking.first_relevant ? `: first relevant document at rank ${ranking.first_relevant} of ${ranking.n}` : `: no relevant document in ${ranking.n} places`;
  return el("details", { class: "folded" }, el("summary", {}, `Ranking of ${ranking.retriever}${first}`), placesElement(ranking.places));
}
function tagsElement(line) {
  const link = el("a", { href: "#q-" + encodeURIComponent(line.id) }, "Link to this question");
  const tags = groupsOf(line).map(([key, value]) => el("span", { class: "chip" }, el("bdi", {}, `${key}: ${value}`)));
  return el("div", { class: "tag-list" }, el("span", { class: "muted" }, "id ", el("bdi", {}, line.id)), tags, link);
}
