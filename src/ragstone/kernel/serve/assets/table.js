// Saved views of a table: forms that are sent as JSON. Everything else of a table is links and plain forms.
"use strict";
for (const form of document.querySelectorAll("form[data-view]")) {
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const box = form.querySelector("[role=alert]"), body = { ...JSON.parse(form.dataset.view) };
    for (const field of form.elements) if (field.name) body[field.name] = field.value;
    const to = event.submitter?.dataset.to ?? form.dataset.to;
    if (to.endsWith("/delete") && !confirm(`Delete the view “${body.name}” for everybody?`)) return;
    try {
      location.href = (await post(to, body)).go;
    } catch (mistake) {
      box.hidden = false;
      box.textContent = mistake.message;
      box.focus();
    }
  });
}
// One menu is open at a time; Escape closes it and goes back to its button.
const menus = [...document.querySelectorAll(".row-menus > details")];
for (const menu of menus) {
  menu.addEventListener("toggle", () => { if (menu.open) for (const other of menus) if (other !== menu) other.open = false; });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.stopPropagation();
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}
