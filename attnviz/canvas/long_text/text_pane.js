// A long text as text: parts of it glow, words are searched for, and a narrow map beside it says where.

import { createBox, el } from "../shared/dom.js";
import { scrollBehaviour } from "../shared/motion.js";
import { sizeCanvas } from "../shared/surface.js";
import { LINE } from "./text_scene.js";
import { pooledRow, unitOf } from "./tile_numbers.js";

/** @import { Theme } from "../shared/types.js" */
/** @import { Names } from "./text_scene.js" */

const STRONGEST = 40; // units that glow: fainter ones are not seen
const FAINTEST = 0.02;
const MAP = 14;

export class TextPane {
  text = el("div", "lt-text", null, { tabindex: "0", role: "document", "data-testid": "long-text" });
  map = el("canvas", "lt-map", null, { role: "img" });
  /** @type {string[]} */
  tokens = [];
  /** @type {HTMLElement[]} */
  spans = [];
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
    const { text, map } = this;
    host.append(createBox("lt-pane", text, map));
    const hear = (/** @type {(unit: number) => void} */ act) => (/** @type {Event} */ event) => {
      const at = event.target instanceof HTMLElement ? event.target.dataset.at : undefined;
      if (at !== undefined) act(unitOf(this.starts, Number(at)));
    };
    text.addEventListener("pointermove", (event) => event.pointerType === "mouse" && hear(does.point)(event));
    text.addEventListener("click", hear(does.press));
    text.addEventListener("pointerleave", () => does.point(null));
    text.addEventListener("scroll", () => this.drawMap());
    map.addEventListener("click", (event) =>
      this.scrollTo((event.offsetY / map.clientHeight) * text.scrollHeight - text.clientHeight / 2),
    );
  }

  /** @param {string[]} tokens @param {number[]} paragraphs */
  write(tokens, paragraphs) {
    Object.assign(this, { tokens, glowing: [], matches: [] });
    this.spans = tokens.map((token, at) =>
      el("span", /^<\|.*\|>$/.test(token) ? "lt-special" : "", token, { "data-at": String(at) }),
    );
    this.text.replaceChildren(
      ...paragraphs.map((start, p) => createBox("lt-paragraph", ...this.spans.slice(start, paragraphs[p + 1]))),
    );
  }

  /** @param {number} unit @returns {[number, number]} */
  spanOf(unit, starts = this.starts) {
    return [starts[unit], starts[unit + 1] ?? this.spans.length];
  }

  /** @param {number} unit @param {number} most letters */
  labelOf(unit, most = 60, starts = this.starts) {
    const written = this.tokens.slice(...this.spanOf(unit, starts)).join("");
    const text = written.replace(/(<\|[^|]*\|>|\s)+/g, " ").trim();
    return text.length > most ? `${text.slice(0, most - 1)}…` : text;
  }

  /** What stands beside a picture: of tokens, where they have room, else of units. @param {number} perPixel tokens @returns {Names} */
  names(perPixel) {
    const starts = perPixel * LINE > 1 ? this.starts : [...this.tokens.keys()];
    return { starts, labelOf: (unit, most) => this.labelOf(unit, most, starts) };
  }

  /** Outlines tokens of a query or a key; null: none. @param {"q" | "k"} axis @param {[number, number] | null} span */
  outline(axis, span) {
    for (const node of this.text.querySelectorAll(`.lt-${axis}`)) node.classList.remove(`lt-${axis}`);
    for (const node of span ? this.spans.slice(...span) : []) node.classList.add(`lt-${axis}`);
  }

  /** Lets units glow by a row of weights, strongest first; null: none. @param {Float32Array | null} row */
  glow(row) {
    const write = (/** @type {number} */ unit, /** @type {string} */ style) =>
      this.spans.slice(...this.spanOf(unit)).forEach((span) => (span.style.cssText = style));
    for (const node of this.text.querySelectorAll("[style]")) node.removeAttribute("style");
    const sums = row ? pooledRow(row.subarray(0, this.spans.length), this.starts) : new Float32Array();
    const order = [...sums.keys()].sort((a, b) => sums[b] - sums[a]).slice(0, STRONGEST);
    const top = Math.max(1e-9, sums[order[0]] ?? 0);
    const seen = order.filter((unit) => sums[unit] > FAINTEST * top);
    this.glowing = seen.map((unit, rank) => {
      write(unit, `--glow:${Math.round(12 + 48 * Math.sqrt(sums[unit] / top))}%;--rank:${Math.min(rank, 12)}`);
      return [unit, sums[unit]];
    });
    this.drawMap();
  }

  /** Finds what is searched for. @param {string} wanted */
  search(wanted) {
    for (const node of this.text.querySelectorAll(".lt-match")) node.classList.remove("lt-match");
    Object.assign(this, { matches: [], match: 0 });
    const [text, needle] = [this.tokens.join("").toLowerCase(), wanted.toLowerCase().trim()];
    let end = 0;
    const starts = this.tokens.map((token) => (end += token.length) - token.length);
    for (let at = needle ? text.indexOf(needle) : -1; at >= 0; at = text.indexOf(needle, at + needle.length)) {
      this.matches.push([unitOf(starts, at), unitOf(starts, at + needle.length - 1) + 1]);
    }
    for (const match of this.matches) for (const span of this.spans.slice(...match)) span.classList.add("lt-match");
    this.drawMap();
  }

  /** Goes so many matches on; answers which it is, and of how many. @param {number} by */
  visitMatch(by) {
    const count = this.matches.length;
    if (!count) return [0, 0];
    this.match = (this.match + by + count) % count;
    this.visit(this.matches[this.match][0]);
    return [this.match + 1, count];
  }

  /** Scrolls to a token. @param {number} token */
  visit(token) {
    const { text, spans } = this;
    if (!spans[token]) return;
    const above = spans[token].getBoundingClientRect().top - text.getBoundingClientRect().top;
    this.scrollTo(above + text.scrollTop - text.clientHeight / 3);
  }

  /** @param {number} top */
  scrollTo(top) {
    this.text.scrollTo({ top, behavior: scrollBehaviour() });
  }

  drawMap() {
    const { theme, text } = this;
    const high = text.clientHeight;
    if (!theme || !high) return;
    const context = sizeCanvas(this.map, MAP, high);
    const by = high / Math.max(1, this.spans.length);
    const bar = (/** @type {[number, number]} */ [start, stop], /** @type {string} */ fillStyle, globalAlpha = 1) => {
      Object.assign(context, { fillStyle, globalAlpha });
      context.fillRect(2, start * by, MAP - 4, Math.max(2, (stop - start) * by));
    };
    const top = this.glowing[0]?.[1] ?? 1;
    for (const [unit, share] of this.glowing)
      bar(this.spanOf(unit), theme.weight, Math.max(0.15, Math.sqrt(share / top)));
    for (const match of this.matches) bar(match, theme.primary);
    Object.assign(context, { globalAlpha: 1, strokeStyle: theme.border, lineWidth: 1 });
    const shown = high / text.scrollHeight;
    context.strokeRect(0.5, text.scrollTop * shown + 0.5, MAP - 1, high * shown - 1);
  }
}
