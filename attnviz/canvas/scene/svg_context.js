// A drawing context that writes SVG: the part of CanvasRenderingContext2D that pictures use (DrawingContext), photographs, and
// elements that others drew. It needs
// no page, so that the same drawing makes a file in a browser and without one.

import { hex, toRgb } from "../shared/colour.js";
import { encodeBase64 } from "../shared/packing.js";
import { pngBytes } from "./png.js";
import { FAMILY, SIGNS, splitAtSigns, textWidth, tracePath } from "./text_width.js";
import { writeAttributes, escapeText, Gradient, formatNumber, SvgPath } from "./svg_path.js";

/** @import { DrawingContext, Rectangle } from "../shared/types.js" */
/** @import { Weight } from "./text_width.js" */

/** From the middle of a line of text to its baseline, as a share of its size: half of what rises above less what hangs below. */
const MIDDLE = 0.312;
/** More cells than this are one picture of pixels, not a shape a run. */
const MOST_SHAPES = 64 * 64;

/** @implements {DrawingContext} */
export class SvgContext extends SvgPath {
  constructor() {
    super();
    /** @type {string | Gradient} */
    this.fillStyle = "#000000";
    /** @type {string | Gradient} */
    this.strokeStyle = "#000000";
    this.lineWidth = 1;
    this.globalAlpha = 1;
    this.font = "10px sans-serif";
    /** @type {CanvasTextAlign} */
    this.textAlign = "left";
    /** @type {CanvasTextBaseline} */
    this.textBaseline = "alphabetic";
    /** @type {CanvasLineCap} */
    this.lineCap = "butt";
    /** @type {CanvasLineJoin} */
    this.lineJoin = "miter";
    /** @type {number[]} */
    this.dash = [];
    /** @type {string[]} */
    this.parts = [];
    /** @type {(Gradient | { id: string, definition: string })[]} */
    this.definitions = [];
    /** @type {{ state: Record<string, unknown>, groups: number }[]} */
    this.saved = [];
    this.groups = 0;
  }

  /** The drawing as elements, and what they refer to. */
  get drawing() {
    const definitions = this.definitions.map(({ definition }) => definition).join("");
    return (definitions ? `<defs>${definitions}</defs>` : "") + this.parts.join("");
  }

  /** @param {string} definition with ID in the place of its name */
  define(definition) {
    const known = this.definitions.find((one) => one.definition.replace(one.id, "ID") === definition);
    if (known) return known.id;
    const id = `d${this.definitions.length + 1}`;
    this.definitions.push({ id, definition: definition.replace("ID", id) });
    return id;
  }

  save() {
    const { fillStyle, strokeStyle, lineWidth, lineCap, lineJoin, globalAlpha, font, textAlign, textBaseline } = this;
    const { dash, matrix } = this;
    const styles = { fillStyle, strokeStyle, lineWidth, lineCap, lineJoin, globalAlpha, font, textAlign, textBaseline };
    this.saved.push({ state: { ...styles, dash, matrix }, groups: this.groups });
    this.groups = 0;
  }

  restore() {
    const before = this.saved.pop();
    if (!before) return;
    this.parts.push("</g>".repeat(this.groups));
    this.groups = before.groups;
    Object.assign(this, before.state);
  }

  /** @param {number[]} dash */
  setLineDash(dash) {
    this.dash = dash;
  }

  clip() {
    if (this.rectangle === null) throw new Error("only a rectangle clips a picture");
    const { x, y, w, h } = this.rectangle;
    const [left, top] = this.at(x, y);
    const box = `<rect${writeAttributes({ x: left, y: top, width: w, height: h, transform: this.turned })}/>`;
    const id = this.define(`<clipPath id="ID">${box}</clipPath>`);
    this.parts.push(`<g clip-path="url(#${id})">`);
    this.groups += 1;
  }

  /** A style as an attribute's value: of a gradient, its name. @param {string | Gradient} style */
  ink(style) {
    if (typeof style !== "string" && !this.definitions.includes(style)) this.definitions.push(style);
    return String(style);
  }

  /** @param {string} element @param {Record<string, string | number>} named */
  put(element, named, inside = "") {
    const all = writeAttributes({ ...named, transform: this.turned });
    this.parts.push(inside ? `<${element}${all}>${inside}</${element}>` : `<${element}${all}/>`);
  }

