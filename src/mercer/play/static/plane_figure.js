// The picture of classes and of novelty: tints, boundary and margins, slack, marks of the points.

import { drawAround, drawFrame } from "./axes.js";
import { contours } from "./contours.js";
import { discPath } from "./pens.js";
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
    const look = level === 0 ? { width: 2, opacity: 0.9 } : { width: 1.1, dash: [6, 4], opacity: 0.65 };
    const inPixels = lines.map((line) => line.map(toPixels));
    pen.lines(inPixels, { stroke: colours.ink, ...look });
  }
}

const radiusOf = (count, view) => (count > 500 ? 3.2 : (view.width < 480 ? 4.2 : 5.4) * (count > 80 ? 0.9 : 1));

function drawPoints(pen, picture, colours, view) {
  const { scene, facts } = picture;
  const radius = radiusOf(scene.points.length, view);
  const places = scene.points.map(([x, y]) => [view.px(x), view.py(y)]);
  if (facts) drawRings(pen, places, facts, radius, colours);
  const labels = scene.task === "classes" ? scene.labels : places.map(() => 0);
  const byClass = Object.groupBy(places, (_, k) => labels[k]);
  for (const [label, some] of Object.entries(byClass)) {
    const look = { fill: colours.classes[label], stroke: colours.raised, width: 1.2, reach: 1.6 * radius + 1 };
    pen.marks(shapePath(Number(label), radius), some, look);
  }
  if (!facts) return;
  const arm = radius + 0.6;
  const cross = `M${-arm} ${-arm}L${arm} ${arm}M${-arm} ${arm}L${arm} ${-arm}`;
  const wrong = places.filter((_, k) => facts.wrong[k]);
  pen.marks(cross, wrong, { stroke: colours.raised, width: 3.2, reach: arm + 3 });
  pen.marks(cross, wrong, { stroke: colours.ink, width: 1.6, reach: arm + 3 });
}

/** A ring around each support vector; the larger its α, the wider. */
function drawRings(pen, places, facts, radius, colours) {
  const most = Math.max(...facts.alpha.map(Math.abs), 1e-300);
  const steps = facts.alpha.map((alpha) => Math.round((10 * Math.abs(alpha)) / most));
  const ringed = places.map((place, k) => ({ place, step: steps[k] })).filter((_, k) => facts.support[k]);
  for (const [step, some] of Object.entries(Object.groupBy(ringed, ({ step }) => step))) {
    const size = radius * (1.3 + 0.075 * step);
    const look = { stroke: colours.ink, width: 1.2, opacity: 0.85, reach: size + 1 };
    pen.marks(discPath(size), some.map(({ place }) => place), look);
  }
}

/** Points that the step looks at, the one under the pointer, and the cursor of the keyboard. */
function drawAttention(pen, picture, colours, view) {
  const place = (k) => [view.px(picture.scene.points[k][0]), view.py(picture.scene.points[k][1])];
  for (const k of picture.looked ?? []) {
    if (!picture.scene.points[k]) continue;
    pen.marks(discPath(15), [place(k)], { stroke: colours.raised, width: 5, reach: 18 });
    pen.marks(discPath(15), [place(k)], { stroke: colours.bad, width: 2.6, reach: 18 });
  }
  if (picture.near !== null && picture.scene.points[picture.near]) {
    pen.marks(discPath(11), [place(picture.near)], { stroke: colours.accent, width: 2, reach: 13 });
  }
  if (picture.cursor) {
    const at = [view.px(picture.cursor[0]), view.py(picture.cursor[1])];
    const arms = "M-14 0h9M5 0h9M0 -14v9M0 5v9";
    pen.marks(arms, [at], { stroke: colours.raised, width: 4, reach: 17 });
    pen.marks(arms, [at], { stroke: colours.ink, width: 1.8, reach: 17 });
  }
}

/** From each point with slack a line to its margin. */
function drawSlack(pen, { scene, field, facts }, colours, view) {
  const lines = Object.groupBy(slackLines(field, scene, facts), ({ label }) => label);
  for (const [label, some] of Object.entries(lines)) {
    const inPixels = some.map(({ from, to }) => [from, to].map(([x, y]) => [view.px(x), view.py(y)]));
    pen.lines(inPixels, { stroke: colours.classes[label], width: 1.2, opacity: 0.8 });
  }
}

/** `picture`: { scene, field, levels, facts, looked, near, cursor }; `shade` tints with pixels or with areas. */
export function drawPlane(pen, view, picture, colours, shade = shadeWithPixels) {
  const { scene, field, facts } = picture;
  drawAround(pen, view, colours, scene.axes);
  pen.clipped(view.frame, () => {
    if (field) {
      shade(pen, field, colours, view);
      drawLevels(pen, field, picture.levels, colours, view);
    }
    const slack = field?.values && facts && scene.task === "classes" && picture.levels.includes(1);
    if (slack) drawSlack(pen, picture, colours, view);
    drawPoints(pen, picture, colours, view);
    drawAttention(pen, picture, colours, view);
  });
  drawFrame(pen, view, colours);
}
