// Words in two classes, a string kernel, and why one more word is put where it is.

import { debounced, latest } from "../api.js";
import { make } from "../elements.js";
import { list, number, pair, record, text, whole } from "./checks.js";
import { figure, signed } from "./parts.js";
import { study } from "./study.js";
import { wordClass } from "./word_class.js";
import { EXAMPLES } from "./word_examples.js";

const LETTERS = 200;
const isState = record({
  example: whole(0, EXAMPLES.length - 1), names: pair(text(40)), words: pair(list(2000, text(2 * LETTERS))), kernel: text(500), C: number, asked: text(LETTERS),
});
const ofWords = (sentence) => /\bwords?\b/i.test(sentence) && !/kernel|[a-z]+\(/i.test(sentence);

export function mount(container, { api, announce, remember }) {
  let example = EXAMPLES[0];
  let begun = false;

  const question = latest((body) => api.post("/api/words", body));
  const changed = debounced(ask, 120);
  const choose = (word) => {
    asked.value = word;
    ask();
  };
  const classes = [0, 1].map((place) => wordClass(place, { changed, ask: choose, announce, phrases: () => Boolean(example.phrases) }));
  const parts = study("word", EXAMPLES, { begin, changed, ofItems: ofWords, announce });
  const { kernel, cost, menu, figures } = parts;
  const asked = make("input", {
    className: "asked-word", maxLength: LETTERS, spellcheck: false, autocomplete: "off", autocapitalize: "off", oninput: changed,
  });
  const letters = make("p", { className: "letters" });
  const asking = make("div", { className: "panel ask" },
    make("label", { className: "field" }, make("span", {}, "Ask about a word"), asked), letters, parts.verdict, parts.trouble);
  container.replaceChildren(
    make("div", { className: "study" },
      make("div", { className: "study-side" }, parts.controls, ...classes.map((each) => each.element)),
      make("div", { className: "study-main" },
        asking,
        figures.strip,
        make("div", { className: "study-pair" }, figure("Why: what pushes the word", "Counts times weights; together they are the score.", parts.why), figures.spectrum),
        make("div", { className: "study-pair" }, figures.nearest, figures.strongest),
        figures.map,
      ),
    ),
  );

  /** An example, or a state, which is one with a C. */
  function begin(chosen) {
    example = chosen;
    classes.forEach((each, place) => each.fill(chosen.names[place], chosen.words[place]));
    kernel.value = chosen.kernel;
    cost.value = chosen.C ?? cost.value;
    asked.value = chosen.asked;
    parts.lesson.textContent = chosen.lesson;
    ask();
  }

  const body = () => ({
    words: classes.flatMap((each) => each.words),
    labels: classes.flatMap((each, place) => each.words.map(() => place)),
    names: classes.map((each) => each.name),
    kernel: kernel.value, C: cost.value, asked: asked.value.trim(),
  });

  async function ask() {
    changed.cancel();
    remember();
    const sent = body();
    const answer = await parts.heard(question(sent));
    if (answer) show(answer, sent);
  }

  function show(answer, { words, labels, names, asked: title }) {
    const items = parts.show(answer, { names, labels, titles: words, title });
    const first = labels.indexOf(1);
    classes[0].judge(items.slice(0, first));
    classes[1].judge(items.slice(first));
    letters.replaceChildren(...(answer.asked ? tinted(answer.asked, names) : []));
    if (!answer.asked) parts.verdict.textContent = "Type a word to hear what the machine makes of it.";
  }

  return {
    /** Begin, or go on from the state of an address. */
    show(given) {
      const state = isState(given) ? given : null;
      if (begun && !state) return;
      if (!begun) api.post("/api/choices").then(({ word_kernels }) => kernel.suggest(word_kernels ?? []), () => {});
      begun = true;
      menu.selectedIndex = state?.example ?? 0;
      begin({ ...EXAMPLES[menu.selectedIndex], ...state });
    },
    state: () => ({
      example: menu.selectedIndex, names: classes.map((each) => each.name), words: classes.map((each) => each.words), kernel: kernel.value, C: cost.value,
      asked: asked.value,
    }),
    exported: () => ({ question: body() }),
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
