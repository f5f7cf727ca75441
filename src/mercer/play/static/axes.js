// The frame of a figure: ticks at round numbers and the names of the axes.

import { ticks } from "./geometry.js";
import { rectanglePath } from "./pens.js";

/** Everything around the frame, and the paper in it; drawn before what lies in the frame. */
export function drawAround(pen, view, colours, names) {
  const key = [view.box, names, colours.paper, colours.ink].join();
  pen.backdrop(key, (behind) => {
    behind.path(rectanglePath({ x: 0, y: 0, w: view.width, h: view.height }), { fill: colours.paper });
    behind.path(rectanglePath(view.frame), { fill: colours.raised });
    drawAxes(behind, view, colours, names);
  });
}

/** The frame itself, over what lies in it. */
export function drawFrame(pen, view, colours) {
  pen.path(rectanglePath(view.frame), { stroke: colours.edge, width: 1 });
}

function drawAxes(pen, view, colours, names) {
  const { frame, box, width, height } = view;
  const narrow = width < 480;
  const type = { size: narrow ? 11 : 12, fill: colours.muted, family: colours.sans };
  const [bottom, middle] = [frame.y + frame.h, frame.y + frame.h / 2];
  let marks = "";
  for (const { value, text } of ticks(box[0], box[1], frame.w / 90)) {
    const x = view.px(value);
    marks += `M${x.toFixed(1)} ${bottom}v4`;
    if (x < frame.x + frame.w - 4) pen.text(text, x, bottom + 17, type);
  }
  for (const { value, text } of ticks(box[2], box[3], frame.h / 60)) {
    const y = view.py(value);
    marks += `M${frame.x} ${y.toFixed(1)}h-4`;
    pen.text(text, frame.x - 8, y + 4, { ...type, anchor: "end" });
  }
  pen.path(marks, { stroke: colours.edge, width: 1 });
  const name = { ...type, size: narrow ? 12 : 14, fill: colours.ink, family: colours.serif, italic: true };
  const shown = (text) => (text.length > 40 ? `${text.slice(0, 39)}…` : text);
  pen.text(shown(names[0]), frame.x + frame.w / 2, height - 4, name);
  pen.text(shown(names[1]), 12, middle, { ...name, turn: -90 });
}
