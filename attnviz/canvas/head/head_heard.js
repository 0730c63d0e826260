// What those hear who do not see a head: its largest weights, the cell and the row that the keyboard is on, another head.

import { attribute, joined, say } from "../shared/dom.js";
import { strongestText, summaryText } from "./head_readout.js";

/** @import { HeadView } from "./head.js" */

/**
 * What the heatmap is called: its title, which may be a sentence of its own, and what it is.
 * @param {HeadView} view
 */
export function nameStage({ drawn, heatmap }) {
  const title = (drawn.header.title || drawn.header.called || "").replace(/[.。]$/, "");
  heatmap.stage.setAttribute("aria-label", joined(drawn.words.join_heard, [title, drawn.words.label]));
}

/**
 * What the pictures show as a whole.
 * @param {HeadView} view
 */
export function sumUp({ drawn, help, lines }) {
  const { words } = drawn;
  const summary = summaryText(drawn);
  say(help, joined(words.join_sentences, [summary, words.help]));
  attribute(lines.stage, "aria-label", joined(words.join_heard, [words.lines, summary]));
}

/**
 * The cell that the keyboard came to, and where its row is another one the row's largest weights.
 * @param {HeadView} view
 * @param {number} q
 * @param {boolean} other
 */
export function announceCell(view, q, other) {
  const row = other ? strongestText(view.drawn, "q", q) : "";
  view.announce(joined(view.drawn.words.join_heard, [view.readout(), row]));
}

/** @type {WeakMap<HeadView, string>} the title of the head that each view showed last */
const titles = new WeakMap();

/**
 * A head that has come in the place of another one.
 * @param {HeadView} view
 * @param {string} said the sentence about it
 */
export function announceHead(view, said) {
  const { header, words } = view.drawn;
  const { title } = header;
  const before = titles.get(view);
  titles.set(view, title);
  if (before !== undefined && before !== title) view.announce(joined(words.join_heard, [title, said]));
}
