// The rows that the page embeds, and the elements that they become. Rows reach the page as text nodes only.
"use strict";
const WORDS = JSON.parse(document.getElementById("words").textContent);
const index = JSON.parse(document.getElementById("index").textContent);
const { columns, lines } = index;
const severalSystems = new Set(columns.map((column) => column.system)).size > 1;
const judged = columns.some((column) => column.model !== "none");
lines.forEach((line, place) => { line.place = place; });

// ---- blocks: parsed when a row of theirs is needed; of a large run compressed, and unpacked after the first paint

const textOf = (id) => document.getElementById(id).textContent;
async function unpack(id) {
  const bytes = Uint8Array.from(atob(textOf(id)), (character) => character.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
const unpacked = new Map();
async function unpackRows() {
  await new Promise((ready) => addEventListener("load", () => setTimeout(ready)));
  const ids = [...document.querySelectorAll("script[id^='details-'], script[id^='passages-']")].map((script) => script.id);
  await Promise.all(ids.map(async (id) => unpacked.set(id, await unpack(id))));
}
/** Resolves when details and passages can be read. */
const rowsReady = index.packed ? unpackRows() : Promise.resolve();
rowsReady.catch(() => { document.getElementById("packed").hidden = false; });

const blocks = new Map();
function rowOf(kind, place, size) {
  const id = kind + "-" + Math.floor(place / size);
  if (!blocks.has(id)) {
    blocks.set(id, JSON.parse(unpacked.get(id) ?? textOf(id)));
    unpacked.delete(id);
  }
  return blocks.get(id)[place % size];
}
const detailOf = (line) => rowOf("details", line.place, index.details_a_block);
const passageOf = (number) => rowOf("passages", number, index.passages_a_block);

const prompts = new Map();
function promptsOf(id) {
  if (!prompts.has(id)) prompts.set(id, unpack(id).then(JSON.parse));
  return prompts.get(id);
}
async function callsOf(line) {
  const [shared, block] = await Promise.all([promptsOf("prompts-shared"), promptsOf("prompts-" + Math.floor(line.place / index.details_a_block))]);
  return { shared, calls: block[line.place % index.details_a_block] };
}

