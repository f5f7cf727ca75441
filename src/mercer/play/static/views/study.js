// The study of a machine on items of two classes, words or graphs: what is chosen, and what is shown of the answer.

import { make } from "../elements.js";
import { swatch } from "../shapes.js";
import { heatMap } from "./heat_map.js";
import { costSlider, divergingBars, figure, kernelField, neighbours, patiently, plainBars, pushRows, shortened, signed, summary } from "./parts.js";
import { scoreStrip } from "./score_strip.js";

const [STRONGEST, COUNTED, SMALLEST] = [12, 14, 5e-3];

/**
 * `one` is what an item is called. `begin(example)` is called where one was chosen, `changed()` after changes, and
 * `ofItems(sentence)` says whether a refusal is about the items rather than the kernel.
 */
export function study(one, examples, { begin, changed, ofItems, announce }) {
  const many = `${one}s`;
  const kernel = kernelField(examples[0].kernel, changed);
  const cost = costSlider(1, changed);
  const menu = make("select", { onchange: () => begin(examples[menu.selectedIndex]) }, ...examples.map(({ title }) => make("option", {}, title)));
  const lesson = make("p", { className: "lesson" });
  const trouble = make("p", { className: "error", role: "alert", hidden: true });
  const verdict = make("p", { className: "verdict" });
  const [why, spectrum, nearest, strongest, notes] = Array.from({ length: 5 }, () => make("div"));
  const [whole, mapNote] = [make("p", { className: "note" }), make("p", { className: "note" })];
  const strip = scoreStrip();
  const map = heatMap(announce);

  function explain(answer, { names, titles }) {
    const { asked: about } = answer;
    verdict.replaceChildren(swatch(about.label, 18), make("span", { className: "numeric" }, make("strong", {}, about.name), `, score ${signed(about.score)}`));
    why.replaceChildren(divergingBars(pushRows(answer), names));
    const counts = [...about.spectrum].sort((a, b) => b.count - a.count).slice(0, COUNTED);
    const rest = about.spectrum.length - counts.length;
    spectrum.replaceChildren(
      counts.length ? plainBars(counts.map(({ feature, count }) => ({ name: shortened(feature), value: count }))) : make("p", { className: "note" }, `This kernel compares ${many} without listing features.`),
      ...(rest > 0 ? [make("p", { className: "note" }, `and ${rest} more.`)] : []),
    );
    nearest.replaceChildren(neighbours(about.nearest.map((each) => ({ ...each, title: titles[each.place] })), one));
  }

  return {
    kernel,
    menu,
    lesson,
    verdict,
    trouble,
    why,
    cost,
    controls: make("div", { className: "panel" },
      make("label", { className: "field" }, make("span", {}, "Begin with"), menu), lesson, kernel.element, cost.element, whole, notes),
    figures: {
      strip: figure(`All ${many} on the axis of their scores`, `Rings mark support ${many}, larger with larger α; struck ones are on the wrong side.`, strip.element),
      spectrum: figure("Its features", "What the kernel counts in it; in a normalised kernel as a share of its length.", spectrum),
      nearest: figure(`Support ${many} most like it`, "The cosine of their features, and what each adds to the score.", nearest),
      strongest: figure("Strongest features of the machine", `By how much each moves the ${many} that have it.`, strongest),
      map: make("figure", { className: "panel figure" }, make("h3", {}, "Similarity of every pair"), mapNote, map.element),
    },

    /** The answer to a question; where there is none, what is wrong is shown, and null is returned. */
    async heard(promise) {
      try {
        const answer = await patiently(promise, whole);
        if (answer) {
          kernel.complain(null);
          trouble.hidden = true;
        }
        return answer;
      } catch ({ message: sentence, kind }) {
        const here = kind !== "refused" || ofItems(sentence);
        kernel.complain(here ? null : sentence);
        trouble.textContent = here ? sentence : "";
        trouble.hidden = !here;
        return null;
      }
    },

    /** Show an answer; `title` is the name of the item asked about, and `titles` those of the others. */
    show(answer, { names, labels, titles, title }) {
      const most = Math.max(...answer.alpha, 1e-12);
      const items = titles.map((each, k) => ({
        title: each, label: labels[k], score: answer.scores[k], alpha: answer.alpha[k], share: answer.alpha[k] / most,
        support: answer.support[k], wrong: answer.wrong[k],
      }));
      whole.textContent = summary(answer, many);
      notes.replaceChildren(...answer.notes.map((note) => make("p", { className: "note" }, note)));
      const about = answer.asked;
      strip.show(about ? [...items, { title, label: about.label, score: about.score, asked: true }] : items, names);
      mapNote.textContent = `Ordered by class; ${map.show(answer.matrix, labels, titles, many)}.`;
      const rows = answer.features.filter(({ weight }) => Math.abs(weight) >= SMALLEST).slice(0, STRONGEST)
        .map(({ feature, weight, items: having }) => ({ name: shortened(feature), value: weight, title: `${feature}, in ${having} ${many}` }));
      strongest.replaceChildren(rows.length ? divergingBars(rows, names) : make("p", { className: "note" }, "This kernel lists no features."));
      for (const part of [verdict, why, spectrum, nearest]) part.replaceChildren();
      if (about) {
        explain(answer, { names, titles });
        announce(`${title}: ${about.name}, score ${signed(about.score)}. ${summary(answer, many)}`);
      }
      return items;
    },
  };
}
