// Fits of the real library: one in flight, the newest scene next, the last good picture kept meanwhile.

import { latest, post } from "./api.js";
import { gridSize } from "./geometry.js";
import { fieldOf } from "./shading.js";
import { forget } from "./timings.js";

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
 * Keep a picture of the store's scene. `viewOf()` is how the scene is seen now; `shown(picture, version)` gets
 * { scene, answer, facts, field, levels, classes } or null where there is nothing to learn; `refused(error, scene)`.
 */
export function fitting(store, viewOf, { shown, refused }) {
  const ask = latest((body) => post("/api/fit", body));
  return async function refresh() {
    const { scene, version } = store;
    if (missing(scene)) {
      shown(null, version);
      return;
    }
    const view = viewOf();
    const { sent, classes } = packed(scene);
    try {
      const answer = await ask({ scene: sent, box: view.box, size: gridSize(view) });
      if (answer === null || store.scene.task !== scene.task) return;
      shown(pictureOf(scene, answer, classes), version);
    } catch (trouble) {
      forget();
      if (store.version === version) refused(trouble, scene);
    }
  };
}

function pictureOf(scene, answer, classes) {
  const { points: facts, levels = [0] } = answer;
  return { scene, answer, classes, facts, field: fieldOf(answer, classes), levels };
}
