"use strict";
/* One item a screen. A key acts at once: the mark goes to the outbox, and the next item was fetched before. */
const desk = document.getElementById("bench");
const at = (id) => document.getElementById(id);
const { queue, person, login, policy } = desk.dataset;
const AHEAD = 5;
const items = new Map();
let places = [], given = {}, now = -1, past = [];
let drawn = -1; // the place that is on the screen: keys act on it only, not of one that is still being fetched
const drafts = {};
const draftsKey = `ragstone-drafts:${queue}:${person}`;

function trouble(words, link) {
  const box = at("trouble");
  box.hidden = !words;
  box.textContent = words || "";
  if (link) {
    const anchor = document.createElement("a");
    anchor.href = `${login}?next=${encodeURIComponent(queue)}`;
    anchor.target = "_blank";
    anchor.textContent = link;
    box.append(" ", anchor);
  }
}
const waits = (n) => `${n === 1 ? "1 label is" : `${n} labels are`} kept in this browser and will be sent again automatically.`;
let refused = [];
function told(how, n, why, mark) {
  if (how === "refused") {
    refused.push(why);
    if (mark.place in given) { delete given[mark.place]; items.delete(mark.place); }
    showCount();
  }
  const lost = refused.length ? ` Refused by the server: ${refused.join(" ")}` : "";
  if (how === "changed") at("changed").hidden = false;
  if (how === "saved") finish();
  if (how === "saved" || how === "changed" || how === "refused") return trouble(lost.trim());
  if (how === "login") return trouble(`You are no longer logged in. ${waits(n)}${lost}`, "Log in again");
  if (how === "other") return trouble(`${why} ${waits(n)}${lost}`);
  if (how === "memory") return trouble(`This browser stores nothing: keep this page open until everything is sent (${n}).${lost}`);
  trouble(`The server cannot be reached. ${waits(n)} Go on.${lost}`);
}
const outbox = openOutbox(queue, person, told);

