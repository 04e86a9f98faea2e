"use strict";
/* Forms that are sent as JSON: data-post names where to; numbers, and a file as its text. */
document.querySelector("[data-submits]")?.addEventListener("change", (event) => event.target.form.requestSubmit());
// A field that the browser finds wrong must be seen: what it is folded in opens.
addEventListener("invalid", (event) => { const folded = event.target.closest("details"); if (folded) folded.open = true; }, true);
for (const form of document.querySelectorAll("form[data-post]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const box = form.querySelector("[role=alert]"), body = {};
    for (const field of form.elements) {
      if (!field.name || (field.type === "radio" && !field.checked)) continue;
      if (field.type === "file") { body.file = field.files[0].name; body.text = await field.files[0].text(); }
      else body[field.name] = field.dataset.number === undefined ? field.value : Number(field.value);
    }
    const tell = (words, isBad) => { box.hidden = false; box.classList.toggle("bad", isBad); box.textContent = words; };
    try {
      const said = await post(form.dataset.post, body);
      if (said.go) location.href = said.go;
      else tell(`${said.n_labels} labels read, ${said.n_new} new or changed. Reload the page to see the figures.`, false);
    } catch (mistake) { tell(mistake.message, true); }
  });
}
