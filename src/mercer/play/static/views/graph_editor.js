// A drawing area for one graph: click to add nodes, click two nodes to join or part them, drag to move, or use the keys.

import { make } from "../elements.js";
import { edgeLine, inWords, node } from "./graph_drawing.js";
import { layout } from "./graph_layout.js";
import { svg } from "./parts.js";

const MOST = 30;
const RADIUS = 15;
const STEP = 0.04;

/** `changed()` is called after every change; `known()` lists the labels in use. */
export function graphEditor({ changed, known, announce }) {
  let graph = { nodes: [], edges: [] };
  let places = [];
  let pushes = null;
  let chosen = -1;
  let before = -1; // the one that was chosen before it
  let cursor = [0.5, 0.5];
  let label = "C";
  let drag = null;
  let size = [480, 320];

  const spoken = make("p", { className: "visually-hidden", id: "graph-in-words" });
  const keys = make("p", { className: "note", id: "graph-keys" },
    "Click to add a node; it is joined to the chosen one. Click another node to join or part the two. Keys: arrows move, Enter acts, N and P go from node to node, J joins the last two, capital letters label, Delete removes, Escape lets go.");
  const area = svg("svg", {
    class: "editor", tabindex: 0, role: "application", "aria-roledescription": "drawing area", "aria-label": "The graph that is asked about",
    "aria-describedby": `${spoken.id} ${keys.id}`,
  });
  const typed = make("input", { className: "mono label-input", value: label, maxLength: 12, size: 4, "aria-label": "Label of nodes" });
  typed.oninput = () => relabel(typed.value.trim() || "C");
  const tool = (text, work, title) => make("button", { type: "button", className: "small", onclick: work, title }, text);
  const tools = make("div", { className: "row tools", role: "group", "aria-label": "Drawing" },
    make("label", { className: "row" }, make("span", { className: "quiet inline" }, "Label"), typed),
    tool("Remove", remove, "Remove the chosen node (Delete)"), tool("Tidy", tidy, "Lay the graph out anew (T)"), tool("Clear", () => load({ nodes: [], edges: [] }), "Remove all nodes"));

  const toPixels = ([x, y]) => [RADIUS + 8 + x * (size[0] - 2 * RADIUS - 16), RADIUS + 8 + y * (size[1] - 2 * RADIUS - 16)];
  const toPlace = (x, y) => [x, y].map((value, k) => Math.min(1, Math.max(0, (value - RADIUS - 8) / (size[k] - 2 * RADIUS - 16))));
  const nodeAt = (x, y) => places.findIndex((place) => {
    const [px, py] = toPixels(place);
    return Math.hypot(px - x, py - y) <= RADIUS + 5;
  });

  function paint() {
    area.setAttribute("viewBox", `0 0 ${size[0]} ${size[1]}`);
    const at = places.map(toPixels);
    const most = pushes ? Math.max(...pushes.map(Math.abs), 1e-9) : 1;
    const [cx, cy] = toPixels(cursor);
    const nodes = graph.nodes.map((each, v) => {
      const drawn = node(each, at[v], known(), RADIUS, pushes ? pushes[v] / most : 0);
      drawn.classList.toggle("chosen", v === chosen);
      return drawn;
    });
    const cross = svg("path", { class: "cursor", d: `M${cx - 9} ${cy}h18M${cx} ${cy - 9}v18` });
    area.replaceChildren(...graph.edges.map(([a, b]) => edgeLine(at[a], at[b])), ...nodes, cross);
    spoken.textContent = inWords(graph);
  }

  function choose(v) {
    if (v !== chosen) before = chosen;
    chosen = v;
    if (v >= 0) {
      cursor = [...places[v]];
      label = graph.nodes[v];
      typed.value = label;
    }
    paint();
  }

  function edited(sentence) {
    pushes = null;
    paint();
    announce(sentence);
    changed();
  }

  function add(place) {
    if (graph.nodes.length >= MOST) return announce(`A graph has at most ${MOST} nodes.`);
    const v = graph.nodes.length;
    graph.nodes.push(label);
    places.push(place);
    if (chosen >= 0) graph.edges.push([chosen, v]);
    const joined = chosen >= 0 ? `, joined to node ${chosen + 1}` : "";
    choose(v);
    edited(`Node ${v + 1}, ${label}${joined}.`);
  }

  function act(v) {
    if (chosen < 0 || chosen === v) return choose(chosen === v ? -1 : v);
    const there = graph.edges.findIndex(([a, b]) => (a === chosen && b === v) || (a === v && b === chosen));
    if (there >= 0) graph.edges.splice(there, 1);
    else graph.edges.push([chosen, v]);
    const sentence = `Nodes ${chosen + 1} and ${v + 1} ${there >= 0 ? "parted" : "joined"}.`;
    choose(v);
    edited(sentence);
  }

  function remove() {
    if (chosen < 0) return announce("Choose a node first.");
    const gone = chosen;
    graph.nodes.splice(gone, 1);
    places.splice(gone, 1);
    const moved = (v) => (v > gone ? v - 1 : v);
    graph.edges = graph.edges.filter((edge) => !edge.includes(gone)).map((edge) => edge.map(moved));
    chosen = -1;
    edited(`Node ${gone + 1} removed.`);
  }

  function relabel(text) {
    label = text;
    if (chosen < 0 || graph.nodes[chosen] === text) return;
    graph.nodes[chosen] = text;
    edited(`Node ${chosen + 1} is ${text}.`);
  }

  function tidy() {
    places = graph.nodes.length ? layout(graph) : [];
    choose(chosen);
  }

  function load(given) {
    graph = structuredClone(given);
    chosen = -1;
    pushes = null;
    tidy();
    changed();
  }

  area.onpointerdown = (event) => {
    if (event.button) return;
    const [x, y] = [event.offsetX, event.offsetY];
    const v = nodeAt(x, y);
    drag = { v, x, y, moved: false };
    area.setPointerCapture(event.pointerId);
    area.focus();
    event.preventDefault();
  };
  area.onpointermove = (event) => {
    if (!drag || drag.v < 0) return;
    if (Math.hypot(event.offsetX - drag.x, event.offsetY - drag.y) > 4) drag.moved = true;
    if (!drag.moved) return;
    places[drag.v] = toPlace(event.offsetX, event.offsetY);
    paint();
  };
  area.onpointerup = () => {
    if (drag && !drag.moved) {
      if (drag.v >= 0) act(drag.v);
      else add(toPlace(drag.x, drag.y));
    }
    drag = null;
  };
  area.onpointercancel = () => (drag = null);

  area.onkeydown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    const next = { n: 1, p: -1 }[event.key];
    if (step) cursor = cursor.map((value, k) => Math.min(1, Math.max(0, value + STEP * step[k])));
    else if (next && places.length) {
      const v = (chosen + next + places.length) % places.length;
      choose(chosen < 0 && next < 0 ? places.length - 1 : v);
      announce(`Node ${chosen + 1}, ${graph.nodes[chosen]}.`);
    } else if (event.key === "Enter" || event.key === " ") {
      const v = nodeAt(...toPixels(cursor));
      if (v >= 0) act(v);
      else add([...cursor]);
    } else if (event.key === "Delete" || event.key === "Backspace") remove();
    else if (event.key === "Escape") choose(-1);
    else if (event.key === "t") tidy();
    else if (event.key === "j" && before >= 0 && before < places.length && chosen >= 0) {
      const other = chosen;
      chosen = before;
      act(other);
    } else if (/^[A-Z]$/.test(event.key)) {
      typed.value = event.key;
      relabel(event.key);
    } else return;
    event.preventDefault();
    if (step) paint();
  };

  new ResizeObserver(([entry]) => {
    const { width, height } = entry.contentRect;
    if (!width) return;
    size = [width, height];
    paint();
  }).observe(area);

  return {
    element: make("div", { className: "graph-editor" }, area, tools, keys, spoken),
    load,
    get graph() {
      return graph;
    },
    /** Ring each node by what it adds to the score; `null` takes the rings away. */
    judge(given) {
      pushes = given && given.length === graph.nodes.length ? given : null;
      paint();
    },
  };
}
