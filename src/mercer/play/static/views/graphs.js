// Small graphs in two classes, a graph kernel, and why one that is drawn is put where it is.

import { debounced, latest } from "../api.js";
import { make } from "../elements.js";
import { swatch } from "../shapes.js";
import { graphClass } from "./graph_class.js";
import { graphEditor } from "./graph_editor.js";
import { EXAMPLES } from "./graph_examples.js";
import { heatMap } from "./heat_map.js";
import { costSlider, divergingBars, figure, kernelField, neighbours, patiently, plainBars, pushRows, shortened, signed, summary } from "./parts.js";
import { scoreStrip } from "./score_strip.js";

export function mount(container, api, announce) {
  let example = EXAMPLES[0];
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
  const kernel = kernelField(example.kernel, changed);
  const cost = costSlider(1, changed);
  const examples = make("select", { onchange: () => begin(EXAMPLES[examples.selectedIndex]) }, ...EXAMPLES.map((each) => make("option", {}, each.title)));
  const lesson = make("p", { className: "lesson" });
  const trouble = make("p", { className: "error", role: "alert", hidden: true });
  const verdict = make("p", { className: "verdict" });
  const halos = make("p", { className: "note" });
  const why = make("div");
  const spectrum = make("div");
  const nearest = make("div");
  const strongest = make("div");
  const whole = make("p", { className: "note" });
  const notes = make("div");
  const strip = scoreStrip();
  const map = heatMap(announce);
  const mapNote = make("p", { className: "note" });
  const adders = [0, 1].map((place) => make("button", { type: "button", onclick: () => keep(place) }));

  const controls = make("div", { className: "panel" },
    make("label", { className: "field" }, make("span", {}, "Begin with"), examples), lesson, kernel.element, cost.element, whole, notes);
  const asking = make("div", { className: "panel ask" },
    make("h3", {}, "Ask about a graph"),
    make("div", { className: "drawing-board" }, editor.element,
      make("div", { className: "answer" }, verdict, halos, trouble, make("div", { className: "row" }, ...adders), make("h4", {}, "Why: what pushes it"), why)));
  container.replaceChildren(
    make("div", { className: "study" },
      make("div", { className: "study-side" }, controls),
      make("div", { className: "study-main" },
        asking,
        make("div", { className: "study-pair" }, ...classes.map((each) => each.element)),
        figure("All graphs on the axis of their scores", "Rings mark support graphs, larger with larger α; struck ones are on the wrong side.", strip.element),
        make("div", { className: "study-pair" },
          figure("Support graphs most like it", "The cosine of their features, and what each adds to the score.", nearest),
          figure("Its features", "What the kernel counts in the drawing.", spectrum)),
        make("div", { className: "study-pair" },
          figure("Strongest features of the machine", "By how much each moves the graphs that have it.", strongest),
          make("figure", { className: "panel figure" }, make("h3", {}, "Similarity of every pair"), mapNote, map.element)),
      ),
    ),
  );

  function begin(chosen) {
    example = chosen;
    title = chosen.asked.title;
    classes.forEach((each, place) => each.fill(chosen.names[place], chosen.graphs[place]));
    kernel.value = chosen.kernel;
    lesson.textContent = chosen.lesson;
    editor.load(chosen.asked.graph);
    for (const each of classes) each.draw(); // all labels are known only now
    ask();
  }

  function keep(place) {
    if (!editor.graph.nodes.length) return announce("The drawing is empty.");
    drawn += 1;
    classes[place].add({ title: `drawing ${drawn}`, graph: structuredClone(editor.graph) });
  }

  async function ask() {
    changed.cancel();
    const entries = classes.flatMap((each) => each.entries);
    const labels = classes.flatMap((each, place) => each.entries.map(() => place));
    const names = classes.map((each) => each.name);
    adders.forEach((button, place) => button.replaceChildren(swatch(place), ` Add to ${names[place]}`));
    const asked = editor.graph.nodes.length ? structuredClone(editor.graph) : null;
    const body = { graphs: entries.map(({ graph }) => graph), labels, names, kernel: kernel.value, C: cost.value, asked };
    try {
      const answer = await patiently(question(body), whole);
      if (answer) show(answer, body, entries.map((entry) => entry.title));
    } catch (refusal) {
      complain(refusal);
    }
  }

  /** What is wrong goes below the kernel, unless the graphs or the server are at fault. */
  function complain({ message: sentence, kind }) {
    const ofGraphs = kind !== "refused" || /^(a machine separates|there are|the graph|graph \d|label|an edge)/.test(sentence);
    kernel.complain(ofGraphs ? null : sentence);
    trouble.textContent = ofGraphs ? sentence : "";
    trouble.hidden = !ofGraphs;
  }

  function show(answer, body, titles) {
    kernel.complain(null);
    trouble.hidden = true;
    const most = Math.max(...answer.alpha, 1e-12);
    const items = titles.map((each, k) => ({
      title: each, label: body.labels[k], score: answer.scores[k], alpha: answer.alpha[k], share: answer.alpha[k] / most,
      support: answer.support[k], wrong: answer.wrong[k],
    }));
    const first = classes[0].entries.length;
    classes[0].judge(items.slice(0, first));
    classes[1].judge(items.slice(first));
    whole.textContent = summary(answer, "graphs");
    notes.replaceChildren(...answer.notes.map((note) => make("p", { className: "note" }, note)));
    const about = answer.asked;
    strip.show(about ? [...items, { title, label: about.label, score: about.score, asked: true }] : items, body.names);
    mapNote.textContent = `Ordered by class; ${map.show(answer.matrix, body.labels, titles, "graphs")}.`;
    const rows = answer.features.filter(({ weight }) => Math.abs(weight) >= 5e-3).slice(0, 12).map(({ feature, weight, items: having }) => ({ name: shortened(feature), value: weight, title: `${feature}, in ${having} graphs` }));
    strongest.replaceChildren(rows.length ? divergingBars(rows, body.names) : make("p", { className: "note" }, "This kernel lists no features."));
    for (const part of [verdict, halos, why, spectrum, nearest]) part.replaceChildren();
    if (about) explain(answer, body, titles);
    else verdict.textContent = "Draw a graph to hear what the machine makes of it.";
  }

  function explain(answer, { names }, titles) {
    const { asked: about } = answer;
    verdict.replaceChildren(swatch(about.label, 18), make("span", { className: "numeric" }, make("strong", {}, about.name), `, score ${signed(about.score)}`));
    editor.judge(about.nodes);
    halos.textContent = about.nodes ? "Rings show what each node, with its surroundings, adds." : "";
    why.replaceChildren(divergingBars(pushRows(answer, 8), names));
    const counts = about.spectrum.slice(0, 12);
    const rest = about.spectrum.length - counts.length;
    spectrum.replaceChildren(
      counts.length ? plainBars(counts.map(({ feature, count }) => ({ name: shortened(feature), value: count }))) : make("p", { className: "note" }, "This kernel compares graphs without listing features."),
      ...(rest > 0 ? [make("p", { className: "note" }, `and ${rest} more.`)] : []),
    );
    nearest.replaceChildren(neighbours(about.nearest.map((each) => ({ ...each, title: titles[each.place] })), "graph"));
    announce(`The drawing: ${about.name}, score ${signed(about.score)}. ${summary(answer, "graphs")}`);
  }

  return {
    show() {
      if (begun) return;
      begun = true;
      api.post("/api/choices").then(({ graph_kernels }) => kernel.suggest(graph_kernels ?? []), () => {});
      begin(example);
    },
    hide() {},
  };
}
