// The scenes of the three tasks, what can be undone, and who wants to hear of changes.

export const CLASS_NAMES = ["blue", "orange", "green", "purple", "ochre", "grey"];
export const MOST_POINTS = 2000;

const SETTINGS = { C: 1, lam: 0.01, gamma: 1, nu: 0.2, epsilon: 0.1, epochs: 10, coverage: 0.9, seed: 0 };
const LEARNERS = { classes: "svc", novelty: "one-class", numbers: "kernel-ridge" };
const MOST_UNDONE = 200;

/** A scene of a task with nothing in it. */
export function emptyScene(task) {
  return {
    task,
    points: [],
    labels: [],
    names: task === "classes" ? CLASS_NAMES.slice(0, 2) : [],
    axes: task === "numbers" ? ["x", "y"] : ["x₁", "x₂"],
    scaled: false,
    learner: LEARNERS[task],
    kernel: "gaussian(gamma=?)",
    ...SETTINGS,
  };
}

/** The smallest box around the points with a margin; a box of its own where there are none. */
export function boxAround(points) {
  if (points.length === 0) return [-3, 3, -2.2, 2.2];
  const range = (axis) => {
    let low = Infinity;
    let high = -Infinity;
    for (const point of points) {
      low = Math.min(low, point[axis]);
      high = Math.max(high, point[axis]);
    }
    const margin = 0.12 * (high - low) || Math.max(1, 0.1 * Math.abs(low));
    return [low - margin, high + margin];
  };
  return [...range(0), ...range(1)];
}

export class Store {
  #places = {};
  #history = {};
  #listeners = new Set();
  #group = null;

  constructor() {
    for (const task of Object.keys(LEARNERS)) {
      this.#places[task] = { scene: emptyScene(task), box: boxAround([]) };
      this.#history[task] = { past: [], future: [] };
    }
    this.task = "classes";
    this.version = 0;
    this.planeTask = "classes"; // what the plane showed last
  }

  get scene() {
    return this.#places[this.task].scene;
  }

  get box() {
    return this.#places[this.task].box;
  }

  /** The scene of the plane, whichever tab is open: what the lift shows. */
  get planeScene() {
    return this.#places[this.planeTask].scene;
  }

  /** The scenes of the other tasks that have points, with their boxes. */
  get others() {
    return Object.values(this.#places).filter(({ scene }) => scene.task !== this.task && scene.points.length > 0);
  }

  /** Whether a task has points, or had some. */
  isKnown(task) {
    return this.#places[task].scene.points.length > 0 || this.#history[task].past.length > 0;
  }

  /** Learner, kernel and sliders of a task, without the seed. */
  machineOf(task) {
    const { scene } = this.#places[task];
    const names = ["learner", "kernel", ...Object.keys(SETTINGS)].filter((name) => name !== "seed");
    return Object.fromEntries(names.map((name) => [name, scene[name]]));
  }

  /** Lay a scene by, to be found where its task is chosen. */
  keep({ scene, box }) {
    this.#places[scene.task] = { scene, box };
  }

  #turnTo(task) {
    this.task = task;
    if (task !== "numbers") this.planeTask = task;
  }

  /** `tell(what)`: what is the set of names that changed, e.g. "points", "C"; also "task", "box" and "load". */
  listen(tell) {
    this.#listeners.add(tell);
  }

  #tell(...names) {
    this.version += 1;
    const what = new Set(names);
    for (const tell of this.#listeners) tell(what);
  }

  /** Remember what there was; moves of one drag (the same `group`) are undone together. */
  #remember(group) {
    if (group !== null && group === this.#group) return;
    this.#group = group;
    const { past, future } = this.#history[this.task];
    past.push(this.#places[this.task]);
    if (past.length > MOST_UNDONE) past.shift();
    future.length = 0;
  }

  /** Change some keys of the scene. `group` names a drag, whose single moves are not undone one by one. */
  update(patch, group = null) {
    this.#remember(group);
    const place = this.#places[this.task];
    this.#places[this.task] = { ...place, scene: { ...place.scene, ...patch } };
    this.#tell(...Object.keys(patch));
  }

  /** A drag has ended: the next change is undone on its own. */
  endGroup() {
    this.#group = null;
  }

  /** Another scene altogether, of any task. */
  load(scene, box = boxAround(scene.points)) {
    this.#turnTo(scene.task);
    this.#remember(null);
    this.#places[this.task] = { scene: { ...emptyScene(scene.task), ...scene }, box };
    this.#tell("load", "task", "points", "box", "learner", "kernel", ...Object.keys(SETTINGS));
  }

  look(box) {
    this.#places[this.task] = { ...this.#places[this.task], box };
    this.#tell("box");
  }

  choose(task) {
    if (task === this.task) return;
    this.#turnTo(task);
    this.#group = null;
    this.#tell("task", "points", "box", "learner", "kernel", ...Object.keys(SETTINGS));
  }

  get undoable() {
    return this.#history[this.task].past.length > 0;
  }

  get redoable() {
    return this.#history[this.task].future.length > 0;
  }

  undo() {
    this.#travel("past", "future");
  }

  redo() {
    this.#travel("future", "past");
  }

  #travel(from, to) {
    const history = this.#history[this.task];
    if (history[from].length === 0) return;
    history[to].push(this.#places[this.task]);
    this.#places[this.task] = history[from].pop();
    this.#group = null;
    this.#tell("task", "points", "box", "learner", "kernel", ...Object.keys(SETTINGS));
  }

  addPoint(place, label) {
    const { points, labels, task } = this.scene;
    if (points.length >= MOST_POINTS) return false;
    this.update({ points: [...points, place], labels: task === "classes" ? [...labels, label] : [] });
    return true;
  }

  movePoint(index, place) {
    this.update({ points: this.scene.points.with(index, place) }, `move ${index}`);
  }

  removePoint(index, group = null) {
    const without = (list) => list.filter((_, k) => k !== index);
    this.update({ points: without(this.scene.points), labels: without(this.scene.labels) }, group);
  }
}
