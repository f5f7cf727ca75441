// The scene in the fragment of the address (after #), which never reaches a server: JSON, deflated, base64.

import { CLASS_NAMES, MOST_POINTS, boxAround, emptyScene } from "./store.js";

const MARK = "m1."; // the format's version
const MOST_BYTES = 1_000_000;

async function through(bytes, transform) {
  const reader = new Blob([bytes]).stream().pipeThrough(transform).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MOST_BYTES) throw new Error("too large");
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const toText = (bytes) => {
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};
const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

/** What differs from an empty scene; places column by column with six digits, labels as one word. */
function shortened({ scene, box }) {
  const empty = emptyScene(scene.task);
  const six = (value) => Number(value.toPrecision(6));
  const short = {
    t: scene.task,
    x: scene.points.map(([x]) => six(x)),
    y: scene.points.map(([, y]) => six(y)),
    l: scene.labels.join(""),
    b: box.map(six),
  };
  for (const [name, value] of Object.entries(scene)) {
    if (["task", "points", "labels"].includes(name)) continue;
    if (JSON.stringify(value) !== JSON.stringify(empty[name])) short[name] = value;
  }
  return short;
}

/** The scene that is seen, its tab, the scenes of other tasks and the states of views. */
export async function toFragment({ scene, box, others }, tab, views) {
  const all = { ...shortened({ scene, box }), v: tab, w: views, o: others.map(shortened) };
  const bytes = new TextEncoder().encode(JSON.stringify(all));
  return MARK + toText(await through(bytes, new CompressionStream("deflate-raw")));
}

/** What a fragment holds: { scene, box, others, tab, views }; null where it is none of ours or damaged. */
export async function fromFragment(fragment) {
  if (!fragment.startsWith(MARK)) return null;
  try {
    const bytes = await through(toBytes(fragment.slice(MARK.length)), new DecompressionStream("deflate-raw"));
    const { v: tab, w: views, o: others, ...seen } = JSON.parse(new TextDecoder().decode(bytes));
    const first = checked(seen);
    return first && { ...first, others: (others ?? []).map(checked).filter(Boolean), tab, views: { ...views } };
  } catch {
    return null;
  }
}

/** Take only what has the type that a scene wants; an address may come from anybody. */
function checked({ t: task, x, y, l, b: box, ...rest }) {
  const number = (value) => typeof value === "number" && Number.isFinite(value);
  if (!["classes", "novelty", "numbers"].includes(task) || x.length !== y.length || x.length > MOST_POINTS) return null;
  if (![...x, ...y].every(number)) return null;
  const scene = emptyScene(task);
  for (const [name, usual] of Object.entries(scene)) {
    if (typeof rest[name] !== typeof usual || Array.isArray(rest[name]) !== Array.isArray(usual)) continue;
    if (Array.isArray(usual) && !rest[name].every((one) => typeof one === "string" && one.length <= 60)) continue;
    scene[name] = rest[name];
  }
  scene.points = x.map((value, k) => [value, y[k]]);
  scene.labels = task === "classes" ? Array.from(l, Number) : [];
  scene.names = task === "classes" ? scene.names.slice(0, CLASS_NAMES.length) : [];
  if (scene.axes.length !== 2) scene.axes = emptyScene(task).axes;
  const labelled = scene.labels.length === x.length && scene.labels.every((label) => label < scene.names.length);
  if (task === "classes" && !labelled) return null;
  const seen = Array.isArray(box) && box.length === 4 && box.every(number) && box[0] < box[1] && box[2] < box[3];
  return { scene, box: seen ? box : boxAround(scene.points) };
}
