"use strict";
/* What scripts of all pages use. */
const csrf = document.querySelector("meta[name=csrf]").content;

/** Send JSON to the workbench; give its reply, or throw an Error in its words. */
async function post(path, body) {
  const headers = { "Content-Type": "application/json", Accept: "application/json", "X-CSRF-Token": csrf };
  const reply = await fetch(path, { method: "POST", headers, body: JSON.stringify(body) });
  const said = await reply.json().catch(() => ({}));
  if (!reply.ok) throw Object.assign(new Error(said.detail || `The server said ${reply.status}.`), { status: reply.status });
  return said;
}
