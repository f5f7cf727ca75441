// What the marks of the figure mean, under it.

import { find, make } from "./elements.js";

const SPACE = "http://www.w3.org/2000/svg";

// Each sign is drawn in a box of 24 × 14.
const SIGNS = {
  ring: [["circle", { cx: 12, cy: 7, r: 5.5, class: "sign-line" }]],
  cross: [["path", { d: "M8 3l8 8M8 11l8-8", class: "sign-line" }]],
  slack: [["path", { d: "M3 11L21 3", class: "sign-thin" }]],
  error: [["path", { d: "M12 1v12", class: "sign-thin" }]],
  boundary: [["path", { d: "M1 7h22", class: "sign-thick" }]],
  margin: [["path", { d: "M1 7h22", class: "sign-dashed" }]],
  band: [["rect", { x: 1, y: 2, width: 22, height: 10, class: "sign-band" }]],
  tube: [["rect", { x: 1, y: 2, width: 22, height: 10, class: "sign-tube" }]],
  quantile: [["path", { d: "M1 7h22", class: "sign-quantile" }]],
};

function sign(name) {
  const picture = document.createElementNS(SPACE, "svg");
  for (const [key, value] of [["width", 24], ["height", 14], ["viewBox", "0 0 24 14"], ["aria-hidden", "true"]]) {
    picture.setAttribute(key, value);
  }
  for (const [tag, attributes] of SIGNS[name]) {
    const part = document.createElementNS(SPACE, tag);
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
    picture.append(part);
  }
  return picture;
}

/** Which signs are seen in a picture, with their words. */
function entriesOf({ scene, answer, facts, levels }) {
  const entries = [];
  const rings = facts.support.some(Boolean) && !(scene.task === "numbers" && facts.support.every(Boolean));
  if (scene.task === "numbers") {
    entries.push(["boundary", answer.quantiles?.length ? "median" : "curve"]);
    const slack = facts.slack.some((one) => one > 1e-9);
    if (slack) entries.push(["error", answer.tube ? "slack: beyond the tube" : "error"]);
    if (answer.tube) entries.push(["tube", "tube: errors that cost nothing"]);
    for (const band of answer.bands ?? []) entries.push(["band", band.name]);
    const outer = (answer.quantiles ?? []).filter(({ q }) => q !== 0.5).map(({ q }) => Number(q.toFixed(3)));
    if (outer.length) entries.push(["quantile", `quantiles ${outer.join(", ")}`]);
  } else {
    entries.push(["boundary", "f(x) = 0"]);
    if (levels.includes(1)) entries.push(["margin", "margins"]);
    if (levels.includes(1) && facts.slack?.some((one) => one > 1e-6)) entries.push(["slack", "slack"]);
    if (facts.wrong.some(Boolean)) entries.push(["cross", scene.task === "novelty" ? "outside" : "wrong side"]);
  }
  if (rings) entries.push(["ring", "support vector"]);
  return entries;
}

export function legend(root) {
  const list = find("#legend", root);
  let shown = "";
  return {
    show(picture) {
      const entries = picture ? entriesOf(picture) : [];
      const now = JSON.stringify(entries);
      if (now === shown) return; // sliders move often, legends change rarely
      shown = now;
      list.replaceChildren(...entries.map(([name, words]) => make("li", {}, sign(name), words)));
    },
  };
}
