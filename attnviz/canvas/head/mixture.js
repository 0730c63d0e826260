// What one token's new vector is made of: the largest weights of its row, each a line as thick as its weight; of a key
// that is told of, who looks at it most.

import { around, button, el, fill, joined, property, say } from "../shared/dom.js";
import { digits, strongestOf, tokenText } from "./head_readout.js";
import { toldColumn, toldRow } from "./head_gestures.js";

/** @import { HeadView } from "./head.js" */
/** @import { Pin } from "../shared/types.js" */

/** Words that have a line of their own; all others together have one more. */
const MOST = 4;
/** Pixels of a line that carries all of the weight. */
const THICKEST = 18;
const FILLING = { viewBox: "0 0 100 100", preserveAspectRatio: "none", "aria-hidden": "true" };

export class Mixture {
  /** @param {HeadView} view */
  constructor(view) {
    this.view = view;
    this.words = el("div", "av-wrap");
    const drawn = (/** @type {"svg" | "path"} */ tag) => document.createElementNS("http://www.w3.org/2000/svg", tag);
    this.paths = Array.from({ length: MOST + 1 }, () => drawn("path"));
    const lines = drawn("svg");
    for (const [name, value] of Object.entries(FILLING)) lines.setAttribute(name, value);
    lines.append(...this.paths);
    this.made = el("div", "av-mixture-made");
    this.box = around("av-mixture", this.words, lines, this.made);
    this.box.setAttribute("role", "group");
  }

  /** The row in focus: its words, their shares, and the lines, which move there. */
  light() {
    const { drawn } = this.view;
    const { header, words } = drawn;
    property(this.box, "hidden", !header.story || header.signed);
    if (this.box.hidden) return;
    const column = toldColumn(drawn);
    const row = toldRow(drawn);
    const parts = column === null ? this.parts({ axis: "q", i: row }) : this.parts({ axis: "k", i: column });
    const told = JSON.stringify([row, column, header.doc, words.new_vector, parts]);
    if (told === this.box.dataset.told) return; // what is only pointed at changes nothing here
    this.box.dataset.told = told;
    const shares = parts.map(({ name, share }) => `${name} ${digits(drawn, share)}`);
    const token = column === null ? tokenText(drawn, "q", row) : tokenText(drawn, "k", column);
    const names = { token, parts: joined(words.join_things, shares) };
    this.box.setAttribute("aria-label", fill(column === null ? words.mixture : words.lookers, names));
    this.box.dataset.axis = column === null ? "q" : "k";
    say(this.made, fill(column === null ? words.new_vector : words.looked_at, names));
    this.words.replaceChildren(...parts.map((part) => this.word(part)));
    this.paths.forEach((path, i) => {
      const x = (100 * (Math.min(i, parts.length - 1) + 0.5)) / Math.max(1, parts.length);
      path.setAttribute("d", `M${x} 0C${x} 55 50 40 50 100`);
      path.style.strokeWidth = `${i < parts.length ? Math.max(1, THICKEST * parts[i].share) : 0}px`;
    });
  }

  /** The largest weights in the order of the sentence; of a row, which is a whole, then all others together. */
  /** @param {Pin} about */
  parts(about) {
    const { drawn } = this.view;
    const all = strongestOf(drawn, about, Infinity).filter(({ value }) => value > 0);
    const first = all.slice(0, MOST).sort((a, b) => a.i - b.i);
    /** @type {{ name: string, share: number, i: number | null }[]} */
    const parts = first.map(({ axis, i, value }) => ({ name: tokenText(drawn, axis, i), share: value, i }));
    const rest = all.slice(MOST).reduce((sum, { value }) => sum + value, 0);
    if (about.axis === "q" && rest > 0.005) parts.push({ name: drawn.words.others, share: rest, i: null });
    return parts;
  }

  /** A word with its share; one of the sentence takes the focus when it is pressed. */
  /** @param {{ name: string, share: number, i: number | null }} part */
  word({ name, share, i }) {
    const act = i === null ? null : () => this.view.press({ axis: "q", i });
    const chip = act ? button("av-chip av-cut", name, act, { tabindex: "-1" }) : el("span", "av-chip av-cut", name);
    return around("av-mixture-word", chip, around("av-strong", digits(this.view.drawn, share)));
  }
}