async function ask(path) {
  const reply = await fetchInTime(`${queue}${path}`, { headers: { Accept: "application/json" }, redirect: "error" });
  const said = await reply.json();
  if (!reply.ok) throw Object.assign(new Error(said.detail), { status: reply.status });
  return said;
}
function fetched(place) {
  if (!items.has(place)) {
    const asked = ask(`/items/${place}`);
    items.set(place, asked);
    asked.then((item) => items.set(place, item), () => items.delete(place));
  }
  return items.get(place);
}
const isOpen = (place) => given[place] === undefined;
function prefetch() {
  const next = [...places.slice(now + 1), ...places.slice(0, now)].filter(isOpen).slice(0, AHEAD);
  for (const place of [...next, ...places.slice(Math.max(now - 1, 0), now + 2)]) Promise.resolve(fetched(place)).catch(() => {});
}
const fill = (element, texts, tag) => element.replaceChildren(...texts.map((text) => {
  const one = document.createElement(tag);
  one.className = "text";
  one.dir = "auto";
  one.textContent = text;
  return one;
}));
function passage(parts) {
  const one = document.createElement("li");
  one.className = "text";
  one.dir = "auto";
  for (const part of parts) {
    if (!part.kind) { one.append(part.text); continue; }
    const mark = document.createElement("mark");
    if (part.kind === "evidence") mark.className = "evidence";
    mark.textContent = part.text;
    one.append(mark);
  }
  return one;
}
function showCount() {
  const done = places.filter((place) => given[place] && !given[place].skipped).length;
  const skipped = places.filter((place) => given[place]?.skipped).length;
  at("count").textContent = `${now + 1} of ${places.length} · ${done} labelled${skipped ? `, ${skipped} skipped` : ""}`;
  at("done").value = done;
  at("end").hidden = !places.length || places.some(isOpen);
  finish();
}
/* What all labels come to, once the server has them: it is asked again where one of them was changed. */
let told_of = "";
async function finish() {
  const now_given = JSON.stringify(given);
  if (at("end").hidden || told_of === now_given || outbox.waiting().length) return;
  told_of = now_given;
  at("end-links").hidden = true;  // a link that is about to be replaced cannot be clicked
  try {
    const found = await ask("/done");
    at("end-lines").replaceChildren(...found.lines.map((line, number) => {
      const one = document.createElement("p");
      const words = document.createElement(number ? "span" : "b");
      words.textContent = line;
      words.dir = "auto";
      one.append(words);
      return one;
    }));
    at("end-links").replaceChildren(...found.links.map(([words, address], number) => {
      const link = document.createElement("a");
      link.href = address;
      link.textContent = words;
      link.className = number ? "button" : "button main";
      return link;
    }));
  } catch { told_of = ""; }
  at("end-links").hidden = false;
}
function draw(item) {
  const place = item.place, own = given[place];
  at("question").textContent = item.question ?? "(no question)";
  at("thread").replaceChildren(...(item.turns ? [threadElement(item.turns)] : []));
  at("thread").hidden = !item.turns;
  at("answer").textContent = item.answer || (item.error ? "(the system failed and gave no answer)" : "(an empty answer)");
  fill(at("references"), item.references, "p");
  at("reference").hidden = !item.references.length;
  at("reference").open = desk.dataset.reference === "shown";
  at("passages").replaceChildren(...item.contexts.map(passage));
  at("contexts").hidden = !item.contexts.length;
  at("legend-evidence").hidden = !item.contexts.flat().some((part) => part.kind === "evidence");
  at("cut").hidden = !item.is_cut;
  at("whole").href = `${queue}/items/${place}/text`;
  at("comment").value = drafts[place] ?? own?.comment ?? "";
  for (const button of document.querySelectorAll(".grade")) button.setAttribute("aria-pressed", String(!!own && !own.skipped && +button.dataset.score === own.score));
  if (at("number")) at("number").value = own && !own.skipped ? own.score : "";
  drawn = place;
  at("screen").dataset.place = place;
  at("screen").removeAttribute("aria-busy");
  at("screen").dataset.skipped = own?.skipped ? "yes" : "";
  at("screen").hidden = false;
  showCount();
  scrollTo(0, 0);
  (at("number") ?? at("question")).focus({ preventScroll: true });
}
let shows = 0;
async function show(index) {
  if (!places.length) return;
  keepDraft();
  now = Math.min(Math.max(index, 0), places.length - 1);
  const mine = ++shows, found = fetched(places[now]);
  if (found instanceof Promise) {
    drawn = -1;
    at("screen").setAttribute("aria-busy", "true");
    try {
      const item = await found;
      if (mine === shows) draw(item);
    } catch (mistake) {
      if (mine !== shows) return;
      at("screen").hidden = true;
      showCount();
      const isForGood = mistake.status < 500 && ![401, 408, 429].includes(mistake.status);
      if (mistake.status === 401) trouble("You are no longer logged in, so the next question cannot be loaded.", "Log in again");
      else trouble(isForGood ? mistake.message : "The next question cannot be loaded: the server cannot be reached. What you labelled is kept, and the page keeps trying.");
      if (!isForGood) setTimeout(() => { if (mine === shows) show(now).then(outbox.flush); }, 1500);
      return;
    }
  } else draw(found);
  if (mine === shows) prefetch();
}
function onward() {
  const later = places.findIndex((place, index) => index > now && isOpen(place));
  const next = later === -1 ? places.findIndex(isOpen) : later;
  show(next === -1 ? now : next);
}
const comment = () => at("comment").value.trim() || null;
function keepDraft() {
  if (drawn < 0) return;
  const place = drawn;
  if ((comment() ?? "") !== (given[place]?.comment ?? "")) drafts[place] = at("comment").value; else delete drafts[place];
  try { localStorage.setItem(draftsKey, JSON.stringify(drafts)); } catch { /* then they last as long as the page */ }
}
function mark(place, kind, own) {
  if (own) given[place] = own; else delete given[place];
  delete drafts[place];
  outbox.add({ place, kind, ...(policy ? { policy } : {}), ...(own && !own.skipped ? { score: own.score } : {}), ...(own?.comment ? { comment: own.comment } : {}) });
}
function give(score) {
  if (drawn < 0) return;
  const place = drawn;
  past.push([place, given[place]]);
  mark(place, "label", { score, comment: comment() });
  at("comment").value = comment() ?? "";
  onward();
}
function skip() {
  if (drawn < 0) return;
  const place = drawn;
  past.push([place, given[place]]);
  mark(place, "skip", { skipped: true, comment: comment() });
  onward();
}
function undo() {
  const place = drawn;
  const [where, before] = past.pop() ?? (given[place] ? [place, undefined] : []);
  if (where === undefined) return;
  const note = given[where]?.comment;
  mark(where, before ? (before.skipped ? "skip" : "label") : "withdraw", before);
  if (note && !before) drafts[where] = note;
  if (where === place) at("comment").value = note ?? "";
  show(places.indexOf(where));
}
function saveComment() {
  if (drawn < 0) return;
  const place = drawn, own = given[place];
  if (!own || (own.comment ?? null) === comment()) return keepDraft();
  past.push([place, own]);
  mark(place, own.skipped ? "skip" : "label", { ...own, comment: comment() });
}
function typed() {
  const text = at("number").value.trim().replace(",", "."), score = Number(text);
  if (text === "" || !Number.isFinite(score) || score < +desk.dataset.low || score > +desk.dataset.high) {
    at("number").setAttribute("aria-invalid", "true");
    return trouble(`Type a number from ${+desk.dataset.low} to ${+desk.dataset.high}.`);
  }
  at("number").removeAttribute("aria-invalid");
  trouble("");
  give(score);
}
const gradeOf = (key) => {
  const words = { y: "1", n: "0" }, isBinary = +desk.dataset.low === 0 && +desk.dataset.high === 1;
  const wanted = isBinary && words[key] !== undefined ? words[key] : key;
  return document.querySelector(`.grade[data-score="${CSS.escape(wanted)}"]`);
};
const ACTS = {
  ArrowLeft: () => show(now - 1),
  ArrowRight: () => show(now + 1),
  u: undo,
  s: skip,
  c: () => at("comment").focus(),
  r: () => { if (!at("reference").hidden) at("reference").open = !at("reference").open; },
  "?": () => at("keys").showModal(),
};
addEventListener("keydown", (event) => {
  if (event.altKey || event.metaKey || at("keys").open) return;
  if (event.target === at("comment")) {
    if (event.key === "Escape" || (event.key === "Enter" && event.ctrlKey)) { event.preventDefault(); at("comment").blur(); (at("number") ?? at("question")).focus({ preventScroll: true }); }
    return;
  }
  if (event.ctrlKey) return;
  const inNumber = event.target === at("number");
  if (inNumber && event.key === "Enter") { event.preventDefault(); return typed(); }
  if (inNumber && event.key.startsWith("Arrow") && at("number").value !== "") return;
  if (event.target.closest?.("nav, summary, a") && (event.key === "Enter" || event.key === " ")) return;
  const grade = /^[0-9yn]$/.test(event.key) ? gradeOf(event.key) : null;
  if (grade && !event.repeat) { event.preventDefault(); return give(+grade.dataset.score); }
  if (at("number") && !inNumber && /^[0-9.,-]$/.test(event.key)) { at("number").value = ""; return at("number").focus(); }
  const act = ACTS[event.key];
  if (act && !(event.repeat && event.key.length === 1)) { event.preventDefault(); act(); }
});
for (const button of document.querySelectorAll(".grade")) button.addEventListener("click", () => give(+button.dataset.score));
at("grades").addEventListener("submit", (event) => { event.preventDefault(); if (at("number")) typed(); });
at("comment").addEventListener("blur", saveComment);
for (const [id, act] of [["back", ACTS.ArrowLeft], ["on", ACTS.ArrowRight], ["undo", undo], ["skip", skip], ["help", ACTS["?"]]]) at(id).addEventListener("click", act);
at("keys").querySelector("button").addEventListener("click", () => at("keys").close());

async function begin() {
  let mine;
  try { mine = await ask("/mine"); } catch (mistake) {
    trouble(mistake.status ? mistake.message : "The server cannot be reached: the page keeps trying.");
    return setTimeout(begin, 2000);
  }
  trouble("");
  try { Object.assign(drafts, JSON.parse(localStorage.getItem(draftsKey) || "{}")); } catch { /* none are kept */ }
  places = mine.places;
  given = mine.given;
  for (const { place, kind, score, comment, policy: read } of outbox.waiting()) { // done here, and not yet at the server
    if ((read ?? "") !== policy) continue; // of an earlier text of the instructions
    if (kind === "withdraw") delete given[place]; else given[place] = kind === "skip" ? { skipped: true, comment } : { score, comment };
  }
  const wanted = places.indexOf(Number(new URLSearchParams(location.search).get("item") ?? -1)); // a link to one answer
  const first = wanted >= 0 ? wanted : places.findIndex(isOpen);
  await show(first === -1 ? places.length - 1 : first);
  if (outbox.waiting().length) outbox.flush(); // with nothing to send it would wipe what the first key is told
}
begin();
