// Words on a dial: on arrival they turn to their places; a hand drags a word along the sentence, and its hand on the dial follows.

import { readTheme } from "../shared/colour.js";
import { viewComponent } from "../shared/component.js";
import { SLIDER_STEPS, isPress } from "../shared/controls.js";
import { createBox, createButton, el, fill, setAttribute, setText, visibleToken } from "../shared/dom.js";
import { FilmView } from "../shared/film_view.js";
import { clamp, formatFixed, formatPercent } from "../shared/numbers.js";
import { setMarkedText, unmarked } from "../shared/marked_text.js";
import { fillBox, layOver, sizeCanvas } from "../shared/surface.js";
import { pictureHeight, placeOn, presentationRoom } from "../shared/window.js";
import { Glide } from "../scene/glide.js";
import { drawMarks, travel } from "../scene/marks.js";
import {
  dialFigure,
  dialFilm,
  dialLayout,
  dialMarks,
  dialSentence,
  lookedAt,
  readVectors,
  rowMarks,
  wordRoom,
} from "./word_dial_scene.js";

/** @import { Answer, Component, DialHeader } from "../shared/types.js" */
/** @import { Mark } from "../scene/marks.js" */

/** Milliseconds of the whole turn; pixels of the picture at least and at most, and of what stands below it. */
const [WHOLE, LEAST, MOST, BELOW, PRESENTED] = [4000, 380, 470, 158, 130];

