// ---- one line of the list

function chip(line, place) {
  const cell = line.cells[place];
  const column = columns[place];
  const kind = typeof cell === "string" ? "unscored" : isLow(cell, column) ? "low" : "";
  return el("span", { class: "chip " + kind, title: column.caution ? `${column.model}: ${column.caution}` : column.model },
    nameOf(column) + " ", el("b", {}, scoreText(cell, column)), column.caution ? " †" : null);
}
const MOST_CHIPS = 8; // of more, a judge has one for all systems: the opened question shows each
function chipsOf(line, chosen) {
  const given = chosen.filter((place) => line.cells[place] !== null);
  if (!severalSystems || given.length <= MOST_CHIPS) return given.map((place) => chip(line, place));
  const judges = new Map();
  for (const place of given) {
    const name = judgeOf(columns[place]);
    judges.set(name, [...(judges.get(name) ?? []), place]);
  }
  return [...judges].map(([name, places]) => {
    const scored = places.filter((place) => typeof line.cells[place] !== "string");
    const n = scored.filter((place) => isLow(line.cells[place], columns[place])).length;
    const rest = places.length - scored.length;
    const title = places.map((place) => `${columns[place].system} ${scoreText(line.cells[place], columns[place])}`).join(", ");
    return el("span", { class: "chip " + (n ? "low" : rest ? "unscored" : ""), title },
      name + " ", el("b", {}, `${n} of ${scored.length} low`), rest ? `, ${rest} not scored` : null);
  });
}
function foundChip(line) {
  if (line.found === undefined) return null;
  return line.found ? el("span", { class: "chip" }, "found at ", el("b", {}, String(line.found)))
    : el("span", { class: "chip missed" }, "not found");
}
function causeChips(line) {
  return (line.causes ?? []).map((cause) => el("span", { class: "chip low" }, cause));
}
function lineElement(line) {
  const chosen = chosenColumns();
  const preview = line.preview ? el("span", { class: "preview", dir: "auto" }, line.preview) : null;
  const summary = el("summary", {},
    el("span", { class: "asked", dir: "auto" }, line.question ?? line.id), preview,
    el("span", { class: "chips" }, chipsOf(line, chosen), foundChip(line), causeChips(line)));
  const details = el("details", { class: "question", id: "q-" + line.id }, summary);
  details.addEventListener("toggle", async () => {
    if (!details.open || details.querySelector(".opened")) return;
    await rowsReady;
    if (!details.querySelector(".opened")) details.append(openedElement(line));
  });
  return el("li", {}, details);
}

