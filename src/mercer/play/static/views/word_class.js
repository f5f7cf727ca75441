// One class of words: its name, its words as chips, and a field that takes more of them, one by one or as a pasted list.

import { make } from "../elements.js";
import { swatch } from "../shapes.js";
import { described } from "./score_strip.js";

const LETTERS = 200;

/** Words of a typed or pasted text: separated by commas or lines, or, unless they are phrases, by spaces. */
export function split(text, phrases) {
  const marks = phrases || /[,;\n\t]/.test(text) ? /[,;\n\t]+/ : /\s+/;
  return text.split(marks).map((word) => [...word.trim()].slice(0, LETTERS).join("")).filter(Boolean);
}

/** `place` is 0 or 1; `changed()` is called after words or the name changed, `ask(word)` where one was chosen. */
export function wordClass(place, { changed, ask, announce, phrases }) {
  let words = [];
  const name = make("input", {
    className: "class-name", maxLength: 40, "aria-label": `Name of class ${place + 1}`, oninput: () => changed(),
  });
  const chips = make("ul", { className: "chips", "aria-label": `Words of class ${place + 1}` });
  const more = make("input", {
    placeholder: "add words…", autocomplete: "off", autocapitalize: "off", spellcheck: false, "aria-label": `Add words to class ${place + 1}`,
  });
  const count = make("span", { className: "quiet numeric" });

  function add(text) {
    const fresh = split(text, phrases());
    if (!fresh.length) return;
    words.push(...fresh);
    more.value = "";
    announce(`${fresh.length === 1 ? fresh[0] : `${fresh.length} words`} added to ${name.value}.`);
    draw();
    changed();
  }

  function remove(index) {
    const [word] = words.splice(index, 1);
    announce(`${word} removed from ${name.value}.`);
    draw();
    (chips.children[Math.min(index, words.length - 1)]?.querySelector(".remove") ?? more).focus();
    changed();
  }

  function draw() {
    count.textContent = words.length;
    chips.replaceChildren(
      ...words.map((word, index) => {
        const chosen = make("button", { type: "button", className: "word", onclick: () => ask(word) }, word);
        const away = make("button", { type: "button", className: "remove", "aria-label": `Remove ${word}`, onclick: () => remove(index) }, "×");
        away.onkeydown = chosen.onkeydown = (event) => {
          if (event.key === "Delete" || event.key === "Backspace") remove(index);
        };
        return make("li", { className: `chip class-${place}` }, chosen, away);
      }),
    );
  }

  more.onkeydown = (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    add(more.value);
  };
  more.onpaste = (event) => {
    const text = event.clipboardData.getData("text/plain");
    if (split(text, phrases()).length < 2) return;
    event.preventDefault();
    add(text);
  };
  more.onchange = () => add(more.value);

  const head = make("div", { className: "row class-head" }, swatch(place, 18), name, count);
  return {
    element: make("div", { className: `panel word-class class-${place}` }, head, chips, more),
    get words() {
      return words;
    },
    get name() {
      return name.value.trim() || ["first", "second"][place];
    },
    fill(called, given) {
      name.value = called;
      words = [...given];
      draw();
    },
    /** Show what the machine makes of the words: a ring by α, a mark where the score is on the wrong side. */
    judge(items) {
      items.forEach((item, index) => {
        const chip = chips.children[index];
        if (!chip) return;
        chip.classList.toggle("support", item.support);
        chip.classList.toggle("wrong", item.wrong);
        chip.style.setProperty("--share", item.share.toFixed(3));
        chip.title = described(item);
        chip.firstChild.setAttribute("aria-label", `${described(item)}. Ask about it.`);
      });
    },
  };
}
