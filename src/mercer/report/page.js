"use strict";
// Sorting: a click on a column's head sorts its table by that column, a second click the other way round.
function keyOf(row, column) {
  const cell = row.cells[column];
  const text = cell.dataset.key ?? cell.textContent.trim();
  const number = Number(text);
  return text !== "" && Number.isFinite(number) ? number : text;
}
function order(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a.localeCompare(b, undefined, { numeric: true });
}
for (const button of document.querySelectorAll("table.sortable th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th");
    const table = head.closest("table");
    const column = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => (down ? -1 : 1) * order(keyOf(a, column), keyOf(b, column)));
    table.tBodies[0].append(...rows);
  });
}
// Details on pointing at a mark.
const tip = document.getElementById("tip");
function show(event) {
  const mark = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
  tip.hidden = mark === null;
  if (mark === null) return;
  tip.textContent = mark.dataset.tip;
  const box = tip.getBoundingClientRect();
  const left = Math.min(event.clientX + 12, window.innerWidth - box.width - 8);
  const top = event.clientY + 16 + box.height > window.innerHeight ? event.clientY - box.height - 10 : event.clientY + 16;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${Math.max(8, top)}px`;
}
document.addEventListener("pointermove", show);
document.addEventListener("pointerdown", show);
// A link to something folded unfolds it.
function unfold() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target === null) return;
  for (let part = target.closest("details"); part !== null; part = part.parentElement.closest("details")) part.open = true;
  target.scrollIntoView();
}
window.addEventListener("hashchange", unfold);
if (location.hash) unfold();
// A button copies its command; where the browser forbids that, the command is selected for the reader to copy.
for (const button of document.querySelectorAll("button.copy")) {
  button.addEventListener("click", async () => {
    const line = document.getElementById(button.dataset.copies);
    try {
      await navigator.clipboard.writeText(line.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(line);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}
// Everything unfolds on paper, and folds again afterwards.
window.addEventListener("beforeprint", () => {
  for (const part of document.querySelectorAll("details:not([open])")) {
    part.open = true;
    part.dataset.folded = "";
  }
});
window.addEventListener("afterprint", () => {
  for (const part of document.querySelectorAll("details[data-folded]")) {
    part.open = false;
    delete part.dataset.folded;
  }
});
