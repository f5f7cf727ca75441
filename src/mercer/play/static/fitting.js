// Fits of the real library: one in flight, the newest scene next, the last good picture kept meanwhile.

import { debounced, latest, post } from "./api.js";
import { gridSize } from "./geometry.js";
import { fieldOf } from "./shading.js";
import { forget } from "./timings.js";

const [COARSE, FINE] = [3000, 9000]; // nodes of the grid while things move, and once they rest
const REST = 150; // milliseconds without a change

/** The scene as the server takes it: only classes that have points, numbered without holes. */
export function packed(scene) {
  if (scene.task !== "classes") {
    const { names: _, labels: __, ...rest } = scene;
    return { sent: rest, classes: [0] };
  }
  const classes = [...new Set(scene.labels)].sort((a, b) => a - b);
  const place = new Map(classes.map((label, k) => [label, k]));
  const labels = scene.labels.map((label) => place.get(label));
  return { sent: { ...scene, labels, names: classes.map((k) => scene.names[k]) }, classes };
}

/** What is missing before anything can be learned, in a sentence; null where nothing is. */
export function missing(scene) {
  if (scene.task === "classes") {
    const present = new Set(scene.labels).size;
    if (present === 0) return "Click into the plane to add points of two classes.";
    if (present === 1) return "Add a point of another class.";
  } else if (scene.points.length < 3) {
    return "Click into the plane to add a few points.";
  }
  return null;
}

/**
 * Keep a picture of the store's scene. `viewOf()` is how the scene is seen now; `shown(picture, version, whole)` gets
 * { scene, answer, facts, field, levels, classes } or null where there is nothing to learn, and whether it is whole or a
 * finer one is still to come; `refused(error, scene)`.
 */
export function fitting(store, viewOf, { shown, refused }) {
  const ask = latest((body) => post("/api/fit", body));

  async function learn(nodes) {
    const { scene, version } = store;
    const view = viewOf();
    const { sent, classes } = packed(scene);
    try {
      const answer = await ask({ scene: sent, box: view.box, size: gridSize(view, nodes) });
      if (answer === null || store.scene.task !== scene.task) return;
      shown(pictureOf(scene, answer, classes), version, nodes === FINE);
    } catch (trouble) {
      forget();
      finer.cancel();
      if (store.version === version) refused(trouble, scene);
    }
  }
  const finer = debounced(() => learn(FINE), REST);
  let last = -Infinity;

  return function refresh() {
    if (missing(store.scene)) {
      finer.cancel();
      shown(null, store.version, true);
      return;
    }
    const now = performance.now();
    const moving = now - last < REST;
    last = now;
    if (moving) finer();
    learn(moving ? COARSE : FINE);
  };
}

function pictureOf(scene, answer, classes) {
  const { points: facts, levels = [0] } = answer;
  return { scene, answer, classes, facts, field: fieldOf(answer, classes), levels };
}
