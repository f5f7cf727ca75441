// Similarities of all pairs as coloured cells, ordered by class; a cell is read by pointing or with the arrow keys.

import { make } from "../elements.js";
import { channels, colour, onTheme } from "../theme.js";

const BAND = 5;
const FONT = 11;

/** A map that shows `matrix` in the order of `labels`; `say` announces the cell that is read by key. */
export function heatMap(say) {
  const canvas = make("canvas", { className: "heat", tabIndex: 0, role: "img" });
  const told = make("p", { className: "note told", "aria-hidden": "true" }, "Point at a cell, or use the arrow keys, to read it.");
  const element = make("div", { className: "heat-map" }, canvas, told);
  let shown = null;
  let at = null;

  const from = () => shown.margin + BAND + 2;
  const size = () => (canvas.clientWidth - from()) / shown.order.length;
  /** Room for names at the left, where rows are as high as letters. */
  function makeRoom() {
    shown.margin = 0;
    if (canvas.clientWidth < 300 || size() < FONT + 1) return;
    const pen = canvas.getContext("2d");
    pen.font = font();
    const widest = Math.max(...shown.titles.map((title) => pen.measureText(title).width));
    shown.margin = widest < 0.25 * canvas.clientWidth ? widest + 8 : 0;
    if (size() < FONT + 1) shown.margin = 0;
  }
  const font = () => `${FONT}px ${getComputedStyle(canvas).fontFamily}`;

  function paint() {
    if (!shown || !canvas.clientWidth) return;
    const { matrix, order, labels } = shown;
    const scale = devicePixelRatio || 1;
    const side = canvas.clientWidth;
    canvas.width = Math.round(side * scale);
    const low = channels("raised");
    const high = channels("accent");
    makeRoom();
    const cell = size();
    const edge = from();
    const { margin } = shown;
    canvas.height = Math.round((BAND + 2 + order.length * cell) * scale);
    canvas.style.height = `${canvas.height / scale}px`;
    const pen = canvas.getContext("2d");
    pen.scale(scale, scale);
    const top = BAND + 2;
    order.forEach((i, row) => {
      pen.fillStyle = colour(`c${labels[i]}`);
      pen.fillRect(margin, top + row * cell, BAND, Math.ceil(cell));
      pen.fillRect(edge + row * cell, 0, Math.ceil(cell), BAND);
      if (margin) {
        pen.fillStyle = colour("ink");
        pen.font = font();
        pen.textAlign = "right";
        pen.textBaseline = "middle";
        pen.fillText(shown.titles[i], margin - 5, top + (row + 0.5) * cell);
      }
      order.forEach((j, column) => {
        const share = Math.min(1, Math.max(0, matrix[i][j])) ** 0.7;
        pen.fillStyle = `rgb(${low.map((value, k) => Math.round(value + share * (high[k] - value))).join(" ")})`;
        pen.fillRect(edge + column * cell, top + row * cell, cell + 0.5, cell + 0.5);
      });
    });
    const border = order.filter((i) => labels[i] === 0).length * cell;
    pen.strokeStyle = colour("ink");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(edge + border, top);
    pen.lineTo(edge + border, top + side - edge);
    pen.moveTo(edge, top + border);
    pen.lineTo(side, top + border);
    pen.globalAlpha = 0.5;
    pen.stroke();
    pen.globalAlpha = 1;
    if (!at) return;
    pen.lineWidth = 2;
    pen.strokeRect(edge + at[1] * cell + 1, top + at[0] * cell + 1, Math.max(4, cell - 2), Math.max(4, cell - 2));
  }

  function read(row, column) {
    at = [row, column];
    const [i, j] = [shown.order[row], shown.order[column]];
    told.textContent = `${shown.titles[i]} and ${shown.titles[j]}: ${shown.matrix[i][j].toFixed(2)}`;
    paint();
  }

  canvas.onpointermove = (event) => {
    if (!shown) return;
    const [row, column] = [event.offsetY - BAND - 2, event.offsetX - from()].map((length) => Math.floor(length / size()));
    const last = shown.order.length;
    if (row >= 0 && column >= 0 && row < last && column < last) read(row, column);
  };
  canvas.onkeydown = (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !shown) return;
    event.preventDefault();
    const last = shown.order.length - 1;
    const [row, column] = (at ?? [0, -1]).map((place, k) => Math.min(last, Math.max(0, place + step[k])));
    read(row, column);
    say(told.textContent);
  };
  new ResizeObserver(paint).observe(canvas);
  onTheme(paint);

  return {
    element,
    show(matrix, labels, titles, what) {
      const order = labels.map((_, place) => place).sort((i, j) => labels[i] - labels[j] || i - j);
      shown = { matrix, labels, titles, order, margin: 0 };
      if (at && Math.max(...at) >= order.length) at = null;
      const mean = (same) => {
        const values = matrix.flatMap((row, i) => row.filter((_, j) => i !== j && (labels[i] === labels[j]) === same));
        return (values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)).toFixed(2);
      };
      const sentence = `on average ${mean(true)} within a class and ${mean(false)} between the classes`;
      canvas.setAttribute("aria-label", `Similarities of ${order.length} ${what}, ${sentence}. Arrow keys read single cells.`);
      paint();
      return sentence;
    },
  };
}
