// The picture of classes and of novelty: tints, boundary and margins, slack, marks of the points.

import { drawAxes, drawGround } from "./axes.js";
import { contours } from "./contours.js";
import { discPath, linePath } from "./pens.js";
import { levelFields, tintBitmap } from "./shading.js";
import { shapePath } from "./shapes.js";
import { slackLines } from "./slack.js";

/** How a node of the grid is found in the picture. */
export function gridToPixels(field, view) {
  const [x0, x1, y0, y1] = field.box;
  const [dx, dy] = [(x1 - x0) / (field.width - 1), (y1 - y0) / (field.height - 1)];
  return ([i, j]) => [view.px(x0 + i * dx), view.py(y0 + j * dy)];
}

/** Tints as pixels; shading.js's tintAreas is the same for a drawing without pixels. */
export function shadeWithPixels(pen, field, colours, view) {
  if (field.bitmap?.colours !== colours) field.bitmap = { colours, picture: tintBitmap(field, colours) };
  const [x0, x1, y0, y1] = field.box;
  const [left, top] = [view.px(x0), view.py(y1)];
  pen.bitmap(field.bitmap.picture, left, top, view.px(x1) - left, view.py(y0) - top);
}

function drawLevels(pen, field, levels, colours, view) {
  const toPixels = gridToPixels(field, view);
  field.lines ??= levelFields(field, levels).map(({ level, values }) => ({
    level,
    lines: contours(values, field.width, field.height, level),
  }));
  for (const { level, lines } of field.lines) {
    if (lines.length === 0) continue;
    const path = lines.map((line) => linePath(line.map(toPixels))).join("");
    const look = level === 0 ? { width: 2 } : { width: 1.1, dash: [6, 4] };
    pen.path(path, { stroke: colours.ink, ...look, opacity: level === 0 ? 0.9 : 0.65 });
  }
}

const radiusOf = (count, view) => (count > 500 ? 3.2 : (view.width < 480 ? 4.2 : 5.4) * (count > 80 ? 0.9 : 1));

function drawPoints(pen, picture, colours, view) {
  const { scene, facts } = picture;
  const radius = radiusOf(scene.points.length, view);
  const classOf = (k) => (scene.task === "classes" ? scene.labels[k] : 0);
  const places = scene.points.map(([x, y]) => [view.px(x), view.py(y)]);
  if (facts) drawRings(pen, places, facts, radius, colours);
  scene.points.forEach((_, k) => {
    const look = { fill: colours.classes[classOf(k)], stroke: colours.raised, width: 1.2, at: places[k] };
    pen.path(shapePath(classOf(k), radius), look);
  });
  if (!facts) return;
  const arm = radius + 0.6;
  const cross = `M${-arm} ${-arm}L${arm} ${arm}M${-arm} ${arm}L${arm} ${-arm}`;
  scene.points.forEach((_, k) => {
    if (!facts.wrong[k]) return;
    pen.path(cross, { stroke: colours.raised, width: 3.2, at: places[k] });
    pen.path(cross, { stroke: colours.ink, width: 1.6, at: places[k] });
  });
}

/** A ring around each support vector; the larger its α, the wider. Where all are, rings would tell nothing. */
function drawRings(pen, places, facts, radius, colours) {
  if (facts.support.every(Boolean) && facts.support.length > 12) return;
  const most = Math.max(...facts.alpha.map(Math.abs), 1e-300);
  places.forEach((at, k) => {
    if (!facts.support[k]) return;
    const size = radius * (1.3 + Math.round((10 * Math.abs(facts.alpha[k])) / most) * 0.075);
    pen.path(discPath(size), { stroke: colours.ink, width: 1.2, opacity: 0.85, at });
  });
}

/** Points that the step looks at, the one under the pointer, and the cursor of the keyboard. */
function drawAttention(pen, picture, colours, view) {
  const place = (k) => [view.px(picture.scene.points[k][0]), view.py(picture.scene.points[k][1])];
  for (const k of picture.looked ?? []) {
    if (!picture.scene.points[k]) continue;
    pen.path(discPath(15), { stroke: colours.raised, width: 5, at: place(k) });
    pen.path(discPath(15), { stroke: colours.bad, width: 2.6, at: place(k) });
  }
  if (picture.near !== null && picture.scene.points[picture.near]) {
    pen.path(discPath(11), { stroke: colours.accent, width: 2, at: place(picture.near) });
  }
  if (picture.cursor) {
    const at = [view.px(picture.cursor[0]), view.py(picture.cursor[1])];
    const arms = "M-14 0h9M5 0h9M0 -14v9M0 5v9";
    pen.path(arms, { stroke: colours.raised, width: 4, at });
    pen.path(arms, { stroke: colours.ink, width: 1.8, at });
  }
}

/** `picture`: { scene, field, levels, facts, looked, near, cursor }; `shade` tints with pixels or with areas. */
export function drawPlane(pen, view, picture, colours, shade = shadeWithPixels) {
  const { scene, field, facts } = picture;
  drawGround(pen, view, colours);
  pen.clipped(view.frame, () => {
    if (field) {
      shade(pen, field, colours, view);
      drawLevels(pen, field, picture.levels, colours, view);
    }
    if (field?.values && facts && scene.task === "classes" && picture.levels.includes(1)) {
      const lines = slackLines(field, scene, facts);
      for (const { from, to, label } of lines) {
        const path = linePath([from, to].map(([x, y]) => [view.px(x), view.py(y)]));
        pen.path(path, { stroke: colours.classes[label], width: 1.2, opacity: 0.8 });
      }
    }
    drawPoints(pen, picture, colours, view);
    drawAttention(pen, picture, colours, view);
  });
  drawAxes(pen, view, colours, scene.axes);
}
