// One class of graphs: its name, and its graphs as small drawings, which can be asked about or removed.

import { make } from "../elements.js";
import { swatch } from "../shapes.js";
import { drawing, inWords } from "./graph_drawing.js";
import { layout } from "./graph_layout.js";
import { signed } from "./parts.js";
import { described } from "./score_strip.js";

/** `changed()` after a change, `ask(entry)` where a drawing was chosen, `known()` the labels in use. */
export function graphClass(place, { changed, ask, known, announce }) {
  let entries = [];
  const name = make("input", {
    className: "class-name", maxLength: 40, "aria-label": `Name of class ${place + 1}`, oninput: () => changed(),
  });
  const count = make("span", { className: "quiet numeric" });
  const gallery = make("ul", { className: "gallery", "aria-label": `Graphs of class ${place + 1}` });

  function remove(index) {
    const [gone] = entries.splice(index, 1);
    announce(`${gone.title} removed from ${name.value}.`);
    draw();
    gallery.children[Math.min(index, entries.length - 1)]?.querySelector(".remove").focus();
    changed();
  }

  function draw() {
    count.textContent = entries.length;
    gallery.replaceChildren(
      ...entries.map((entry, index) => {
        const caption = make("span", { className: "caption" }, entry.title);
        const score = make("span", { className: "score numeric quiet" });
        const chosen = make("button", { type: "button", className: "thumb", onclick: () => ask(entry) }, drawing(entry.graph, entry.places, known()), caption, score);
        const away = make("button", { type: "button", className: "remove", "aria-label": `Remove ${entry.title}`, onclick: () => remove(index) }, "×");
        chosen.onkeydown = away.onkeydown = (event) => {
          if (event.key === "Delete" || event.key === "Backspace") remove(index);
        };
        return make("li", { className: `card class-${place}` }, chosen, away);
      }),
    );
  }

  const head = make("div", { className: "row class-head" }, swatch(place, 18), name, count);
  return {
    element: make("section", { className: `panel graph-class class-${place}` }, head, gallery),
    get entries() {
      return entries;
    },
    get name() {
      return name.value.trim() || ["first", "second"][place];
    },
    fill(called, given) {
      name.value = called;
      entries = given.map((entry) => ({ ...entry, places: layout(entry.graph) }));
      draw();
    },
    add(entry) {
      entries.push({ ...entry, places: layout(entry.graph) });
      announce(`${entry.title} added to ${name.value}.`);
      draw();
      changed();
    },
    draw,
    /** Show what the machine makes of the graphs. */
    judge(items) {
      items.forEach((item, index) => {
        const card = gallery.children[index];
        if (!card) return;
        card.classList.toggle("support", item.support);
        card.classList.toggle("wrong", item.wrong);
        card.style.setProperty("--share", item.share.toFixed(3));
        card.title = described(item);
        card.querySelector(".score").textContent = signed(item.score);
        card.querySelector(".thumb").setAttribute("aria-label", `${described(item)}. ${inWords(entries[index].graph)}. Ask about it.`);
      });
    },
  };
}
