"use strict";
/* What an annotator did, kept in this browser until the server says that it is on its disk. Marks go out one
   by one in their order; sent twice, they are kept once. Nothing is dropped but what the server refuses, and that is shown. */

/** Fetch, and give up after a time: a connection that died without a word would be waited for for ever. */
const fetchInTime = (address, options) => fetch(address, { ...options, signal: AbortSignal.timeout(20000) });

function openOutbox(queue, person, tell) {
  const key = `ragstone-outbox:${queue}:${person}`;
  let token = document.querySelector("meta[name=csrf]").content;
  let memory = null; // where the browser keeps nothing
  let timer = 0, wait = 1000, flushing = false;

  const read = () => {
    if (memory) return memory;
    try { return JSON.parse(localStorage.getItem(key) || "[]"); } catch { return []; }
  };
  const write = (marks) => {
    if (memory) { memory = marks; return; }
    try {
      if (marks.length) localStorage.setItem(key, JSON.stringify(marks)); else localStorage.removeItem(key);
    } catch { memory = marks; }
  };
  addEventListener("beforeunload", (event) => { if (memory?.length) event.preventDefault(); });

  /** Send one mark; give `saved`, `refused` (for good), or why it must wait: `offline`, `login`, `other`. */
  async function send(mark, again = true) {
    let reply, said;
    try {
      reply = await fetchInTime(`${queue}/marks`, {
        method: "POST", body: JSON.stringify({ ...mark, annotator: person }), redirect: "error",
        headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRF-Token": token },
      });
      said = await reply.json();
    } catch { return ["offline"]; }
    if (reply.ok) return said.saved === true ? ["saved", said.changed] : ["offline"];
    if (reply.status === 401) return ["login", said.detail];
    if (reply.status === 403 && again && await renew()) return send(mark, false);
    if ([403, 409, 503].includes(reply.status)) return ["other", said.detail];
    if (reply.status >= 500 || reply.status === 429 || reply.status === 408) return ["offline", said.detail];
    return ["refused", said.detail];
  }
  /** After a new login the token of this page is an old one: take the new one from a page that is loaded again. */
  async function renew() {
    try {
      const reply = await fetchInTime(queue, { redirect: "error", headers: { Accept: "text/html" } });
      const found = new DOMParser().parseFromString(await reply.text(), "text/html").querySelector("meta[name=csrf]");
      if (!reply.ok || !found) return false;
      token = found.content;
      return true;
    } catch { return false; }
  }
  async function drain() {
    for (let first = read()[0]; first; first = read()[0]) {
      const { id, ...mark } = first;
      const [how, why] = await send(mark);
      if (how !== "saved" && how !== "refused") return tell(how, read().length, why);
      write(read().filter((one) => one.id !== id));
      if (how === "saved" && why) tell("changed", read().length);
      if (how === "refused") tell("refused", read().length, why, mark);
      wait = 1000;
    }
    tell("saved", 0);
  }
  async function flush() {
    clearTimeout(timer);
    if (flushing) return;
    flushing = true;
    try {
      await (navigator.locks ? navigator.locks.request(key, drain) : drain());
    } finally { flushing = false; }
    if (read().length) { timer = setTimeout(flush, wait); wait = Math.min(wait * 2, 15000); }
  }
  for (const moment of ["online", "focus"]) addEventListener(moment, () => { if (read().length) flush(); });
  addEventListener("visibilitychange", () => { if (!document.hidden && read().length) flush(); });
  return {
    /** Keep a mark, then send it: it is in the browser's store when this returns. */
    add(mark) {
      write([...read(), { id: `${Date.now()}-${Math.random()}`, ...mark }]);
      if (memory) tell("memory", memory.length);
      flush();
    },
    waiting: () => read(),
    flush,
  };
}
