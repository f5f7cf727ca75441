// Pieces of a space on a canvas, from the farthest to the nearest.

import { shapePath } from "../shapes.js";
import { channels, colour } from "../theme.js";

const mixed = (from, to, share) => `rgb(${from.map((value, k) => Math.round(value + share * (to[k] - value))).join(" ")})`;

/** Draw `pieces` as `view` sees them. */
export function paint(canvas, pieces, view, width, height) {
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const theme = {
    paper: channels("raised"), sides: [channels("c0"), channels("c1")], rule: colour("rule"), edge: colour("edge"), ink: colour("ink"),
    muted: colour("muted"), accent: colour("accent"), bad: colour("bad"), raised: colour("raised"),
    classes: [0, 1, 2, 3, 4, 5].map((k) => colour(`c${k}`)), sans: getComputedStyle(canvas).fontFamily,
  };
  const seen = pieces.map((piece) => {
    const at = piece.at.map(view);
    const depth = at.reduce((sum, place) => sum + place.depth, 0) / at.length;
    return { piece, at, depth: depth + lean(piece) };
  });
  seen.sort((a, b) => b.depth - a.depth);
  for (const { piece, at } of seen) DRAW[piece.kind](pen, piece, at, theme);
}

/** What is drawn on a surface comes after it; the frame and shadows come before all else. */
function lean(piece) {
  if (piece.frame) return 20;
  if (piece.shadow) return 10;
  if (piece.kind === "word") return -10;
  return { point: -0.09, line: -0.05 }[piece.kind] ?? 0;
}

const DRAW = {
  patch(pen, piece, at, theme) {
    trace(pen, at);
    pen.closePath();
    if (piece.plane === undefined) {
      const strength = 0.18 + 0.62 * Math.min(1, Math.abs(piece.score));
      pen.fillStyle = pen.strokeStyle = mixed(theme.paper, theme.sides[piece.score < 0 ? 0 : 1], strength);
      pen.globalAlpha = 0.93;
      pen.lineWidth = 0.6;
      pen.stroke();
    } else {
      pen.fillStyle = theme.accent;
      pen.globalAlpha = 0.3 * piece.plane;
    }
    pen.fill();
    pen.globalAlpha = 1;
  },
  line(pen, piece, at, theme) {
    trace(pen, at);
    pen.strokeStyle = piece.frame ? theme.rule : piece.web ? theme.edge : theme.ink;
    pen.lineWidth = piece.level === 0 ? 2.4 : 1;
    pen.globalAlpha = piece.web ? 0.55 : piece.shadow ? 0.45 : 1;
    if (piece.level && piece.shadow) pen.setLineDash([4, 4]);
    pen.lineCap = "round";
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 1;
  },
  point(pen, piece, [{ x, y }], theme) {
    pen.save();
    pen.translate(x, y);
    const mark = new Path2D(shapePath(piece.label, 4.6));
    pen.fillStyle = theme.classes[piece.label % 6];
    pen.strokeStyle = theme.raised;
    pen.lineWidth = 1.4;
    pen.stroke(mark);
    pen.fill(mark);
    if (piece.wrong) {
      pen.strokeStyle = theme.bad;
      pen.lineWidth = 1.8;
      pen.stroke(new Path2D("M-7 -7L7 7M-7 7L7 -7"));
    }
    pen.restore();
  },
  word(pen, piece, [{ x, y }], theme) {
    pen.fillStyle = theme.muted;
    pen.font = `italic 15px ${theme.sans}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(piece.text, x, y);
  },
};

function trace(pen, places) {
  pen.beginPath();
  places.forEach(({ x, y }, k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
}
