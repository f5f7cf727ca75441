// Cross-validated errors over (C, γ) as a small heat map: it fills while one plays, a click on it sets both sliders.

import { debounced, stream } from "./api.js";
import { learnerOf } from "./controls.js";
import { find, make } from "./elements.js";
import { missing, packed } from "./fitting.js";
import { short } from "./geometry.js";
import { channels, onTheme } from "./theme.js";

const SIDE = 8;
const QUIET = 500; // milliseconds without a change before folds are fitted
const SYMBOLS = { C: "C", lam: "λ", nu: "ν", gamma: "γ" };

/** Values over the whole range of a slider. */
function spread({ low, high, log }, count) {
  return Array.from({ length: count }, (_, k) => {
    const part = k / (count - 1);
    return Number((log ? low * (high / low) ** part : low + part * (high - low)).toPrecision(3));
  });
}

/** Where a value lies between the first and the last of a list, from 0 to 1. */
function partOf(value, values, log) {
  const on = (one) => (log ? Math.log(one) : one);
  if (values.length < 2) return 0.5;
  return Math.min(1, Math.max(0, (on(value) - on(values[0])) / (on(values.at(-1)) - on(values[0]))));
}

/** Whether each fold can have points of each class. */
function enough(scene) {
  if (missing(scene)) return false;
  if (scene.task !== "classes") return scene.points.length >= 10;
  return [...new Set(scene.labels)].every((label) => scene.labels.filter((one) => one === label).length >= 2);
}

