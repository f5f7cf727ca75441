// Light or dark: as the system says, or as the reader chose.

const KEY = "mercer-theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set();

function wanted() {
  return localStorage.getItem(KEY) ?? (system.matches ? "dark" : "light");
}

function apply() {
  document.documentElement.dataset.theme = wanted();
  kept = null;
  listeners.forEach((tell) => tell());
}

/** Call `tell` whenever colours change, so that canvases are painted anew. */
export function onTheme(tell) {
  listeners.add(tell);
}

/** The other one; the system's own choice is followed again once both agree. */
export function toggleTheme() {
  const other = wanted() === "dark" ? "light" : "dark";
  if (other === (system.matches ? "dark" : "light")) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, other);
  apply();
  return other;
}

/** A colour of theme.css as text: colour("ink"). */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/** A colour of theme.css as [red, green, blue]. */
export function channels(name) {
  const text = colour(name).replace("#", "");
  return [0, 2, 4].map((at) => parseInt(text.slice(at, at + 2), 16));
}

const NAMES = ["paper", "raised", "ink", "muted", "rule", "edge", "accent", "bad", "mark"];
let kept = null;

/** All that a figure needs, read once until the theme changes. */
export function palette() {
  kept ??= {
    ...Object.fromEntries(NAMES.map((name) => [name, colour(name)])),
    classes: [0, 1, 2, 3, 4, 5].map((k) => colour(`c${k}`)),
    channels: [0, 1, 2, 3, 4, 5].map((k) => channels(`c${k}`)),
    shade: Number(colour("shade")),
    sans: colour("sans"),
    serif: colour("serif"),
  };
  return kept;
}

system.addEventListener("change", apply);
apply();
