// ---- elements

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}
const text = (value) => el("p", { class: "text", dir: "auto" }, value);
const round = (value) => String(Math.round(value * 100) / 100).replace("-", "−");

function judgeOf(column) {
  return column.judge === column.metric ? column.judge : column.judge + ": " + column.metric;
}
function nameOf(column) {
  return severalSystems ? column.system + " · " + judgeOf(column) : judgeOf(column);
}
function optionName(column) {
  const twins = columns.filter((other) => nameOf(other) === nameOf(column)).length > 1;
  return nameOf(column) + (twins ? " · " + column.model : "") + (column.model === "none" ? " (baseline)" : "");
}
function scoreText(cell, column) {
  if (typeof cell === "string") return WORDS[cell] ?? cell;
  return round(cell) + (column.high !== undefined && column.high !== 1 ? " of " + round(column.high) : "");
}
/** [key, value] of each tag of a question and, first, its language, which may be a tag as well. */
function groupsOf(line) {
  const tags = Object.entries(line.tags ?? {});
  const known = line.lang === undefined || tags.some(([key, value]) => key === "lang" && value === line.lang);
  return known ? tags : [["lang", line.lang], ...tags];
}
const middle = (column) => (column.low + column.high) / 2;
const isLow = (cell, column) => typeof cell === "number" && cell < middle(column);
const isHigh = (cell, column) => typeof cell === "number" && cell >= middle(column);
