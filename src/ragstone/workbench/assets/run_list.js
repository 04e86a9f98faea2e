// The list of a run's questions: the server filters, sorts and pages; the address keeps what was chosen.
"use strict";
const list = document.getElementById("list");
const FIELDS = ["search", "judge", "result", "found", "group", "cause", "low", "high", "where", "sort"];
const RESULT_WORDS = {
  low: "low: below the middle of its scale", high: "high: the middle or above",
  unscored: "not scored, for whatever reason", absent: "no judgement",
};
let groups = [], page = 0, asked = 0;

function queryOf() {
  const query = {};
  const put = (name, value, nothing) => { if (value !== nothing && value !== "") query[name] = value; };
  put("text", control("search").value.trim(), "");
  put("judge", control("judge").value, "any");
  put("result", control("result").value, "any");
  put("found", control("found").value, "any");
  const group = groups[control("group").value];
  if (group) [query.tag, query.value] = group;
  put("cause", control("cause").value, "any");
  put("low", control("low").value, "");
  put("high", control("high").value, "");
  put("where", control("where").value.trim(), "");
  put("order", control("sort").value, "file");
  if (page) query.at = page;
  return query;
}
function takeAddress() {
  const given = new URLSearchParams(location.search);
  const set = (name, value) => { if (value !== null && (control(name).tagName === "INPUT" || [...control(name).options].some((one) => one.value === value))) control(name).value = value; };
  set("search", given.get("text"));
  for (const name of ["judge", "found", "cause", "low", "high", "where"]) set(name, given.get(name));
  set("sort", given.get("order"));
  const group = groups.findIndex(([key, value]) => key === given.get("tag") && value === given.get("value"));
  if (group >= 0) control("group").value = String(group);
  if (given.get("result")) {
    control("result").append(el("option", { value: given.get("result") }, RESULT_WORDS[given.get("result")] ?? given.get("result")));
    control("result").value = given.get("result");
  }
  page = Math.max(0, Number(given.get("at")) || 0);
}
function offer(head) {
  columns = head.columns;
  severalSystems = new Set(columns.map((column) => column.system)).size > 1;
  judged = columns.some((column) => column.model !== "none");
  control("judge").append(...columns.map((column, place) => el("option", { value: String(place) }, optionName(column))));
  groups = head.groups;
  // The value is isolated, so that a right-to-left one leaves its number in place.
  control("group").append(...groups.map(([key, value, n], place) =>
    el("option", { value: String(place) }, `${key}: \u2068${value}\u2069 (${n.toLocaleString("en")})`)));
  const left = head.n_groups - groups.length;
  if (left) control("group").append(el("option", { disabled: true }, `${left.toLocaleString("en")} smaller: use the search`));
  control("group").parentElement.hidden = !groups.length;
  control("cause").append(...head.causes.map(([cause, n]) => el("option", { value: cause }, `${cause} (${n.toLocaleString("en")})`)));
  control("cause").parentElement.hidden = !head.causes.length;
  const names = Object.keys(head.filters).map((name) => el("code", {}, /^[^\s()"'`=<>!~,]+$/.test(name) ? name : `\`${name}\``));
  document.getElementById("where-names").append(...names.flatMap((name, place) => (place ? [", ", name] : [name])));
}
function offerResults(results) {
  const menu = control("result");
  const before = menu.value;
  const wording = (name) => RESULT_WORDS[name] ?? WORDS[name.slice(3)];
  menu.replaceChildren(el("option", { value: "any" }, "any result"),
    ...Object.entries(results).map(([name, n]) => el("option", { value: name }, `${wording(name)} (${n.toLocaleString("en")})`)));
  if (before !== "any" && !(before in results)) menu.append(el("option", { value: before }, `${wording(before) ?? before} (0)`));
  menu.value = before;
}
/** Show each choice in force, of the menus and of the filter in words, as a chip that takes it away. */
function showChips(conditions) {
  const chips = document.getElementById("chips"), had = chips.contains(document.activeElement);
  const off = (name, value) => () => { control(name).value = value; };
  const made = [];
  const search = control("search").value.trim();
  if (search) made.push([`holds ${search}`, off("search", "")]);
  for (const [name, nothing] of [["judge", "any"], ["result", "any"], ["found", "any"], ["group", "any"], ["cause", "any"]]) {
    const menu = control(name);
    if (menu.value !== nothing) made.push([menu.selectedOptions[0]?.textContent ?? menu.value, off(name, nothing)]);
  }
  for (const [name, sign] of [["low", "≥"], ["high", "≤"]]) if (control(name).value) made.push([`score ${sign} ${control(name).value}`, off(name, "")]);
  conditions.forEach((one, place) => made.push([one, () => { control("where").value = conditions.filter((_, other) => other !== place).join(" and "); }]));
  chips.replaceChildren(...made.map(([words, remove]) => {
    const chip = el("button", { type: "button", class: "filter-chip" }, el("span", { class: "unseen" }, "Remove the filter "), el("bdi", {}, words), el("span", { "aria-hidden": "true" }, "×"));
    chip.addEventListener("click", () => { remove(); chosen(); });
    return el("li", {}, chip);
  }));
  chips.hidden = !made.length;
  if (had) (chips.querySelector("button") ?? document.getElementById("as-table")).focus();
}
function tell(mistake) {
  // What is wrong with a filter is said below it, and the rows stay: it may be half written.
  const filter = mistake?.message.startsWith("The filter");
  const put = (id, text) => { const node = document.getElementById(id); node.hidden = !text; node.textContent = text; };
  put("where-wrong", filter ? mistake.message : "");
  put("rows-wrong", mistake && !filter ? `The rows cannot be shown: ${mistake.message}` : "");
  control("where").setAttribute("aria-invalid", String(Boolean(filter)));
}
function elementOf(line) {
  const item = lineElement(line);
  const details = item.firstElementChild;
  details.querySelector("summary").dataset.row = "";
  details.line = line;
  return item;
}
// Before line.js hears that a question opens: from now on, what it waits for is this question.
list.addEventListener("toggle", (event) => {
  const { line, open } = event.target;
  if (!line || !open || event.target.querySelector(".opened")) return;
  rowsReady = fetchDetail(line).catch((mistake) => {
    event.target.querySelector("[role=alert]")?.remove();
    event.target.append(el("p", { role: "alert", class: "notice bad" }, mistake.message));
    return new Promise(() => {});
  });
}, true);
/** Fetch the page that is chosen and show it by `put`; of two questions at once, the later one counts. */
async function refresh(put = (rows) => list.replaceChildren(...rows)) {
  const mine = ++asked;
  list.classList.add("waiting");
  let found;
  try { found = await ask("rows", queryOf()); } catch (mistake) { if (mine === asked) tell(mistake); return; } finally { if (mine === asked) list.classList.remove("waiting"); }
  if (mine !== asked) return;
  tell(null);
  page = found.page;
  offerResults(found.results);
  showChips(found.conditions);
  put(found.lines.map(elementOf));
  document.getElementById("nothing").hidden = found.lines.length > 0;
  const of = `${found.of.toLocaleString("en")} ${found.of === 1 ? "question" : "questions"}`;
  document.getElementById("shown").textContent = found.n === found.of ? of : `${found.n.toLocaleString("en")} of ${of}`;
  const last = Math.max(0, Math.ceil(found.n / 50) - 1);
  for (const where of document.querySelectorAll("[data-pages]")) {
    where.hidden = last === 0;
    where.querySelector("span").textContent = `Page ${page + 1} of ${last + 1}`;
    for (const [step, rel, end] of [["-1", "prev", 0], ["1", "next", last]]) {
      const button = where.querySelector(`[data-step='${step}']`);
      button.disabled = page === end;
      button.dataset.rel = rel;
    }
  }
  const query = new URLSearchParams(queryOf()).toString();
  const table = document.getElementById("as-table");
  const run = new URL(table.href).searchParams.get("run");
  table.href = `${table.pathname}?${new URLSearchParams({ run, ...queryOf() })}`.replace(/&at=\d+/, "");
  history.replaceState(null, "", location.pathname + (query ? "?" + query : "") + location.hash);
}
function chosen() { page = 0; return refresh(); }
async function openLinked() {
  if (!location.hash.startsWith("#q-")) return;
  let id;
  try { id = decodeURIComponent(location.hash.slice(3)); } catch { return; }
  if (!document.getElementById("q-" + id)) {
    try { page = (await ask("place", { question: id })).page; } catch (mistake) { tell(mistake); return; }
    document.getElementById("tools").reset();
    await refresh();
  }
  const node = document.getElementById("q-" + id);
  if (!node) return;
  node.open = true;
  node.scrollIntoView();
  node.querySelector("summary").focus({ preventScroll: true });
}
async function begin() {
  document.getElementById("as-table").href += location.search.replace("?", "&");
  try { await indexed(); offer(await ask("head")); } catch (mistake) { tell(mistake); return; }
  takeAddress();
  control("search").dataset.search = "";
  document.getElementById("tools").hidden = false;
  await refresh(replaceFirst);
  await openLinked();
}
document.getElementById("tools").addEventListener("submit", (event) => event.preventDefault());
let waiting;
for (const name of FIELDS) {
  const typed = ["search", "low", "high", "where"].includes(name);
  control(name).addEventListener(typed ? "input" : "change", () => { clearTimeout(waiting); waiting = setTimeout(chosen, typed ? 200 : 0); });
}
document.getElementById("reset").addEventListener("click", () => { document.getElementById("tools").reset(); chosen(); });
for (const button of document.querySelectorAll("[data-step]")) {
  button.addEventListener("click", async () => {
    page += Number(button.dataset.step);
    await refresh();
    document.getElementById("questions").scrollIntoView();
    list.querySelector("[data-row]")?.focus({ preventScroll: true });
  });
}
addEventListener("hashchange", openLinked);
begin();
