// The kernel trick in three dimensions: the plane lifted by the map of ⟨x, z⟩², or the scores of a machine as a landscape.

import { debounced, latest } from "../api.js";
import { make } from "../elements.js";
import { packed } from "../fitting.js";
import { onTheme } from "../theme.js";
import { camera } from "./camera.js";
import { number, oneOf, record, text, whole } from "./checks.js";
import { paint } from "./lift_paint.js";
import { heightShapes, mapShapes } from "./lift_shapes.js";

const WAYS = {
  height: {
    title: "Height",
    lesson: "The score f(x) as a landscape: where it crosses zero, at the thick line, the machine changes its mind. The kernel decides which landscapes there are.",
    shapes: heightShapes,
  },
  map: {
    title: "Map",
    lesson: "φ(x) = (x₁², √2·x₁x₂, x₂²) lays the plane onto a cone. Its dot products are ⟨x, z⟩², so a flat cut through the space is an ellipse or a hyperbola in the plane: no machine ever has to compute φ.",
    shapes: mapShapes,
  },
};
const TURN = 0.1;
const SQUARE = "polynomial(coef0=0, degree=2, gamma=1)"; // ⟨x, z⟩², whose map it is
const isState = record({ way: oneOf(Object.keys(WAYS)), points: text(60), lifted: whole(0, 100), eye: record({ yaw: number, pitch: number, zoom: number }) });

export function mount(container, { api, announce, remember, planeScene }) {
  const eye = camera();
  let way = "height";
  let shown = null;
  let begun = false;

  const question = latest((body) => api.post("/api/lift", body));
  const buttons = Object.entries(WAYS).map(([name, { title }]) => {
    const button = make("button", { type: "button", onclick: () => choose(name) }, title);
    button.dataset.way = name;
    return button;
  });
  const source = make("select", { "aria-label": "Points", onchange: () => ask() }, make("option", { value: "" }, "the points of the plane"));
  const lesson = make("p", { className: "lesson" });
  const part = make("input", { type: "range", min: 0, max: 100, value: 100, "aria-label": "How far the points are lifted, in per cent", oninput: draw });
  const canvas = make("canvas", {
    className: "space", tabIndex: 0, role: "application", "aria-roledescription": "space that can be turned",
    "aria-label": "The points in space", "aria-describedby": "lift-note lift-keys",
  });
  const note = make("p", { className: "note", id: "lift-note" });
  const trouble = make("p", { className: "error", role: "alert", hidden: true });
  const tool = (text, label, work) => make("button", { type: "button", "aria-label": label, title: label, onclick: work }, text);
  const turn = (across, up) => () => {
    eye.turn(across, up);
    draw();
  };
  const zoom = (factor) => () => {
    eye.nearer(factor);
    draw();
  };
  const tools = make("div", { className: "row turns", role: "group", "aria-label": "Turn the space" },
    tool("←", "Turn left", turn(-3 * TURN, 0)), tool("→", "Turn right", turn(3 * TURN, 0)), tool("↑", "From higher up", turn(0, 2 * TURN)),
    tool("↓", "From lower down", turn(0, -2 * TURN)), tool("+", "Nearer", zoom(1.15)), tool("−", "Farther away", zoom(1 / 1.15)),
    tool("Reset", "As in the beginning", () => {
      eye.reset();
      draw();
    }));
  container.replaceChildren(
    make("div", { className: "study" },
      make("div", { className: "study-side" },
        make("div", { className: "panel" },
          make("div", { className: "choices", role: "group", "aria-label": "Way to lift" }, ...buttons), lesson,
          make("label", { className: "field" }, make("span", {}, "Points"), source),
          make("label", { className: "field" }, make("span", {}, "Lift"), part), note, trouble)),
      make("div", { className: "study-main" },
        make("figure", { className: "panel figure space-figure" }, canvas, tools,
          make("p", { className: "note", id: "lift-keys" }, "Drag to turn. Keys: arrows turn, + and − move, 0 resets.")))),
  );

  function draw() {
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!shown || !width) return;
    remember();
    const pieces = WAYS[shown.way].shapes(shown.scene, shown.answer, Number(part.value) / 100);
    paint(canvas, pieces, eye.view(width, height), width, height);
  }

  function choose(name) {
    way = name;
    ask();
  }

  async function sceneOf() {
    if (source.value) return (await api.post("/api/data", { name: source.value, seed: 0 })).scene;
    return planeScene();
  }

  async function ask() {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.way === way));
    lesson.textContent = WAYS[way].lesson;
    try {
      const scene = await sceneOf();
      if (!scene?.points?.length) return complain("There are no points to lift; put some into the plane, or choose others.");
      const asked = way;
      const answer = await question({ scene: packed(scene).sent, way: asked });
      if (!answer) return;
      shown = { scene: { task: "classes", names: ["", ""], ...scene }, answer, way: asked };
      complain("");
      note.textContent = [answer.note, ...answer.notes].join(" ");
      canvas.setAttribute("aria-label", `${WAYS[asked].title} of ${scene.points.length} points in space`);
      announce(answer.note);
      draw();
    } catch (refusal) {
      complain(refusal.message);
    }
  }

  function complain(sentence) {
    if (sentence) {
      shown = null;
      note.textContent = "";
      canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
    }
    trouble.textContent = sentence;
    trouble.hidden = !sentence;
  }

  const still = debounced(() => announce(`Seen from ${Math.round((eye.state.yaw * 180) / Math.PI)}°, ${Math.round((eye.state.pitch * 180) / Math.PI)}° up.`), 500);
  canvas.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowLeft: [-TURN, 0], ArrowRight: [TURN, 0], ArrowUp: [0, TURN], ArrowDown: [0, -TURN] }[event.key];
    const factor = { "+": 1.1, "=": 1.1, "-": 1 / 1.1, "−": 1 / 1.1 }[event.key];
    if (step) eye.turn(...step);
    else if (factor) eye.nearer(factor);
    else if (event.key === "0" || event.key === "Home") eye.reset();
    else return;
    event.preventDefault();
    draw();
    still();
  };
  let hand = null;
  canvas.onpointerdown = (event) => {
    hand = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  };
  canvas.onpointermove = (event) => {
    if (!hand) return;
    eye.turn((event.clientX - hand[0]) / 160, (event.clientY - hand[1]) / 160);
    hand = [event.clientX, event.clientY];
    requestAnimationFrame(draw);
  };
  canvas.onpointerup = canvas.onpointercancel = () => (hand = null);
  new ResizeObserver(draw).observe(canvas);
  onTheme(draw);

  async function offerPoints() {
    const { data } = await api.post("/api/choices").catch(() => ({ data: [] }));
    for (const { name, title, task } of data) if (task !== "numbers") source.append(make("option", { value: name }, title));
  }

  return {
    /** Lift the points as they are now, or as the state of an address says. */
    async show(given) {
      if (!begun) await offerPoints();
      begun = true;
      if (isState(given)) {
        ({ way, points: source.value } = given);
        part.value = given.lifted;
        eye.look(given.eye);
      }
      ask();
    },
    state: () => ({ way, points: source.value, lifted: Number(part.value), eye: { ...eye.state } }),
    exported: () => ({
      question: { scene: { ...packed(shown?.scene ?? planeScene()).sent, ...(shown?.way === "map" ? { kernel: SQUARE } : {}) } },
      name: "mercer-lift",
      png: () => new Promise((done) => canvas.toBlob(done, "image/png")),
    }),
  };
}
