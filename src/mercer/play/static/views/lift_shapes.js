// What stands in the space of a lift, as pieces in the cube [−1, 1]³: patches, lines, points and words.
// A piece is { kind, at: [places], … }; lift_paint.js draws them from the farthest to the nearest.

import { numbers } from "../api.js";
import { contours } from "../contours.js";

const PATCHES = 22;
const FLOOR = -1;

/** A function that brings values between low and high to −1 … 1. */
const between = (low, high) => (value) => (high > low ? (2 * (value - low)) / (high - low) - 1 : 0);

/** A number a little beyond all others, so that nothing touches the frame. */
const reach = (values) => Math.max(...values.map(Math.abs), 1e-9) * 1.08;

/** The points by the map (x₁², √2·x₁x₂, x₂²), on their way from the plane: `part` goes from 0 to 1. */
export function mapShapes(scene, answer, part) {
  const flat = scene.points;
  const far = reach(flat.flat());
  const high = Math.max(...answer.points.flatMap(([a, , c]) => [a, c]), 1e-9) * 1.08;
  const middle = reach([...answer.points.map(([, b]) => b), high / 2]);
  // √2·x₁x₂ runs across, x₁² away from the eye, x₂² upwards.
  const place = ([a, b, c]) => [b / middle, between(0, high)(a), between(0, high)(c)];
  const start = ([x, y]) => [x / far, y / far, FLOOR];
  const blend = (from, to) => from.map((value, k) => (1 - part) * value + part * to[k]);
  const lifted = ([x, y]) => blend(start([x, y]), place([x * x, Math.SQRT2 * x * y, y * y]));
  const pieces = [...cube(), ...webOf(lifted, far)];
  if (answer.plane && part > 0.02) pieces.push(...planePatches(answer.plane, middle, high, part));
  flat.forEach((_, k) => {
    const at = blend(start(flat[k]), place(answer.points[k]));
    pieces.push(pointOf(scene, k, at, answer.scores?.[k]));
  });
  const ends = part > 0.5
    ? [[[0, -1.22, FLOOR], answer.names[1]], [[1.24, 0, FLOOR], answer.names[0]], [[-1.12, 1.12, 0.85], answer.names[2]]]
    : [[[0, -1.22, FLOOR], scene.axes?.[0] ?? "x₁"], [[1.24, 0, FLOOR], scene.axes?.[1] ?? "x₂"]];
  return [...pieces, ...ends.map(([at, text]) => ({ kind: "word", at: [at], text }))];
}

/** The scores of the machine as a surface over the plane. */
export function heightShapes(scene, answer, part) {
  const { width, height } = answer.grid;
  const values = numbers(answer.grid.values);
  const [x0, x1, y0, y1] = answer.box;
  const most = Math.max(...values.map(Math.abs), ...(answer.scores ?? []).map(Math.abs), 1e-9);
  const up = (value) => (part * Math.max(-most, Math.min(most, value))) / most;
  const across = (i) => (2 * i) / (width - 1) - 1;
  const away = (j) => (2 * j) / (height - 1) - 1;
  const at = (i, j) => [across(i), away(j), up(values[j * width + i])];
  const pieces = [...cube()];
  for (let j = 0; j + 1 < height; j += 1) {
    for (let i = 0; i + 1 < width; i += 1) {
      const corner = [values[j * width + i], values[j * width + i + 1], values[(j + 1) * width + i], values[(j + 1) * width + i + 1]];
      const mean = corner.reduce((sum, value) => sum + value, 0) / 4;
      pieces.push({ kind: "patch", at: [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)], score: mean / most });
    }
  }
  for (const level of answer.levels) {
    for (const line of contours(values, width, height, level)) {
      const flat = line.map(([i, j]) => [across(i), away(j)]);
      pieces.push({ kind: "line", at: flat.map(([x, y]) => [x, y, FLOOR]), level, shadow: true });
      for (let k = 0; k + 1 < flat.length; k += 1) {
        const ends = [flat[k], flat[k + 1]].map(([x, y]) => [x, y, up(level)]);
        pieces.push({ kind: "line", at: ends, level, lifted: true });
      }
    }
  }
  scene.points.forEach(([x, y], k) => {
    const spot = [between(x0, x1)(x), between(y0, y1)(y), up(answer.scores[k])];
    if (Math.abs(spot[0]) <= 1 && Math.abs(spot[1]) <= 1) pieces.push(pointOf(scene, k, spot, answer.scores[k]));
  });
  const axes = scene.axes ?? ["x₁", "x₂"];
  const ends = [[[0, -1.22, FLOOR], axes[0]], [[1.24, 0, FLOOR], axes[1]], [[-1.12, 1.12, 0.85], "f(x)"]];
  return [...pieces, ...ends.map(([place, text]) => ({ kind: "word", at: [place], text }))];
}

