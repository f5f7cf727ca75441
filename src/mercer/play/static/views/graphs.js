// Small graphs in two classes, a graph kernel, and why one that is drawn is put where it is.

import { debounced, latest } from "../api.js";
import { make } from "../elements.js";
import { swatch } from "../shapes.js";
import { list, number, pair, record, text, whole } from "./checks.js";
import { graphClass } from "./graph_class.js";
import { graphEditor } from "./graph_editor.js";
import { EXAMPLES } from "./graph_examples.js";
import { study } from "./study.js";

const [GRAPHS, NODES, LETTERS] = [200, 30, 12];
const hasShape = record({ nodes: list(NODES, text(LETTERS)), edges: list(NODES ** 2, pair(number)) });
const isGraph = (value) => hasShape(value) && value.edges.every(pair(whole(0, value.nodes.length - 1)));
const isEntry = record({ title: text(60), graph: isGraph });
const isState = record({
  example: whole(0, EXAMPLES.length - 1), names: pair(text(40)), graphs: pair(list(GRAPHS, isEntry)), kernel: text(500), C: number, asked: isEntry,
});
const ofGraphs = (sentence) => /^(a machine separates|there are|the graph|graph \d|label|an edge)/i.test(sentence);

export function mount(container, { api, announce, remember }) {
  let begun = false;
  let drawn = 0;
  let title = "drawing";

  const question = latest((body) => api.post("/api/graphs", body));
  const changed = debounced(ask, 120);
  const known = () => {
    const all = [...classes.flatMap((each) => each.entries.map(({ graph }) => graph)), editor.graph];
    return [...new Set(all.flatMap(({ nodes }) => nodes))].sort();
  };
  const choose = (entry) => {
    title = entry.title;
    editor.load(entry.graph);
    asking.scrollIntoView({ block: "nearest" });
  };
  const classes = [0, 1].map((place) => graphClass(place, { changed, ask: choose, known, announce }));
  const editor = graphEditor({ changed: () => changed(), known, announce });
  const parts = study("graph", EXAMPLES, { begin, changed, ofItems: ofGraphs, announce });
  const { kernel, cost, menu, figures } = parts;
  const halos = make("p", { className: "note" });
  const adders = [0, 1].map((place) => make("button", { type: "button", onclick: () => keep(place) }));
  const asking = make("div", { className: "panel ask" },
    make("h3", {}, "Ask about a graph"),
    make("div", { className: "drawing-board" }, editor.element,
      make("div", { className: "answer" }, parts.verdict, halos, parts.trouble, make("div", { className: "row" }, ...adders), make("h4", {}, "Why: what pushes it"), parts.why)));
  container.replaceChildren(
    make("div", { className: "study" },
      make("div", { className: "study-side" }, parts.controls),
      make("div", { className: "study-main" },
        asking,
        make("div", { className: "study-pair" }, ...classes.map((each) => each.element)),
        figures.strip,
        make("div", { className: "study-pair" }, figures.nearest, figures.spectrum),
        make("div", { className: "study-pair" }, figures.strongest, figures.map),
      ),
    ),
  );

  /** An example, or a state, which is one with a C. */
  function begin(chosen) {
    title = chosen.asked.title;
    classes.forEach((each, place) => each.fill(chosen.names[place], chosen.graphs[place]));
    kernel.value = chosen.kernel;
    cost.value = chosen.C ?? cost.value;
    parts.lesson.textContent = chosen.lesson;
    editor.load(chosen.asked.graph);
    for (const each of classes) each.draw(); // all labels are known only now
    ask();
  }

  function keep(place) {
    if (!editor.graph.nodes.length) return announce("The drawing is empty.");
    drawn += 1;
    classes[place].add({ title: `drawing ${drawn}`, graph: structuredClone(editor.graph) });
  }

  const body = () => ({
    graphs: classes.flatMap((each) => each.entries.map(({ graph }) => graph)),
    labels: classes.flatMap((each, place) => each.entries.map(() => place)),
    names: classes.map((each) => each.name),
    kernel: kernel.value, C: cost.value, asked: editor.graph.nodes.length ? structuredClone(editor.graph) : null,
  });

  async function ask() {
    changed.cancel();
    remember();
    const sent = body();
    adders.forEach((button, place) => button.replaceChildren(swatch(place), ` Add to ${sent.names[place]}`));
    const titles = classes.flatMap((each) => each.entries.map((entry) => entry.title));
    const answer = await parts.heard(question(sent));
    if (answer) show(answer, sent, titles);
  }

  function show(answer, { labels, names }, titles) {
    const items = parts.show(answer, { names, labels, titles, title });
    const first = labels.indexOf(1);
    classes[0].judge(items.slice(0, first));
    classes[1].judge(items.slice(first));
    editor.judge(answer.asked?.nodes ?? null);
    halos.textContent = answer.asked?.nodes ? "Rings show what each node, with its surroundings, adds." : "";
    if (!answer.asked) parts.verdict.textContent = "Draw a graph to hear what the machine makes of it.";
  }

  return {
    /** Begin, or go on from the state of an address. */
    show(given) {
      const state = isState(given) ? given : null;
      if (begun && !state) return;
      if (!begun) api.post("/api/choices").then(({ graph_kernels }) => kernel.suggest(graph_kernels ?? []), () => {});
      begun = true;
      menu.selectedIndex = state?.example ?? 0;
      begin({ ...EXAMPLES[menu.selectedIndex], ...state });
    },
    state: () => ({
      example: menu.selectedIndex, names: classes.map((each) => each.name), kernel: kernel.value, C: cost.value, asked: { title, graph: editor.graph },
      graphs: classes.map((each) => each.entries.map(({ title: called, graph }) => ({ title: called, graph }))),
    }),
    exported: () => ({ question: body() }),
  };
}
