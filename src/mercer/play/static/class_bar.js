// What a click adds: the class, or the eraser. Keys 1 to 6 choose, E erases.

import { announce } from "./announce.js";
import { find, make } from "./elements.js";
import { swatch } from "./shapes.js";
import { CLASS_NAMES } from "./store.js";

export function classBar(root, store) {
  const bar = find("#classes", root);
  const eraser = find("#eraser", root);
  const task = find("#tasks", root);
  let label = 0;
  let erasing = false;

  function choose(next) {
    if (next >= store.scene.names.length) return;
    label = next;
    erasing = false;
    announce(`adding ${store.scene.names[label]}`);
    show();
  }

  function erase() {
    erasing = !erasing;
    show();
  }

  function another() {
    const { names } = store.scene;
    const name = CLASS_NAMES.find((one) => !names.includes(one)) ?? `class ${names.length + 1}`;
    label = names.length;
    store.update({ names: [...names, name] });
  }

  function show() {
    const { scene } = store;
    const several = scene.task === "classes";
    if (label >= scene.names.length) label = 0;
    const buttons = (several ? scene.names : []).map((name, k) =>
      make(
        "button",
        {
          type: "button",
          className: "class-button",
          title: `Key ${k + 1}`,
          "aria-pressed": String(!erasing && k === label),
          onclick: () => choose(k),
        },
        swatch(k),
        make("span", {}, name),
      ),
    );
    const look = { type: "button", className: "plain", title: "Another class", "aria-label": "Add a class" };
    const more = make("button", { ...look, onclick: another }, "+");
    const focused = [...bar.children].indexOf(document.activeElement);
    bar.replaceChildren(...buttons, ...(several && scene.names.length < 6 ? [more] : []));
    if (focused >= 0) bar.children[Math.min(focused, bar.children.length - 1)]?.focus();
    bar.hidden = !several;
    eraser.setAttribute("aria-pressed", String(erasing));
    find("#figure", root).classList.toggle("erasing", erasing);
    task.hidden = scene.task === "numbers";
    for (const button of task.children) button.setAttribute("aria-pressed", String(button.dataset.task === scene.task));
  }

  eraser.addEventListener("click", erase);
  task.addEventListener("click", ({ target }) => target.dataset.task && store.choose(target.dataset.task));
  root.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^[1-6]$/.test(event.key)) choose(Number(event.key) - 1);
    if (event.key.toLowerCase() === "e") erase();
  });
  let shown = null;
  store.listen(() => {
    const now = `${store.scene.task} ${store.scene.names.join("\n")}`;
    if (now !== shown) show();
    shown = now;
  });
  show();
  return { label: () => label, erasing: () => erasing };
}
