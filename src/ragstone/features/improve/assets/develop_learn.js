"use strict";
/* Learning from labels: the first press shows the forecast, the second starts the run. */
(() => {
  const own = document.getElementById("job").dataset.own;
  const form = document.getElementById("learn");
  if (!form) return;
  const button = form.querySelector("button.main");
  const said = document.getElementById("learn-said");
  const forecast = document.getElementById("learn-forecast");

  function asked() {
    const fields = new FormData(form);
    return { threshold: "", mapping: "", ...Object.fromEntries(fields), methods: fields.getAll("methods") };
  }

  function show(words) { said.textContent = words || ""; said.hidden = !words; }

  form.addEventListener("input", () => {
    delete form.dataset.forecast;
    button.textContent = "Learn";
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    show("");
    button.disabled = true;
    try {
      if (form.dataset.forecast) {
        await post(`${own}/learn`, asked());
        window.followJob();
      } else {
        forecast.textContent = "Forecasting …";
        const found = await post(`${own}/learn/forecast`, asked());
        forecast.textContent = found.lines.join("\n");
        if (found.calls && !form.elements.budget.value) form.elements.budget.value = found.budget;
        form.dataset.forecast = "1";
        button.textContent = "Learn: spend this";
      }
    } catch (mistake) {
      forecast.textContent = "";
      show(mistake.message);
    } finally {
      button.disabled = false;
    }
  });
})();
