"use strict";
/* Settle a difference: send the score, then show who had given what. */
for (const place of document.querySelectorAll("[data-thread]")) place.replaceWith(threadElement(JSON.parse(place.dataset.thread)));
for (const article of document.querySelectorAll(".difference")) {
  const said = article.querySelector(".said");
  async function decide(score) {
    const body = { place: Number(article.dataset.place), score, comment: article.querySelector("textarea").value };
    try {
      const { annotators } = await post(article.dataset.post, body);
      article.querySelectorAll(".who-gave").forEach((name, at) => { name.textContent = annotators[at]; });
      article.querySelectorAll("[data-score]").forEach((one) => one.setAttribute("aria-pressed", String(+one.dataset.score === score)));
      said.textContent = `Settled: ${score}. Decide again to change it.`;
    } catch (mistake) { said.textContent = mistake.message; }
  }
  article.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const typed = article.querySelector("input[type=number]");
    if (button.dataset.score !== undefined) decide(Number(button.dataset.score));
    else if (typed.value !== "") decide(Number(typed.value));
  });
}
