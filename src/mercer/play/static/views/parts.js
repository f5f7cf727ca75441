// Parts that the views of words, graphs and lifts have in common.

import { make } from "../elements.js";
import { swatch } from "../shapes.js";
import { slider } from "../slider.js";

const SPACE = "http://www.w3.org/2000/svg";

/** An element of a drawing: svg("circle", { r: 3 }). */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A number with its sign, in few digits, with a real minus. */
export function signed(value, digits = 2) {
  const text = Math.abs(value).toFixed(digits);
  return `${value < 0 && Number(text) > 0 ? "−" : "+"}${text}`;
}

/** A number in few digits. */
export const plain = (value, digits = 3) => String(Number(value.toPrecision(digits))).replace("-", "−");

/** A figure with a title, a sentence that says how to read it, and its content. */
export function figure(title, how, ...content) {
  return make("figure", { className: "panel figure" }, make("h3", {}, title), make("p", { className: "note" }, how), ...content);
}

let fields = 0;

/** A text field for kernels, with suggestions as buttons and what is wrong beside it. */
export function kernelField(start, onchange) {
  fields += 1;
  const wrong = make("p", { className: "error", id: `view-kernel-${fields}`, role: "alert", hidden: true });
  const input = make("input", {
    className: "mono", value: start, spellcheck: false, autocomplete: "off", autocapitalize: "off",
    "aria-describedby": wrong.id, oninput: () => onchange(input.value),
  });
  const suggestions = make("div", { className: "row suggestions", role: "group", "aria-label": "Kernels to try" });
  const element = make("div", {}, make("label", { className: "field" }, make("span", {}, "Kernel"), input), wrong, suggestions);
  const press = () => {
    for (const button of suggestions.children) button.setAttribute("aria-pressed", String(button.dataset.text === input.value));
  };
  return {
    element,
    get value() {
      return input.value;
    },
    set value(text) {
      input.value = text;
      press();
    },
    suggest(kernels) {
      suggestions.replaceChildren(
        ...kernels.map(({ name, text, help }) => {
          const button = make("button", { type: "button", className: "small", title: `${text}: ${help}` }, name);
          button.dataset.text = text;
          button.onclick = () => {
            input.value = text;
            press();
            onchange(text);
          };
          return button;
        }),
      );
      press();
    },
    complain(sentence) {
      wrong.textContent = sentence ?? "";
      wrong.hidden = !sentence;
      input.setAttribute("aria-invalid", String(Boolean(sentence)));
      press();
    },
  };
}

/** The slider of C. */
export function costSlider(start, onchange) {
  let current = start;
  const { element, show } = slider("C", { low: 1e-3, high: 1e4, log: true, title: "C: what an error costs" }, (value) => {
    if (value === current) return;
    current = value;
    onchange();
  });
  show(start);
  return {
    element,
    get value() {
      return current;
    },
    set value(given) {
      current = given;
      show(given);
    },
  };
}

/**
 * Bars to either side of zero. Rows are { name, value, title?, quiet? }; positive bars have the colour of the second
 * class and point to the right.
 */
export function divergingBars(rows, names, { reach = Math.max(...rows.map((row) => Math.abs(row.value)), 1e-9) } = {}) {
  const items = rows.map(({ name, value, title, quiet }) => {
    const bar = make("span", { className: `push ${value < 0 ? "class-0 left" : "class-1 right"}` });
    bar.style.setProperty("--length", `${((100 * Math.abs(value)) / reach).toFixed(2)}%`);
    const label = make("span", { className: `bar-name ${quiet ? "quiet" : "mono"}`, title: title ?? name }, name);
    const hidden = make("span", { className: "visually-hidden" }, ` speaks for ${names[value < 0 ? 0 : 1]}`);
    return make("li", {}, label, make("span", { className: "track", "aria-hidden": "true" }, bar), make("span", { className: "bar-value numeric" }, signed(value)), hidden);
  });
  return make("ol", { className: "bars" }, ...items);
}

/** Bars from zero, all of one colour: { name, value }. */
export function plainBars(rows) {
  const reach = Math.max(...rows.map((row) => row.value), 1e-9);
  const items = rows.map(({ name, value }) => {
    const bar = make("span", { className: "push plain" });
    bar.style.setProperty("--length", `${((100 * Math.max(0, value)) / reach).toFixed(2)}%`);
    return make("li", {}, make("span", { className: "bar-name mono", title: name }, name), make("span", { className: "track", "aria-hidden": "true" }, bar), make("span", { className: "bar-value numeric" }, plain(value)));
  });
  return make("ol", { className: "bars from-zero" }, ...items);
}

/** Rows that sum to the score: the intercept, the largest pushes and what the others leave. */
export function pushRows(answer, most = 12) {
  const { pushes, score } = answer.asked;
  const shown = pushes.slice(0, most);
  const rest = score - answer.intercept - shown.reduce((sum, each) => sum + each.push, 0);
  const rows = shown.map(({ feature, push, count, weight }) => ({
    name: shortened(feature), value: push, title: `${feature}: ${plain(count)} × ${signed(weight, 3)}`,
  }));
  rows.push({ name: "intercept", value: answer.intercept, quiet: true });
  if (Math.abs(rest) > 5e-3) rows.push({ name: pushes.length ? "all else" : "all features together", value: rest, quiet: true });
  return rows;
}

/** A long name, of which the end is cut off. */
export const shortened = (text, most = 34) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);

/** A sentence on the machine as a whole. */
export function summary(answer, what) {
  const support = answer.support.filter(Boolean).length;
  const wrong = answer.wrong.filter(Boolean).length;
  const { certificate } = answer;
  const found = certificate.converged ? "exact up to rounding and tolerance" : "not finished";
  return `${support} of ${answer.scores.length} ${what} support the machine; ${wrong || "none"} ${wrong === 1 ? "is" : "are"} on the wrong side. Its objective is ${plain(certificate.objective, 4)}, at most ${plain(certificate.gap, 2)} above the best (${found}).`;
}

/** Support items most like the asked one, as a table: { title, label, similarity, alpha, push }. */
export function neighbours(found, what) {
  const rows = found.map(({ title, similarity, alpha, label, push }) =>
    make("tr", {},
      make("td", {}, swatch(label), ` ${title}`),
      ...[similarity.toFixed(2), plain(alpha), signed(push)].map((text) => make("td", { className: "number" }, text))),
  );
  const heads = [what, "like it", "α", "adds"].map((head, k) => make("th", { scope: "col", className: k ? "number" : "" }, head));
  return make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows));
}

/** Ask, and say so where the answer takes its time, as it does where code is compiled first. */
export async function patiently(promise, place) {
  const timer = setTimeout(() => {
    place.textContent = "Waiting for an answer: a kernel that is used for the first time is compiled, which takes some seconds.";
  }, 1500);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}
