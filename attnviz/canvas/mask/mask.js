// A mask to paint on: gestures, keys, undo; a gesture is told to Python when it ends.

import { readTheme } from "../shared/colour.js";
import { viewComponent } from "../shared/component.js";
import { ARROWS, isPress } from "../shared/controls.js";
import { addButton, createBox, el, joinTexts, liveRegion } from "../shared/dom.js";
import { MaskDrawing } from "./mask_drawing.js";
import { MaskFlow } from "./mask_flow.js";
import { cellsOfBox, cellsOfLine, maskFilm, maskFigure } from "./mask_scene.js";
import { readScores } from "./mask_weights.js";
import { clamp } from "../shared/numbers.js";
import { isSame } from "../scene/glide.js";
import { offerPicture } from "../shared/offer.js";
import { packCells, inflate, packBits, unpackBits } from "../shared/packing.js";
import { oncePerFrame } from "../shared/surface.js";
import { tokenLabels } from "../shared/token_labels.js";
import { cellsBetween } from "../shared/zoom.js";

/** @import { Mask } from "./mask_drawing.js" */
/** @import { Component, FigurePart, MaskFigureHeader } from "../shared/types.js" */

/**
 * A hand at work: on a label, or painting cells, which become `on` and were `before`; `box`: those of a box.
 * @typedef {{ kind: "label", pointer: number, label: [number, number] }} LabelGesture
 * @typedef {{ kind: "paint", pointer: number, on: number, before: Uint8Array, box: boolean }
 *   & Record<"from" | "last", [number, number]>} PaintGesture
 */

const MOST_UNDO = 60;

