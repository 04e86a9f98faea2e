// ---- one line of the list

function chip(line, place) {
  const cell = line.cells[place];
  if (cell === null) return null;
  const column = columns[place];
  const kind = typeof cell === "string" ? "unscored" : isLow(cell, column) ? "low" : "";
  return el("span", { class: "chip " + kind, title: column.caution ? `${column.model}: ${column.caution}` : column.model },
    nameOf(column) + " ", el("b", {}, scoreText(cell, column)), column.caution ? " †" : null);
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
    el("span", { class: "chips" }, chosen.map((place) => chip(line, place)), foundChip(line), causeChips(line)));
  const details = el("details", { class: "question", id: "q-" + line.id }, summary);
  details.addEventListener("toggle", async () => {
    if (!details.open || details.querySelector(".opened")) return;
    await rowsReady;
    if (!details.querySelector(".opened")) details.append(openedElement(line));
  });
  return el("li", {}, details);
}

