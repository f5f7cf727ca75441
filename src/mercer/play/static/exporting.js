// What one takes along: a picture with or without pixels, a script, a command, a link.

import { post } from "./api.js";
import { announce } from "./announce.js";
import { find } from "./elements.js";
import { packed } from "./fitting.js";
import { makeView } from "./geometry.js";
import { drawNumbers } from "./numbers_figure.js";
import { canvasPen, svgPen } from "./pens.js";
import { drawPlane, gridToPixels } from "./plane_figure.js";
import { tintAreas } from "./shading.js";
import { palette } from "./theme.js";

const [WIDTH, SCALE] = [800, 2];
const heightOf = (seen) => Math.round((WIDTH * seen.height) / seen.width);

export function save(name, content, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export async function copy(text, button) {
  await navigator.clipboard.writeText(text);
  const words = button.dataset.words ?? (button.dataset.words = button.textContent);
  button.textContent = "Copied";
  announce("copied");
  setTimeout(() => (button.textContent = words), 1500);
}

const areas = (pen, field, colours, view) => tintAreas(pen, field, colours, gridToPixels(field, view));

/** The picture that is seen, in a size of its own and the same proportions. */
function draw(pen, picture, seen, shade) {
  const view = makeView(seen.box, WIDTH, heightOf(seen), false);
  if (picture.scene.task === "numbers") drawNumbers(pen, view, picture, palette());
  else drawPlane(pen, view, picture, palette(), shade);
}

export function toSvg(picture, seen, title) {
  const pen = svgPen(WIDTH, heightOf(seen), title);
  draw(pen, picture, seen, areas);
  return pen.written();
}

export function toPng(picture, seen) {
  const canvas = new OffscreenCanvas(WIDTH * SCALE, heightOf(seen) * SCALE);
  const context = canvas.getContext("2d");
  context.scale(SCALE, SCALE);
  draw(canvasPen(context), picture, seen);
  return canvas.convertToBlob({ type: "image/png" });
}

/** `seen()` is { picture, view, title }. */
export function exporting(root, store, seen) {
  const dialog = find("#export", root);
  const blocks = Object.fromEntries(["python", "command", "csv"].map((name) => [name, find(`#export-${name}`, root)]));
  const note = find("#export-note", root);

  async function open() {
    dialog.showModal();
    for (const block of Object.values(blocks)) block.textContent = "…";
    try {
      const code = await post("/api/code", { scene: packed(store.scene).sent });
      for (const [name, block] of Object.entries(blocks)) block.textContent = code[name] ?? "";
      note.textContent = code.note ?? "";
    } catch (trouble) {
      for (const block of Object.values(blocks)) block.textContent = "";
      note.textContent = trouble.message;
    }
  }
  find("#open-export").addEventListener("click", open);
  find("#export-png", root).addEventListener("click", async () => {
    const { picture, view } = seen();
    save(`mercer-${picture.scene.task}.png`, await toPng(picture, view));
  });
  find("#export-svg", root).addEventListener("click", () => {
    const { picture, view, title } = seen();
    save(`mercer-${picture.scene.task}.svg`, toSvg(picture, view, title), "image/svg+xml");
  });
  dialog.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-copies], button[data-saves]");
    if (button?.dataset.copies) copy(blocks[button.dataset.copies].textContent, button);
    if (button?.dataset.saves) save(button.dataset.name, blocks[button.dataset.saves].textContent, "text/plain");
  });
}