function pointOf(scene, k, at, score) {
  const label = scene.labels?.[k] ?? 1;
  const wrong = score !== undefined && (scene.task === "novelty" ? score < 0 : scene.names.length === 2 && score > 0 !== (label === 1));
  return { kind: "point", at: [at], label, wrong };
}

/** The floor and the two walls behind: lines that say where one looks at. */
function cube() {
  const lines = [];
  for (const value of [-1, -0.5, 0, 0.5, 1]) {
    lines.push([[value, -1, FLOOR], [value, 1, FLOOR]], [[-1, value, FLOOR], [1, value, FLOOR]]);
  }
  lines.push([[-1, 1, FLOOR], [-1, 1, 1]], [[1, 1, FLOOR], [1, 1, 1]], [[-1, 1, 1], [1, 1, 1]], [[-1, -1, FLOOR], [-1, -1, 1]], [[-1, -1, 1], [-1, 1, 1]]);
  return lines.map((at) => ({ kind: "line", at, frame: true }));
}

/** Circles and rays of the plane, wherever the map takes them: all of them lie on a cone. */
function webOf(lifted, far) {
  const pieces = [];
  const turns = Array.from({ length: 49 }, (_, k) => (2 * Math.PI * k) / 48);
  for (const share of [0.25, 0.45, 0.65, 0.85, 1]) {
    pieces.push({ kind: "line", at: turns.map((turn) => lifted([share * far * Math.cos(turn), share * far * Math.sin(turn)])), web: true });
  }
  for (const turn of turns.filter((_, k) => k % 2 === 0)) {
    const along = Array.from({ length: 9 }, (_, k) => (k / 8) * far);
    pieces.push({ kind: "line", at: along.map((r) => lifted([r * Math.cos(turn), r * Math.sin(turn)])), web: true });
  }
  return pieces;
}

/** The plane ⟨w, φ⟩ + b = 0 inside the cube, in patches, so that points before and behind it are drawn in their turn. */
function planePatches({ normal, offset }, middle, high, part) {
  // In the coordinates of the cube: √2·x₁x₂ = middle·X, x₁² = high·(Y + 1)/2, x₂² = high·(Z + 1)/2.
  const w = [middle * normal[1], (high / 2) * normal[0], (high / 2) * normal[2]];
  const b = offset + w[1] + w[2];
  const steep = w.map(Math.abs).indexOf(Math.max(...w.map(Math.abs)));
  const [p, q] = [0, 1, 2].filter((axis) => axis !== steep);
  const solve = (u, v) => {
    const at = [0, 0, 0];
    at[p] = u;
    at[q] = v;
    at[steep] = -(b + w[p] * u + w[q] * v) / w[steep];
    return at;
  };
  const step = 2 / PATCHES;
  const patches = [];
  for (let i = 0; i < PATCHES; i += 1) {
    for (let j = 0; j < PATCHES; j += 1) {
      const [u, v] = [-1 + i * step, -1 + j * step];
      const corners = clipped([solve(u, v), solve(u + step, v), solve(u + step, v + step), solve(u, v + step)], steep);
      if (corners.length > 2) patches.push({ kind: "patch", at: corners, plane: part });
    }
  }
  return patches;
}

/** The part of a polygon between −1 and 1 along one axis. */
function clipped(corners, axis) {
  let kept = corners;
  for (const side of [-1, 1]) {
    const inside = (place) => side * place[axis] <= 1;
    const next = [];
    kept.forEach((from, k) => {
      const to = kept[(k + 1) % kept.length];
      if (inside(from)) next.push(from);
      if (inside(from) !== inside(to)) {
        const share = (side - from[axis]) / (to[axis] - from[axis]);
        next.push(from.map((value, each) => value + share * (to[each] - value)));
      }
    });
    kept = next;
  }
  return kept;
}
