// A small curve of how the gap falls, on a logarithmic scale, with a dot where one is.

import { linePath } from "./pens.js";

const SPACE = "http://www.w3.org/2000/svg";

function drawn(tag, attributes) {
  const element = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

/** `picture` is an svg element of 240 × 40; values that are not positive are left out. */
export function sparkline(picture, values, at) {
  const known = values.map((value, k) => [k, value]).filter(([, value]) => value > 0);
  picture.toggleAttribute("hidden", known.length < 3);
  if (known.length < 3) return;
  const logs = known.map(([, value]) => Math.log(value));
  const [low, high] = [Math.min(...logs), Math.max(...logs)];
  const x = (k) => 4 + (232 * k) / Math.max(1, values.length - 1);
  const y = (log) => 36 - (32 * (log - low)) / (high - low || 1);
  const line = linePath(known.map(([k], place) => [x(k), y(logs[place])]));
  const here = known.findLast(([k]) => k <= at - 1);
  picture.replaceChildren(drawn("path", { d: line, class: "spark" }));
  if (here) picture.append(drawn("circle", { cx: x(here[0]), cy: y(Math.log(here[1])), r: 3.5, class: "spark-dot" }));
}
