// The list of questions: filter, sort, page through, open. Rows reach the page as text nodes only.
"use strict";
(() => {
  const A_PAGE = 50;
  const FAR = 1e9;
  const WORDS = JSON.parse(document.getElementById("words").textContent);
  const index = JSON.parse(document.getElementById("index").textContent);
  const { columns, lines } = index;
  const control = (name) => document.getElementById("tool-" + name);
  const severalSystems = new Set(columns.map((column) => column.system)).size > 1;
  const judged = columns.some((column) => column.model !== "none");
  lines.forEach((line, place) => { line.place = place; });

  const blocks = new Map();
  function rowOf(kind, place, size) {
    const id = kind + "-" + Math.floor(place / size);
    if (!blocks.has(id)) blocks.set(id, JSON.parse(document.getElementById(id).textContent));
    return blocks.get(id)[place % size];
  }
  const detailOf = (line) => rowOf("details", line.place, index.details_a_block);
  const passageOf = (number) => rowOf("passages", number, index.passages_a_block);

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

  function nameOf(column) {
    const judge = column.judge === column.metric ? column.judge : column.judge + ": " + column.metric;
    return severalSystems ? column.system + " · " + judge : judge;
  }
  function optionName(column) {
    const twins = columns.filter((other) => nameOf(other) === nameOf(column)).length > 1;
    return nameOf(column) + (twins ? " · " + column.model : "") + (column.model === "none" ? " (baseline)" : "");
  }
  function scoreText(cell, column) {
    if (typeof cell === "string") return WORDS[cell] ?? cell;
    return round(cell) + (column.high !== undefined && column.high !== 1 ? " of " + round(column.high) : "");
  }
  const middle = (column) => (column.low + column.high) / 2;
  const isLow = (cell, column) => typeof cell === "number" && cell < middle(column);
  const isHigh = (cell, column) => typeof cell === "number" && cell >= middle(column);

  // ---- filter and sort

  const RESULTS = [
    ["low", "low: below the middle of its scale", isLow],
    ["high", "high: the middle or above", isHigh],
    ["unscored", "not scored, for whatever reason", (cell) => typeof cell === "string"],
    ...Object.entries(WORDS).map(([status, words]) => ["is-" + status, words, (cell) => cell === status]),
    ["absent", "no judgement", (cell) => cell === null],
  ];
  const FOUND = {
    found: (line) => line.found > 0,
    first: (line) => line.found === 1,
    missed: (line) => line.found === 0,
    unknown: (line) => line.found === undefined,
  };
  function chosenColumns() {
    const chosen = control("judge").value;
    if (chosen !== "any") return [Number(chosen)];
    const all = columns.map((_, place) => place);
    return judged ? all.filter((place) => columns[place].model !== "none") : all;
  }
  function scoreOf(line, chosen) {
    const shares = chosen.filter((place) => typeof line.cells[place] === "number").map((place) => {
      const { low, high } = columns[place];
      return high > low ? (line.cells[place] - low) / (high - low) : line.cells[place];
    });
    return shares.length ? Math.min(...shares) : null;
  }
  const SORTS = {
    lowest: (chosen) => (line) => scoreOf(line, chosen) ?? FAR,
    highest: (chosen) => (line) => -(scoreOf(line, chosen) ?? -FAR),
    rank: () => (line) => (line.found === 0 ? -FAR : -(line.found ?? -FAR)),
  };
  const plain = (value) => value.normalize("NFKC").toLowerCase();
  function haystackOf(line) {
    if (line.haystack === undefined) {
      const detail = detailOf(line);
      const answers = detail.answers.map((answer) => answer.answer);
      const tags = Object.entries(line.tags ?? {}).flat();
      line.haystack = plain([line.id, line.question ?? "", ...tags, ...detail.references, ...answers].join("\n"));
    }
    return line.haystack;
  }
  function select() {
    const chosen = chosenColumns();
    const result = RESULTS.find(([value]) => value === control("result").value);
    const found = FOUND[control("found").value];
    const terms = plain(control("search").value).split(/\s+/).filter(Boolean);
    const kept = lines.filter((line) =>
      (!result || chosen.some((place) => result[2](line.cells[place], columns[place]))) &&
      (!found || found(line)) &&
      terms.every((term) => haystackOf(line).includes(term)));
    const key = SORTS[control("sort").value]?.(chosen);
    return key ? kept.map((line) => [key(line), line]).sort((a, b) => a[0] - b[0]).map((pair) => pair[1]) : kept;
  }
  function offerResults() {
    const menu = control("result");
    const before = menu.value;
    const chosen = chosenColumns();
    const options = RESULTS.map(([value, words, matches]) => {
      const n = lines.filter((line) => chosen.some((place) => matches(line.cells[place], columns[place]))).length;
      return n ? el("option", { value }, `${words} (${n.toLocaleString("en")})`) : null;
    });
    menu.replaceChildren(el("option", { value: "any" }, "any result"), ...options.filter(Boolean));
    menu.value = [...menu.options].some((option) => option.value === before) ? before : "any";
  }

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
  function lineElement(line) {
    const chosen = chosenColumns();
    const preview = line.preview ? el("span", { class: "preview", dir: "auto" }, line.preview) : null;
    const summary = el("summary", {},
      el("span", { class: "asked", dir: "auto" }, line.question ?? line.id), preview,
      el("span", { class: "chips" }, chosen.map((place) => chip(line, place)), foundChip(line)));
    const details = el("details", { class: "question", id: "q-" + line.id }, summary);
    details.addEventListener("toggle", () => {
      if (details.open && !details.querySelector(".opened")) details.append(openedElement(line));
    });
    return el("li", {}, details);
  }

  // ---- an opened question

  function openedElement(line) {
    const detail = detailOf(line);
    return el("div", { class: "opened" },
      answersElement(detail),
      judgementsElement(line, detail),
      detail.answers.map((answer) => contextsElement(answer, detail)),
      evidenceElement(detail),
      detail.rankings.map(rankingElement),
      tagsElement(line));
  }
  function answersElement(detail) {
    const answers = detail.answers.map((answer) => [
      el("h4", {}, detail.answers.length > 1 || answer.system !== "default" ? `Answer of ${answer.system}` : "Answer"),
      answer.error ? el("p", {}, el("b", {}, "The application failed: "), el("bdi", {}, answer.error)) : text(answer.answer || "(empty)"),
      el("p", { class: "muted small" }, [
        answer.latency_s !== undefined ? `${round(answer.latency_s)} s` : null,
        answer.cost_usd !== undefined ? `${answer.cost_usd.toPrecision(2)} USD` : null,
      ].filter(Boolean).join(" · ")),
    ]);
    const references = detail.references.length
      ? detail.references.map((reference) => text(reference))
      : [el("p", { class: "muted" }, detail.answerable === false ? "None: the corpus cannot answer this question." : "None given.")];
    return el("div", { class: "split" },
      el("div", {}, answers.length ? answers : [el("h4", {}, "Answer"), el("p", { class: "muted" }, "answers.jsonl has none for this question.")]),
      el("div", {}, el("h4", {}, detail.references.length > 1 ? "Reference: any one of" : "Reference"), references));
  }
  function judgementsElement(line, detail) {
    if (!detail.judgements.length) return el("p", { class: "muted" }, "No judge has seen this question.");
    const baselinesLast = [...detail.judgements].sort((a, b) => (columns[a.column].model === "none") - (columns[b.column].model === "none"));
    const rows = baselinesLast.map((row) => {
      const column = columns[row.column];
      const cell = line.cells[row.column];
      return el("tr", {},
        el("th", { scope: "row" }, nameOf(column), el("br", {}), el("span", { class: "muted small" }, column.model === "none" ? "baseline, no model" : column.model)),
        el("td", {}, el("span", { class: "chip " + (typeof cell === "string" ? "unscored" : isLow(cell, column) ? "low" : "") },
          el("b", {}, scoreText(cell, column))), column.caution ? el("div", { class: "small" }, "† ", column.caution) : null),
        el("td", {}, reasonElements(row, detail.answers.find((answer) => answer.system === column.system))));
    });
    const head = el("tr", {}, ["Judge", "Score", "Reason"].map((name) => el("th", { scope: "col" }, name)));
    return el("div", {}, el("h4", {}, "Judgements"), el("table", { class: "wide judged" }, el("thead", {}, head), el("tbody", {}, rows)));
  }
  function reasonElements(row, answer) {
    const parts = [];
    if (row.label !== undefined) parts.push(el("p", {}, "Label: ", el("bdi", {}, row.label)));
    if (row.rationale !== undefined) parts.push(text(row.rationale));
    if (row.error !== undefined) parts.push(el("p", { class: "muted text", dir: "auto" }, row.error));
    if (row.verdicts) parts.push(verdictsElements(row.verdicts, answer));
    return parts;
  }
  const OF = { answer: "Statements of the answer", reference: "Statements of the reference" };
  const SAID = {
    answer: ["In the reference: ", "Not in the reference: "],
    reference: ["In the answer: ", "Not in the answer: "],
    contexts: ["Of use: ", "Of no use: "],
  };
  function verdictsElements(verdicts, answer) {
    const sides = [...new Set(verdicts.map((verdict) => verdict.of))];
    return sides.map((of) => [
      OF[of] ? el("h5", {}, OF[of]) : null,
      el("ol", { class: "statements" }, verdicts.filter((verdict) => verdict.of === of).map((verdict) => verdictElement(verdict, answer))),
    ]);
  }
  function verdictElement(verdict, answer) {
    const [yes, no] = SAID[verdict.of] ?? ["Supported: ", "Not supported: "];
    return el("li", { value: verdict.id, class: verdict.supported ? "supported" : "unsupported" },
      el("b", {}, verdict.supported ? yes : no), el("bdi", {}, verdict.statement),
      verdict.context ? [" ", citeElement(verdict.context, answer)] : null,
      verdict.reason ? el("div", { class: "muted small", dir: "auto" }, verdict.reason) : null);
  }
  function citeElement(number, answer) {
    const name = `context ${number}`;
    if (!answer?.contexts || number > answer.contexts.length) return el("span", { class: "muted small" }, name);
    const button = el("button", { class: "cite", type: "button", title: "Show this context" }, name);
    button.addEventListener("click", () => {
      const lists = [...button.closest(".opened").querySelectorAll("[data-contexts]")];
      const place = lists.find((list) => list.dataset.contexts === answer.system).querySelector("ol").children[number - 1];
      const passage = place.querySelector("details");
      for (const other of place.parentElement.querySelectorAll(".cited")) other.classList.remove("cited");
      passage.open = true;
      passage.classList.add("cited");
      passage.scrollIntoView({ block: "nearest" });
      passage.querySelector("summary").focus({ preventScroll: true });
    });
    return button;
  }
  function contextsElement(answer, detail) {
    if (answer.contexts === undefined) return null;
    const whose = detail.answers.length > 1 ? ` to ${answer.system}` : "";
    const given = answer.contexts.length ? placesElement(answer.contexts) : el("p", { class: "muted" }, "Nothing was retrieved.");
    return el("div", { "data-contexts": answer.system }, el("h4", {}, "Contexts given" + whose), given);
  }
  function placesElement(places) {
    return el("ol", { class: "passages" }, places.map((place, n) => el("li", {}, placeElement(place, n + 1))));
  }
  function placeElement([number, score, relevant], rank) {
    const { text: words, document: id, chunk, title } = passageOf(number);
    const name = [id ?? chunk, title].filter(Boolean).join(" · ");
    const glimpse = title || !words ? null : el("span", { class: "muted glimpse" }, (name ? " · " : "") + words.slice(0, 160));
    const summary = el("summary", { title: chunk ? "chunk " + chunk : null },
      el("span", { class: "muted" }, String(rank)),
      el("span", { class: "start", dir: "auto" }, name, glimpse),
      el("span", { class: "small" }, relevant ? el("span", { class: "caution" }, "relevant") : null, score === null ? null : " " + round(score)));
    return el("details", { class: relevant ? "passage relevant" : "passage", open: relevant && Boolean(words) },
      summary, text(words ?? "The run holds no text of this passage."));
  }
  function evidenceElement(detail) {
    if (!detail.relevant && !detail.evidence) return null;
    const named = (detail.relevant ?? []).map((id) => el("li", {}, el("bdi", {}, id)));
    const passages = (detail.evidence ?? []).map(([id, words]) => [el("p", { class: "muted small" }, el("bdi", {}, id)), text(words)]);
    return el("div", {}, el("h4", {}, "Where the answer is"), passages.length ? passages : el("ul", { class: "statements" }, named));
  }
  function rankingElement(ranking) {
    const first = ranking.first_relevant === undefined ? ""
      : ranking.first_relevant ? `: first relevant document at rank ${ranking.first_relevant} of ${ranking.n}` : `: no relevant document in ${ranking.n} places`;
    return el("details", { class: "folded" }, el("summary", {}, `Ranking of ${ranking.retriever}${first}`), placesElement(ranking.places));
  }
  function tagsElement(line) {
    const link = el("a", { href: "#q-" + encodeURIComponent(line.id) }, "Link to this question");
    const tags = Object.entries(line.tags ?? {}).map(([key, value]) => el("span", { class: "chip" }, el("bdi", {}, `${key}: ${value}`)));
    return el("div", { class: "tag-list" }, el("span", { class: "muted" }, "id ", el("bdi", {}, line.id)), tags, link);
  }

  // ---- the list

  let shown = lines;
  let page = 0;
  const list = document.getElementById("list");
  function draw() {
    const last = Math.max(0, Math.ceil(shown.length / A_PAGE) - 1);
    page = Math.min(Math.max(page, 0), last);
    list.replaceChildren(...shown.slice(page * A_PAGE, (page + 1) * A_PAGE).map(lineElement));
    document.getElementById("nothing").hidden = shown.length > 0;
    const of = lines.length.toLocaleString("en");
    document.getElementById("shown").textContent = shown.length === lines.length
      ? `${of} questions` : `${shown.length.toLocaleString("en")} of ${of} questions`;
    for (const where of document.querySelectorAll("[data-pages]")) {
      where.hidden = last === 0;
      where.querySelector("span").textContent = `Page ${page + 1} of ${last + 1}`;
      where.querySelector("[data-step='-1']").disabled = page === 0;
      where.querySelector("[data-step='1']").disabled = page === last;
    }
  }
  function refresh() { shown = select(); page = 0; draw(); }
  function reset() { document.getElementById("tools").reset(); offerResults(); refresh(); }
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

  control("judge").append(...columns.map((column, place) => el("option", { value: String(place) }, optionName(column))));
  document.getElementById("tools").hidden = false;
  document.getElementById("tools").addEventListener("submit", (event) => event.preventDefault());
  let waiting;
  control("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(refresh, 150); });
  for (const name of ["judge", "result", "found", "sort"]) {
    control(name).addEventListener("change", () => { if (name === "judge") offerResults(); refresh(); });
  }
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
  reset();
})();
