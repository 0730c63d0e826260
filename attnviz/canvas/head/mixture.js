// What one token's new vector is made of: the largest weights of its row, each a line as thick as its weight; of a key
// that is told of, who looks at it most.

import { around, button, el, fill, joined, property, say } from "../shared/dom.js";
import { digits, tokenText } from "./head_readout.js";
import { toldColumn, toldRow } from "./head_gestures.js";
import { MOST_PARTS, mixtureParts, THICKEST, THINNEST } from "./mixture_scene.js";

/** @import { HeadComponent } from "./head.js" */
/** @import { MixturePart } from "./mixture_scene.js" */
/** @import { Pin } from "../shared/types.js" */

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
    /** @type {Pin} */
    const about = column === null ? { axis: "q", i: row } : { axis: "k", i: column };
    const parts = mixtureParts(drawn, about, words.others);
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
      path.style.strokeWidth = `${i < parts.length ? Math.max(THINNEST, THICKEST * parts[i].share) : 0}px`;
    });
  }

  /** A word with its share; one of the sentence takes the focus when it is pressed. */
  /** @param {MixturePart} part */
  word({ name, share, i }) {
    const act = i === null ? null : () => this.view.press({ axis: "q", i });
    const chip = act ? button("av-chip av-cut", name, act, { tabindex: "-1" }) : el("span", "av-chip av-cut", name);
    return around("av-mixture-word", chip, around("av-strong", digits(this.view.drawn, share)));
  }
}
