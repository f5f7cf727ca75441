// Where to draw the nodes of a graph: distances on paper as near as can be to those along the edges (least stress).
// Nothing is drawn at random, so that a graph looks the same every time.

const ROUNDS = 160;
const STARTS = 6;

/** Numbers of edges between all pairs of nodes; parts that are not joined keep a little apart. */
export function distances({ nodes, edges }) {
  const near = nodes.map(() => []);
  for (const [a, b] of edges) {
    near[a].push(b);
    near[b].push(a);
  }
  const apart = Math.sqrt(nodes.length) + 1;
  return nodes.map((_, source) => {
    const far = new Array(nodes.length).fill(apart);
    far[source] = 0;
    const queue = [source];
    const seen = new Set(queue);
    for (const v of queue) {
      for (const u of near[v]) {
        if (seen.has(u)) continue;
        seen.add(u);
        far[u] = far[v] + 1;
        queue.push(u);
      }
    }
    return far;
  });
}

/** Places in [0, 1]², the longer side across: of some beginnings, the one that ends with the least stress. */
export function layout(graph) {
  const far = distances(graph);
  const tried = graph.nodes.slice(0, STARTS).map((_, first) => relaxed(far, startOf(far, first)));
  const stresses = tried.map((places) => stress(far, places));
  return framed(turned(tried[stresses.indexOf(Math.min(...stresses))]));
}

/** Σ (‖xᵢ − xⱼ‖ − d)²/d² over all pairs, in so many digits that rounding decides nothing. */
function stress(far, places) {
  let total = 0;
  for (let i = 0; i < places.length; i += 1) {
    for (let j = 0; j < i; j += 1) {
      const length = Math.hypot(places[i][0] - places[j][0], places[i][1] - places[j][1]);
      total += (length / far[i][j] - 1) ** 2;
    }
  }
  return Number(total.toFixed(6));
}

function relaxed(far, start) {
  const n = far.length;
  let places = start;
  for (let round = 0; round < ROUNDS; round += 1) {
    // Each node goes to the weighted mean of where the others would have it: Σ w(xⱼ + d·(xᵢ − xⱼ)/‖xᵢ − xⱼ‖), w = 1/d².
    places = places.map(([x, y], i) => {
      let [across, up, total] = [0, 0, 0];
      for (let j = 0; j < n; j += 1) {
        if (j === i) continue;
        const d = far[i][j];
        const weight = 1 / d ** 2;
        const [dx, dy] = [x - places[j][0], y - places[j][1]];
        const length = Math.hypot(dx, dy) || 1e-6;
        across += weight * (places[j][0] + (d * dx) / length);
        up += weight * (places[j][1] + (d * dy) / length);
        total += weight;
      }
      return total ? [across / total, up / total] : [x, y];
    });
  }
  return places;
}

/** On a circle, neighbours beside each other: in the order in which a walk from one of them meets them. */
function startOf(far, first) {
  const order = [];
  const seen = new Set();
  const visit = (v) => {
    if (seen.has(v)) return;
    seen.add(v);
    order.push(v);
    far[v].forEach((d, u) => d === 1 && visit(u));
  };
  visit(first);
  far.forEach((_, v) => visit(v));
  const places = [];
  order.forEach((v, k) => {
    const angle = (2 * Math.PI * k) / order.length + 0.05 * Math.sin(3 * k + 1); // not quite even: no deadlocks
    places[v] = [Math.cos(angle), Math.sin(angle)];
  });
  return places;
}

/** Turned so that the graph is widest across. */
function turned(places) {
  const n = places.length;
  const [cx, cy] = [0, 1].map((k) => places.reduce((sum, place) => sum + place[k], 0) / n);
  let [xx, xy, yy] = [0, 0, 0];
  for (const [x, y] of places) {
    xx += (x - cx) ** 2;
    xy += (x - cx) * (y - cy);
    yy += (y - cy) ** 2;
  }
  const angle = -0.5 * Math.atan2(2 * xy, xx - yy);
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return places.map(([x, y]) => [cos * (x - cx) - sin * (y - cy), sin * (x - cx) + cos * (y - cy)]);
}

function framed(places) {
  const reach = Math.max(...places.map(([x, y]) => Math.max(Math.abs(x), Math.abs(y))), 1e-6);
  const middle = [0, 1].map((k) => {
    const values = places.map((place) => place[k]);
    return (Math.min(...values) + Math.max(...values)) / 2;
  });
  const half = places.length === 1 ? 1 : reach;
  return places.map((place) => place.map((value, k) => 0.5 + (value - middle[k]) / (2 * half)));
}
