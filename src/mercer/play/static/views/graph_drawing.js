// A graph as a small drawing: edges as lines, nodes as discs with their labels.

import { svg } from "./parts.js";

/** The label of nodes that have none. */
const UNLABELLED = "*";

/** How the nodes of a label are filled: by the order in which labels come up in all graphs. */
export const labelClass = (label, known) => `label-${Math.max(0, known.indexOf(label)) % 5}`;

/** A drawing of `graph` with its nodes at `places` in [0, 1]². */
export function drawing(graph, places, known, { size = 96, largest = 7.5 } = {}) {
  const edge = largest + 4;
  const at = places.map(([x, y]) => [edge + x * (size - 2 * edge), edge + y * (size - 2 * edge)]);
  const gaps = at.flatMap(([x, y], v) => at.slice(0, v).map(([u, w]) => Math.hypot(x - u, y - w)));
  const radius = Math.max(2, Math.min(largest, 0.44 * Math.min(...gaps))); // no disc on another
  const picture = svg("svg", { viewBox: `0 0 ${size} ${size}`, class: "graph", "aria-hidden": "true" });
  for (const [a, b] of graph.edges) picture.append(edgeLine(at[a], at[b]));
  graph.nodes.forEach((label, v) => picture.append(node(label, at[v], known, radius)));
  return picture;
}

export const edgeLine = ([x1, y1], [x2, y2]) => svg("line", { x1, y1, x2, y2, class: "edge" });

/** A node; `push`, from −1 to 1, rings it by what it adds to the score: thicker with more, in the colour of a class. */
export function node(label, [x, y], known, radius, push = 0) {
  const group = svg("g", { class: `node ${label === UNLABELLED ? "bare" : labelClass(label, known)}`, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
  if (Math.abs(push) > 0.04) {
    const halo = svg("circle", { r: radius + 1 + 6 * Math.abs(push), class: `halo class-${push < 0 ? 0 : 1}` });
    group.append(halo);
  }
  group.append(svg("circle", { r: label === UNLABELLED ? 0.72 * radius : radius }));
  const short = label === UNLABELLED ? "" : [...label].slice(0, 3).join("");
  if (short) group.append(svg("text", { y: radius * 0.42, "text-anchor": "middle", "font-size": radius * (short.length > 1 ? 0.9 : 1.25) }, short));
  return group;
}

/** A graph in words, for those who hear the page. */
export function inWords({ nodes, edges }) {
  if (!nodes.length) return "an empty drawing";
  const joins = nodes.map((label, v) => {
    const near = edges.flatMap(([a, b]) => (a === v ? [b + 1] : b === v ? [a + 1] : []));
    return `${v + 1} ${label}${near.length ? ` joined to ${near.join(", ")}` : " alone"}`;
  });
  const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
  return `${count(nodes.length, "node")} and ${count(edges.length, "edge")}: ${joins.join("; ")}`;
}
