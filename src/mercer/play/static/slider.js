// A slider for a positive number, mostly on a logarithmic scale, with its value beside it to be typed.

import { make } from "./elements.js";
import { short } from "./geometry.js";

const NOTCHES = 400;

/** `changed(value, at, done)`: at is when the hand moved, done says that the move has ended. */
export function slider(name, { low, high, log, title, least = low, most = high }, changed) {
  const whole = name === "epochs" || name === "seed";
  const toValue = (notch) => {
    const part = notch / NOTCHES;
    const value = log ? low * (high / low) ** part : low + part * (high - low);
    return whole ? Math.round(value) : Number(value.toPrecision(3));
  };
  const toNotch = (value) => {
    const inside = Math.min(high, Math.max(low, value));
    const part = log ? Math.log(inside / low) / Math.log(high / low) : (inside - low) / (high - low);
    return Math.round(NOTCHES * part);
  };
  const range = make("input", { type: "range", min: 0, max: NOTCHES, step: 1, "aria-label": title });
  const typed = make("input", { type: "text", inputMode: "decimal", autocomplete: "off", className: "typed numeric" });
  typed.setAttribute("aria-label", `${title}, as a number`);
  const complaint = make("p", { className: "error", hidden: true, role: "alert" });
  const [symbol, ...words] = title.split(":");
  const heading = make("span", {}, make("b", {}, symbol), words.join(":"));
  const head = make("div", { className: "slider-head" }, heading, typed);
  const element = make("div", { className: "slider" }, head, range, complaint);
  element.dataset.slider = name;

  let current = null;
  const show = (value) => {
    if (value === current && complaint.hidden) return;
    current = value;
    range.value = toNotch(value);
    range.setAttribute("aria-valuetext", short(value));
    typed.value = short(value).replace("−", "-");
    complaint.hidden = true;
    typed.removeAttribute("aria-invalid");
  };
  const slide = (event, done) => {
    const value = toValue(Number(range.value));
    if (value !== current) {
      show(value);
      changed(value, event.timeStamp, false);
    }
    if (done) changed(current, event.timeStamp, true);
  };
  range.addEventListener("input", (event) => slide(event, false));
  range.addEventListener("change", (event) => slide(event, true));
  typed.addEventListener("change", (event) => {
    const value = Number(typed.value.replace(",", ".").replace("−", "-"));
    if (typed.value.trim() === "" || !(value >= least && value <= most) || (whole && !Number.isInteger(value))) {
      const kind = whole ? "a whole number" : "a number";
      complaint.textContent = `${symbol} is ${kind} from ${short(least)} to ${short(most)}.`;
      complaint.hidden = false;
      typed.setAttribute("aria-invalid", "true");
      return;
    }
    show(value);
    changed(value, event.timeStamp, true);
  });
  return { element, show, isTyping: () => document.activeElement === typed };
}
