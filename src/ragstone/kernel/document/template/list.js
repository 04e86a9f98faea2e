// ---- the list: filtered, searched, shown page by page, linked. A page gives lines, lineElement, select, rowsReady,
// told (how many are shown, in words), offered (after a reset) and begin.

let shown = lines;
let page = 0;
const list = document.getElementById("list");
function draw() {
  const last = Math.max(0, Math.ceil(shown.length / A_PAGE) - 1);
  page = Math.min(Math.max(page, 0), last);
  list.replaceChildren(...shown.slice(page * A_PAGE, (page + 1) * A_PAGE).map(lineElement));
  document.getElementById("nothing").hidden = shown.length > 0;
  document.getElementById("shown").textContent = told(shown.length, lines.length);
  for (const where of document.querySelectorAll("[data-pages]")) {
    where.hidden = last === 0;
    where.querySelector("span").textContent = `Page ${page + 1} of ${last + 1}`;
    where.querySelector("[data-step='-1']").disabled = page === 0;
    where.querySelector("[data-step='1']").disabled = page === last;
  }
}
async function refresh() {
  if (control("search").value.trim()) await rowsReady; // words stand in the rows, all else in the lines
  shown = select();
  page = 0;
  draw();
}
function reset() { document.getElementById("tools").reset(); offered(); refresh(); }
function openLinked() {
  if (!location.hash.startsWith("#q-")) return;
  let id;
  try { id = decodeURIComponent(location.hash.slice(3)); } catch { return; }
  const line = lines.find((other) => other.id === id);
  if (!line) return;
  if (!document.getElementById("q-" + id)) {
    if (!shown.includes(line)) reset();
    page = Math.floor(shown.indexOf(line) / A_PAGE);
    draw();
  }
  const node = document.getElementById("q-" + id);
  node.open = true;
  node.scrollIntoView();
  node.querySelector("summary").focus({ preventScroll: true });
}

document.getElementById("tools").hidden = false;
// Up and down go from question to question, as in any list; Enter and Space open one.
list.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || event.altKey || event.ctrlKey || event.metaKey || !event.target.matches(".question > summary")) return;
  const stops = [...list.querySelectorAll(".question > summary")];
  const next = stops[stops.indexOf(event.target) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
});
document.getElementById("tools").addEventListener("submit", (event) => event.preventDefault());
let waiting;
control("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(refresh, 150); });
for (const menu of document.querySelectorAll("#tools select")) menu.addEventListener("change", refresh);
document.getElementById("reset").addEventListener("click", reset);
for (const button of document.querySelectorAll("[data-step]")) {
  button.addEventListener("click", () => {
    page += Number(button.dataset.step);
    draw();
    document.getElementById("questions").scrollIntoView();
  });
}
addEventListener("hashchange", openLinked);
addEventListener("load", openLinked); // after the browser has looked for the element itself
begin();
