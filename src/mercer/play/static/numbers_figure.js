// The picture of numbers: curve, bands that contain new targets, quantiles, tube, points with their slack.

import { drawAxes, drawGround } from "./axes.js";
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
      pen.path(linePath(along(view, x, side)), { stroke: colours.classes[1], width: 1.2, dash: [6, 4] });
    }
  }
  for (const { q, y: line } of answer.quantiles ?? []) {
    if (q === 0.5) continue; // the curve itself
    pen.path(linePath(along(view, x, line)), { stroke: colours.classes[3], width: 1.4, opacity: 0.9 });
  }
  if (y) pen.path(linePath(along(view, x, y)), { stroke: colours.ink, width: 2.2 });
}

/** A line from a point to the edge of the tube, as long as its slack. */
function drawSlack(pen, view, { scene, facts }, colours) {
  scene.points.forEach(([x, y], k) => {
    const slack = facts.slack?.[k];
    if (!(slack > 1e-9)) return;
    const to = y - Math.sign(y - facts.score[k]) * slack;
    pen.path(linePath(along(view, [x, x], [y, to])), { stroke: colours.classes[0], width: 1.2, opacity: 0.7 });
  });
}

/** `picture`: { scene, answer, facts, near, cursor }. */
export function drawNumbers(pen, view, picture, colours) {
  const { scene, answer, facts } = picture;
  const radius = scene.points.length > 500 ? 3 : view.width < 480 ? 4.2 : 4.8;
  const ringed = facts && !facts.support.every(Boolean);
  drawGround(pen, view, colours);
  pen.clipped(view.frame, () => {
    if (answer?.curve) drawCurves(pen, view, answer, colours);
    if (facts) drawSlack(pen, view, picture, colours);
    scene.points.forEach(([x, y], k) => {
      const at = [view.px(x), view.py(y)];
      const ring = { stroke: colours.ink, width: 1.2, opacity: 0.8, at };
      if (ringed && facts.support[k]) pen.path(discPath(radius + 3), ring);
      pen.path(shapePath(0, radius), { fill: colours.classes[0], stroke: colours.raised, width: 1.2, at });
      if (picture.near === k) pen.path(discPath(radius + 6), { stroke: colours.accent, width: 2, at });
    });
    if (picture.cursor) {
      const at = [view.px(picture.cursor[0]), view.py(picture.cursor[1])];
      pen.path("M-14 0h9M5 0h9M0 -14v9M0 5v9", { stroke: colours.ink, width: 1.8, at });
    }
  });
  drawAxes(pen, view, colours, scene.axes);
}
