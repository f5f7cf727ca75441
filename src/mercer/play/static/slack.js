// Slack as lines: from a point that is inside its margin (or beyond it), the shortest way up to the margin.
//
// The way follows the gradient of y·f, which is where the decision value grows fastest, on the grid that is painted.

const MOST_STEPS = 80;

/** Bilinear value and gradient (per cell) at a place given in cells, or null outside the grid. */
function sample({ values, width, height }, i, j) {
  const [column, row] = [Math.floor(i), Math.floor(j)];
  if (column < 0 || row < 0 || column + 1 >= width || row + 1 >= height) return null;
  const [s, t] = [i - column, j - row];
  const at = row * width + column;
  const [a, b, c, d] = [values[at], values[at + 1], values[at + width], values[at + width + 1]];
  return {
    value: a * (1 - s) * (1 - t) + b * s * (1 - t) + c * (1 - s) * t + d * s * t,
    across: (b - a) * (1 - t) + (d - c) * t,
    upward: (c - a) * (1 - s) + (d - b) * s,
  };
}

function wayToMargin(field, start, sign) {
  let [i, j] = start;
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const here = sample(field, i, j);
    if (!here) return null;
    const missing = 1 - sign * here.value;
    if (missing <= 0.01) return [i, j];
    const steep = Math.hypot(here.across, here.upward);
    if (steep < 1e-6) return null;
    const length = Math.min(1, missing / steep); // never more than a cell, never beyond the margin
    i += (sign * length * here.across) / steep;
    j += (sign * length * here.upward) / steep;
  }
  return null;
}

/** Lines from each point with slack to its margin, in places of the data; kept with the field. */
export function slackLines(field, scene, facts) {
  if (field.slack?.facts === facts) return field.slack.lines;
  const [x0, x1, y0, y1] = field.box;
  const [dx, dy] = [(x1 - x0) / (field.width - 1), (y1 - y0) / (field.height - 1)];
  const lines = [];
  scene.points.forEach(([x, y], k) => {
    if (!(facts.slack?.[k] > 1e-6)) return;
    const label = scene.labels[k];
    const end = wayToMargin(field, [(x - x0) / dx, (y - y0) / dy], label === field.classes[1] ? 1 : -1);
    if (end) lines.push({ from: [x, y], to: [x0 + end[0] * dx, y0 + end[1] * dy], label });
  });
  field.slack = { facts, lines };
  return lines;
}
