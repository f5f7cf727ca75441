// Two pens with the same strokes: one paints on a canvas, one writes SVG. Figures are drawn with either.

const MOST_STAMPS = 500;

/** Paint on a canvas. */
export function canvasPen(context) {
  const stamps = new Map();
  let backdrop = { key: null, canvas: null };

  function inked(path, { fill, stroke, width = 1, dash = [], opacity = 1 }, on = context) {
    on.globalAlpha = opacity;
    if (fill) {
      on.fillStyle = fill;
      on.fill(path);
    }
    if (stroke) {
      on.strokeStyle = stroke;
      on.lineWidth = width;
      on.lineJoin = "round";
      on.setLineDash(dash);
      on.stroke(path);
    }
    on.globalAlpha = 1;
  }

  /** A mark as a small canvas, in pixels of this one: hundreds of them are copied, where outlines would be filled. */
  function stampOf(d, look, scale) {
    const key = [d, look.fill, look.stroke, look.width, look.opacity, scale].join();
    if (!stamps.has(key)) {
      if (stamps.size >= MOST_STAMPS) stamps.clear();
      const half = Math.ceil(look.reach * scale) + 1;
      const canvas = new OffscreenCanvas(2 * half, 2 * half);
      const small = canvas.getContext("2d");
      small.setTransform(scale, 0, 0, scale, half, half);
      inked(new Path2D(d), look, small);
      stamps.set(key, canvas);
    }
    return stamps.get(key);
  }

  return {
    /** A path as SVG writes it. */
    path: (d, look) => inked(new Path2D(d), look),
    /** Lines through places. */
    lines(lines, look) {
      const path = new Path2D();
      for (const line of lines) {
        path.moveTo(line[0][0], line[0][1]);
        for (let k = 1; k < line.length; k += 1) path.lineTo(line[k][0], line[k][1]);
      }
      inked(path, look);
    },
    /** A path around the origin, no farther from it than `reach`, laid at each place; to the nearest pixel. */
    marks(d, places, look) {
      if (places.length === 0) return;
      const scale = context.getTransform().a;
      const stamp = stampOf(d, look, scale);
      const half = stamp.width / 2;
      const side = stamp.width / scale;
      const corner = (middle) => (Math.round(middle * scale) - half) / scale;
      for (const [x, y] of places) context.drawImage(stamp, corner(x), corner(y), side, side);
    },
    /** What `draw(pen)` draws over the whole picture, painted once for each key and then copied. */
    backdrop(key, draw) {
      const { width, height } = context.canvas;
      const whole = `${width} ${height} ${key}`;
      if (backdrop.key !== whole) {
        const canvas = new OffscreenCanvas(width, height);
        const behind = canvas.getContext("2d");
        behind.setTransform(context.getTransform());
        draw(canvasPen(behind));
        backdrop = { key: whole, canvas };
      }
      context.save();
      context.resetTransform();
      context.drawImage(backdrop.canvas, 0, 0);
      context.restore();
    },
    text(words, x, y, { size = 12, fill, anchor = "middle", turn = 0, family = "sans-serif", italic = false }) {
      context.save();
      context.translate(x, y);
      context.rotate((turn * Math.PI) / 180);
      context.font = `${italic ? "italic " : ""}${size}px ${family}`;
      context.fillStyle = fill;
      context.textAlign = { start: "left", middle: "center", end: "right" }[anchor];
      context.fillText(words, 0, 0);
      context.restore();
    },
    clipped({ x, y, w, h }, draw) {
      context.save();
      context.beginPath();
      context.rect(x, y, w, h);
      context.clip();
      draw();
      context.restore();
    },
    /** A small picture, smoothly enlarged so that the middles of its outer pixels lie on the box's corners. */
    bitmap(picture, x, y, w, h) {
      context.imageSmoothingEnabled = true;
      context.imageSmoothingQuality = "low"; // bilinear: enough for eight pixels a node, and quick without a GPU
      context.drawImage(picture, 0.5, 0.5, picture.width - 1, picture.height - 1, x, y, w, h);
    },
  };
}

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (text) => String(text).replace(/[&<>"]/g, (letter) => ESCAPES[letter]);

/** Write SVG; `written()` is the whole file. */
export function svgPen(width, height, title) {
  const parts = [];
  let clips = 0;
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  const written = () =>
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">` +
    `<title>${escaped(title)}</title>${parts.join("\n")}</svg>\n`;
  const attributes = (values) =>
    Object.entries(values)
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => ` ${name}="${escaped(value)}"`)
      .join("");
  const pen = {
    written,
    path(d, { fill, stroke, width: thick = 1, dash = [], opacity = 1 }, at = null) {
      const look = {
        fill: fill ?? "none",
        stroke,
        "stroke-width": stroke ? thick : null,
        "stroke-linejoin": stroke ? "round" : null,
        "stroke-dasharray": dash.join(" "),
        opacity: opacity === 1 ? null : opacity,
        transform: at ? `translate(${at[0].toFixed(2)} ${at[1].toFixed(2)})` : null,
      };
      parts.push(`<path d="${d}"${attributes(look)}/>`);
    },
    lines: (lines, look) => pen.path(lines.map(linePath).join(""), look),
    marks: (d, places, look) => places.forEach((at) => pen.path(d, look, at)),
    backdrop: (_, draw) => draw(pen),
    text(words, x, y, { size = 12, fill, anchor = "middle", turn = 0, family = "sans-serif", italic = false }) {
      const look = {
        x: x.toFixed(1),
        y: y.toFixed(1),
        fill,
        "font-size": size,
        "font-family": family,
        "font-style": italic ? "italic" : null,
        "text-anchor": anchor,
        transform: turn ? `rotate(${turn} ${x.toFixed(1)} ${y.toFixed(1)})` : null,
      };
      parts.push(`<text${attributes(look)}>${escaped(words)}</text>`);
    },
    clipped({ x, y, w, h }, draw) {
      clips += 1;
      parts.push(`<clipPath id="clip${clips}"><rect x="${x}" y="${y}" width="${w}" height="${h}"/></clipPath>`);
      parts.push(`<g clip-path="url(#clip${clips})">`);
      draw();
      parts.push("</g>");
    },
  };
  return pen;
}

/** A line through places as the text of a path. */
export function linePath(places) {
  let text = "";
  for (let k = 0; k < places.length; k += 1) {
    text += `${k ? "L" : "M"}${places[k][0].toFixed(1)} ${places[k][1].toFixed(1)}`;
  }
  return text;
}

export const rectanglePath = ({ x, y, w, h }) => `M${x} ${y}h${w}v${h}h${-w}Z`;
export const discPath = (r) => `M${-r} 0A${r} ${r} 0 1 1 ${r} 0A${r} ${r} 0 1 1 ${-r} 0Z`;
