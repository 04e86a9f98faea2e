"use strict";
/* A judge or a prompt as fields. Its text is what is kept: a field is a value of it, which the server reads and
   writes in place. develop.js checks the text and tells what it found; what is typed here goes with the next check. */
(() => {
  const own = document.getElementById("job").dataset.own;
  const box = document.getElementById("fields");
  const text = document.getElementById("text");
  const asText = document.getElementById("as-text");
  const NAMED = /\{(\w+)\}/g;
  let shape = "";
  let form = null;
  let typed = new Map(); // place -> change that the server has not had yet
  let waiting = 0;
  let asking = false;

  const key = (place) => JSON.stringify(place);
  function make(tag, fields = {}, ...inner) {
    const made = Object.assign(document.createElement(tag), fields);
    made.append(...inner.filter((one) => one !== null));
    return made;
  }
  const inputs = () => [...box.querySelectorAll("[data-place]")];
  const inputOf = (place) => inputs().find((one) => one.dataset.place === key(place));

  function distance(a, b) {
    let row = Array.from({ length: b.length + 1 }, (_, at) => at);
    for (let i = 1; i <= a.length; i += 1) {
      const before = row;
      row = [i];
      for (let j = 1; j <= b.length; j += 1) {
        row[j] = Math.min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      }
    }
    return row[b.length];
  }

  /* Which names the prompts hold: known ones are ticked in the list, others are named beneath their prompt. */
  function marks() {
    const known = form.variables.map((one) => one.name);
    const prompts = inputs().filter((one) => one.dataset.input === "prompt");
    const every = new Set(prompts.flatMap((one) => [...one.value.matchAll(NAMED)].map((found) => found[1])));
    for (const one of box.querySelectorAll("[data-variable]")) {
      one.setAttribute("aria-pressed", every.has(one.dataset.variable) ? "true" : "false");
    }
    for (const one of prompts) {
      const place = one.closest(".field").querySelector(".unknown");
      const names = [...new Set([...one.value.matchAll(NAMED)].map((found) => found[1]))];
      const unknown = known.length ? names.filter((name) => !known.includes(name)) : [];
      one.classList.toggle("odd", unknown.length > 0);
      if (key(unknown) === place.dataset.names) continue;
      place.dataset.names = key(unknown);
      place.replaceChildren(...unknown.map((name) => {
        const near = known.filter((other) => distance(name, other) < 3).sort((a, b) => distance(name, a) - distance(name, b))[0];
        const line = make("p", { className: "notice bad small" }, `{${name}} is not a name that can be used here. `);
        if (near) {
          line.append(button(`Write {${near}}`, () => {
            one.value = one.value.replaceAll(`{${name}}`, `{${near}}`);
            one.focus();
            change(one);
          }), " ");
        }
        const reads = inputOf(["inputs"]);
        if (reads) {
          line.append(button(`It is a column of the rows: read it`, () => {
            reads.value = [...reads.value.split(/[\s,]+/), name].filter(Boolean).join(", ");
            change(reads);
          }));
        }
        return line;
      }));
      place.hidden = !unknown.length;
    }
  }

  function button(words, press, fields = {}) {
    const made = make("button", { type: "button", textContent: words, className: "slim", ...fields });
    made.addEventListener("click", press);
    return made;
  }

  let last = null; // the prompt that was typed in last, where a variable is put
  function put(name) {
    const into = last?.isConnected ? last : inputs().find((one) => one.dataset.input === "prompt");
    into.setRangeText(`{${name}}`, into.selectionStart, into.selectionEnd, "end");
    into.focus();
    change(into);
  }

  function control(field) {
    const value = field.value;
    const told = { "data-place": key(field.place), "data-input": field.input };
    const many = field.input === "prompt" || field.input === "lines";
    if (field.input === "choice") {
      const options = field.choices.includes(value) ? field.choices : [value, ...field.choices];
      const made = make("select", {}, ...options.map((name) => make("option", { value: name, textContent: name, selected: name === value })));
      return named(made, told);
    }
    if (field.input === "pair") {
      return named(make("span", { className: "ends" }, ...["lowest", "highest"].map((end, at) => {
        const made = make("input", { value: value[at], inputMode: "decimal", autocomplete: "off" });
        made.setAttribute("aria-label", `${field.label}: ${end}`);
        return made;
      })), told);
    }
    const made = make(many ? "textarea" : "input", { value, autocomplete: "off", spellcheck: field.input === "prompt" });
    if (field.input === "number") made.inputMode = "decimal";
    if (field.input === "prompt") { made.rows = rows(value); made.addEventListener("focus", () => { last = made; }); }
    if (field.input === "lines") made.rows = 3;
    made.dir = "auto";
    return named(made, told);
  }
  const rows = (value) => Math.min(22, Math.max(3, value.split("\n").reduce((n, line) => n + 1 + Math.floor(line.length / 80), 1)));
  function named(made, told) {
    for (const [name, value] of Object.entries(told)) made.setAttribute(name, value);
    return made;
  }

  function drawn(field, at) {
    const id = `field-${at}`;
    const label = make("label", { htmlFor: id, textContent: field.label });
    const hint = field.hint ? make("p", { id: `${id}-hint`, className: "muted small", textContent: field.hint }) : null;
    if (field.input === "fixed") {
      return make("div", { className: "field" }, make("p", { className: "label", textContent: field.label }), make("p", { textContent: field.value }), hint);
    }
    const made = control(field);
    const wrong = make("p", { id: `${id}-wrong`, className: "notice bad small wrong", hidden: true });
    wrong.setAttribute("role", "alert");
    if (field.input === "pair") { made.setAttribute("role", "group"); made.setAttribute("aria-label", field.label); }
    else made.id = id;
    made.setAttribute("aria-describedby", [hint ? `${id}-hint` : "", `${id}-wrong`].filter(Boolean).join(" "));
    made.addEventListener("input", () => change(made));
    const remove = field.removes ? button("Remove", () => send([{ place: field.removes, value: null }]), { ariaLabel: `Remove ${field.label}: ${typeof field.value === "string" ? field.value.slice(0, 40) : ""}` }) : null;
    const unknown = field.input === "prompt" ? make("div", { className: "unknown", hidden: true }) : null;
    unknown?.setAttribute("role", "status");
    const head = field.input === "pair" ? make("p", { className: "label", textContent: field.label }) : label;
    return make("div", { className: `field ${field.input}` }, head, remove ? make("div", { className: "removable" }, made, remove) : made, hint, wrong, unknown);
  }

  function adder(one) {
    const name = make("input", { autocomplete: "off", placeholder: "its name" });
    name.setAttribute("aria-label", `${one.label}: its name`);
    const wrong = make("p", { className: "notice bad small wrong", hidden: true });
    wrong.setAttribute("role", "alert");
    const add = async () => {
      const found = await send([{ place: one.place, value: name.value, adds: true }]);
      const refused = found?.problem && key(found.place) === key(one.place);
      wrong.textContent = refused ? found.problem : "";
      wrong.hidden = !refused;
      if (!refused) name.value = "";
    };
    name.addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); add(); } });
    return make("div", { className: "field adder" }, make("div", { className: "removable" }, name, button(one.label, add)), wrong);
  }

  function draw(found) {
    form = found;
    const now = key([found.fields.map((one) => [one.place, one.input, one.choices]), found.adding, found.variables]);
    if (now === shape) { renew(found); marks(); return; }
    const focused = document.activeElement?.closest?.("[data-place]")?.dataset.place;
    const open = box.querySelector("details")?.open;
    shape = now;
    const plain = [];
    const more = [];
    found.fields.forEach((field, at) => (field.more ? more : plain).push([field, drawn(field, at)]));
    const list = found.variables.length ? make("div", { className: "variables" },
      make("h3", { textContent: "What the prompt can use" }),
      make("ul", {}, ...found.variables.map((one) => make("li", {},
        button(`{${one.name}}`, () => put(one.name), { title: `Put {${one.name}} into the prompt` }), make("span", { className: "muted small", textContent: ` ${one.meaning}` }))))) : null;
    list?.querySelectorAll("button").forEach((one, at) => { one.dataset.variable = found.variables[at].name; });
    const first = plain.findIndex(([field]) => field.input === "prompt");
    const placed = plain.map(([field, made], at) => [field.group, at === first && list ? make("div", { className: "beside-prompt" }, made, list) : made]);
    box.replaceChildren(...grouped(placed),
      ...found.adding.map(adder),
      ...(found.in_text.length ? [make("p", { className: "muted small", textContent: `Set only in the file's text: ${found.in_text.join(", ")}.` })] : []),
      ...(more.length ? [make("details", { className: "folded", open: Boolean(open) }, make("summary", { textContent: "More" }), make("div", { className: "fields" }, ...more.map(([, made]) => made)))] : []));
    if (focused) inputs().find((one) => one.dataset.place === focused)?.focus();
    marks();
  }

  function grouped(placed) {
    const whole = [];
    let at = "";
    for (const [group, made] of placed) {
      if (group && group !== at) whole.push(make("fieldset", { className: "group" }, make("legend", { textContent: group })));
      if (group) whole.at(-1).append(made); else whole.push(made);
      at = group;
    }
    return whole;
  }

  function renew(found) {
    for (const field of found.fields) {
      const made = inputOf(field.place);
      if (!made || typed.has(key(field.place)) || made.contains(document.activeElement)) continue;
      if (field.input === "pair") [...made.children].forEach((end, at) => { end.value = field.value[at]; });
      else made.value = field.value;
    }
  }

  function fault(found) {
    const at = found.problem && found.place ? key(found.place) : "";
    for (const one of inputs()) {
      const wrong = one.closest(".field").querySelector(".wrong");
      const own = Boolean(at) && (one.dataset.place === at || at.startsWith(`${one.dataset.place.slice(0, -1)},`));
      one.setAttribute("aria-invalid", own ? "true" : "false");
      wrong.textContent = own ? found.problem : "";
      wrong.hidden = !own;
      if (own && one.closest("details")) one.closest("details").open = true;
    }
    return inputs().some((one) => one.getAttribute("aria-invalid") === "true");
  }

  function change(made) {
    const value = made.dataset.input === "pair" ? [...made.children].map((end) => end.value) : made.value;
    typed.set(made.dataset.place, { place: JSON.parse(made.dataset.place), value });
    marks();
    clearTimeout(waiting);
    waiting = setTimeout(() => send([]), 400);
  }

  /* One request at a time: the next one takes what was typed meanwhile, and the text that this one gave. */
  async function send(others) {
    clearTimeout(waiting);
    while (asking) await new Promise((resolve) => { setTimeout(resolve, 50); });
    const sent = typed;
    typed = new Map();
    if (!sent.size && !others.length) return null;
    asking = true;
    try {
      const found = await post(`${own}/check`, { text: text.value, changes: [...sent.values(), ...others], row: window.chosenRow?.() || "" });
      if (found.text !== text.value) { text.value = found.text; text.dispatchEvent(new CustomEvent("input", { detail: "fields", bubbles: true })); }
      document.dispatchEvent(new CustomEvent("checked", { detail: found }));
      return found;
    } catch (mistake) {
      for (const [place, one] of sent) if (!typed.has(place)) typed.set(place, one);
      document.dispatchEvent(new CustomEvent("checked", { detail: { problem: mistake.message, prompts: [], text: text.value } }));
      return null;
    } finally { asking = false; }
  }

  window.settleFields = () => (typed.size || asking ? send([]) : null); // before a run: what was typed last is in the text
  window.pendingFields = () => typed.size > 0 || asking;
  document.addEventListener("checked", ({ detail }) => {
    if (detail.form) draw(detail.form);
    else if (detail.form === null) asText.open = true; // no TOML: only the text can mend it
    box.hidden = detail.form === null || !form;
    document.getElementById("no-fields").hidden = detail.form !== null;
    const marked = form && fault(detail);
    document.getElementById("problem").hidden = !detail.problem || Boolean(marked && !asText.open);
  });
})();
