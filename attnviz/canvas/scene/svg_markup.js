// Elements of an SVG as text: attributes, texts, gradients.

import { short } from "./svg_path.js";

/** A text inside an element or an attribute; a sign that no XML may hold becomes one for "unreadable". */
/** @param {string} text */
export function escaped(text) {
  const held = text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "\ufffd");
  return held.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** The attributes of an element; those that are empty are left out. @param {Record<string, string | number>} named */
export function attributes(named) {
  const held = Object.entries(named).filter(([, value]) => value !== "");
  return held.map(([name, value]) => ` ${name}="${typeof value === "number" ? short(value) : value}"`).join("");
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
    const place = attributes({ id: this.id, gradientUnits: "userSpaceOnUse", x1, y1, x2, y2 });
    const stops = this.stops.map(([offset, colour]) => `<stop${attributes({ offset, "stop-color": colour })}/>`);
    return `<linearGradient${place}>${stops.join("")}</linearGradient>`;
  }
}
