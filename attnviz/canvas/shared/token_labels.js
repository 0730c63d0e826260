// Token labels along an axis: measured, shortened, thinned, and lit ones always drawn.

import { visibleToken } from "./dom.js";
import { letterSize, textWidth } from "../scene/text_width.js";
import { drawWith, fillBox } from "./surface.js";

/** @import { Cells } from "../heatmap/heatmap_scene.js" */
/** @import { DrawingContext, Rectangle, Theme } from "./types.js" */
/** @typedef {{ text: string, width: number }} Cut a label as it is written, and how wide that is */

export const LONGEST_LABEL = 118;
/** How far column labels lean when they do not fit side by side. */
export const SLANT = Math.PI / 3;

export class TokenLabels {
  /** @param {string[]} tokens */
  constructor(tokens) {
    this.texts = tokens.map(visibleToken);
    /** @type {Map<string, Cut[]>} by room and size */
    this.cache = new Map();
  }

  /** The text cut to at most `room` pixels at this size, and its width. */
  /** @param {number} i @param {number} room @param {number} size @returns {Cut} */
  cut(i, room, size) {
    const key = `${room}|${letterSize(size)}`;
    if (this.cache.size > 20) this.cache.clear();
    const known = this.cache.get(key) ?? [];
    this.cache.set(key, known);
    return (known[i] ??= cutToFit(this.texts[i], room, (text) => textWidth(text, size)));
  }

  /** Width of the widest label, up to the longest that is drawn. @param {number} room @param {number} size */
  width(room, size) {
    let most = 0;
    for (let i = 0; i < this.texts.length && most < room; i++) most = Math.max(most, this.cut(i, room, size).width);
    return most;
  }
}

/** Labels of queries and keys; one sentence that looks at itself has them once. */
/** @param {{ q: string[], k: string[] | null }} tokens */
export function tokenLabels({ q, k }) {
  const labelsQ = new TokenLabels(q);
  return [labelsQ, k === null ? labelsQ : new TokenLabels(k)];
}

/** A text shortened until it is at most `room` wide, or one letter long. */
/** @param {string} whole @param {number} room @param {(text: string) => number} widthOf */
export function cutToFit(whole, room, widthOf) {
  let text = whole.length > 60 ? `${whole.slice(0, 59)}…` : whole;
  let width = widthOf(text);
  const letters = [...text.replace(/…$/, "")];
  while (width > room && letters.length > 1) {
    letters.splice(Math.max(1, Math.floor(letters.length * Math.min(0.95, room / width))));
    text = `${letters.join("")}…`;
    width = widthOf(text);
  }
  return { text, width };
}

/** Every how many tokens a label is written, when a token has `cell` pixels and a label needs `need`. */
/** @param {number} cell @param {number} need */
export function labelStep(cell, need) {
  const steps = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500];
  return steps.find((step) => step * cell >= need) ?? 1000;
}

/**
 * Calls `write` for every so many tokens along an axis of a plot, with the middle of each, as far as labels have room.
 * @param {object} axis
 * @param {number} axis.n tokens in all
 * @param {number} axis.first on show
 * @param {number} axis.span how many are on show
 * @param {number} axis.cell pixels of each
 * @param {number} axis.from where the plot begins
 * @param {number} need pixels that a label takes
 * @param {(i: number, at: number) => void} write
 */
export function alongAxis({ n, first, span, cell, from }, need, write) {
  const step = labelStep(cell, need);
  for (let i = Math.ceil(first / step) * step; i < Math.min(n, first + span); i += step) {
    const at = from + (i + 0.5 - first) * cell;
    if (at >= from - 1 && at <= from + span * cell) write(i, at);
  }
}

/** The axes of a matrix along which its labels stand. */
/** @param {Cells} c @param {Pick<Rectangle, "x" | "y">} plot */
export function labelAxes(c, plot) {
  return {
    rows: { n: c.nq, first: c.q0, span: c.span.q, cell: c.h, from: plot.y },
    columns: { n: c.nk, first: c.k0, span: c.span.k, cell: c.w, from: plot.x },
  };
}

/**
 * Takes away the labels along an axis that the one of a lit token would lie upon, each by its own `hide`.
 * @param {Parameters<typeof alongAxis>[0]} axis @param {number} need @param {number} lit @param {number} reach how near, in pixels
 * @param {(i: number, at: number) => void} hide
 */
export function clearAround(axis, need, lit, reach, hide) {
  const middle = axis.from + (lit + 0.5 - axis.first) * axis.cell;
  alongAxis(axis, need, (i, at) => {
    if (i !== lit && Math.abs(at - middle) < reach) hide(i, at);
  });
}

/**
 * Takes a label away that is written on the ground of the page.
 * @param {DrawingContext} context @param {Cut} label @param {number} x @param {number} y @param {"left" | "right"} align
 * @param {Theme} theme @param {number} size
 */
export function hideLabel(context, { width }, x, y, align, theme, size) {
  const left = align === "right" ? x - width : x;
  fillBox(context, { x: left - 1, y: y - size / 2 - 1, w: width + 2, h: size + 2 }, theme.background);
}

/** Draws where a column's label stands above a plot. */
/** @param {DrawingContext} context @param {number} x @param {number} top @param {boolean} flat @param {() => void} draw */
export function aboveColumn(context, x, top, flat, draw) {
  context.save();
  context.translate(x, top - (flat ? 10 : 6));
  if (!flat) context.rotate(-SLANT);
  draw();
  context.restore();
}

/**
 * A column's label above a plot, leaning where labels do not fit side by side; `lit` says how it is drawn as a pill.
 * @param {DrawingContext} context @param {Cut} label @param {number} x @param {number} top of the plot
 * @param {boolean} flat
 * @param {{ colour: string, theme: Theme, size: number } | null} lit
 */
export function drawColumnLabel(context, label, x, top, flat, lit = null) {
  const align = flat ? "center" : "left";
  aboveColumn(context, x, top, flat, () => {
    context.textAlign = align;
    if (lit) drawPill(context, label, 0, 0, align, lit.colour, lit.theme, lit.size);
    else context.fillText(label.text, 0, 0);
  });
}

/**
 * A label in white on its colour.
 * @param {DrawingContext} context @param {{ text: string, width: number }} label @param {number} x
 * @param {number} y @param {"left" | "center" | "right"} align @param {string} colour @param {Theme} theme
 * @param {number} size
 */
export function drawPill(context, { text, width }, x, y, align, colour, theme, size) {
  const [w, h] = [width + 8, size + 6];
  const left = align === "right" ? x - width - 4 : align === "center" ? x - w / 2 : x - 4;
  fillBox(context, { x: left - 1, y: y - h / 2 - 1, w: w + 2, h: h + 2 }, theme.background, 1, 5);
  fillBox(context, { x: left, y: y - h / 2, w, h }, colour, 1, 4);
  drawWith(context, { fillStyle: "#ffffff", textAlign: align, textBaseline: "middle" });
  context.fillText(text, x, y + 0.5);
}
