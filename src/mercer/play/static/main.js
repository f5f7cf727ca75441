// The page begins here: what can be chosen, the tabs, the scene of the address.

import * as api from "./api.js";
import { alarm, announce } from "./announce.js";
import { desk } from "./desk.js";
import { find, make } from "./elements.js";
import { copy, exporting } from "./exporting.js";
import { fromFragment, toFragment } from "./share.js";
import { Store } from "./store.js";
import { tabs } from "./tabs.js";
import { toggleTheme } from "./theme.js";

const VIEWS = ["lift", "words", "graphs"];
const store = new Store();
const workbench = find("#workbench");
const panels = Object.fromEntries(VIEWS.map((name) => [name, find(`#panel-${name}`)]));
const mounted = {}; // promises of views that were opened
const ready = {}; // those that have come
let given = {}; // states of views that an address brought, until they are opened
let open = "plane";

async function mount(name) {
  const style = make("link", { rel: "stylesheet", href: `views/${name}.css` });
  document.head.append(style);
  try {
    const view = await import(`./views/${name}.js`);
    return view.mount(panels[name], { api, announce, remember, planeScene: () => store.planeScene });
  } catch (trouble) {
    const sentence = `This view could not be loaded: ${trouble.message}`;
    panels[name].replaceChildren(make("p", { className: "error" }, sentence));
    return { show() {}, state() {}, exported: () => ({ question: {} }) };
  }
}

async function show(name) {
  open = name;
  const onDesk = name === "plane" || name === "numbers";
  workbench.hidden = !onDesk;
  workbench.setAttribute("aria-labelledby", `tab-${onDesk ? name : "plane"}`);
  for (const view of VIEWS) panels[view].hidden = view !== name;
  if (onDesk) {
    store.choose(name === "numbers" ? "numbers" : store.planeTask);
  } else {
    mounted[name] ??= mount(name);
    ready[name] = await mounted[name];
    ready[name].show(given[name]);
    delete given[name];
  }
  remember();
}

const tabList = tabs(find("[role=tablist]"), show);

/** Follow a scene that was loaded to the tab where it is seen. */
store.listen((what) => {
  if (!what.has("task")) return;
  const wanted = store.task === "numbers" ? "numbers" : "plane";
  if (open !== wanted && (open === "plane" || open === "numbers")) tabList.open(wanted);
});

async function toAddress() {
  const states = Object.fromEntries(Object.entries(ready).map(([name, view]) => [name, view.state()]));
  const address = new URL(location.href);
  address.hash = await toFragment(store, open, { ...states, ...given });
  history.replaceState(null, "", address);
  return address.href;
}

/** Keep the address up to date, so that reloading the page loses nothing. */
const remember = api.debounced(toAddress, 600);
store.listen(remember);

find("#share").addEventListener("click", async ({ currentTarget: button }) => copy(await toAddress(), button));

const themeButton = find("#theme");
function nameTheme() {
  const dark = document.documentElement.dataset.theme === "dark";
  themeButton.setAttribute("aria-label", dark ? "Light colours" : "Dark colours");
  themeButton.title = themeButton.getAttribute("aria-label");
}
themeButton.addEventListener("click", () => {
  toggleTheme();
  nameTheme();
});
nameTheme();

document.addEventListener("keydown", (event) => {
  if (!(event.ctrlKey || event.metaKey) || workbench.hidden) return;
  if (event.target.matches("input:not([type=range]), textarea")) return;
  const key = event.key.toLowerCase();
  if (key !== "z" && key !== "y") return;
  event.preventDefault();
  if (key === "y" || event.shiftKey) store.redo();
  else store.undo();
});
find("#help-button").addEventListener("click", () => find("#help").showModal());

async function restore() {
  const shared = await fromFragment(location.hash.slice(1));
  if (!shared) return false;
  given = shared.views;
  shared.others.forEach((place) => store.keep(place));
  store.load(shared.scene, shared.box);
  const known = ["plane", "numbers", ...VIEWS];
  tabList.open(known.includes(shared.tab) ? shared.tab : "plane");
  return true;
}

/** The first start compiles code, and what is asked meanwhile may take too long: ask once more when that is done. */
async function whenCompiled(work) {
  const note = find("#compiling");
  note.hidden = false;
  for (;;) {
    await new Promise((done) => setTimeout(done, 500));
    const choices = await api.post("/api/choices").catch(() => ({ ready: true }));
    if (choices.ready) break;
  }
  note.hidden = true;
  work();
}

async function begin() {
  let choices;
  try {
    choices = await api.post("/api/choices");
  } catch (trouble) {
    find("#trouble").textContent = trouble.message;
    find("#trouble").hidden = false;
    alarm(trouble.message);
    return;
  }
  find("#version").textContent = choices.version;
  const { data, exported, refresh, complain } = desk(workbench, store, choices);
  exporting(async () => ((await mounted[open])?.exported ?? exported)());
  if (!choices.ready) whenCompiled(refresh);
  addEventListener("hashchange", restore);
  if (await restore()) return;
  const damaged = location.hash.startsWith("#m1.");
  if (choices.first) data.begin(choices.first);
  else await data.loadNamed("moons", 0);
  if (damaged) complain("What is in this link could not be read: it is damaged, or was not copied as a whole.");
}

begin().then(() => (document.documentElement.dataset.ready = "true"));
