// Items along the axis of their scores: one class to the left of zero, the other to the right, the margins at ±1.

import { make } from "../elements.js";
import { shapePath } from "../shapes.js";
import { plain, shortened, signed, svg } from "./parts.js";

const ROW = 19;
const EDGE = 14;
const measure = document.createElement("canvas").getContext("2d");

/** A strip that redraws itself with its width. Items are { title, score, alpha, support, wrong, label, asked? }. */
export function scoreStrip() {
  const element = make("div", { className: "strip" });
  let items = [];
  let names = [];
  let width = 0;

  function paint() {
    if (!width || !items.length) return;
    measure.font = `13px ${getComputedStyle(element).fontFamily}`;
    const reach = Math.max(1.25, ...items.map((item) => Math.abs(item.score))) * 1.04;
    const across = (score) => EDGE + ((score + reach) / (2 * reach)) * (width - 2 * EDGE);
    const placed = packed(items, across, width);
    const rows = Math.max(...placed.map(({ row }) => row)) + 1;
    const named = 16; // a line for the names of the classes
    const height = rows * ROW + 44 + named;
    const floor = height - 26 - named;
    const drawing = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spoken(items, names) });
    for (const level of [-1, 0, 1]) {
      const x = across(level);
      drawing.append(
        svg("line", { x1: x, x2: x, y1: 4, y2: floor, class: level ? "margin-line" : "zero-line" }),
        svg("text", { x, y: floor + 14, class: "axis", "text-anchor": "middle" }, level ? signed(level, 0) : "0"),
      );
    }
    drawing.append(svg("line", { x1: EDGE, x2: width - EDGE, y1: floor, y2: floor, class: "axis-line" }));
    drawing.append(
      svg("text", { x: EDGE, y: floor + 14 + named, class: "axis class-0 end" }, `← ${shortened(names[0], 20)}`),
      svg("text", { x: width - EDGE, y: floor + 14 + named, class: "axis class-1 end", "text-anchor": "end" }, `${shortened(names[1], 20)} →`),
    );
    for (const { item, x, row, left } of placed) {
      const y = floor - 14 - row * ROW;
      const group = svg("g", { class: `item class-${item.label}${item.wrong ? " wrong" : ""}${item.asked ? " asked" : ""}` });
      group.append(svg("title", {}, described(item)));
      if (item.support) group.append(svg("circle", { cx: x, cy: y, r: 5.5 + 3 * item.share, class: "ring" }));
      group.append(svg("path", { d: shapePath(item.label, 4), transform: `translate(${x} ${y})` }));
      group.append(svg("text", { x: left ? x - 10 : x + 10, y: y + 4, "text-anchor": left ? "end" : "start" }, item.short));
      drawing.append(group);
    }
    element.replaceChildren(drawing);
  }

  new ResizeObserver(([entry]) => {
    if (Math.abs(entry.contentRect.width - width) < 1) return;
    width = Math.floor(entry.contentRect.width);
    paint();
  }).observe(element);

  return {
    element,
    show(given, called) {
      const most = Math.max(...given.map((item) => item.alpha ?? 0), 1e-12);
      items = given.map((item) => ({ ...item, share: (item.alpha ?? 0) / most, short: shortened(item.title, 22) }));
      names = called;
      paint();
    },
  };
}

/** Items in rows in which none overlaps another, lowest rows first. */
function packed(items, across, width) {
  const ends = [];
  const order = [...items].sort((a, b) => Number(b.asked ?? 0) - Number(a.asked ?? 0) || a.score - b.score);
  return order.map((item) => {
    const x = across(item.score);
    const length = measure.measureText(item.short).width + 12;
    const left = x + length > width - 4;
    const [from, to] = left ? [x - length - 8, x + 9] : [x - 9, x + length + 8];
    let row = 0;
    while ((ends[row] ?? []).some(([begin, end]) => from < end && to > begin)) row += 1;
    (ends[row] ??= []).push([from, to]);
    return { item, x, row, left };
  });
}

export function described(item) {
  const weight = item.asked ? "asked about" : item.support ? `support, α ${plain(item.alpha)}` : "no support, α 0";
  return `${item.title}: score ${signed(item.score)}, ${weight}${item.wrong ? ", on the wrong side" : ""}`;
}

function spoken(items, names) {
  const ordered = [...items].sort((a, b) => a.score - b.score).map(described);
  return `Scores from ${names[0]} to ${names[1]}. ${ordered.join("; ")}.`;
}
