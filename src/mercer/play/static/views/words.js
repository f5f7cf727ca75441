// Words in two classes, a string kernel, and why one more word is put where it is.

import { debounced, latest } from "../api.js";
import { make } from "../elements.js";
import { swatch } from "../shapes.js";
import { heatMap } from "./heat_map.js";
import { costSlider, divergingBars, figure, kernelField, neighbours, patiently, plainBars, pushRows, shortened, signed, summary } from "./parts.js";
import { scoreStrip } from "./score_strip.js";
import { wordClass } from "./word_class.js";
import { EXAMPLES } from "./word_examples.js";

export function mount(container, api, announce) {
  let example = EXAMPLES[0];
  let begun = false;

  const question = latest((body) => api.post("/api/words", body));
  const changed = debounced(ask, 120);
  const choose = (word) => {
    asked.value = word;
    ask();
  };
  const options = { changed, ask: choose, announce, phrases: () => Boolean(example.phrases) };
  const classes = [0, 1].map((place) => wordClass(place, options));
  const kernel = kernelField(example.kernel, changed);
  const cost = costSlider(1, changed);
  const asked = make("input", {
    className: "asked-word", maxLength: 200, spellcheck: false, autocomplete: "off", autocapitalize: "off", oninput: changed,
  });
  const examples = make("select", { onchange: () => begin(EXAMPLES[examples.selectedIndex]) }, ...EXAMPLES.map(({ title }) => make("option", {}, title)));
  const lesson = make("p", { className: "lesson" });
  const trouble = make("p", { className: "error", role: "alert", hidden: true });
  const letters = make("p", { className: "letters" });
  const verdict = make("p", { className: "verdict" });
  const why = make("div");
  const spectrum = make("div");
  const nearest = make("div");
  const strongest = make("div");
  const whole = make("p", { className: "note" });
  const notes = make("div");
  const strip = scoreStrip();
  const map = heatMap(announce);
  const mapNote = make("p", { className: "note" });

  const controls = make("div", { className: "panel" },
    make("label", { className: "field" }, make("span", {}, "Begin with"), examples), lesson, kernel.element, cost.element, whole, notes);
  const asking = make("div", { className: "panel ask" },
    make("label", { className: "field" }, make("span", {}, "Ask about a word"), asked), letters, verdict, trouble);
  const nearestFigure = figure("Support words most like it", "The cosine of their features, and what each adds to the score.", nearest);
  const spectrumFigure = figure("Its features", "What the kernel counts in the word; in a normalised kernel as a share of its length.", spectrum);
  container.replaceChildren(
    make("div", { className: "study" },
      make("div", { className: "study-side" }, controls, ...classes.map((each) => each.element)),
      make("div", { className: "study-main" },
        asking,
        figure("All words on the axis of their scores", "Rings mark support words, larger with larger α; struck words are on the wrong side.", strip.element),
        make("div", { className: "study-pair" }, figure("Why: what pushes the word", "Counts times weights; together they are the score.", why), spectrumFigure),
        make("div", { className: "study-pair" }, nearestFigure, figure("Strongest features of the machine", "By how much each moves the words that have it.", strongest)),
        make("figure", { className: "panel figure" }, make("h3", {}, "Similarity of every pair"), mapNote, map.element),
      ),
    ),
  );

  function begin(chosen) {
    example = chosen;
    classes.forEach((each, place) => each.fill(chosen.names[place], chosen.words[place]));
    kernel.value = chosen.kernel;
    asked.value = chosen.asked;
    lesson.textContent = chosen.lesson;
    ask();
  }

  async function ask() {
    changed.cancel();
    const words = classes.flatMap((each) => each.words);
    const labels = classes.flatMap((each, place) => each.words.map(() => place));
    const names = classes.map((each) => each.name);
    const body = { words, labels, names, kernel: kernel.value, C: cost.value, asked: asked.value.trim() };
    try {
      const answer = await patiently(question(body), whole);
      if (answer) show(answer, body);
    } catch (refusal) {
      complain(refusal);
    }
  }

  /** What is wrong goes below the kernel, unless the words or the server are at fault. */
  function complain({ message: sentence, kind }) {
    const ofWords = kind !== "refused" || (/\bwords?\b/.test(sentence) && !/kernel|[a-z]+\(/i.test(sentence));
    kernel.complain(ofWords ? null : sentence);
    trouble.textContent = ofWords ? sentence : "";
    trouble.hidden = !ofWords;
  }

  function show(answer, body) {
    kernel.complain(null);
    trouble.hidden = true;
    const most = Math.max(...answer.alpha, 1e-12);
    const items = body.words.map((title, k) => ({
      title, label: body.labels[k], score: answer.scores[k], alpha: answer.alpha[k], share: answer.alpha[k] / most,
      support: answer.support[k], wrong: answer.wrong[k],
    }));
    const first = classes[0].words.length;
    classes[0].judge(items.slice(0, first));
    classes[1].judge(items.slice(first));
    whole.textContent = summary(answer, "words");
    notes.replaceChildren(...answer.notes.map((note) => make("p", { className: "note" }, note)));
    const about = answer.asked;
    strip.show(about ? [...items, { title: body.asked, label: about.label, score: about.score, asked: true }] : items, body.names);
    mapNote.textContent = `Ordered by class; ${map.show(answer.matrix, body.labels, body.words, "words")}.`;
    const rows = answer.features.filter(({ weight }) => Math.abs(weight) >= 5e-3).slice(0, 12).map(({ feature, weight, items: having }) => ({ name: shortened(feature), value: weight, title: `${feature}, in ${having} words` }));
    strongest.replaceChildren(rows.length ? divergingBars(rows, body.names) : make("p", { className: "note" }, "This kernel lists no features."));
    for (const part of [letters, verdict, why, spectrum, nearest]) part.replaceChildren();
    if (about) explain(answer, body);
    else verdict.textContent = "Type a word to hear what the machine makes of it.";
  }

  function explain(answer, { names }) {
    const { asked: about } = answer;
    letters.replaceChildren(...tinted(about, names));
    verdict.replaceChildren(swatch(about.label, 18), make("span", { className: "numeric" }, make("strong", {}, about.name), `, score ${signed(about.score)}`));
    why.replaceChildren(divergingBars(pushRows(answer), names));
    const counts = [...about.spectrum].sort((a, b) => b.count - a.count).slice(0, 14);
    const rest = about.spectrum.length - counts.length;
    spectrum.replaceChildren(
      counts.length ? plainBars(counts.map(({ feature, count }) => ({ name: shortened(feature), value: count }))) : make("p", { className: "note" }, "This kernel compares words without listing features."),
      ...(rest > 0 ? [make("p", { className: "note" }, `and ${rest} more.`)] : []),
    );
    nearest.replaceChildren(neighbours(about.nearest.map((each) => ({ ...each, title: each.word })), "word"));
    announce(`${about.word}: ${about.name}, score ${signed(about.score)}. ${summary(answer, "words")}`);
  }

  return {
    show() {
      if (begun) return;
      begun = true;
      api.post("/api/choices").then(({ word_kernels }) => kernel.suggest(word_kernels ?? []), () => {});
      begin(example);
    },
    hide() {},
  };
}

/** The word in large letters, each tinted by what it adds to the score. */
function tinted({ word, letters }, names) {
  const most = Math.max(...(letters ?? []).map(Math.abs), 1e-9);
  return [...word].map((letter, k) => {
    const push = letters?.[k] ?? 0;
    const span = make("span", { className: push < 0 ? "letter class-0" : "letter class-1" }, letter === " " ? "\u00a0" : letter);
    span.style.setProperty("--strength", (Math.abs(push) / most).toFixed(3));
    if (letters) span.title = `${letter}: ${signed(push)} for ${names[push < 0 ? 0 : 1]}`;
    return span;
  });
}
