// A long text as text: parts of it glow, words are searched for, and a narrow map beside it says where.

import { createBox, el } from "../shared/dom.js";
import { scrollBehaviour } from "../shared/motion.js";
import { sizeCanvas } from "../shared/surface.js";
import { pooledRow, unitOf } from "./tile_numbers.js";

/** @import { Theme } from "../shared/types.js" */

const STRONGEST = 40; // units that glow: fainter ones are not seen
const FAINTEST = 0.02;
const MAP = 14;

export class TextPane {
  /** @type {HTMLElement[]} */
  spans = [];
  /** @type {number[]} */
  starts = [0];
  /** @type {[unit: number, share: number][]} strongest first */
  glowing = [];
  /** @type {[number, number][]} tokens of each match */
  matches = [];
  match = 0;
  /** @type {Theme | null} */
  theme = null;

  /** @param {HTMLElement} host @param {{ point: (unit: number | null) => void, press: (unit: number) => void }} does */
  constructor(host, does) {
    this.text = el("div", "lt-text", null, { tabindex: "0", role: "document", "data-testid": "long-text" });
    this.map = el("canvas", "lt-map", null, { role: "img" });
    host.append(createBox("lt-pane", this.text, this.map));
    const hear = (/** @type {(unit: number) => void} */ act) => (/** @type {Event} */ event) => {
      const at = event.target instanceof HTMLElement ? event.target.dataset.at : undefined;
      if (at !== undefined) act(unitOf(this.starts, Number(at)));
    };
    this.text.addEventListener("pointermove", (event) => event.pointerType === "mouse" && hear(does.point)(event));
    this.text.addEventListener("click", hear(does.press));
    this.text.addEventListener("pointerleave", () => does.point(null));
    this.map.addEventListener("click", (event) => {
      const share = event.offsetY / this.map.clientHeight;
      this.text.scrollTo({
        top: share * this.text.scrollHeight - this.text.clientHeight / 2,
        behavior: scrollBehaviour(),
      });
    });
    this.text.addEventListener("scroll", () => this.drawMap());
  }

  /** @type {string[]} */
  tokens = [];

  /** @param {string[]} tokens @param {number[]} paragraphs */
  write(tokens, paragraphs) {
    Object.assign(this, { glowing: [], matches: [] });
    this.tokens = tokens;
    this.spans = tokens.map((token, at) =>
      el("span", /^<\|.*\|>$/.test(token) ? "lt-special" : "", token, { "data-at": String(at) }),
    );
    this.text.replaceChildren(
      ...paragraphs.map((start, p) => createBox("lt-paragraph", ...this.spans.slice(start, paragraphs[p + 1]))),
    );
  }

  /** @param {number} unit @returns {[number, number]} */
  spanOf(unit) {
    return [this.starts[unit], this.starts[unit + 1] ?? this.spans.length];
  }

  /** @param {number} unit @param {number} most letters */
  labelOf(unit, most = 60) {
    const written = this.tokens.slice(...this.spanOf(unit)).join("");
    const text = written
      .replace(/<\|[^|]*\|>/g, " ")
      .replace(/\s+/g, " ")
      .trim();
    return text.length > most ? `${text.slice(0, most - 1)}…` : text;
  }

  /** Outlines tokens of a query or a key; null: none. @param {"q" | "k"} axis @param {[number, number] | null} span */
  outline(axis, span) {
    for (const node of this.text.querySelectorAll(`.lt-${axis}`)) node.classList.remove(`lt-${axis}`);
    for (const node of span ? this.spans.slice(...span) : []) node.classList.add(`lt-${axis}`);
  }

  /** Lets units glow by a row of weights, strongest first; null: none. @param {Float32Array | null} row */
  glow(row) {
    for (const [unit] of this.glowing) {
      for (const span of this.spans.slice(...this.spanOf(unit))) span.removeAttribute("style");
    }
    const sums = row ? pooledRow(row.subarray(0, this.spans.length), this.starts) : new Float32Array();
    const order = [...sums.keys()].sort((a, b) => sums[b] - sums[a]).slice(0, STRONGEST);
    const top = Math.max(1e-9, sums[order[0]] ?? 0);
    this.glowing = order
      .filter((unit) => sums[unit] > FAINTEST * top)
      .map((unit) => /** @type {[number, number]} */ ([unit, sums[unit]]));
    this.glowing.forEach(([unit, share], rank) => {
      const style = `--glow:${Math.round(12 + 58 * Math.sqrt(share / top))}%;--rank:${Math.min(rank, 12)}`;
      for (const span of this.spans.slice(...this.spanOf(unit))) span.setAttribute("style", style);
    });
    this.drawMap();
  }

  /** Finds what is searched for; answers how often. @param {string} wanted */
  search(wanted) {
    for (const [start, stop] of this.matches) {
      for (const span of this.spans.slice(start, stop)) span.classList.remove("lt-match");
    }
    this.matches = [];
    this.match = 0;
    const { tokens } = this;
    const [text, needle] = [tokens.join("").toLowerCase(), wanted.toLowerCase().trim()];
    /** @type {number[]} */
    const ends = [];
    tokens.reduce((sum, token) => ((ends[ends.length] = sum + token.length), sum + token.length), 0);
    const tokenAt = (/** @type {number} */ at) => unitOf([0, ...ends], at);
    for (let at = needle ? text.indexOf(needle) : -1; at >= 0; at = text.indexOf(needle, at + needle.length)) {
      this.matches.push([tokenAt(at), tokenAt(at + needle.length - 1) + 1]);
    }
    for (const [start, stop] of this.matches) {
      for (const span of this.spans.slice(start, stop)) span.classList.add("lt-match");
    }
    this.drawMap();
    return this.matches.length;
  }

  /** Scrolls to a token. @param {number} token */
  visit(token) {
    const span = this.spans[token];
    if (!span) return;
    const top = span.getBoundingClientRect().top - this.text.getBoundingClientRect().top + this.text.scrollTop;
    this.text.scrollTo({ top: top - this.text.clientHeight / 3, behavior: scrollBehaviour() });
  }

  drawMap() {
    const { theme, text } = this;
    if (!theme || !text.clientHeight) return;
    const high = text.clientHeight;
    const context = sizeCanvas(this.map, MAP, high);
    const place = (/** @type {number} */ token) => (token / Math.max(1, this.spans.length)) * high;
    const bar = (/** @type {[number, number]} */ [start, stop], /** @type {string} */ colour, opacity = 1) => {
      Object.assign(context, { fillStyle: colour, globalAlpha: opacity });
      context.fillRect(2, place(start), MAP - 4, Math.max(2, place(stop) - place(start)));
    };
    const top = this.glowing[0]?.[1] ?? 1;
    for (const [unit, share] of this.glowing) bar(this.spanOf(unit), theme.k, Math.max(0.15, Math.sqrt(share / top)));
    for (const match of this.matches) bar(match, theme.primary);
    Object.assign(context, { globalAlpha: 1, strokeStyle: theme.border, lineWidth: 1 });
    context.strokeRect(
      0.5,
      (text.scrollTop / text.scrollHeight) * high + 0.5,
      MAP - 1,
      (high * high) / text.scrollHeight - 1,
    );
  }
}
