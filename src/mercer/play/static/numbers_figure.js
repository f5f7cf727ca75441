// The picture of numbers: curve, bands that contain new targets, quantiles, tube, points with their slack.

import { drawAround, drawFrame } from "./axes.js";
import { discPath, linePath } from "./pens.js";
import { shapePath } from "./shapes.js";

function along(view, xs, ys) {
  return xs.map((x, k) => [view.px(x), view.py(ys[k])]);
}

function area(view, xs, low, high) {
  return `${linePath([...along(view, xs, low), ...along(view, xs, high).reverse()])}Z`;
}

function drawCurves(pen, view, answer, colours) {
  const { x, y } = answer.curve;
  for (const band of answer.bands ?? []) {
    pen.path(area(view, x, band.low, band.high), { fill: colours.classes[0], opacity: 0.16 });
  }
  if (answer.tube) {
    pen.path(area(view, x, answer.tube.low, answer.tube.high), { fill: colours.classes[1], opacity: 0.16 });
    for (const side of [answer.tube.low, answer.tube.high]) {
      pen.lines([along(view, x, side)], { stroke: colours.classes[1], width: 1.2, dash: [6, 4] });
    }
  }
  for (const { q, y: line } of answer.quantiles ?? []) {
    if (q === 0.5) continue; // the curve itself
    pen.lines([along(view, x, line)], { stroke: colours.classes[3], width: 1.4, opacity: 0.9 });
  }
  if (y) pen.lines([along(view, x, y)], { stroke: colours.ink, width: 2.2 });
}

/** A line from a point to the edge of the tube, as long as its slack. */
function drawSlack(pen, view, { scene, facts }, colours) {
  const lines = scene.points.flatMap(([x, y], k) => {
    const slack = facts.slack?.[k];
    if (!(slack > 1e-9)) return [];
    const to = y - Math.sign(y - facts.score[k]) * slack;
    return [along(view, [x, x], [y, to])];
  });
  if (lines.length) pen.lines(lines, { stroke: colours.classes[0], width: 1.2, opacity: 0.7 });
}

/** `picture`: { scene, answer, facts, near, cursor }. */
export function drawNumbers(pen, view, picture, colours) {
  const { scene, answer, facts } = picture;
  const radius = scene.points.length > 500 ? 3 : view.width < 480 ? 4.2 : 4.8;
  drawAround(pen, view, colours, scene.axes);
  pen.clipped(view.frame, () => {
    if (answer?.curve) drawCurves(pen, view, answer, colours);
    if (facts) drawSlack(pen, view, picture, colours);
    const places = scene.points.map(([x, y]) => [view.px(x), view.py(y)]);
    const reach = radius + 8;
    const ringed = facts && !facts.support.every(Boolean) ? places.filter((_, k) => facts.support[k]) : [];
    pen.marks(discPath(radius + 3), ringed, { stroke: colours.ink, width: 1.2, opacity: 0.8, reach });
    pen.marks(shapePath(0, radius), places, { fill: colours.classes[0], stroke: colours.raised, width: 1.2, reach });
    const near = places[picture.near];
    if (near) pen.marks(discPath(radius + 6), [near], { stroke: colours.accent, width: 2, reach });
    if (picture.cursor) {
      const at = [view.px(picture.cursor[0]), view.py(picture.cursor[1])];
      pen.marks("M-14 0h9M5 0h9M0 -14v9M0 5v9", [at], { stroke: colours.ink, width: 1.8, reach: 16 });
    }
  });
  drawFrame(pen, view, colours);
}
