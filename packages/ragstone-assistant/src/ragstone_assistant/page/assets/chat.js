// The conversation: what is asked, what comes back piece by piece, and the language that all of it is shown in.

const TEXTS = JSON.parse(document.getElementById("texts").textContent);
const at = (id) => document.getElementById(id);
const t = (name) => TEXTS[document.documentElement.lang][name];
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
let chosen = kept.get("lang"); // the language that the user has chosen, if any: answers are given in it
let running = null;

function wordsOf(problem) {
  if (problem.status === 429) return fill(t("busy"), { seconds: problem.retryAfter ?? 60 });
  if (problem.status === 413) return t("too_long");
  return problem.status ? problem.message : t("unreachable");
}

function speak(lang) {
  document.documentElement.lang = lang;
  document.documentElement.dir = t("direction");
  document.title = t("title");
  at("lang").value = lang;
  at("question").placeholder = t("placeholder");
  for (const each of document.querySelectorAll("[data-text]")) each.textContent = t(each.dataset.text);
  for (const select of selects()) {
    select.options[0].textContent = t("any");
    select.previousElementSibling.textContent = nameOf(select.name);
  }
  at("examples").replaceChildren(...t("examples").map((words) =>
    element("li", {}, element("button", { type: "button", textContent: words, onclick: () => ask(words) }))));
}

function shown(className, ...children) {
  const item = element("li", { className }, ...children);
  at("turns").append(item);
  at("welcome").hidden = true;
  return item;
}

const showAsked = (text) => shown("user", element("span", { className: "unseen", textContent: `${t("you")}: ` }), element("span", { textContent: text, dir: "auto" }));

function showSaid(item, text, said) {
  const cite = (number) => {
    const citation = said.citations?.find((one) => one.number === number);
    return citation && element("button", {
      type: "button", className: "cite", textContent: number, ariaLabel: sourceName(citation), onclick: () => openPassage(citation),
    });
  };
  const words = said.nearest?.length ? text.split("\n- ", 1)[0] : text; // the buttons list what it goes on with
  item.replaceChildren(...[
    element("span", { className: "unseen", textContent: `${t("assistant")}: ` }),
    element("div", { className: "text", lang: said.lang ?? "" }, ...paragraphs(words, cite)),
    sourcesOf(said), nearestOf(said), linksOf(said), said.exchange_id ? verdictOn(said) : null].filter(Boolean));
}

function keepInSight(item) {
  const gap = document.documentElement.scrollHeight - innerHeight - scrollY;
  if (gap < 400) item.scrollIntoView({ block: "end" });
}

async function ask(text) {
  if (running || !text.trim()) return;
  const asked = showAsked(text);
  const item = shown("said", element("p", { className: "doing", textContent: t("working") }));
  item.ariaBusy = "true";
  at("question").value = "";
  grow();
  scrollTo(0, document.documentElement.scrollHeight);
  busy(running = new AbortController());
  try {
    await hear(item, text, running.signal);
  } catch (problem) {
    failed(item, asked, text, problem);
  } finally {
    item.ariaBusy = "false";
    busy(running = null);
  }
}

async function hear(item, text, signal) {
  const filters = Object.fromEntries(selects().map(({ name, value }) => [name, value]).filter(([, value]) => value));
  const response = await request("v1/chat/completions", { signal, body: {
    model: "assistant", stream: true, messages: [{ role: "user", content: text }], filters,
    ...(kept.get("conversation") && { conversation_id: kept.get("conversation") }), ...(chosen && { lang: chosen }),
  } });
  let words = "";
  for await (const event of events(response)) {
    if (event.error) throw new Problem(500, event.error.message);
    const piece = event.choices?.[0]?.delta?.content;
    if (piece) showSaid(item, words += piece, {});
    else if (event.ragstone?.doing && !words) item.querySelector(".doing").textContent = event.ragstone.words;
    if (event.ragstone?.exchange_id) {
      kept.set("conversation", event.ragstone.conversation_id);
      showSaid(item, words, event.ragstone);
    }
    keepInSight(item);
  }
}

function failed(item, asked, text, problem) {
  item.querySelector(".doing")?.remove();
  if (problem.name === "AbortError") {
    item.append(element("p", { className: "muted", textContent: t("stopped") }));
    return;
  }
  if (problem.status === 401) askForKey();
  if (problem.status === 404) kept.set("conversation", null); // it was deleted, or is somebody else's
  const words = item.querySelector(".text") ? t("interrupted") : wordsOf(problem);
  item.append(element("p", { className: "problem", role: "alert", textContent: words }), element("button", {
    type: "button", textContent: t("again"), onclick: () => { item.remove(); asked.remove(); ask(text); },
  }));
  if (!at("question").value) at("question").value = text;
  grow();
}

function busy(controller) {
  at("send").hidden = Boolean(controller);
  at("stop").hidden = !controller;
  if (!controller) at("question").focus({ preventScroll: true });
}

function grow() {
  const field = at("question");
  field.style.blockSize = "auto";
  field.style.blockSize = `${field.scrollHeight + 2}px`;
}

function askForKey() {
  if (!at("key-asked").open) at("key-asked").showModal();
}

const selects = () => [...at("filters").querySelectorAll("select")];
const nameOf = (tag) => tag === "lang" ? t("language") : t("tags")[tag] ?? tag.charAt(0).toUpperCase() + tag.slice(1).replaceAll("_", " ");

const shownAs = (tag, value) => (tag === "lang" && TEXTS[value]?.name) || value || t("any");

// Offer the tags that somebody has declared, and languages where there are several: what a topic holds, its words
// do not tell.
function offerFilters(filters) {
  const offered = Object.entries(filters).filter(([tag, values]) => values.length > (tag === "lang") && tag !== "topic");
  for (const select of selects()) select.parentElement.remove();
  at("filters").append(...offered.map(([name, values]) => element("label", {}, element("span", { textContent: nameOf(name) }), " ",
    element("select", { name }, ...["", ...values].map((value) => element("option", { value, textContent: shownAs(name, value) }))))));
  at("filters").hidden = !offered.length;
}

async function begin() {
  speak(TEXTS[chosen] ? chosen : document.documentElement.lang);
  at("welcome").hidden = false;
  try {
    offerFilters((await fetched("v1/settings")).filters);
    const id = kept.get("conversation");
    if (id) for (const turn of (await fetched(`v1/conversations/${encodeURIComponent(id)}`)).turns) {
      if (turn.role === "user") showAsked(turn.text);
      else showSaid(shown("said"), turn.text, turn.ragstone ?? {});
    }
  } catch (problem) {
    if (problem.status === 401) askForKey();
    if (problem.status === 404) kept.set("conversation", null);
  }
}

at("ask").onsubmit = (event) => { event.preventDefault(); ask(at("question").value); };
at("question").oninput = grow;
at("question").onkeydown = (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  ask(at("question").value);
};
at("stop").onclick = () => running?.abort();
at("new").onclick = () => {
  running?.abort();
  kept.set("conversation", null);
  at("turns").replaceChildren();
  at("welcome").hidden = false;
  at("question").focus();
};
at("lang").onchange = () => { kept.set("lang", chosen = at("lang").value); speak(chosen); };
at("key-form").onsubmit = () => { kept.set("key", at("key").value); at("key").value = ""; begin(); };
begin();