/** @extends {FilmView<Answer & DialHeader>} */
class WordDial extends FilmView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.fields = ["at", "order", "row", "pair"];
    /** @type {number[]} which word stands at each place */
    this.order = [];
    this.row = 0;
    this.pair = 0;
    this.height = LEAST;
    /** @type {number | null} the word under the pointer */
    this.pointed = null;
    /** @type {{ word: number, start: number, y: number, by: number } | null} the word in a hand, and where on it the hand took it */
    this.carried = null;
    /** @type {import("./word_dial_scene.js").Vectors} */
    this.vectors = { q: [], k: [] };
    this.canvas = el("canvas", "wd-canvas", null, { role: "img" });
    this.pairs = el("div", "wd-pairs", null, { role: "slider", tabindex: "0", "aria-valuemin": "0" });
    this.rows = el("div", "wd-rows");
    /** @type {HTMLElement[]} a handle for each word */
    this.handles = [];
    this.bar = el("div", "av-line wd-bar");
    this.addPlayButton(this.bar, "▶", "play", Infinity);
    this.share = el("output", "av-strong wd-share");
    this.back = createButton("av-button", "", () => this.goBack());
    this.hint = el("div", "av-small wd-hint");
    this.said = el("div", "wd-said", null, { "aria-live": "polite" });
    this.spoken = [this.said];
    this.bar.append(this.range, this.share, this.back);
    root.replaceChildren(createBox("wd-stage", this.canvas, this.pairs, this.rows), this.bar, this.said, this.hint);
    this.glide = new Glide(this.canvas, (/** @type {Mark[]} */ marks) => this.paint(marks), travel);
    const pairAt = (/** @type {PointerEvent} */ event) =>
      Math.floor((placeOn(this.pairs, event)[0] / this.pairs.clientWidth) * this.header.turns.length);
    this.followDrag(this.pairs, pairAt, (pair) => this.choosePair(pair));
    this.pairs.addEventListener("keydown", (event) => {
      if (!(event.key in SLIDER_STEPS)) return;
      event.preventDefault();
      this.choosePair(this.pair + SLIDER_STEPS[event.key]);
      this.commit();
    });
    this.offer("dial", dialFigure, dialFilm);
  }

  /** @param {Component} component */
  show(component) {
    const { header, payload, before } = this.receive(component);
    const other = JSON.stringify(before?.tokens) !== JSON.stringify(header.tokens);
    this.vectors = readVectors(header, payload);
    if (other) this.build();
    setText(this.back, header.words.back);
    setAttribute(this.pairs, "aria-label", header.words.pair);
    setAttribute(this.pairs, "aria-valuemax", String(header.turns.length - 1));
    this.measure();
    this.arrive(100, other || header.turns.length !== before?.turns.length);
    if (!before) this.playOnArrival();
  }

  build() {
    this.handles = this.header.tokens.map((_token, word) => {
      const handle = el("div", "wd-row", null, { role: "button", tabindex: "0" });
      this.carry(handle, word);
      return handle;
    });
    this.rows.replaceChildren(...this.handles);
  }

  /** Has a hand, or keys, carry a word along the sentence; a click lets it look. @param {HTMLElement} handle @param {number} word */
  carry(handle, word) {
    const top = (/** @type {PointerEvent} */ event) => placeOn(this.canvas, event)[1];
    const point = (/** @type {number | null} */ to) => {
      this.pointed = to;
      if (!this.carried) this.draw();
    };
    handle.addEventListener("pointerenter", () => point(word));
    handle.addEventListener("pointerleave", () => point(null));
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId);
      this.grab();
      const { rows } = dialLayout(this.order.length, this.look);
      const start = this.order.indexOf(word);
      const y = rows.y + start * rows.h;
      this.carried = { word, start, y, by: top(event) - y };
    });
    handle.addEventListener("pointermove", (event) => {
      if (this.carried?.word !== word) return;
      const { rows } = dialLayout(this.order.length, this.look);
      const y = clamp(top(event) - this.carried.by, rows.y, rows.y + (this.order.length - 1) * rows.h);
      this.carried = { ...this.carried, y };
      this.place(word, Math.round((y - rows.y) / rows.h));
    });
    for (const end of ["pointerup", "pointercancel"])
      handle.addEventListener(end, () => {
        if (!this.carried) return;
        const { rows } = dialLayout(this.order.length, this.look);
        const { start, y } = this.carried;
        if (this.order.indexOf(word) === start && Math.abs(y - rows.y - start * rows.h) < 4) this.row = word;
        this.carried = null;
        this.draw();
        this.letGo();
      });
    handle.addEventListener("keydown", (event) => {
      const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
      if (!step && !isPress(event)) return;
      event.preventDefault();
      const at = this.order.indexOf(word);
      if (!step) this.row = word;
      else if (!event.altKey) this.handles[this.order[clamp(at + step, 0, this.order.length - 1)]].focus();
      else this.place(word, clamp(at + step, 0, this.order.length - 1));
      this.stop();
      this.draw();
      this.commit();
    });
  }

  /** Puts a word at a place; the others make room. @param {number} word @param {number} place */
  place(word, place) {
    const others = this.order.filter((each) => each !== word);
    this.order = others.toSpliced(place, 0, word);
    this.draw();
  }

  /** @param {number} pair */
  choosePair(pair) {
    this.pair = clamp(pair, 0, this.header.turns.length - 1);
    this.draw();
  }

  /** All words stand as they were typed, and are turned. */
  goBack() {
    this.order = this.order.toSorted((a, b) => a - b);
    this.goTo(Infinity);
  }

  get dial() {
    const { at, order, row, pair, pointed } = this;
    return { at, order, row, pair, pointed };
  }

  get displayed() {
    return { ...super.displayed, pointed: this.pointed };
  }

  get look() {
    const width = Math.max(240, this.root.clientWidth);
    return { width, height: this.height, theme: readTheme(this.root, this.header.colours) };
  }

  measure() {
    const presented = presentationRoom(this.root) !== null;
    this.hint.hidden = presented; // for a room, the sentence is large
    this.height = pictureHeight(this.root, { least: LEAST, most: MOST, below: presented ? PRESENTED : BELOW });
  }

  /** @param {number} stops */
  pace(stops) {
    return (WHOLE * stops) / this.last;
  }

  draw() {
    if (!this.held || !this.root.clientWidth) return;
    const { look, dial } = this;
    const { words, tokens } = this.header;
    const marks = dialMarks(this.header, this.vectors, dial, look);
    const inHand = this.carried ? new RegExp(`^(row|word|score|bar|share|none)-${this.carried.word}$`) : null;
    if (this.film) this.glide.show(marks);
    else this.glide.to(inHand ? marks.filter(({ key }) => !inHand.test(key)) : marks);
    if (inHand && this.glide.shown) this.paint(this.glide.shown);
    this.overlay(look);
    const share = fill(words.share, { share: formatPercent(this.at / 100, 0) });
    setText(this.share, share);
    setAttribute(this.range, "aria-valuetext", share);
    const sentence = dialSentence(this.header, this.vectors, dial);
    setMarkedText(this.said, sentence);
    setText(this.hint, words.hint);
    setAttribute(this.canvas, "aria-label", unmarked(sentence));
    this.back.disabled = this.at === this.last && this.order.every((word, place) => word === place);
    this.root.dataset.dial = JSON.stringify({ ...dial, tokens: tokens.length });
  }

  /** Lays what is taken by hand and keys over the drawing. @param {WordDial["look"]} look */
  overlay(look) {
    const { words, tokens, turns } = this.header;
    const { pairs, rows, narrow } = dialLayout(tokens.length, look);
    const w = narrow ? wordRoom(tokens, rows.w) : rows.w; // what is beside the words scrolls the page under a finger
    const seen = lookedAt(this.header, this.vectors, this.dial);
    layOver(this.pairs, pairs);
    setAttribute(this.pairs, "aria-valuenow", String(this.pair));
    const degrees = formatFixed((turns[this.pair] * 180) / Math.PI, 1);
    setAttribute(this.pairs, "aria-valuetext", fill(words.dial, { pair: this.pair, degrees }));
    this.handles.forEach((handle, word) => {
      const place = this.order.indexOf(word);
      layOver(handle, { x: rows.x, y: rows.y + place * rows.h, w, h: rows.h });
      const [score, weight] = [seen.scores[word], seen.weights[word]];
      const said = {
        ...{ key: visibleToken(tokens[word]), query: visibleToken(tokens[this.row]), place: place + 1 },
        ...{ score: formatFixed(score ?? 0, 1), share: formatPercent(weight ?? 0, 0) },
      };
      setAttribute(handle, "aria-label", fill(weight === null ? words.hidden : words.word, said));
      setAttribute(handle, "aria-pressed", String(word === this.row));
    });
  }

  /** @param {Mark[]} marks */
  paint(marks) {
    const { look, carried, header, vectors, dial } = this;
    const { height } = dialLayout(header.tokens.length, look);
    const context = sizeCanvas(this.canvas, look.width, height);
    drawMarks(context, marks, look.theme);
    if (!carried) return;
    const { rows } = dialLayout(header.tokens.length, look);
    fillBox(context, { ...rows, y: carried.y }, look.theme.background);
    drawMarks(
      context,
      rowMarks(header, lookedAt(header, vectors, dial), dial, carried.word, carried.y, look),
      look.theme,
    );
  }
}

export default viewComponent(WordDial);
