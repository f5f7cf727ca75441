// How areas are tinted: towards the boundary a tint fades, so that one sees how sure the machine is.

import { numbers } from "./api.js";
import { regions } from "./contours.js";
import { linePath } from "./pens.js";

/**
 * The decision values of an answer, as one field for each class: positive where the class wins, zero on its border.
 * `classes` are the colours' numbers; two classes have one field between them.
 */
export function fieldOf(answer, classes) {
  if (answer.grid) {
    const { width, height, values } = answer.grid;
    const field = numbers(values);
    const tinted = classes.length === 1 ? field.filter((value) => value > 0) : field;
    return { width, height, box: answer.box, values: field, classes, scale: scaleOf(tinted, answer.levels) };
  }
  if (!answer.classes) return null;
  const { width, height } = answer.classes;
  const [winner, lead] = [numbers(answer.classes.winner, Uint8Array), numbers(answer.classes.lead)];
  return { width, height, box: answer.box, winner, lead, classes, scale: scaleOf(lead, answer.levels) };
}

/** A margin is the natural unit where there is one; otherwise half of the largest value. */
function scaleOf(values, levels) {
  if (levels?.includes(1)) return 1;
  let most = 0;
  for (const value of values) most = Math.max(most, Math.abs(value));
  return most / 2 || 1;
}

/** How strong a tint is at a value: rises steeply near the boundary, then levels out. */
const strength = (value, scale) => 1 - Math.exp((-1.6 * value) / scale);

/** The tints as a small canvas with a pixel for each node of the grid. */
export function tintBitmap(field, colours) {
  const { width, height, scale } = field;
  const picture = new OffscreenCanvas(width, height);
  const context = picture.getContext("2d");
  const image = context.createImageData(width, height);
  for (let row = 0; row < height; row += 1) {
    for (let column = 0; column < width; column += 1) {
      const from = row * width + column;
      const to = 4 * ((height - 1 - row) * width + column);
      const [place, value] = side(field, from);
      const [red, green, blue] = colours.channels[field.classes[place]];
      image.data[to] = red;
      image.data[to + 1] = green;
      image.data[to + 2] = blue;
      image.data[to + 3] = 255 * colours.shade * strength(value, scale);
    }
  }
  context.putImageData(image, 0, 0);
  return picture;
}

/** Which class wins at a node, and by how much. Novelty tints only the inside. */
function side(field, at) {
  if (field.winner) return [field.winner[at], field.lead[at]];
  const value = field.values[at];
  if (field.classes.length === 1) return [0, Math.max(0, value)];
  return value >= 0 ? [1, value] : [0, -value];
}

/** For each class a grid that is positive where it wins. */
function fieldsByClass(field) {
  if (field.winner) {
    return field.classes.map((_, k) => field.lead.map((lead, at) => (field.winner[at] === k ? lead : -lead)));
  }
  if (field.classes.length === 1) return [field.values];
  return [field.values.map((value) => -value), field.values];
}

// Between two steps an area has the tint of the value in their middle.
const STEPS = [0, 0.1, 0.22, 0.38, 0.6, 1, 1.6, 2.6, 4];
const TINTS = STEPS.slice(1).map((step, k) => strength((STEPS[k] + step) / 2, 1));

/** The same tints as nested areas, for a drawing without pixels. */
export function tintAreas(pen, field, colours, toPixels) {
  fieldsByClass(field).forEach((values, k) => {
    TINTS.forEach((tint, at) => {
      const under = at ? colours.shade * TINTS[at - 1] : 0;
      const opacity = 1 - (1 - colours.shade * tint) / (1 - under); // laid over the area outside it
      const outlines = regions(values, field.width, field.height, STEPS[at] * field.scale);
      if (outlines.length === 0) return;
      const path = outlines.map((line) => `${linePath(line.map(toPixels))}Z`).join("");
      pen.path(path, { fill: colours.classes[field.classes[k]], opacity: Number(opacity.toFixed(4)) });
    });
  });
}

/** The lines between classes: level 0 and, where they mean something, the margins. */
export function levelFields(field, levels) {
  if (field.winner) return fieldsByClass(field).map((values) => ({ level: 0, values }));
  return levels.map((level) => ({ level, values: field.values }));
}
