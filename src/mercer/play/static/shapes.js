// The marks of the classes: each has a colour (--c0 … --c5) and a shape, so that either alone tells them apart.

const corners = (count, radius, turn) =>
  Array.from({ length: count }, (_, k) => {
    const angle = turn + (2 * Math.PI * k) / count;
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });

const outline = (places) => `M${places.map(([x, y]) => `${x.toFixed(2)} ${y.toFixed(2)}`).join("L")}Z`;

const star = (radius) => {
  const outer = corners(5, radius, -Math.PI / 2);
  const inner = corners(5, radius * 0.5, -Math.PI / 2 + Math.PI / 5);
  return outline(outer.flatMap((place, k) => [place, inner[k]]));
};

/** Paths around the origin of about the same area; `r` is the radius of the disc. */
const SHAPES = [
  (r) => `M${-r} 0A${r} ${r} 0 1 1 ${r} 0A${r} ${r} 0 1 1 ${-r} 0Z`,
  (r) => outline(corners(4, r * 1.25, Math.PI / 4)),
  (r) => outline(corners(3, r * 1.45, -Math.PI / 2)),
  (r) => outline(corners(4, r * 1.3, 0)),
  (r) => outline(corners(3, r * 1.45, Math.PI / 2)),
  (r) => star(r * 1.5),
];

export const SHAPE_NAMES = ["disc", "square", "triangle", "diamond", "triangle pointing down", "star"];

/** The mark of class k as the text of an SVG path (also for Path2D). */
export const shapePath = (k, radius) => SHAPES[k % SHAPES.length](radius);

/** A small picture of the mark, for legends and buttons. */
export function swatch(k, size = 14) {
  const space = "http://www.w3.org/2000/svg";
  const picture = document.createElementNS(space, "svg");
  const attributes = { width: size, height: size, viewBox: "-8 -8 16 16", "aria-hidden": "true" };
  for (const [name, value] of Object.entries(attributes)) picture.setAttribute(name, value);
  picture.classList.add("swatch", `class-${k % SHAPES.length}`);
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", shapePath(k, 5));
  picture.append(path);
  return picture;
}
