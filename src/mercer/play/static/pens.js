// Two pens with the same strokes: one paints on a canvas, one writes SVG. Figures are drawn with either.

/** Paint on a canvas. Paths are text as in SVG; short ones (marks) are parsed once. */
export function canvasPen(context) {
  const marks = new Map();
  const parsed = (d) => {
    if (d.length > 400) return new Path2D(d);
    if (!marks.has(d)) {
      if (marks.size > 500) marks.clear();
      marks.set(d, new Path2D(d));
    }
    return marks.get(d);
  };
  return {
    path(d, { fill, stroke, width = 1, dash = [], opacity = 1, at = null, even = false }) {
      const path = parsed(d);
      context.globalAlpha = opacity;
      if (at) context.translate(at[0], at[1]);
      if (fill) {
        context.fillStyle = fill;
        context.fill(path, even ? "evenodd" : "nonzero");
      }
      if (stroke) {
        context.strokeStyle = stroke;
        context.lineWidth = width;
        context.lineJoin = "round";
        context.setLineDash(dash);
        context.stroke(path);
      }
      if (at) context.translate(-at[0], -at[1]);
      context.globalAlpha = 1;
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
      context.imageSmoothingQuality = "medium"; // bilinear: enough for eight pixels a node, and quick without a GPU
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
  return {
    written,
    path(d, { fill, stroke, width: thick = 1, dash = [], opacity = 1, at = null, even = false }) {
      const look = {
        fill: fill ?? "none",
        "fill-rule": even ? "evenodd" : null,
        stroke,
        "stroke-width": stroke ? thick : null,
        "stroke-linejoin": stroke ? "round" : null,
        "stroke-dasharray": dash.join(" "),
        opacity: opacity === 1 ? null : opacity,
        transform: at ? `translate(${at[0].toFixed(2)} ${at[1].toFixed(2)})` : null,
      };
      parts.push(`<path d="${d}"${attributes(look)}/>`);
    },
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
