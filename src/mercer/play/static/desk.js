// The desk of Plane and Numbers: the figure, what is drawn on it, and everything that follows the scene.

import { alarm, announce } from "./announce.js";
import { classBar } from "./class_bar.js";
import { controls } from "./controls.js";
import { find } from "./elements.js";
import { toPng, toSvg } from "./exporting.js";
import { files } from "./files.js";
import { findings, summaryOf } from "./findings.js";
import { fitting, missing, packed } from "./fitting.js";
import { makeView, short } from "./geometry.js";
import { legend } from "./legend.js";
import { hands, zoomed } from "./hands.js";
import { drawNumbers } from "./numbers_figure.js";
import { canvasPen } from "./pens.js";
import { drawPlane } from "./plane_figure.js";
import { stepping } from "./stepping.js";
import { boxAround } from "./store.js";
import { surface } from "./surface.js";
import { onTheme, palette } from "./theme.js";
import { painted } from "./timings.js";

/** What is known of a point, in a line. */
function describePoint({ scene, facts }, index) {
  const [x, y] = scene.points[index];
  const name = scene.task === "classes" ? scene.names[scene.labels[index]] : `point ${index + 1}`;
  const parts = [`${name} (${short(x)}, ${short(y)})`];
  if (facts) {
    parts.push(facts.support?.[index] ? `α = ${short(facts.alpha[index])}` : "no support vector");
    if (facts.slack) parts.push(`slack ${short(facts.slack[index])}`);
    if (facts.margin) parts.push(`${scene.task === "numbers" ? "residual" : "margin"} ${short(facts.margin[index])}`);
    if (facts.wrong?.[index]) parts.push(scene.task === "novelty" ? "outside" : "on the wrong side");
  }
  return parts.join(", ");
}

export function desk(root, store, choices) {
  const canvas = find("#figure", root);
  const tip = find("#tip", root);
  const trouble = find("#trouble", root);
  const attention = { near: null, cursor: null };
  let picture = null; // of the last good fit
  let pictured = -1; // the version that it is of
  let step = null; // what a step lays over it
  let size = [0, 0];
  let frame = 0;

  const view = () => {
    const { scene, box } = store;
    return makeView(box, ...size, !scene.scaled && scene.task !== "numbers");
  };

  /** What is drawn: the newest points, and the newest answer as far as it fits them. */
  function seen() {
    const { scene } = store;
    const base = picture?.scene.task === scene.task ? picture : null;
    const facts = base && base.scene.points.length === scene.points.length ? base.facts : null;
    return { levels: [0], field: null, ...base, scene, facts, ...step, ...attention };
  }

  function paint() {
    frame = 0;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = size.map((side) => Math.round(side * ratio));
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen ??= canvasPen(context);
    (store.scene.task === "numbers" ? drawNumbers : drawPlane)(pen, view(), seen(), palette());
    showTip();
    painted(pictured);
  }
  let pen = null;

  function repaint() {
    if (!frame && size[0] > 0) frame = requestAnimationFrame(paint);
  }

  function showTip() {
    const { near } = attention;
    const point = near === null ? null : store.scene.points[near];
    tip.hidden = !point;
    if (!point) return;
    tip.textContent = describePoint(seen(), near);
    const { px, py, width } = view();
    const [x, y] = [px(point[0]), py(point[1])];
    tip.style.left = `${Math.min(Math.max(x, 110), width - 110)}px`;
    tip.style.top = `${y}px`;
    tip.classList.toggle("below", y < 70);
  }

  const found = findings(root);
  const marks = legend(root);
  const troubles = { fit: "", data: "" }; // a fit that goes well does not mend a file that cannot be read
  const complain = (source, sentence) => {
    if (sentence && troubles[source] !== sentence) alarm(sentence);
    troubles[source] = sentence;
    trouble.textContent = Object.values(troubles).join(" ").trim();
    trouble.hidden = !trouble.textContent;
  };
  let goodKernel = null;
  const refresh = fitting(store, view, {
    shown(next, version, whole) {
      picture = next;
      pictured = version;
      canvas.setAttribute("aria-busy", String(!whole || version !== store.version));
      if (next) {
        goodKernel = next.scene.kernel;
        found.show(next);
        announce(summaryOf(next));
      } else {
        found.clear(missing(store.scene));
      }
      marks.show(next);
      machine.accept();
      complain("fit", "");
      repaint();
    },
    refused(error, scene) {
      canvas.setAttribute("aria-busy", "false");
      if (error.kind === "refused" && scene.kernel !== goodKernel) machine.refuse(error.message);
      else complain("fit", error.message);
    },
  });

  const bar = classBar(root, store);
  const machine = controls(root, store, choices);
  const workspace = {
    view,
    label: bar.label,
    erasing: bar.erasing,
    attention,
    attend(part) {
      const before = { ...attention };
      Object.assign(attention, part);
      if (before.near !== attention.near || before.cursor !== attention.cursor) repaint();
    },
    describe: (index) => describePoint(seen(), index),
    overlay(part) {
      step = part;
      root.classList.toggle("watching", part !== null);
      repaint();
    },
  };
  hands(canvas, store, workspace);
  const map = surface(root, store, choices);
  stepping(root, store, choices, workspace);
  const data = files(root, store, choices, (sentence) => complain("data", sentence));
  const titleNow = () => {
    const { learner, kernel } = store.scene;
    return picture ? `${learner}, ${picture.answer.kernel}: ${summaryOf(picture)}` : `${learner}, ${kernel}`;
  };

  const act = (name, work) => find(name, root).addEventListener("click", work);
  act("#undo", () => store.undo());
  act("#redo", () => store.redo());
  act("#clear", () => store.update({ points: [], labels: [] }));
  act("#nearer", () => store.look(zoomed(store.box, 0.8)));
  act("#farther", () => store.look(zoomed(store.box, 1.25)));
  act("#whole", () => store.look(boxAround(store.scene.points)));

  store.listen((what) => {
    find("#undo", root).disabled = !store.undoable;
    find("#redo", root).disabled = !store.redoable;
    if (attention.near !== null && attention.near >= store.scene.points.length) attention.near = null;
    if (what.has("points") || what.has("box") || what.has("task")) repaint();
    if (what.has("load")) {
      picture = null;
      machine.accept();
    }
    if (what.has("points") && troubles.data) complain("data", "");
    canvas.setAttribute("aria-busy", "true");
    if (picture?.scene.task !== store.scene.task) found.clear(missing(store.scene) ?? "Learning …");
    refresh();
  });
  new ResizeObserver(([{ contentRect }]) => {
    if (contentRect.width === 0) return;
    const changed = size[0] !== contentRect.width || size[1] !== contentRect.height;
    size = [contentRect.width, contentRect.height];
    if (changed) refresh();
    repaint();
  }).observe(canvas);
  onTheme(repaint);
  return {
    data,
    complain: (sentence) => complain("data", sentence),
    /** What one takes along. */
    exported() {
      const { sent, classes } = packed(store.scene);
      const still = { ...seen(), near: null, cursor: null };
      return {
        question: { scene: sent, classes, box: view().box },
        name: `mercer-${store.task}`,
        svg: () => toSvg(still, view(), titleNow()),
        png: () => toPng(still, view()),
      };
    },
    refresh() {
      refresh();
      map.refresh();
    },
  };
}
