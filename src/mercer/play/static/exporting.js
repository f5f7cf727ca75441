// What one takes along: a picture with or without pixels, a script, a command, a link.

import { post } from "./api.js";
import { announce } from "./announce.js";
import { find } from "./elements.js";
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

/**
 * The dialog. `exported()` is { question, name?, svg?, png? }: what /api/code is asked, what files are called, and pictures
 * where there are some.
 */
export function exporting(exported) {
  const dialog = find("#export");
  const note = find("#export-note");
  const parts = Object.fromEntries([...dialog.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
  const block = (part) => find("pre", part);
  const saver = find("[data-saves=csv]", dialog);
  let taken = null; // what was exported when the dialog was opened

  async function open() {
    taken = await exported();
    for (const kind of ["svg", "png"]) find(`#export-${kind}`).hidden = !taken[kind];
    for (const part of Object.values(parts)) block(part).textContent = "…";
    dialog.showModal();
    const code = await post("/api/code", taken.question).catch((trouble) => ({ note: trouble.message }));
    note.textContent = code.note ?? "";
    for (const [name, part] of Object.entries(parts)) {
      block(part).textContent = code[name] ?? "";
      part.hidden = !code[name];
    }
    find("#export-file").textContent = saver.dataset.name = code.file ?? "";
  }
  find("#open-export").addEventListener("click", open);
  find("#export-png").addEventListener("click", async () => save(`${taken.name}.png`, await taken.png()));
  find("#export-svg").addEventListener("click", () => save(`${taken.name}.svg`, taken.svg(), "image/svg+xml"));
  dialog.addEventListener("click", ({ target }) => {
    const button = target.closest("button[data-copies], button[data-saves]");
    if (button?.dataset.copies) copy(block(parts[button.dataset.copies]).textContent, button);
    if (button?.dataset.saves) save(button.dataset.name, block(parts[button.dataset.saves]).textContent, "text/plain");
  });
}
