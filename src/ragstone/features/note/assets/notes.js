// Notes on an opened question: what people wrote, and a form for one more.
"use strict";
const saidAt = (note) => `${note.author}, ${note.at.slice(0, 10)}${note.system ? `, on ${note.system}` : ""}`;
/** Return the notes on a question, with a form where this person may write. */
async function notesElement(line) {
  const box = el("div", { class: "notes" }, el("h3", {}, "Notes"));
  const mayWrite = document.getElementById("run").dataset.notes === "write";
  const wrong = el("p", { class: "notice bad", role: "alert", hidden: true });
  const list = el("ul", {});
  const refreshNotes = async () => {
    const { notes, mine, tags } = await ask("notes", { question: line.id });
    list.replaceChildren(...notes.map((note) => {
      const item = el("li", {},
        note.text ? el("p", { class: "text", dir: "auto" }, note.text) : null,
        el("p", { class: "small muted" }, (note.tags ?? []).map((tag) => [el("span", { class: "badge", dir: "auto" }, tag), " "]), el("bdi", {}, saidAt(note))));
      if (mayWrite && mine.includes(note.id)) {
        const button = el("button", { type: "button", class: "small", "aria-label": `Remove the note of ${saidAt(note)}` }, "Remove");
        button.addEventListener("click", () => change(() => post(`${RUN}/notes/remove`, { id: note.id })));
        item.lastElementChild.append(" ", button);
      }
      return item;
    }));
    list.hidden = !notes.length;
    known.replaceChildren(...tags.map((tag) => el("option", { value: tag })));
  };
  const change = async (act) => {
    try { await act(); wrong.hidden = true; await refreshNotes(); return true; } catch (mistake) { wrong.textContent = mistake.message; wrong.hidden = false; return false; }
  };
  const known = el("datalist", { id: `tags-${line.id}` });
  box.append(list, known, wrong);
  if (mayWrite) {
    const text = el("textarea", { name: "text", rows: 2, maxlength: 10000, required: true, dir: "auto" });
    const tags = el("input", { name: "tags", list: known.id, maxlength: 1000, autocomplete: "off", placeholder: "wrong crop, out of date" });
    const systems = [...new Set(detailOf(line).answers.map((answer) => answer.system))];
    const system = el("select", { name: "system" }, el("option", { value: "" }, "every answer"), systems.map((name) => el("option", { value: name }, name)));
    text.required = false;
    const form = el("form", { class: "tools" },
      el("label", { class: "wide" }, "What you saw", text),
      el("label", {}, "Tags, separated by commas", tags),
      systems.length > 1 ? el("label", {}, "About", system) : null,
      el("div", { class: "acts" }, el("button", {}, "Add the note")));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const body = { question: line.id, text: text.value, tags: tags.value, system: system.value };
      if (await change(() => post(`${RUN}/notes`, body))) form.reset();
    });
    box.append(form);
  }
  await change(async () => {});
  return box;
}
// An opened question of a list is drawn by line.js; the notes are put below what it draws. The page of a row calls notesElement.
document.getElementById("list")?.addEventListener("toggle", async (event) => {
  const { line, open } = event.target;
  if (!line || !open || event.target.dataset.noted) return;
  event.target.dataset.noted = "yes";
  await rowsReady;
  while (!event.target.querySelector(".opened")) await new Promise(requestAnimationFrame);
  event.target.querySelector(".opened").append(await notesElement(line));
}, true);
