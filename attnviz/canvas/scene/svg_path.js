// Where an SVG is drawn: the moves and turns of a canvas's context, and its path, written as SVG has them.

/** @import { Rectangle } from "../shared/types.js" */

/** A text inside an element or an attribute; a sign that no XML may hold becomes one for "unreadable". */
/** @param {string} text */
export function escapeText(text) {
  const held = text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
  return held.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** The attributes of an element; those that are empty are left out. @param {Record<string, string | number>} named */
export function writeAttributes(named) {
  const held = Object.entries(named).filter(([, value]) => value !== "");
  return held.map(([name, value]) => ` ${name}="${typeof value === "number" ? formatNumber(value) : value}"`).join("");
}

/** A gradient of colours along a line, as a canvas has it. */
export class Gradient {
  /** @param {string} id @param {[number, number, number, number]} line */
  constructor(id, line) {
    this.id = id;
    this.line = line;
    /** @type {[number, string][]} */
    this.stops = [];
  }

  /** @param {number} at @param {string} colour */
  addColorStop(at, colour) {
    this.stops.push([at, colour]);
  }

  toString() {
    return `url(#${this.id})`;
  }

  get definition() {
    const [x1, y1, x2, y2] = this.line;
    const place = writeAttributes({ id: this.id, gradientUnits: "userSpaceOnUse", x1, y1, x2, y2 });
    const stops = this.stops.map(([offset, colour]) => `<stop${writeAttributes({ offset, "stop-color": colour })}/>`);
    return `<linearGradient${place}>${stops.join("")}</linearGradient>`;
  }
}

/** @typedef {[number, number, number, number, number, number]} Matrix */

/** A number with at most two digits after the point. @param {number} value */
export function formatNumber(value) {
  const rounded = Math.round(value * 100) / 100;
  return Object.is(rounded, -0) ? "0" : String(rounded);
}

export class SvgPath {
  constructor() {
    this.matrix = [1, 0, 0, 1, 0, 0];
    this.path = "";
    /** @type {Rectangle | null} the path, while it is one rectangle */
    this.rectangle = null;
  }

  /** @param {Matrix} by */
  transform(...[a, b, c, d, e, f]) {
    const [A, B, C, D, E, F] = this.matrix;
    this.matrix = [A * a + C * b, B * a + D * b, A * c + C * d, B * c + D * d, A * e + C * f + E, B * e + D * f + F];
  }

  /** @param {number} x @param {number} y */
  translate(x, y) {
    this.transform(1, 0, 0, 1, x, y);
  }

  /** @param {number} x @param {number} [y] */
  scale(x, y = x) {
    this.transform(x, 0, 0, y, 0, 0);
  }

  /** @param {number} angle */
  rotate(angle) {
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    this.transform(cos, sin, -sin, cos, 0, 0);
  }

  /** The matrix as an attribute, where it does more than move. */
  get turned() {
    const [a, b, c, d] = this.matrix;
    if (a === 1 && b === 0 && c === 0 && d === 1) return "";
    const [e, f] = this.matrix.slice(4);
    return `matrix(${[a, b, c, d].map((v) => String(Math.round(v * 1e4) / 1e4)).join(" ")} ${formatNumber(e)} ${formatNumber(f)})`;
  }

  /** A point as it is written: moved, unless an attribute does it. @param {number} x @param {number} y */
  at(x, y) {
    return this.turned ? [x, y] : [x + this.matrix[4], y + this.matrix[5]];
  }

  beginPath() {
    this.path = "";
    this.rectangle = null;
  }

  /** @param {string} letter @param {...number} places */
  add(letter, ...places) {
    /** @type {string[]} */
    const written = [];
    for (let i = 0; i < places.length; i += 2) written.push(...this.at(places[i], places[i + 1]).map(formatNumber));
    this.path += letter + written.join(" ");
    this.rectangle = null;
  }

  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.add("M", x, y);
  }

  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.add(this.path ? "L" : "M", x, y);
  }

  /** @param {number} x1 @param {number} y1 @param {number} x2 @param {number} y2 @param {number} x @param {number} y */
  bezierCurveTo(x1, y1, x2, y2, x, y) {
    this.add("C", x1, y1, x2, y2, x, y);
  }

  /** Whole circles alone, which are what pictures have. */
  /** @param {number} x @param {number} y @param {number} radius @param {number} from @param {number} to */
  arc(x, y, radius, from, to) {
    if (to - from < 2 * Math.PI) throw new Error("only whole circles are drawn");
    const side = formatNumber(radius);
    this.add(this.path ? "L" : "M", x + radius, y);
    for (const end of [x - radius, x + radius])
      this.path += `A${side} ${side} 0 0 1 ${this.at(end, y).map(formatNumber).join(" ")}`;
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  rect(x, y, w, h) {
    const alone = this.path === "";
    this.add("M", x, y);
    this.add("L", x + w, y, x + w, y + h, x, y + h);
    this.path += "Z";
    if (alone) this.rectangle = { x, y, w, h };
  }

  /** @param {number} x @param {number} y @param {number} w @param {number} h @param {number} radius */
  roundRect(x, y, w, h, radius) {
    const r = Math.max(0, Math.min(radius, w / 2, h / 2));
    const k = r * 0.4477; // what is left of a corner outside its quarter of a circle
    this.add("M", x + r, y);
    this.add("L", x + w - r, y);
    this.add("C", x + w - k, y, x + w, y + k, x + w, y + r);
    this.add("L", x + w, y + h - r);
    this.add("C", x + w, y + h - k, x + w - k, y + h, x + w - r, y + h);
    this.add("L", x + r, y + h);
    this.add("C", x + k, y + h, x, y + h - k, x, y + h - r);
    this.add("L", x, y + r);
    this.add("C", x, y + k, x + k, y, x + r, y);
    this.path += "Z";
  }
}
