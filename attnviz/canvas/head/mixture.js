// What one token's new vector is made of: the largest weights of its row, each a line as thick as its weight; of a key
// that is told of, who looks at it most. On the page, and drawn in a file.

import { textWidth } from "../scene/text_width.js";
import { createBox, createButton, el, fill, joinTexts, setProperty, setText } from "../shared/dom.js";
import { formatPercent } from "../shared/numbers.js";
import { drawWith, roundedRect } from "../shared/surface.js";
import { cutToFit } from "../shared/token_labels.js";
import { describedColumn, describedRow } from "./head_gestures.js";
import { formatValue, strongestOf, tokenText } from "./head_readout.js";

/** @import { HeadComponent } from "./head.js" */
/** @import { DrawingContext, Pin, Theme } from "../shared/types.js" */
/** @import { Numbers } from "./head_readout.js" */

const FILLING = { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" };

export class Mixture {
  /** @param {HeadComponent} view */
  constructor(view) {
    this.view = view;
    this.words = el("div", "av-wrap");
    const drawn = (/** @type {"svg" | "path"} */ tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);
    this.paths = Array.from({ length: MOST_PARTS + 1 }, () => drawn("path"));
    const lines = drawn("svg");
    for (const [name, value] of Object.entries(FILLING)) lines.setAttribute(name, value);
    lines.append(...this.paths);
    this.made = el("div", "av-mixture-made");
    this.box = createBox("av-mixture", this.words, lines, this.made);
    this.box.setAttribute("role", "group");
  }

  /** The row in focus: its words, their shares, and the lines, which move there. */
  light() {
    const { drawn } = this.view;
    const { header, words } = drawn;
    setProperty(this.box, "hidden", !header.story || header.signed);
    if (this.box.hidden) return;
    const column = describedColumn(drawn);
    const row = describedRow(drawn);
    /** @type {Pin} */
    const about = column === null ? { axis: "q", i: row } : { axis: "k", i: column };
    const parts = mixtureParts(drawn, about, words.others);
    const told = JSON.stringify([row, column, header.doc, words.new_vector, parts]);
    if (told === this.box.dataset.told) return; // what is only pointed at changes nothing here
    this.box.dataset.told = told;
    const shares = parts.map(({ name, share }) => `${name} ${formatValue(drawn, share)}`);
    const token = column === null ? tokenText(drawn, "q", row) : tokenText(drawn, "k", column);
    const names = { token, parts: joinTexts(words.join_things, shares) };
    this.box.setAttribute("aria-label", fill(column === null ? words.mixture : words.lookers, names));
    this.box.dataset.axis = column === null ? "q" : "k";
    setText(this.made, fill(column === null ? words.new_vector : words.looked_at, names));
    this.words.replaceChildren(...parts.map((part) => this.word(part)));
    this.paths.forEach((path, i) => {
      const x = (100 * (Math.min(i, parts.length - 1) + 0.5)) / Math.max(1, parts.length);
      path.setAttribute("d", `M${x} 0C${x} 55 50 40 50 100`);
      path.style.strokeWidth = `${i < parts.length ? Math.max(THINNEST, THICKEST * parts[i].share) : 0}px`;
    });
  }

  /** A word with its share; one of the sentence takes the focus when it is pressed. */
  /** @param {MixturePart} part */
  word({ name, share, i }) {
    const act = i === null ? null : () => this.view.press({ axis: "q", i });
    const chip = act
      ? createButton("av-chip av-cut", name, act, { tabindex: "-1" })
      : el("span", "av-chip av-cut", name);
    return createBox("av-mixture-word", chip, createBox("av-strong", formatValue(this.view.drawn, share)));
  }
}

/** @typedef {{ name: string, share: number, i: number | null }} MixturePart a word and its weight; no `i`: all others together */

/** Words that have a line of their own; all others together have one more. */
export const MOST_PARTS = 4;
/** Pixels of a line that carries all of the weight. */
export const THICKEST = 18;
/** Pixels of a line at least. */
export const THINNEST = 1;
/** Pixels that the picture takes in a file. */
export const MIXTURE_ROOM = 132;

/** The largest weights in the order of the sentence; of a row, which is a whole, then all others together. */
/** @param {Numbers} numbers @param {Pin} about @param {string} others how they are called @returns {MixturePart[]} */
export function mixtureParts(numbers, about, others) {
  const all = strongestOf(numbers, about, Infinity).filter(({ value }) => value > 0);
  const first = all.slice(0, MOST_PARTS).sort((a, b) => a.i - b.i);
  /** @type {MixturePart[]} */
  const parts = first.map(({ axis, i, value }) => ({ name: tokenText(numbers, axis, i), share: value, i }));
  const rest = all.slice(MOST_PARTS).reduce((sum, { value }) => sum + value, 0);
  if (about.axis === "q" && rest > 0.005) parts.push({ name: others, share: rest, i: null });
  return parts;
}

/**
 * Lines that pour from words into the token that is told of, each as thick as its weight.
 * @param {DrawingContext} context @param {MixturePart[]} parts @param {string} made what they become
 * @param {Pin["axis"]} axis which side is told of @param {Theme} theme @param {number} width
 */
export function drawMixture(context, parts, made, axis, theme, width) {
  const [line, pill] = axis === "q" ? [theme.k, theme.q] : [theme.q, theme.k];
  const [top, bottom] = [46, 98];
  const slot = width / Math.max(1, parts.length);
  drawWith(context, { textAlign: "center", textBaseline: "middle" });
  parts.forEach(({ name, share }, at) => {
    const x = slot * (at + 0.5);
    drawWith(context, { strokeStyle: line, globalAlpha: 0.75, lineWidth: Math.max(THINNEST, THICKEST * share) });
    context.beginPath();
    context.moveTo(x, top);
    context.bezierCurveTo(x, top + 29, width / 2, top + 21, width / 2, bottom);
    context.stroke();
    drawWith(context, { globalAlpha: 1, fillStyle: theme.text, font: `15px ${theme.font}` });
    context.fillText(cutToFit(name, slot - 8, (text) => textWidth(text, 15)).text, x, 12);
    context.font = `600 13px ${theme.font}`;
    context.fillText(formatPercent(share, 0), x, 33);
  });
  const high = 26;
  const wide = textWidth(made, 15) + 24;
  context.fillStyle = pill;
  roundedRect(context, { x: width / 2 - wide / 2, y: bottom, w: wide, h: high }, 7);
  context.fill();
  drawWith(context, { fillStyle: theme.dark ? theme.background : "#ffffff", font: `15px ${theme.font}` });
  context.fillText(made, width / 2, bottom + high / 2);
}