export class MaskEditor extends MaskDrawing {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.bar = el("div", "av-wrap av-mask-head");
    this.tools = el("div", "av-tools");
    this.bar.append(this.count, this.tools);
    this.help = el("div", "av-sr", null, { id: "help" });
    this.live = liveRegion();
    /** @type {Uint8Array[]} */
    this.past = [];
    /** @type {Uint8Array[]} */
    this.future = [];
    /** @type {LabelGesture | PaintGesture | null} */
    this.gesture = null;
    /** @type {number | null} what the keyboard paints with */
    this.brush = null;
    /** @type {{ language: string, undo: HTMLButtonElement, redo: HTMLButtonElement } | null} */
    this.buttons = null;
    this.relight = oncePerFrame(() => this.light());
    this.redraw = oncePerFrame(() => this.draw());
    this.listen();
    this.flow = new MaskFlow(this);
    offerPicture(
      root,
      () => [this.part()],
      maskFigure,
      () => maskFilm(...this.told()),
    );
  }

  /** What a file is made of: without weights there is no film. @returns {[MaskFigureHeader, Uint8Array]} */
  told() {
    const { header, cells, raw } = this.shown;
    const { q, k, shape, colours, words, scale } = header;
    const layers = this.flow.stack;
    const bits = packCells(cells);
    const scores = raw ? new Uint8Array(raw.scores.slice().buffer) : new Uint8Array();
    const payload = new Uint8Array(bits.length + scores.length);
    payload.set(bits);
    payload.set(scores, bits.length);
    return [{ q, k, shape, title: "", colours, words, scale, word: this.word, layers }, payload];
  }

  /** The mask on show, as a part of a figure. @returns {FigurePart} */
  part() {
    const [header, payload] = this.told();
    return ["mask", this.flow.film ? header : { ...header, swept: this.swept }, payload]; // a film untouched is not kept
  }

  /** @param {Component} component */
  async show(component) {
    const { header, payload, turn } = this.open(component);
    const before = this.held;
    const known = before?.header.data === header.data;
    const bytes = known ? null : await inflate(payload);
    const given = bytes ? unpackBits(bytes, header.shape[0] * header.shape[1]) : /** @type {Mask} */ (before).given;
    const raw = bytes ? readScores(header, bytes) : /** @type {Mask} */ (before).raw;
    if (turn !== this.turn) return;
    const sameTokens = before !== null && isSame([before.header.q, before.header.k], [header.q, header.k]);
    const [labelsQ, labelsK] = sameTokens ? [before.labelsQ, before.labelsK] : tokenLabels(header);
    const behind = this.gestures.isBehind(header.session, header.ack) || this.gesture?.kind === "paint";
    const cells = sameTokens ? this.adopted(given, behind) : this.begun(given);
    const theme = readTheme(this.root, header.colours);
    this.hold({ header, given, cells, raw, theme, labelsQ, labelsK });
    if (!behind) Object.assign(this, { word: header.word, layers: header.layers?.[0] ?? 1 });
    if (!before) this.build();
    this.dress();
    this.resize();
    this.flow.dress(this.head, this.beside, !sameTokens, !before);
  }

  build() {
    const left = createBox("mk-mask", this.bar, this.stage, this.read, this.legend);
    this.root.append(this.help, this.live, createBox("mk-both", left, this.flow.box));
  }

  /** The cells for other tokens: Python's, with nothing to undo. @param {Uint8Array} given */
  begun(given) {
    Object.assign(this, { past: [], future: [], cursor: null, hover: null, gesture: null });
    return given.slice();
  }

  /**
   * The cells for the same tokens: Python's, which can be undone, unless a newer stroke, or one in the making, has
   * overtaken them.
   * @param {Uint8Array} given @param {boolean} behind
   */
  adopted(given, behind) {
    const { cells } = this.shown;
    if (behind || isSame(cells, given)) return cells;
    this.remember();
    return given.slice();
  }

  remember() {
    this.past.push(this.shown.cells.slice());
    if (this.past.length > MOST_UNDO) this.past.shift();
    this.future = [];
  }

  dress() {
    const { words, label } = this.shown.header;
    this.stage.setAttribute("aria-label", label || words.label);
    this.help.textContent = words.help;
    this.drawLegend();
    if (this.buttons?.language === words.undo) return;
    this.tools.replaceChildren();
    this.buttons = {
      language: words.undo,
      undo: addButton(this.tools, "↶", words.undo, () => this.step("undo")),
      redo: addButton(this.tools, "↷", words.redo, () => this.step("redo")),
    };
  }

  resize() {
    super.resize();
    if (this.held) this.flow.dress(this.head, this.beside, false);
    this.light();
  }

  light() {
    super.light();
    if (!this.head) return;
    const [q, k] = this.hover ?? this.cursor ?? [-1, -1];
    const word = q < 0 ? this.word : q;
    this.flow.show(this.head, word, k >= 0 && this.head.allowed?.[word * this.head.n + k] ? k : null);
  }

  /** @param {number} rows that the mask has come over */
  setSwept(rows) {
    this.swept = rows;
    this.redraw();
  }

  /** Shows another word's row. @param {number} word */
  setWord(word) {
    this.word = word;
    this.hover = null;
    this.emit();
  }

  /** A pointer on the ribbons points at a cell. @param {[number, number] | null} cell */
  point(cell) {
    if (this.gesture) return;
    this.hover = cell;
    this.relight();
  }

  /** @param {[number, number]} cell */
  toggle([q, k]) {
    this.finishFilm();
    const i = q * this.shown.header.shape[1] + k;
    this.put([i], this.shown.cells[i] ? 0 : 1);
  }

  /** Whoever paints sees all of the mask. */
  finishFilm() {
    if (this.head) this.flow.stand(this.shown.header.shape[0]);
  }

  drawCount() {
    super.drawCount();
    if (!this.buttons) return;
    this.buttons.undo.disabled = this.past.length === 0;
    this.buttons.redo.disabled = this.future.length === 0;
  }

  get isPainting() {
    return this.gesture?.kind === "paint";
  }

  listen() {
    const { stage } = this;
    stage.addEventListener("pointerdown", (e) => this.down(e));
    stage.addEventListener("pointermove", (e) => this.move(e));
    stage.addEventListener("pointerup", (e) => this.up(e));
    stage.addEventListener("pointercancel", () => this.cancel());
    stage.addEventListener("pointerleave", () => {
      if (this.gesture) return;
      this.hover = null;
      this.relight();
    });
    stage.addEventListener("keydown", (e) => this.key(e));
    stage.addEventListener("blur", () => this.leaveCells());
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button > 0 || this.gesture) return;
    const hit = this.hit(event);
    if (!hit) return;
    const [q, k] = hit;
    const pointer = event.pointerId;
    this.finishFilm();
    if (q >= 0) this.word = q;
    if (q < 0 || k < 0) {
      this.gesture = { kind: "label", label: hit, pointer };
      return;
    }
    const { cells, header } = this.shown;
    const on = cells[q * header.shape[1] + k] ? 0 : 1;
    this.gesture = { kind: "paint", pointer, on, from: hit, last: hit, before: cells.slice(), box: event.shiftKey };
    this.stage.setPointerCapture(pointer);
    this.paint(this.gesture, hit);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { gesture } = this;
    if (!gesture) {
      if (event.pointerType === "touch") return;
      this.hover = this.hit(event);
      this.stage.style.cursor = this.hover ? (this.hover.includes(-1) ? "pointer" : "crosshair") : "";
      this.relight();
      return;
    }
    if (gesture.kind === "label" || event.pointerId !== gesture.pointer) return;
    const steps = event.getCoalescedEvents?.() ?? [];
    for (const step of steps.length ? steps : [event]) this.paint(gesture, this.nearest(step));
  }

  /** @param {PointerEvent} event */
  up(event) {
    const { gesture } = this;
    if (!gesture || event.pointerId !== gesture.pointer) return;
    this.gesture = null;
    if (gesture.kind === "paint") this.finish(gesture.before);
    else if (isSame(this.hit(event), gesture.label)) this.switchLine(gesture.label);
  }

  cancel() {
    if (this.gesture?.kind === "paint") this.shown.cells = this.gesture.before;
    this.gesture = null;
    this.redraw();
  }

  /** From the last cell to this one without gaps, however fast the hand was; with Shift, a box. */
  /** @param {PaintGesture} gesture @param {[number, number]} to */
  paint(gesture, to) {
    if (gesture.box) this.shown.cells = gesture.before.slice();
    const cells = gesture.box ? cellsOfBox(gesture.from, to) : cellsBetween(gesture.last, to);
    const nk = this.shown.header.shape[1];
    for (const [q, k] of cells) this.shown.cells[q * nk + k] = gesture.on;
    gesture.last = to;
    this.hover = to;
    this.redraw();
  }

  /** A label switches its whole row or column: off if anything in it is on. @param {[number, number]} label */
  switchLine(label) {
    const { cells, header } = this.shown;
    const line = cellsOfLine(label, header.shape);
    this.put(line, line.some((i) => cells[i]) ? 0 : 1);
  }

  /** A gesture is over: remember it and tell Python, if it changed anything. @param {Uint8Array} before */
  finish(before) {
    const now = this.shown.cells;
    if (isSame(before, now)) {
      this.redraw();
      return;
    }
    this.shown.cells = before;
    this.remember();
    this.shown.cells = now;
    this.emit();
  }

  emit() {
    this.redraw();
    this.tellPython("paint", { bits: packBits(this.shown.cells), word: this.word, layers: this.layers });
  }

  /** Undoes a gesture, or does it again. @param {"undo" | "redo"} way */
  step(way) {
    const [from, to] = way === "undo" ? [this.past, this.future] : [this.future, this.past];
    const cells = from.pop();
    if (!cells) return;
    to.push(this.shown.cells);
    this.shown.cells = cells;
    this.emit();
    this.live.textContent = this.shown.header.words[way];
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const command = event.ctrlKey || event.metaKey;
    const letter = event.key.toLowerCase();
    if (event.key in ARROWS && !command && !event.altKey) this.walk(ARROWS[event.key], event.shiftKey);
    else if (isPress(event) && this.cursor) this.paintAtCursor(this.cursor);
    else if (command && (letter === "y" || (letter === "z" && event.shiftKey))) this.step("redo");
    else if (command && letter === "z") this.step("undo");
    else if (event.key === "Escape" && this.gesture) this.cancel();
    else if (event.key === "Escape" && this.cursor) this.leaveCells();
    else return;
    event.preventDefault();
  }

  leaveCells() {
    this.cursor = null;
    this.relight();
  }

  /** Moves the cursor; with `painting` it leaves what the last cell painted became. */
  /** @param {[number, number]} direction @param {boolean} painting */
  walk([dq, dk], painting) {
    const [nq, nk] = this.shown.header.shape;
    const [q, k] = this.cursor ?? [-dq, -dk];
    /** @type {[number, number]} */
    const to = [clamp(q + dq, 0, nq - 1), clamp(k + dk, 0, nk - 1)];
    this.cursor = to;
    this.finishFilm();
    this.word = to[0];
    this.hover = null;
    if (painting && this.brush !== null) this.put([to[0] * nk + to[1]], this.brush);
    const row = to[0] === q ? "" : this.rowSaid(to[0]);
    this.live.textContent = joinTexts(this.shown.header.words.join_heard, [this.readout(to), row]);
    this.relight();
  }

  /** @param {[number, number]} cursor */
  paintAtCursor([q, k]) {
    const { cells, header } = this.shown;
    const i = q * header.shape[1] + k;
    this.brush = cells[i] ? 0 : 1;
    this.put([i], this.brush);
    this.live.textContent = this.readout([q, k]);
  }

  /** @param {number[]} places of cells @param {number} on */
  put(places, on) {
    const before = this.shown.cells.slice();
    for (const i of places) this.shown.cells[i] = on;
    this.finish(before);
  }
}

export default viewComponent(MaskEditor);
