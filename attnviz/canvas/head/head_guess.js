// A guess before the truth: a head is drawn as if it looked at all words alike, until one is touched that a row is expected to
// look at most. Whatever else a hand does shows the truth.

import { createButton, fill, joinTexts, setProperty, setText } from "../shared/dom.js";
import { tell } from "../shared/group.js";
import { guessSentence, mostSentence, nextToAsk } from "../shared/guess.js";
import { markToken } from "../shared/marked_text.js";
import { MASKED_16 } from "../shared/packing.js";
import { describedRow, emitPins } from "./head_gestures.js";
import { codeAt, labelWithPosition, valueAt } from "./head_readout.js";

/** @import { HeadComponent } from "./head.js" */
/** @import { Axis, Edit, Hover } from "../shared/types.js" */

export class HeadGuess {
  /** @param {HeadComponent} view */
  constructor(view) {
    this.view = view;
    this.button = createButton("av-link", "", () => this.press(), { "data-testid": "guess", hidden: "" });
    /** @type {number | null} the row that is asked about */
    this.row = null;
    /** @type {{ row: number, key: number, picture: string } | null} what somebody expected, of this head */
    this.made = null;
    /** @type {number | null} */
    this.next = null;
    this.known = new Set();
  }

  /** Whether this row's guess is known, of the head on show: its cell. @returns {[number, number] | null} */
  get cell() {
    const { made, view } = this;
    const isOnShow = made?.picture === view.drawn.header.data && made.row === describedRow(view.drawn);
    return made && isOnShow ? [made.row, made.key] : null;
  }

  /** The edit of what is drawn: while somebody is asked, all keys are alike. @param {Edit} edit @returns {Edit} */
  edited(edit) {
    return this.row === null ? edit : { ...edit, scale: "factor", factor: 0 };
  }

  /** A token as the row's own sentence names it. @param {Axis} axis @param {number} i */
  name(axis, i) {
    const { q, k, sentence } = this.view.drawn.header;
    const side = axis === "q" ? 0 : 1;
    return labelWithPosition([q, k ?? q][side], sentence?.places[side] ?? [], i);
  }

  /** Offers the next question, and says which is asked. */
  offer() {
    const { drawn, controls } = this.view;
    const { header, values, words } = drawn;
    const isOffered = header.kind === "weights" && !header.signed && controls.raw !== null && "guess" in words;
    if (this.row === null && isOffered && values)
      this.next = nextToAsk(values, header.shape, describedRow(drawn), this.known);
    setProperty(this.button, "hidden", !isOffered || this.next === null);
    if (this.next === null || this.button.hidden) return;
    setText(this.button, this.row === null ? fill(words.guess, { token: this.name("q", this.next) }) : words.guess_show); // prettier-ignore
  }

  /** Asks about the next row; or shows what was asked. */
  press() {
    const { group } = this.view.drawn;
    if (this.row !== null || this.next === null) {
      this.end();
      return;
    }
    Object.assign(group, { pins: [{ axis: "q", i: this.next }], cell: null, hover: null });
    tell(group, "pins");
    emitPins(this.view);
    this.known.add(this.next);
    Object.assign(this, { row: this.next, made: null });
    this.view.recompute();
  }

  /** Takes what is pressed for an answer, where it is one. @param {Hover} hit */
  answer(hit) {
    const { row } = this;
    if (row === null) return false;
    const key = hit.axis === "k" ? hit.i : hit.axis === "cell" && hit.q === row ? hit.k : null;
    this.end();
    if (key === null) return false;
    this.made = { row, key, picture: this.view.drawn.header.data };
    return true;
  }

  /** Shows the truth. */
  end() {
    if (this.row === null) return;
    this.row = null;
    this.view.reedit();
  }

  /** What is said in the place of the sentence: the question, or what became of the guess. @param {string} sentence */
  sentence(sentence) {
    const { view, row, cell } = this;
    const { drawn } = view;
    const { words, header } = drawn;
    if (row !== null) return fill(words.asked, { token: markToken("q", this.name("q", row)) });
    if (cell === null) return sentence;
    const [q, key] = cell;
    const shares = Array.from({ length: header.shape[1] }, (_none, k) => codeAt(drawn, q, k) === MASKED_16 ? null : valueAt(drawn, q, k)); // prettier-ignore
    const name = (/** @type {number} */ k) => this.name("k", k);
    const most = mostSentence(shares, name, words) ?? sentence;
    return joinTexts(words.join_sentences, [guessSentence(shares, key, name(key), words), most]);
  }
}
