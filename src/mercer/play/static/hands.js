// Hands on the plane: pointer (mouse, pen, finger) and keyboard add, move and remove points and move the view.

import { announce } from "./announce.js";

const DRAG = 6; // pixels before a press becomes a drag
const [NEAR, NEAR_FINGER] = [11, 20];

/** `desk`: view(), label(), erasing(), attend({ near, cursor }), attention, describe(index). */
export function hands(canvas, store, desk) {
  pointer(canvas, store, desk);
  keyboard(canvas, store, desk);
}

function nearest(store, view, px, py, within) {
  let [best, distance] = [null, within];
  store.scene.points.forEach(([x, y], k) => {
    const away = Math.hypot(view.px(x) - px, view.py(y) - py);
    if (away <= distance) [best, distance] = [k, away];
  });
  return best;
}

/** The class after the current one: what shift or alt adds. */
export function otherLabel(store, label) {
  return (label + 1) % Math.max(2, store.scene.names.length);
}

function pointer(canvas, store, desk) {
  let press = null;
  const at = (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  const reach = (event) => (event.pointerType === "mouse" ? NEAR : NEAR_FINGER);

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || press) return;
    const [px, py] = at(event);
    const view = desk.view();
    if (!view.inside(px, py)) return;
    const index = nearest(store, view, px, py, reach(event));
    press = { id: event.pointerId, px, py, view, box: view.box, index, doing: "press" };
    if (desk.erasing()) {
      press.doing = "erase";
      if (index !== null) store.removePoint(index, "erase");
    }
    desk.attend({ near: desk.erasing() ? null : index, cursor: null });
    canvas.setPointerCapture(event.pointerId);
  });

  canvas.addEventListener("pointermove", (event) => {
    const [px, py] = at(event);
    if (!press) {
      desk.attend({ near: nearest(store, desk.view(), px, py, reach(event)) });
      return;
    }
    if (event.pointerId !== press.id) return;
    if (press.doing === "press" && Math.hypot(px - press.px, py - press.py) > DRAG) {
      press.doing = press.index === null ? "look" : "move";
    }
    if (press.doing === "move") store.movePoint(press.index, desk.view().place(px, py));
    if (press.doing === "look") lookAround(press, px, py);
    if (press.doing === "erase") {
      const index = nearest(store, desk.view(), px, py, reach(event));
      if (index !== null) store.removePoint(index, "erase");
    }
  });

  function lookAround({ view, box, px: fromX, py: fromY }, px, py) {
    const dx = ((fromX - px) * (box[1] - box[0])) / view.frame.w;
    const dy = ((py - fromY) * (box[3] - box[2])) / view.frame.h;
    store.look([box[0] + dx, box[1] + dx, box[2] + dy, box[3] + dy]);
  }

  canvas.addEventListener("pointerup", (event) => {
    if (!press || event.pointerId !== press.id) return;
    const { doing, index, px, py } = press;
    press = null;
    if (doing === "press" && index === null) {
      const label = event.shiftKey || event.altKey ? otherLabel(store, desk.label()) : desk.label();
      store.addPoint(desk.view().place(px, py), label);
    }
    store.endGroup();
  });
  canvas.addEventListener("pointercancel", () => {
    press = null;
    store.endGroup();
  });
  canvas.addEventListener("pointerleave", () => !press && desk.attend({ near: null }));
}

/** Zoom about the middle: a factor above 1 shows more. */
export function zoomed([x0, x1, y0, y1], factor) {
  const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
  const [w, h] = [((x1 - x0) / 2) * factor, ((y1 - y0) / 2) * factor];
  return [x - w, x + w, y - h, y + h];
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function keyboard(canvas, store, desk) {
  let held = false; // whether arrows move the point under the cursor

  const cursorNow = () => {
    const [x0, x1, y0, y1] = desk.view().box;
    return desk.attention.cursor ?? [(x0 + x1) / 2, (y0 + y1) / 2];
  };
  const under = (cursor) => {
    const view = desk.view();
    return nearest(store, view, view.px(cursor[0]), view.py(cursor[1]), NEAR + 3);
  };

  function step([dx, dy], large) {
    const [x0, x1, y0, y1] = desk.view().box;
    const part = large ? 1 / 10 : 1 / 50;
    const [x, y] = cursorNow();
    const view = desk.view();
    const to = [
      Math.min(x1, Math.max(x0, x + dx * part * (x1 - x0))),
      Math.min(y1, Math.max(y0, y + dy * part * (y1 - y0))),
    ];
    const cursor = view.place(view.px(to[0]), view.py(to[1]));
    if (held && desk.attention.near !== null) {
      store.movePoint(desk.attention.near, cursor);
      desk.attend({ cursor });
    } else {
      desk.attend({ cursor, near: under(cursor) });
      announce(desk.attention.near === null ? `${cursor[0]}, ${cursor[1]}` : desk.describe(desk.attention.near));
    }
  }

  function walk(direction) {
    const count = store.scene.points.length;
    if (count === 0) return;
    const from = desk.attention.near ?? (direction > 0 ? -1 : count);
    const near = (from + direction + count) % count;
    letGo();
    desk.attend({ near, cursor: store.scene.points[near] });
    announce(desk.describe(near));
  }

  const add = (label) => {
    store.addPoint(cursorNow(), label);
    desk.attend({ cursor: cursorNow(), near: store.scene.points.length - 1 });
    announce(`${store.scene.names[label] ?? "point"} added; ${store.scene.points.length} points`);
  };
  const remove = () => {
    const near = desk.attention.near ?? under(cursorNow());
    if (near === null) return announce("no point here");
    letGo();
    store.removePoint(near);
    desk.attend({ near: null });
    announce(`removed; ${store.scene.points.length} points`);
  };
  const letGo = () => {
    held = false;
    store.endGroup();
  };
  const hold = () => {
    held = !held && desk.attention.near !== null;
    if (!held) store.endGroup();
    announce(held ? "holding the point: arrow keys move it, M lets go" : "let go");
  };
  const keys = {
    " ": (event) => add(event.shiftKey ? otherLabel(store, desk.label()) : desk.label()),
    Enter: () => add(desk.label()),
    Delete: remove,
    Backspace: remove,
    n: () => walk(1),
    p: () => walk(-1),
    m: hold,
    "+": () => store.look(zoomed(store.box, 0.8)),
    "-": () => store.look(zoomed(store.box, 1.25)),
    Escape: () => {
      letGo();
      desk.attend({ near: null, cursor: null });
    },
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey) return;
    const arrow = ARROWS[event.key];
    const act = arrow ? () => step(arrow, event.shiftKey) : keys[event.key] ?? keys[event.key.toLowerCase()];
    if (!act) return;
    event.preventDefault();
    act(event);
  });
  canvas.addEventListener("focus", () => {
    if (canvas.matches(":focus-visible")) desk.attend({ cursor: cursorNow() });
  });
  canvas.addEventListener("blur", () => {
    letGo();
    desk.attend({ cursor: null, near: null });
  });
}