  get filled() {
    return { fill: this.ink(this.fillStyle), "fill-opacity": this.globalAlpha < 1 ? this.globalAlpha : "" };
  }

  get stroked() {
    return {
      fill: "none",
      stroke: this.ink(this.strokeStyle),
      "stroke-width": this.lineWidth === 1 ? "" : this.lineWidth,
      "stroke-opacity": this.globalAlpha < 1 ? this.globalAlpha : "",
      "stroke-dasharray": this.dash.map(formatNumber).join(" "),
      "stroke-linecap": this.lineCap === "butt" ? "" : this.lineCap,
      "stroke-linejoin": this.lineJoin === "miter" ? "" : this.lineJoin,
    };
  }

  fill() {
    if (this.path) this.put("path", { d: this.path, ...this.filled });
  }

  stroke() {
    if (this.path) this.put("path", { d: this.path, ...this.stroked });
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  fillRect(x, y, width, height) {
    const [left, top] = this.at(x, y);
    if (width > 0 && height > 0) this.put("rect", { x: left, y: top, width, height, ...this.filled });
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  strokeRect(x, y, width, height) {
    const [left, top] = this.at(x, y);
    this.put("rect", { x: left, y: top, width, height, ...this.stroked });
  }

  /** Weight and size of the font, whether it leans, and its family where it is another than the file's. */
  get type() {
    const [, size, family] = /([\d.]+)px (.*)/.exec(this.font) ?? ["", "10", FAMILY];
    const weight = /** @type {Weight} */ (/\b([6-9]00|bold)\b/.test(this.font) ? 600 : 400);
    const italic = /\bitalic\b/.test(this.font);
    return { size: Number(size), weight, italic, family: family === FAMILY ? "" : escapeText(family) };
  }

  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    if (!text.trim()) return;
    const parts = splitAtSigns(text);
    if (parts.length > 1 || parts[0] in SIGNS) {
      this.fillParts(parts, text, x, y);
      return;
    }
    this.putText(text, x, y, this.filled);
  }

  /** @param {string} text @param {number} x @param {number} y */
  strokeText(text, x, y) {
    this.putText(text, x, y, this.stroked);
  }

  /** @param {string} text @param {number} x @param {number} y @param {Record<string, string | number>} ink */
  putText(text, x, y, ink) {
    const { size, weight, italic, family } = this.type;
    const anchors = /** @type {Record<string, string>} */ ({ center: "middle", right: "end", end: "end" });
    const [left, base] = this.at(x, y + this.drop);
    const type = {
      "font-family": family,
      "font-size": size,
      "font-weight": weight === 400 ? "" : weight,
      "font-style": italic ? "italic" : "",
      "text-anchor": anchors[this.textAlign] ?? "",
    };
    this.put("text", { x: left, y: base, ...type, ...ink }, escapeText(text));
  }

  /** From the height that a text is given for to its baseline. */
  get drop() {
    const { size } = this.type;
    const drops = /** @type {Record<string, number>} */ ({ middle: MIDDLE, top: 0.9, bottom: -0.2 });
    return size * (drops[this.textBaseline] ?? 0);
  }

  /** Writes a text in parts; a sign that the font lacks is drawn as lines. */
  /** @param {string[]} parts @param {string} text @param {number} x @param {number} y */
  fillParts(parts, text, x, y) {
    const { size, weight } = this.type;
    const shares = /** @type {Record<string, number>} */ ({ center: 0.5, right: 1, end: 1 });
    let at = x - (shares[this.textAlign] ?? 0) * textWidth(text, size, weight);
    this.parts.push(`<g aria-label="${escapeText(text)}">`);
    this.save();
    this.textAlign = "left";
    Object.assign(this, { strokeStyle: this.fillStyle, lineCap: "round", lineJoin: "round", dash: [] });
    this.lineWidth = size * (weight === 400 ? 0.08 : 0.11);
    for (const part of parts) {
      if (part in SIGNS) {
        tracePath(this, SIGNS[part], at, y + this.drop, size);
        this.stroke();
      } else {
        const inked = part.trimStart(); // SVG drops a blank that a text begins with
        this.fillText(inked, at + textWidth(part, size, weight) - textWidth(inked, size, weight), y);
      }
      at += textWidth(part, size, weight);
    }
    this.restore();
    this.parts.push("</g>");
  }

  /** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 */
  createLinearGradient(x1, y1, x2, y2) {
    const [[left, top], [right, low]] = [this.at(x1, y1), this.at(x2, y2)];
    return new Gradient(`g${this.definitions.length + 1}`, [left, top, right, low]);
  }

  /**
   * A matrix of coloured cells: shapes of equal neighbours where they are few, else one picture of pixels.
   * @param {Uint32Array} pixels 0xAABBGGRR, row by row; nothing is painted where a pixel is 0
   * @param {number} columns @param {Rectangle} place
   */
  cells(pixels, columns, { x, y, w, h }) {
    const rows = pixels.length / columns;
    const [left, top] = this.at(x, y);
    if (pixels.length > MOST_SHAPES) {
      const href = `data:image/png;base64,${encodeBase64(pngBytes(pixels, columns))}`;
      const kept = w >= columns ? "image-rendering:pixelated" : "";
      this.put("image", { x: left, y: top, width: w, height: h, preserveAspectRatio: "none", style: kept, href });
      return;
    }
    /** @type {Map<number, string>} */
    const shapes = new Map();
    for (let row = 0; row < rows; row++) {
      for (let from = 0, to = 0; from < columns; from = to) {
        const pixel = pixels[row * columns + from];
        while (to < columns && pixels[row * columns + to] === pixel) to += 1;
        if (pixel !== 0) shapes.set(pixel, `${shapes.get(pixel) ?? ""}M${from} ${row}h${to - from}v1H${from}z`);
      }
    }
    const move = `${this.turned}translate(${formatNumber(left)} ${formatNumber(top)}) scale(${w / columns} ${h / rows})`;
    const inside = [...shapes].map(([pixel, d]) => `<path fill="${hex(toRgb(pixel))}" d="${d}"/>`).join("");
    this.parts.push(`<g transform="${move}" shape-rendering="crispEdges">${inside}</g>`);
  }

  /**
   * A photograph, which is in the file once however often it is drawn.
   * @param {string} address of its data @param {Rectangle} place
   * @param {boolean} smooth false: its pixels stay squares
   * @param {string} [matrix] what becomes of its colours, as feColorMatrix has it
   */
  image(address, { x, y, w, h }, smooth, matrix = "") {
    const style = smooth ? "" : "image-rendering:pixelated";
    const size = writeAttributes({ width: w, height: h, preserveAspectRatio: "none", style, href: address });
    const id = this.define(`<image id="ID"${size}/>`);
    const all = 'x="0" y="0" width="1" height="1" color-interpolation-filters="sRGB"';
    const filter = matrix && this.define(`<filter id="ID" ${all}><feColorMatrix values="${matrix}"/></filter>`);
    const [left, top] = this.at(x, y);
    this.put("use", { x: left, y: top, href: `#${id}`, filter: filter && `url(#${filter})` });
  }

  /** Elements that something else has drawn, moved to where the context is. @param {string} elements */
  insert(elements) {
    this.parts.push(
      `<g transform="translate(${formatNumber(this.matrix[4])} ${formatNumber(this.matrix[5])})">${elements}</g>`,
    );
  }

  /** The hatch of what a mask hides. @param {Rectangle} place @param {string} colour @param {boolean} dark */
  hatch({ x, y, w, h }, colour, dark) {
    const [faint, strong] = dark ? [0.22, 0.55] : [0.26, 0.7];
    const id = this.define(
      '<pattern id="ID" width="6" height="6" patternUnits="userSpaceOnUse">' +
        `<rect width="6" height="6" fill="${colour}" fill-opacity="${faint}"/>` +
        `<path d="M-1 1L1 -1M0 6L6 0M5 7L7 5" stroke="${colour}" stroke-opacity="${strong}"/></pattern>`,
    );
    const [left, top] = this.at(x, y);
    this.put("rect", { x: left, y: top, width: w, height: h, fill: `url(#${id})` });
  }

  /** All that `draw` draws, so faint. @param {number} opacity @param {(context: DrawingContext) => void} draw */
  fade(opacity, draw) {
    if (opacity < 1) this.parts.push(`<g opacity="${formatNumber(opacity)}">`);
    draw(this);
    if (opacity < 1) this.parts.push("</g>");
  }
}
