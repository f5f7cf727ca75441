// How long it takes from a move of a slider to the painted boundary: window.mercerTimings, in milliseconds.

window.mercerTimings = [];

let waiting = [];
const channel = new MessageChannel();
const painting = [];
channel.port1.onmessage = () => {
  const now = performance.now();
  for (const { at } of painting.splice(0)) {
    window.mercerTimings.push(now - at);
    performance.measure("slider to paint", { start: at, end: now });
  }
};

/** A slider was moved; `version` is that of the state it made. */
export function moved(version, at) {
  waiting.push({ version, at });
}

/** A state is painted in this frame: every move up to it is answered once the frame is done. */
export function painted(version) {
  painting.push(...waiting.filter((move) => move.version <= version));
  waiting = waiting.filter((move) => move.version > version);
  if (painting.length) channel.port2.postMessage(null);
}

/** Moves that the server refused are never painted. */
export function forget() {
  waiting = [];
}
