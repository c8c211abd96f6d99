// What is asked of the service, and how. The key goes in a header, never in an address.

const STORED = "nearcast-key";
let key = sessionStorage.getItem(STORED) ?? "";

export function useKey(given) {
  key = given.trim();
  if (key) sessionStorage.setItem(STORED, key);
  else sessionStorage.removeItem(STORED);
}

/** An error of the service, in its four parts; `field` and `position` say where. */
export class Problem extends Error {
  constructor(status, details) {
    super(details.detail ?? `answer ${status}`);
    this.status = status;
    this.details = details;
  }

  /** What is wrong, without the name of what is being written. */
  get words() {
    const { what, wanted, hint } = this.details;
    if (!what) return this.message;
    const short = what.replace(/^(subscription|message|publish|subscribe) '[^']*': /, "");
    const parts = [short.replace(/^(keywords|where|area|text|at): /, "")];
    if (wanted) parts.push(`wanted ${wanted}`);
    return parts.join(": ") + (hint ? ` (${hint})` : "");
  }
}

function headersOf(extra) {
  return key ? { authorization: `Bearer ${key}`, ...extra } : { ...extra };
}

function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Ask for something. A write that got no answer is repeated once: its key lets it happen once. */
export async function call(method, path, body, { signal } = {}) {
  const headers = headersOf(body === undefined ? {} : { "content-type": "application/json" });
  if (method !== "GET") headers["idempotency-key"] = randomKey();
  const options = { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError" || method === "GET") throw error;
    answer = await fetch(path, options);
  }
  const text = await answer.text();
  if (!answer.ok) throw new Problem(answer.status, detailsOf(text));
  return answer.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text) : text;
}

function detailsOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Read Server-Sent Events until the stream ends: [event, id, data]. */
async function* eventsOf(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      let [event, id, data] = ["message", null, ""];
      for (const line of block.split("\n")) {
        if (line.startsWith("event: ")) event = line.slice(7);
        else if (line.startsWith("id: ")) id = line.slice(4);
        else if (line.startsWith("data: ")) data += line.slice(6);
      }
      if (data) yield [event, id, JSON.parse(data)];
    }
  }
}

/** Follow a stream for as long as the page is there; after a loss it goes on where it was. */
export async function follow(path, take, tell, signal) {
  let last = null;
  let wait = 500;
  while (!signal.aborted) {
    try {
      const headers = headersOf(last === null ? {} : { "last-event-id": last });
      const answer = await fetch(path, { headers, signal });
      if (!answer.ok) throw new Problem(answer.status, detailsOf(await answer.text()));
      tell("live");
      wait = 500;
      for await (const [event, id, data] of eventsOf(answer)) {
        if (id !== null) last = id;
        take(event, data);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 401 || error.status === 403) return tell("refused");
    }
    if (signal.aborted) return;
    tell("lost");
    await new Promise((done) => setTimeout(done, wait));
    wait = Math.min(10_000, wait * 2);
  }
}

export const pathOf = (id, rest = "") => `v1/subscriptions/${encodeURIComponent(id)}${rest}`;
