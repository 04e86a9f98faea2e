// ---- a conversation, and the calls of tools in it: as reports, runs and the labelling page show them

const SPEAKER = { system: "System", user: "User", assistant: "Assistant", tool: "Tool" };
/** turns: the last ones of the conversation; the reply that was judged is marked. */
function threadElement(turns) {
  const before = turns[0].place - 1;
  return el("details", { class: "thread", open: true },
    el("summary", {}, "Conversation", el("span", { class: "muted" }, turns.length === 1 ? " · 1 turn" : ` · ${turns.length} turns`)),
    before ? el("p", { class: "muted small" }, before === 1 ? "1 turn before is not shown." : `${before} turns before are not shown.`) : null,
    el("ol", { class: "turns" }, turns.map(turnElement)));
}
function turnElement({ place, role, content, contexts, steps, judged }) {
  return el("li", { value: place, class: judged ? role + " judged-turn" : role },
    el("span", { class: "muted small" }, SPEAKER[role] ?? role), judged ? [" ", el("span", { class: "caution small" }, "judged reply")] : null,
    content ? text(content) : steps ? null : el("p", { class: "muted" }, "(empty)"),
    steps ? el("ul", { class: "statements" }, steps.map(stepElement)) : null,
    contexts ? el("details", {}, el("summary", { class: "muted small" }, `Contexts given (${contexts.length})`), el("ol", {}, contexts.map((one) => el("li", { class: "text", dir: "auto" }, one)))) : null);
}
const GLIMPSE = 100; // characters of the arguments that a folded call shows
const BRIEF = 60; // characters of a result or an error that is not worth a fold
/** A call of a tool: folded to its name and the beginning of its arguments, unless there is little more to it. */
function stepElement({ tool, arguments: given = "", result = "", error, seconds, thought = "" }) {
  const short = given.length > GLIMPSE ? given.slice(0, GLIMPSE) + "…" : given;
  const head = [el("b", {}, el("bdi", {}, tool)), " ", el("bdi", {}, short), seconds === undefined ? null : el("span", { class: "muted small" }, ` · ${round(seconds)} s`)];
  const failed = error === undefined ? null : el("div", {}, el("b", {}, "Failed: "), el("bdi", {}, error));
  const named = (name, words) => (words ? [el("p", { class: "muted small" }, name), text(words)] : []);
  const isBrief = short === given && result.length + (error ?? "").length <= BRIEF;
  return el("li", { class: failed ? "unsupported" : null },
    el("div", { class: "muted small", dir: "auto" }, thought),
    isBrief ? [head, failed, result && text(result)]
      : el("details", { class: "tool" }, el("summary", {}, head, failed ? [" ", el("span", { class: "caution small" }, "failed")] : null),
        named("Arguments", short === given ? "" : given), failed, named("Result", result)));
}