export function surface(root, store, choices) {
  const panel = find("#surface", root);
  const grid = find("#surface-grid", root);
  const now = make("span", { className: "now", "aria-hidden": "true" });
  const status = find("#surface-status", root);
  const marks = find("#surface-marks", root);
  const setting = find("#surface-setting", root);
  let stop = null;
  let asking = null; // for the error of the present setting
  let map = null; // { cost, costs, gammas, cells, errors }

  function layOut() {
    const { scene } = store;
    const { cost } = learnerOf(choices, scene);
    const costs = spread(choices.sliders[cost], SIDE);
    const gammas = scene.kernel.includes("?") ? spread(choices.sliders.gamma, SIDE) : [scene.gamma];
    map = { cost, costs, gammas, cells: [], errors: gammas.map(() => null), se: gammas.map(() => null) };
    map.gammas.toReversed().forEach((gamma, row) => {
      costs.forEach((value, column) => {
        const cell = make("button", { type: "button", className: "cell", "aria-label": "not computed yet" });
        cell.tabIndex = row || column ? -1 : 0; // one stop for the Tab key, arrow keys go on from it
        cell.addEventListener("click", () => store.update({ [cost]: value, gamma }));
        (map.cells[gammas.length - 1 - row] ??= []).push(cell);
      });
    });
    grid.style.setProperty("--rows", gammas.length);
    const cells = map.cells.toReversed().map((row) => make("div", { role: "row", className: "surface-row" }, ...row));
    for (const row of cells) for (const cell of row.children) cell.setAttribute("role", "gridcell");
    grid.replaceChildren(...cells, now);
    grid.setAttribute("aria-label", `Cross-validated error over ${SYMBOLS[cost]} and γ: choose a cell to set them`);
    find("#surface-across", root).textContent = `${SYMBOLS[cost]}: ${short(costs[0])} … ${short(costs.at(-1))}`;
    find("#surface-up", root).textContent = gammas.length > 1 ? `γ: ${short(gammas[0])} … ${short(gammas.at(-1))}` : "";
    marks.replaceChildren();
    showNow();
  }

  function showNow() {
    if (!map) return;
    const across = partOf(store.scene[map.cost], map.costs, choices.sliders[map.cost].log);
    const up = partOf(store.scene.gamma, map.gammas, true);
    now.style.left = `${(100 * (across * (map.costs.length - 1) + 0.5)) / map.costs.length}%`;
    now.style.bottom = `${(100 * (up * (map.gammas.length - 1) + 0.5)) / map.gammas.length}%`;
  }

  function paint() {
    if (!map) return;
    const known = map.errors.filter(Boolean).flat().filter(Number.isFinite);
    if (known.length === 0) return;
    const [least, most] = [Math.min(...known), Math.max(...known)];
    const [low, high] = [channels("heat-low"), channels("heat-high")];
    map.errors.forEach((row, r) => {
      row?.forEach((error, column) => {
        const cell = map.cells[r][column];
        if (error === null) {
          cell.setAttribute("aria-label", "could not be fitted in time");
          return;
        }
        const part = most > least ? (error - least) / (most - least) : 0;
        const mixed = low.map((value, k) => Math.round(value + (high[k] - value) * part));
        cell.style.backgroundColor = `rgb(${mixed.join(" ")})`;
        cell.classList.toggle("dark-cell", part > 0.5);
        const place = `${SYMBOLS[map.cost]} = ${short(map.costs[column])}, γ = ${short(map.gammas[r])}`;
        const text = `${place}: error ${shownError(error)} ± ${shownError(map.se[r][column])}`;
        cell.setAttribute("aria-label", text);
        cell.title = text;
      });
    });
  }

  const shownError = (error) => (store.scene.task === "classes" ? `${short(100 * error)}\u202f%` : short(error));

  function markBest({ best, one_se: simple, seconds, fits }) {
    const nearest = (values, value) => {
      const away = values.map((one) => Math.abs(Math.log(one / value)));
      return away.indexOf(Math.min(...away));
    };
    const cellOf = (place) => map.cells[nearest(map.gammas, place.gamma)][nearest(map.costs, place[map.cost])];
    const same = cellOf(best) === cellOf(simple);
    const found = same
      ? [[best, "★", "least error, and the simplest within one standard error"]]
      : [[best, "★", "least error"], [simple, "◆", "simplest within one standard error"]];
    const said = found.map(([place, sign, words]) => {
      const cell = cellOf(place);
      cell.textContent = sign;
      cell.setAttribute("aria-label", `${cell.getAttribute("aria-label")}, ${words}`);
      const set = make("button", { type: "button", className: "plain small", onclick: () => cell.click() });
      set.append(make("b", { "aria-hidden": "true" }, sign), ` ${words}: ${shownError(place.error)}`);
      return set;
    });
    marks.replaceChildren(...said);
    status.textContent = `${fits} fits in ${short(seconds)} s`;
  }

  /** The error of what the sliders say now, which seldom is a cell of the map. */
  async function computeNow() {
    asking?.abort();
    const { scene } = store;
    const { surface: useful, cost } = learnerOf(choices, scene);
    if (!useful || !enough(scene)) return;
    const mine = (asking = new AbortController());
    const body = { scene: packed(scene).sent, [cost]: [scene[cost]], gamma: [scene.gamma], folds: 5 };
    try {
      for await (const line of stream("/api/surface", body, { signal: mine.signal })) {
        if (mine.signal.aborted) return;
        const [[error], [se]] = [line.errors ?? [null], line.se ?? [null]];
        if (error !== null) setting.textContent = `This setting: ${shownError(error)} ± ${shownError(se)}`;
      }
    } catch {
      setting.textContent = "";
    }
  }

  async function compute() {
    stop?.abort();
    const { scene } = store;
    if (!learnerOf(choices, scene).surface) return;
    layOut();
    if (!enough(scene)) return;
    const mine = (stop = new AbortController());
    status.textContent = "computing …";
    const begun = performance.now();
    try {
      const body = { scene: packed(scene).sent, [map.cost]: map.costs, gamma: map.gammas, folds: 5 };
      for await (const line of stream("/api/surface", body, { signal: mine.signal })) {
        if (mine.signal.aborted) return;
        if (line.error) throw new Error(line.error);
        if (line.done) {
          markBest(line);
          computeNow();
          performance.measure("surface", { start: begun, end: performance.now() });
        } else {
          const row = map.gammas.findIndex((gamma) => Math.abs(gamma / line.gamma - 1) < 1e-9);
          map.errors[row] = line.errors;
          map.se[row] = line.se;
          paint();
        }
      }
    } catch (trouble) {
      if (!mine.signal.aborted) status.textContent = trouble.message;
    }
  }

  const later = debounced(compute, QUIET);
  const laterNow = debounced(computeNow, QUIET);
  const sliding = ["C", "lam", "nu", "gamma"];
  const relevant = ["points", "labels", "learner", "kernel", "task", "scaled", "epochs", "epsilon", "seed"];
  function follow(what) {
    showNow();
    const { surface: useful } = learnerOf(choices, store.scene);
    panel.hidden = !useful;
    if (useful && relevant.some((name) => what.has(name))) {
      stop?.abort();
      status.textContent = enough(store.scene) ? "waiting for a pause …" : "Add a few more points.";
      later();
    } else if (useful && sliding.some((name) => what.has(name))) laterNow();
    if (useful && [...relevant, ...sliding].some((name) => what.has(name))) {
      asking?.abort();
      setting.textContent = "";
    }
  }
  grid.addEventListener("keydown", (event) => {
    const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [1, 0], ArrowDown: [-1, 0] }[event.key];
    if (!step || !map) return;
    event.preventDefault();
    const row = map.cells.findIndex((cells) => cells.includes(event.target));
    const column = map.cells[row].indexOf(event.target);
    const to = map.cells[row + step[0]]?.[column + step[1]];
    if (!to) return;
    event.target.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  });
  store.listen(follow);
  onTheme(paint);
  return { refresh: later };
}
