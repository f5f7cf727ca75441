// What the machine says of itself: certificate, estimates and bounds, notes.

import { find, make } from "./elements.js";
import { short } from "./geometry.js";

/** Shares as percent; errors of numbers are in the unit of the target, and come with their own text. */
const isShare = (task, value) => task !== "numbers" && value >= 0 && value <= 1;

function certificateText(certificate) {
  if (!certificate) return "This learner has no certificate: it does not minimise an objective.";
  return certificate.sentence;
}

/** The line that a reader of the screen hears, and that stands under the figure. */
export function summaryOf({ scene, answer }) {
  const parts = [];
  const count = answer.support;
  const points = `${scene.points.length} points`;
  const telling = count > 0 && !(scene.task === "numbers" && count === scene.points.length);
  parts.push(telling ? `${count} support vector${count === 1 ? "" : "s"} of ${points}` : points);
  const [error] = answer.estimates ?? [];
  if (error) {
    const share = isShare(scene.task, error.value);
    parts.push(`${error.name} ${share ? `${short(100 * error.value)}\u202f%` : error.text}`);
  }
  return parts.join(", ");
}

/** What is written already costs no new layout. */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function findings(root) {
  const certificate = find("#certificate", root);
  const badge = find("#certified", root);
  const table = find("#estimates tbody", root);
  const notes = find("#notes", root);
  const kernel = find("#kernel-read", root);
  const summary = find("#summary", root);

  let rows = []; // kept while the same estimates come again, as they do while a slider moves
  let named = "";

  function layOut(estimates) {
    const now = JSON.stringify(estimates.map(({ name }) => name));
    if (now === named) return;
    named = now;
    rows = estimates.map(({ name }) => {
      const [note, text] = [make("small"), make("span")];
      const bar = make("span", { className: "bar", "aria-hidden": "true" });
      const heading = make("th", { scope: "row" }, name, note);
      return { note, text, bar, element: make("tr", {}, heading, make("td", { className: "number" }, text, bar)) };
    });
    table.replaceChildren(...rows.map(({ element }) => element));
  }

  function fill({ note, text, bar }, task, estimate) {
    write(note, estimate.note ?? "");
    write(text, estimate.text);
    bar.hidden = !isShare(task, estimate.value);
    bar.style.setProperty("--part", `${100 * Math.min(1, estimate.value)}%`);
  }

  return {
    show({ scene, answer }) {
      const estimates = answer.estimates ?? [];
      write(certificate, certificateText(answer.certificate));
      write(badge, answer.certificate?.converged ? "certified" : "not converged");
      badge.className = answer.certificate?.converged ? "badge good" : "badge warn";
      badge.hidden = !answer.certificate;
      layOut(estimates);
      estimates.forEach((one, k) => fill(rows[k], scene.task, one));
      if ((answer.notes ?? []).join() !== [...notes.children].map((one) => one.textContent).join()) {
        notes.replaceChildren(...answer.notes.map((note) => make("li", {}, note)));
      }
      const line = answer.line ? `: ${answer.line}` : "";
      write(kernel, answer.kernel ? `Read as ${answer.kernel}${line}` : "");
      write(summary, `${summaryOf({ scene, answer })} · ${short(1000 * answer.seconds)} ms`);
    },
    clear(sentence) {
      certificate.textContent = "";
      badge.hidden = true;
      layOut([]);
      notes.replaceChildren();
      kernel.textContent = "";
      summary.textContent = sentence;
    },
  };
}
