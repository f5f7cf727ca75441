// Questions to the server: each is a POST with the token of this run.

import { token } from "./token.js";

/** What went wrong, in a sentence for the reader. `kind`: "refused" (mend the question), "server", "gone", "token". */
export class ApiError extends Error {
  constructor(sentence, kind, status = 0) {
    super(sentence.charAt(0).toUpperCase() + sentence.slice(1));
    this.kind = kind;
    this.status = status;
  }
}

async function send(path, body, signal) {
  let response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Mercer-Token": await token() },
      body: JSON.stringify(body),
      signal,
    });
  } catch (trouble) {
    if (trouble.name === "AbortError") throw trouble;
    throw new ApiError("The server does not answer: start “mercer play” again and open the address it prints.", "gone");
  }
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({}));
  throw new ApiError(error ?? `The server answered with status ${response.status}.`, kindOf(response), response.status);
}

function kindOf({ status }) {
  if (status === 401 || status === 403) return "token";
  return status < 500 ? "refused" : "server";
}

/** Ask once: the answer as an object, or an ApiError. Aborting `signal` rejects with an AbortError. */
export async function post(path, body = {}, { signal } = {}) {
  return (await send(path, body, signal)).json();
}

/** Ask for an answer that comes line by line: an async generator of objects. */
export async function* stream(path, body = {}, { signal } = {}) {
  const reader = (await send(path, body, signal)).body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.trim()) yield JSON.parse(line);
  }
  if (rest.trim()) yield JSON.parse(rest);
}

/**
 * One question in flight, the newest one next. `latest(work)` gives `ask(…)`, whose promise holds the answer,
 * or null where a newer question overtook this one before it was sent.
 */
export function latest(work) {
  let busy = false;
  let waiting = null;
  async function run({ question, resolve, reject }) {
    busy = true;
    try {
      resolve(await work(...question));
    } catch (trouble) {
      reject(trouble);
    }
    busy = false;
    if (waiting) {
      const next = waiting;
      waiting = null;
      run(next);
    }
  }
  return (...question) =>
    new Promise((resolve, reject) => {
      const job = { question, resolve, reject };
      if (!busy) return run(job);
      waiting?.resolve(null);
      waiting = job;
    });
}

/** Call `work` once things have been quiet for so many milliseconds; `.cancel()` forgets it. */
export function debounced(work, milliseconds) {
  let timer = 0;
  const later = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => work(...given), milliseconds);
  };
  later.cancel = () => clearTimeout(timer);
  return later;
}

/** Base64 of little-endian numbers, as the server sends grids. */
export function numbers(text, Kind = Float32Array) {
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let k = 0; k < letters.length; k += 1) bytes[k] = letters.charCodeAt(k);
  return new Kind(bytes.buffer);
}
