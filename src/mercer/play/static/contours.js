// Level lines of a grid by marching squares, joined into long lines with the higher side on their left.

const [BOTTOM, RIGHT, TOP, LEFT] = [0, 1, 2, 3];

// Which sides a line enters and leaves by, for the corners that are high: bottom left 1, bottom right 2,
// top right 4, top left 8. The two saddles (5, 10) depend on the middle of the cell.
const LINES = [
  [], [BOTTOM, LEFT], [RIGHT, BOTTOM], [RIGHT, LEFT], [TOP, RIGHT], null, [TOP, BOTTOM], [TOP, LEFT],
  [LEFT, TOP], [BOTTOM, TOP], null, [RIGHT, TOP], [LEFT, RIGHT], [BOTTOM, RIGHT], [LEFT, BOTTOM], [],
];
const SADDLES = {
  5: { high: [BOTTOM, RIGHT, TOP, LEFT], low: [BOTTOM, LEFT, TOP, RIGHT] },
  10: { high: [LEFT, BOTTOM, RIGHT, TOP], low: [RIGHT, BOTTOM, LEFT, TOP] },
};

/** Lines as lists of [column, row] in fractions of cells, row 0 first; closed ones end where they began. */
export function contours(values, width, height, level) {
  const next = new Int32Array(2 * width * height).fill(-1); // from each crossed side to the next one
  const entered = new Uint8Array(2 * width * height);
  const begun = [];
  const side = (i, j, which) => {
    if (which === BOTTOM) return 2 * (j * width + i);
    if (which === TOP) return 2 * ((j + 1) * width + i);
    if (which === LEFT) return 2 * (j * width + i) + 1;
    return 2 * (j * width + i + 1) + 1;
  };
  for (let j = 0; j + 1 < height; j += 1) {
    for (let i = 0; i + 1 < width; i += 1) {
      const at = j * width + i;
      const a = values[at];
      const b = values[at + 1];
      const c = values[at + width + 1];
      const d = values[at + width];
      const high = (a >= level) | ((b >= level) << 1) | ((c >= level) << 2) | ((d >= level) << 3);
      if (high === 0 || high === 15) continue;
      const lines = LINES[high] ?? SADDLES[high][(a + b + c + d) / 4 >= level ? "high" : "low"];
      for (let k = 0; k < lines.length; k += 2) {
        const from = side(i, j, lines[k]);
        const to = side(i, j, lines[k + 1]);
        next[from] = to;
        entered[to] = 1;
        begun.push(from);
      }
    }
  }
  return joined(next, entered, begun, (id) => crossing(values, width, level, id));
}

/** Where the level lies on a side, by linear interpolation between its two ends. */
function crossing(values, width, level, id) {
  const node = id >> 1;
  const upward = id & 1;
  const first = values[node];
  const second = values[node + (upward ? width : 1)];
  const part = Math.min(1, Math.max(0, (level - first) / (second - first)));
  const [i, j] = [node % width, Math.floor(node / width)];
  return upward ? [i, j + part] : [i + part, j];
}

function joined(next, entered, begun, place) {
  const lines = [];
  const follow = (start) => {
    const line = [place(start)];
    let id = start;
    while (next[id] !== -1) {
      const following = next[id];
      next[id] = -1;
      id = following;
      line.push(place(id));
    }
    lines.push(line);
  };
  for (const id of begun) if (!entered[id]) follow(id); // those that begin at the edge
  for (const id of begun) if (next[id] !== -1) follow(id); // closed ones
  return lines;
}

/** The outlines of where values are at least `level`, closed along the edge of the grid. */
export function regions(values, width, height, level) {
  const [w, h] = [width + 2, height + 2];
  const padded = new Float32Array(w * h).fill(level - 1e6 * (1 + Math.abs(level)));
  for (let j = 0; j < height; j += 1) {
    padded.set(values.subarray(j * width, (j + 1) * width), (j + 1) * w + 1);
  }
  const clamp = (value, most) => Math.min(most, Math.max(0, value - 1));
  return contours(padded, w, h, level).map((line) =>
    line.map(([i, j]) => [clamp(i, width - 1), clamp(j, height - 1)]),
  );
}
