// Data: built-in sets, and files that are dropped or picked. A file's text goes to the server on this machine only.

import { post } from "./api.js";
import { announce } from "./announce.js";
import { find, make } from "./elements.js";

const MOST_BYTES = 900_000;
const TASKS = { classes: "Classes", novelty: "Novelty", numbers: "Numbers" };

export function files(root, store, choices, complain) {
  const menu = find("#data", root);
  const note = find("#data-note", root);
  const columns = find("#columns", root);
  const origins = {}; // of each task: the name in the menu (none of a file) and what was said of the data
  let file = null; // { file, text } of the last one that could be read, so that other columns can be chosen

  for (const [task, title] of Object.entries(TASKS)) {
    const group = make("optgroup", { label: title });
    const known = choices.data.filter((one) => one.task === task);
    group.append(...known.map(({ name, title: words }) => make("option", { value: name }, words)));
    menu.append(group);
  }

  /** The first data of a task bring a kernel that suits them; after that, the machine stays as it was set. */
  function take(answer, name) {
    const { task, seed = store.scene.seed } = answer.scene;
    const machine = isUntouched(task) ? {} : store.machineOf(task);
    origins[task] = { name, note: answer.note ?? "" };
    store.load({ ...answer.scene, ...machine, seed });
    announce(origins[task].note);
  }

  const isUntouched = (task) => !origins[task] && !store.isKnown(task);

  function showOrigin() {
    const { name, note: said } = origins[store.task] ?? { name: "", note: "" };
    menu.value = name;
    note.textContent = said;
  }

  async function loadNamed(name, seed) {
    try {
      const answer = await post("/api/data", { name, seed });
      file = null;
      columns.hidden = true;
      take(answer, name);
      complain("");
    } catch (trouble) {
      complain(trouble.message);
    }
  }

  async function loadFile(chosen) {
    if (chosen.size > MOST_BYTES) {
      const size = Math.round(chosen.size / 1000);
      complain(`${chosen.name} has ${size} kB; bring a table of at most ${MOST_BYTES / 1000} kB.`);
      return;
    }
    await ask({ file: chosen.name, text: await chosen.text() }, {});
  }

  async function ask(asked, choice) {
    try {
      const answer = await post("/api/data", { ...asked, ...choice });
      file = asked;
      take(answer, "");
      offerColumns(answer);
      complain("");
    } catch (trouble) {
      complain(trouble.message);
    }
  }

  /** Which columns are looked at and which one is told, for a table that has more than it takes. */
  function offerColumns({ columns: known, target, scene }) {
    columns.hidden = known.length < 2;
    if (columns.hidden) return;
    const numeric = known.filter(({ kind, name }) => kind === "number" || scene.axes.includes(name));
    const field = (label, list, value) => {
      const select = make("select", {}, ...list.map(({ name }) => make("option", { value: name }, name)));
      select.value = value;
      columns.append(make("label", { className: "field" }, make("span", {}, label), select));
      return select;
    };
    columns.replaceChildren();
    const wanted = scene.task === "numbers" ? 1 : 2;
    const axes = ["across", "upward"].slice(0, wanted).map((label, k) => field(label, numeric, scene.axes[k]));
    const told = target === null || target === undefined ? null : field("target", withTarget(known, target), target);
    columns.onchange = ({ target: changed }) => {
      if (changed === told) return ask(file, { target: told.value });
      const other = axes.find((select) => select !== changed);
      if (other?.value === changed.value) other.value = scene.axes[axes.indexOf(changed)]; // they change places
      return ask(file, { columns: axes.map((select) => select.value), target: told?.value });
    };
  }

  function withTarget(known, target) {
    return known.some(({ name }) => name === target) ? known : [...known, { name: target }];
  }

  menu.addEventListener("change", () => menu.value && loadNamed(menu.value, store.scene.seed));
  find("#draw", root).addEventListener("click", () => {
    const seed = (store.scene.seed + 1) % 2 ** 31;
    if (menu.value) loadNamed(menu.value, seed);
    else store.update({ seed });
  });
  find("#file", root).addEventListener("change", (event) => {
    const [chosen] = event.target.files;
    if (chosen) loadFile(chosen);
    event.target.value = "";
  });
  // Anywhere on the page: where nobody listens, a browser leaves the page to show the file.
  window.addEventListener("dragover", (event) => {
    if (!event.dataTransfer.types.includes("Files")) return;
    event.preventDefault();
    root.classList.add("dropping");
  });
  window.addEventListener("dragleave", (event) => event.relatedTarget === null && root.classList.remove("dropping"));
  window.addEventListener("drop", (event) => {
    event.preventDefault();
    root.classList.remove("dropping");
    const [chosen] = event.dataTransfer.files;
    if (chosen && root.checkVisibility()) loadFile(chosen);
  });

  store.listen((what) => {
    if (!what.has("task")) return;
    showOrigin();
    const first = choices.data.find((one) => one.task === store.task);
    if (!what.has("load") && first && isUntouched(store.task)) loadNamed(first.name, store.scene.seed);
  });

  return {
    loadNamed,
    /** The data that “mercer play DATA” was started with. */
    begin(answer) {
      take(answer, "");
    },
  };
}
