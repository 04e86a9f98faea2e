// A reply as elements. Text from the server is only ever set as text, never as HTML.

function element(name, properties = {}, ...children) {
  const { data, ...others } = properties;
  const made = Object.assign(document.createElement(name), others);
  Object.assign(made.dataset, data);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Return a text as paragraphs and lists; `cite(n)` makes what stands for a mark [n].
function paragraphs(text, cite) {
  const blocks = [];
  let list = null;
  for (const line of text.split("\n")) {
    const item = /^\s*(?:([-*•])|\d+[.)])\s+(.*)$/.exec(line);
    if (item) {
      const kind = item[1] ? "ul" : "ol";
      if (list?.localName !== kind) blocks.push(list = element(kind, { dir: "auto" }));
      list.append(element("li", {}, ...inline(item[2], cite)));
    } else {
      list = null;
      if (line.trim()) blocks.push(element("p", { dir: "auto" }, ...inline(line, cite)));
    }
  }
  return blocks;
}

function inline(text, cite) {
  return text.split(/(\[\d+\]|\*\*[^*]+\*\*)/).map((part) => {
    const mark = /^\[(\d+)\]$/.exec(part);
    if (mark) return cite(Number(mark[1])) ?? part;
    if (/^\*\*[^*]+\*\*$/.test(part)) return element("strong", { textContent: part.slice(2, -2) });
    return part;
  });
}

function named(citation, words) {
  return words + (citation.page ? `, ${fill(t("page"), { page: citation.page })}` : "");
}

const sourceName = (citation) => named(citation, fill(t("source"), { number: citation.number, title: citation.title }));

function opensPassage(citation, words) {
  return element("li", {}, element("button", { type: "button", dir: "auto", textContent: words, onclick: () => openPassage(citation) }));
}

function sourcesOf(said) {
  if (!said.citations?.length) return null;
  const buttons = said.citations.map((one) => opensPassage(one, sourceName(one)));
  return element("ul", { className: "sources" }, element("li", {}, element("h2", { textContent: t("sources") })), ...buttons);
}

// Of a refusal: the passages that its text lists, so that they can be opened.
function nearestOf(said) {
  if (!said.nearest?.length) return null;
  return element("ul", { className: "sources" }, ...said.nearest.map((one) => opensPassage(one, named(one, one.title))));
}

function linksOf(said) {
  const safe = (said.links ?? []).filter(([, url]) => /^https?:\/\//i.test(url));
  if (!safe.length) return null;
  const items = safe.map(([title, href]) =>
    element("li", {}, element("a", { href, textContent: title, target: "_blank", rel: "noopener noreferrer", dir: "auto" })));
  return element("div", { className: "links" }, element("h2", { textContent: t("videos") }), element("ul", {}, ...items));
}

// Show a cited passage in its document, what stands around it muted.
async function openPassage(citation) {
  const dialog = document.getElementById("passage");
  const text = document.getElementById("passage-text");
  document.getElementById("passage-title").textContent = citation.title;
  document.getElementById("passage-place").textContent = citation.page ? fill(t("page"), { page: citation.page }) : "";
  text.replaceChildren(element("mark", { textContent: citation.text }));
  dialog.showModal();
  document.getElementById("passage-title").focus();
  try {
    const placed = await fetched(`v1/passages/${citation.chunk_id.split("/").map(encodeURIComponent).join("/")}`);
    const around = (words) => words ? element("span", { className: "muted", textContent: words }) : null;
    text.replaceChildren(...[around(placed.before), element("mark", { textContent: placed.text }), around(placed.after)].filter(Boolean));
    text.querySelector("mark").scrollIntoView({ block: "nearest" });
  } catch (problem) {
    if (problem.status === 404) text.append(element("p", { className: "problem", textContent: t("passage_gone") }));
  }
}

function verdictOn(said) {
  const note = element("span", { role: "status", className: "muted" });
  const form = element("form", { className: "correction", hidden: true },
    element("label", {}, element("span", { textContent: t("correction") }), element("textarea", { rows: 2, dir: "auto", maxLength: 4000 })),
    element("button", { textContent: t("correction_send") }));
  const tell = async (body) => {
    try {
      await request("v1/feedback", { body: { exchange_id: said.exchange_id, ...body } });
      note.textContent = t("thanks");
      return true;
    } catch (problem) {
      note.textContent = wordsOf(problem);
      return false;
    }
  };
  const thumbs = ["up", "down"].map((thumb) => element("button", {
    type: "button", textContent: t(thumb === "up" ? "helpful" : "not_helpful"), ariaPressed: "false", data: { thumb },
    onclick: async () => {
      if (!await tell({ thumb })) return;
      for (const each of thumbs) each.ariaPressed = String(each.dataset.thumb === thumb);
      form.hidden = thumb === "up";
      if (thumb === "down") form.querySelector("textarea").focus();
    },
  }));
  form.onsubmit = async (event) => {
    event.preventDefault();
    const correction = form.querySelector("textarea").value.trim();
    if (correction && await tell({ thumb: "down", correction })) form.hidden = true;
  };
  return element("div", { className: "verdict" }, ...thumbs, note, form);
}
