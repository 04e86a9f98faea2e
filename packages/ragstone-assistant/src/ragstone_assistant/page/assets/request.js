// What the page asks of the server. A failure is a Problem, with the server's own words.

class Problem extends Error {
  constructor(status, words, retryAfter) {
    super(words);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

const kept = {
  get: (name) => { try { return sessionStorage.getItem(name); } catch { return null; } },
  set: (name, value) => {
    try { value ? sessionStorage.setItem(name, value) : sessionStorage.removeItem(name); } catch { /* private mode */ }
  },
};

async function request(path, { body, signal } = {}) {
  const key = kept.get("key");
  const headers = { ...(key && { Authorization: `Bearer ${key}` }), ...(body && { "Content-Type": "application/json" }) };
  const response = await fetch(path, {
    method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), signal, credentials: "omit",
  });
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  const words = said.detail || said.title || said.error?.message || response.statusText;
  throw new Problem(response.status, words, Number(response.headers.get("Retry-After")) || null);
}

const fetched = async (path, options) => (await request(path, options)).json();

// Yield what a stream of server-sent events carries, decoded, until it says that it is done.
async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new TypeError("the stream ended early");
    text = (text + value).replaceAll("\r\n", "\n");
    let end;
    while ((end = text.indexOf("\n\n")) >= 0) {
      const lines = text.slice(0, end).split("\n").filter((line) => line.startsWith("data:"));
      text = text.slice(end + 2);
      const data = lines.map((line) => line.slice(5).trimStart()).join("\n");
      if (data === "[DONE]") return;
      if (data) yield JSON.parse(data);
    }
  }
}
