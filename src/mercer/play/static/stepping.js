// Step by step through the Perceptron, Pegasos and SMO: which point is looked at, why, and what changes.

import { latest, post } from "./api.js";
import { announce } from "./announce.js";
import { learnerOf } from "./controls.js";
import { find } from "./elements.js";
import { missing, packed } from "./fitting.js";
import { gridSize, short } from "./geometry.js";
import { fieldOf } from "./shading.js";
import { sparkline } from "./sparkline.js";

const MOST = 300;
const NAMES = { smo: "SMO", perceptron: "the Perceptron", pegasos: "Pegasos" };

/** The coefficients after `count` steps: each step tells only those it changed. */
export function coefficientsAfter(steps, count, points) {
  const coef = new Array(points).fill(0);
  let intercept = 0;
  for (const step of steps.slice(0, count)) {
    for (const [index, value] of Object.entries(step.coef ?? {})) coef[index] = value;
    intercept = step.intercept ?? intercept;
  }
  return { coef, intercept };
}

/** `desk`: view(), overlay(part or null) lays a step's boundary over the figure. */
export function stepping(root, store, choices, desk) {
  const part = (name) => find(`#step-${name}`, root);
  const askScores = latest((body) => post("/api/boundary", body));
  let run = null; // { scene, sent, classes, steps, bound, converged }
  let at = 0; // how many steps are done
  let timer = 0;

  async function begin() {
    const { scene } = store;
    const { sent, classes } = packed(scene);
    part("trouble").textContent = "Computing the steps …";
    try {
      const found = await post("/api/steps", { scene: sent, algorithm: learnerOf(choices, scene).steps, most: MOST });
      if (store.scene !== scene) return;
      run = { scene, sent, classes, ...found };
    } catch (trouble) {
      part("trouble").textContent = trouble.message;
      return;
    }
    part("trouble").textContent = "";
    part("slider").max = run.steps.length;
    part("player").hidden = false;
    part("begin").hidden = true;
    go(0);
    part("play").focus();
  }

  function end() {
    pause();
    run = null;
    desk.overlay(null);
    part("player").hidden = true;
    part("begin").hidden = false;
  }

  async function go(count) {
    at = Math.min(run.steps.length, Math.max(0, count));
    const shown = { run, at };
    const step = run.steps[at - 1];
    show(step);
    const { coef, intercept } = coefficientsAfter(run.steps, at, run.scene.points.length);
    const looked = step?.at ?? [];
    if (at === 0) return desk.overlay({ field: null, levels: [], facts: null, looked });
    const view = desk.view();
    const question = { scene: run.sent, coef, intercept, box: view.box, size: gridSize(view) };
    const answer = await askScores(question).catch((trouble) => {
      part("why").textContent = trouble.message;
      return null;
    });
    if (!answer || run !== shown.run) return;
    const levels = answer.levels ?? [0];
    const field = fieldOf({ box: view.box, levels, ...answer }, run.classes);
    const facts = { alpha: coef, support: coef.map((one) => one !== 0), wrong: coef.map(() => false) };
    desk.overlay({ field, levels, facts, looked });
  }

  function show(step) {
    part("slider").value = at;
    part("slider").setAttribute("aria-valuetext", `step ${at} of ${run.steps.length}`);
    part("place").textContent = `${at} / ${run.steps.length}`;
    part("why").textContent = step ? step.why : "Nothing is learned yet: every coefficient is 0.";
    part("back").disabled = at === 0;
    part("forward").disabled = at === run.steps.length;
    counters(step);
    if (!timer) announce(`step ${at}: ${part("why").textContent}`);
  }

  function counters(step) {
    const parts = [];
    if (step?.mistakes !== undefined) parts.push(`${step.mistakes} ${step.mistakes === 1 ? "mistake" : "mistakes"}`);
    if (Number.isFinite(step?.objective)) parts.push(`objective ${short(step.objective)}`);
    if (Number.isFinite(step?.gap)) parts.push(`gap ${short(step.gap)}`);
    part("counters").textContent = parts.join(" · ");
    part("bound").textContent = run.bound ? run.bound.sentence : "";
    const measured = Number.isFinite(run.bound?.value) && step?.mistakes !== undefined;
    part("meter").hidden = !measured;
    if (measured) {
      part("meter").max = Math.max(run.bound.value, 1);
      part("meter").value = step.mistakes;
    }
    sparkline(part("line"), run.steps.map((one) => one.gap ?? one.objective), at);
  }

  function play() {
    if (timer) return pause();
    if (at === run.steps.length) go(0);
    part("play").textContent = "Pause";
    part("play").setAttribute("aria-pressed", "true");
    const tick = () => {
      if (at >= run.steps.length) return pause();
      go(at + 1);
      timer = setTimeout(tick, 1000 / Number(part("speed").value));
    };
    timer = setTimeout(tick, 0);
  }

  function pause() {
    clearTimeout(timer);
    timer = 0;
    part("play").textContent = "Play";
    part("play").setAttribute("aria-pressed", "false");
    if (run) announce(`paused at step ${at}: ${part("why").textContent}`);
  }

  const stop = (work) => () => {
    pause();
    work();
  };
  part("begin").addEventListener("click", begin);
  part("end").addEventListener("click", end);
  part("play").addEventListener("click", play);
  part("back").addEventListener("click", stop(() => go(at - 1)));
  part("forward").addEventListener("click", stop(() => go(at + 1)));
  part("slider").addEventListener("input", stop(() => go(Number(part("slider").value))));

  function follow(what) {
    if (run && what.size === 1 && what.has("box")) return go(at);
    if (run) end();
    if (what.size > 0 && !["points", "learner", "task"].some((name) => what.has(name))) return;
    part("trouble").textContent = "";
    const { scene } = store;
    const algorithm = learnerOf(choices, scene).steps;
    find("#stepping", root).hidden = !algorithm || scene.task !== "classes";
    const several = new Set(scene.labels).size > 2;
    part("begin").disabled = several || missing(scene) !== null;
    if (several) part("trouble").textContent = "Steps are shown of two classes.";
    part("begin").textContent = `Watch ${NAMES[algorithm] ?? "it"} learn`;
  }
  store.listen(follow);
  follow(new Set());
}
