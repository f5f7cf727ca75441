// From places of the data to pixels and back; ticks at round numbers.

/** Where the axes lie in a picture of this size, and how wide the margins for their ticks are. */
function frameOf(width, height) {
  const narrow = width < 480;
  const [left, right, top, bottom] = narrow ? [46, 6, 6, 34] : [60, 10, 10, 42];
  return { x: left, y: top, w: width - left - right, h: height - top - bottom };
}

/** Widen one side, so that a unit is as long across as up: circles stay circles. */
function equalised([x0, x1, y0, y1], { w, h }) {
  const unit = Math.max((x1 - x0) / w, (y1 - y0) / h);
  const [x, y] = [(x0 + x1) / 2, (y0 + y1) / 2];
  return [x - (unit * w) / 2, x + (unit * w) / 2, y - (unit * h) / 2, y + (unit * h) / 2];
}

/** How a box of the data is seen in a picture of width × height pixels. */
export function makeView(box, width, height, equal) {
  const frame = frameOf(width, height);
  const [x0, x1, y0, y1] = equal ? equalised(box, frame) : box;
  return {
    width,
    height,
    frame,
    box: [x0, x1, y0, y1],
    px: (x) => frame.x + (frame.w * (x - x0)) / (x1 - x0),
    py: (y) => frame.y + frame.h - (frame.h * (y - y0)) / (y1 - y0),
    place: (px, py) => [
      rounded(x0 + ((px - frame.x) * (x1 - x0)) / frame.w, (x1 - x0) / frame.w),
      rounded(y0 + ((frame.y + frame.h - py) * (y1 - y0)) / frame.h, (y1 - y0) / frame.h),
    ],
    inside: (px, py) => px >= frame.x && px <= frame.x + frame.w && py >= frame.y && py <= frame.y + frame.h,
  };
}

/** As many digits as a pixel is worth, so that links and scripts stay short. */
function rounded(value, pixel) {
  const digits = Math.min(12, Math.max(0, Math.ceil(-Math.log10(pixel))));
  return Number(value.toFixed(digits));
}

/** The sides of a grid over the view with about so many nodes, as square as can be. */
export function gridSize({ frame }, nodes = 6000) {
  const width = Math.round(Math.sqrt((nodes * frame.w) / frame.h));
  const clamp = (count) => Math.min(160, Math.max(24, count));
  return [clamp(width), clamp(Math.round(nodes / width))];
}

/** About `count` round numbers between low and high. */
export function ticks(low, high, count) {
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999) * power;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) {
    const value = k * step;
    const short = Math.abs(value) >= 1e5 || (step < 1e-4 && value !== 0);
    found.push({ value, text: short ? value.toExponential(1) : minus(value.toFixed(digits)) });
  }
  return found;
}

const minus = (text) => (Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−"));

/** A number for people: about three digits. */
export function short(value, digits = 3) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) {
    const [front, power] = value.toExponential(digits - 2).split("e");
    return minus(`${Number(front)}e${Number(power)}`).replace(/e-/, "e−");
  }
  return minus(String(Number(value.toPrecision(digits))));
}
