// A picture and every head of a model over it: all of them small, one large, the row of whatever is pointed at as light.

import { inflate, readHeader } from "./blob.js";
import { viewComponent } from "./component.js";
import { el, fill } from "./dom.js";
import { percent } from "./numbers.js";
import { corners, dimmed, drawLight, frame, windowBorders } from "./patch_drawing.js";
import { fitted, patchesBetween, patchUnder, stepFrom, wordFrom } from "./patch_geometry.js";
import { PatchNumbers } from "./patch_numbers.js";
import { drawPins } from "./patch_pins.js";
import { heard, sentence, titleOf } from "./patch_sentence.js";
import { PatchTools } from "./patch_tools.js";
import { Sequence } from "./sequence.js";
import { markPainted, measured, onceAFrame } from "./surface.js";
import { themeOf } from "./theme.js";

/** @import { Component, PatchHeader, PatchState, Theme } from "./types.js" */
/** @import { Size } from "./patch_geometry.js" */

/** Below this width the large picture stands above the small ones. */
const NARROW = 640;
const MOST_PINS = 6;
/** Pixels that the large picture may be high. */
const TALLEST = 400;
/** Milliseconds that each word stays while all are read one after the other. */
const PACE = 1100;

export class PatchView {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {PatchHeader | null} */
    this.held = null;
    /** @type {PatchNumbers | null} */
    this.numbers = null;
    /** @type {HTMLCanvasElement | null} */
    this.ground = null;
    /** @type {PatchState | null} */
    this.chosen = null;
    /** @type {number | null} the token under the hand */
    this.pointed = null;
    this.oneScale = false;
    this.drawnTiles = "";
    this.gestures = new Sequence();
    this.walk = 0;
    /** @type {Component | null} */
    this.component = null;
    /** @type {{ last: number, hides: boolean } | null} */
    this.stroke = null;
    this.small = el("div", "pv-small", null, { "data-testid": "heads" });
    this.large = el("canvas", "pv-large", null, { tabindex: "0", role: "application", "data-testid": "picture" });
    this.title = el("div", "pv-title");
    this.chips = el("div", "pv-chips");
    this.pinned = el("div", "pv-pins", null, { "data-testid": "pins" });
    this.read = el("div", "pv-read", null, { "aria-live": "polite", "data-testid": "read" });
    this.bar = el("div", "pv-bar");
    this.tools = new PatchTools(this);
    this.build();
    this.redraw = onceAFrame(() => this.draw());
  }

  get header() {
    if (!this.held) throw new Error("no picture has come yet");
    return this.held;
  }

  /** What is chosen just now. */
  get state() {
    if (!this.chosen) throw new Error("no picture has come yet");
    return this.chosen;
  }

  /** Whether the head on show can have another scale: its scores are here and not only its weights. */
  get exact() {
    return this.numbers?.rawOf(this.state.layer, this.state.head)?.exact ?? false;
  }

  /** The token whose row is on show: under the hand, else the last pinned, else the usual one. */
  get query() {
    const { pins } = this.state;
    return this.pointed ?? pins[pins.length - 1] ?? this.header.usual;
  }

  build() {
    const main = el("div", "pv-main");
    const head = el("div", "pv-head");
    head.append(this.title, this.chips);
    main.append(head, this.large, this.bar, this.read, this.tools.box, this.pinned);
    this.root.replaceChildren(this.small, main);
    this.root.classList.add("pv-root");
    this.large.addEventListener("pointermove", (e) => this.move(e));
    this.large.addEventListener("pointerdown", (e) => this.press(e));
    this.large.addEventListener("click", (e) => this.tap(e));
    for (const end of ["pointerup", "pointercancel"]) this.large.addEventListener(end, () => this.endStroke());
    for (const end of ["pointerleave", "blur"]) this.large.addEventListener(end, () => this.point(null));
    this.large.addEventListener("keydown", (e) => this.key(e));
  }

  /**
   * @param {Uint8Array} bytes
   * @param {Component} component
   */
  async show(bytes, component) {
    const [header, packed] = /** @type {[PatchHeader, Uint8Array]} */ (readHeader(bytes));
    this.component = component;
    const picture = packed.subarray(0, header.parts.picture);
    const same = this.held?.doc === header.doc && this.ground !== null;
    const [payload, image] = await Promise.all([
      inflate(packed.subarray(header.parts.picture)),
      same ? null : createImageBitmap(new Blob([picture.slice()], { type: header.picture.type })),
    ]);
    const behind = this.gestures.isBehind(header.session, header.ack);
    this.held = header;
    this.numbers = new PatchNumbers(header, payload);
    if (image) this.ground = dimmed(image);
    if (!same) this.pointed = null;
    if (!behind || !this.chosen || !same) this.chosen = structuredClone(header.state);
    this.tools.build();
    this.makeTiles();
    this.makeChips();
    this.draw();
  }

  makeTiles() {
    const { header } = this;
    const { order } = /** @type {PatchNumbers} */ (this.numbers);
    const name = JSON.stringify([header.doc, order, header.measureText, header.labels.tile]);
    if (this.small.dataset.name === name) return;
    this.small.dataset.name = name;
    this.drawnTiles = "";
    this.small.style.setProperty("--pv-columns", String(header.ordered ? 4 : Math.min(12, Math.max(...header.heads))));
    this.small.replaceChildren(
      ...order.map(([layer, head]) => {
        const tile = el("button", "pv-tile", null, { type: "button", "data-head": `${layer}.${head}` });
        const title = fill(header.labels.tile, { layer, head });
        const at = header.heads.slice(0, layer).reduce((sum, n) => sum + n, 0) + head;
        const more = header.measureText[at] ?? "";
        tile.title = more ? `${title}: ${more}` : title;
        tile.setAttribute("aria-label", `${layer}.${head} ${tile.title}`); // what is seen is what it can be called
        tile.append(el("canvas", "pv-tile-canvas"), el("span", "pv-tile-name", `${layer}.${head}`));
        tile.addEventListener("click", () => this.choose(layer, head));
        return tile;
      }),
    );
  }

  /** Tokens that are no patches, or the words that look, to point at and to pin. */
  makeChips() {
    const { special, words, labels } = this.header;
    const names = words ?? special;
    this.chips.replaceChildren(
      ...names.map((name, token) => {
        const chip = el("button", "av-button pv-chip", name, { type: "button", "data-token": String(token) });
        chip.addEventListener("pointerenter", (e) => e.pointerType === "mouse" && this.point(token));
        chip.addEventListener("pointerleave", () => this.point(null));
        chip.addEventListener("focus", () => this.point(token));
        chip.addEventListener("blur", () => this.point(null));
        chip.addEventListener("click", () => this.pin(token));
        return chip;
      }),
    );
    if (words === null || words.length < 2) return;
    const play = el("button", "av-button pv-play", "▶", {
      type: "button",
      "aria-label": labels.play,
      title: labels.play,
    });
    play.addEventListener("click", () => (this.walk ? this.stand() : this.go()));
    this.chips.prepend(play);
  }

  /** Shows word after word, as they were written. */
  go() {
    const { words } = this.header;
    let at = 0;
    const step = () => {
      if (!words || at >= words.length || !this.root.isConnected) this.stand();
      else {
        this.point(at);
        at += 1;
        this.walk = window.setTimeout(step, PACE);
      }
    };
    this.root.dataset.walking = "true";
    step();
  }

  stand() {
    clearTimeout(this.walk);
    this.walk = 0;
    delete this.root.dataset.walking;
    this.point(null);
  }

  /** @param {number | null} token */
  point(token) {
    if (token === this.pointed) return;
    this.pointed = token;
    this.redraw();
  }

  /** @param {PointerEvent} event */
  tokenUnder(event) {
    const box = this.large.getBoundingClientRect();
    const size = { width: box.width, height: box.height };
    return patchUnder(event.clientX - box.left, event.clientY - box.top, this.header.grid, size);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const patch = this.tokenUnder(event);
    if (this.stroke && patch !== null) this.paintTo(patch);
    else if (this.header.words === null) this.point(patch === null ? null : patch + this.header.grid.first);
  }

  /** @param {PointerEvent} event */
  press(event) {
    const patch = this.tokenUnder(event);
    if (patch === null || !this.tools.painting) return;
    this.large.setPointerCapture(event.pointerId);
    this.begin(patch);
  }

  /** Begins a stroke of the brush. @param {number} patch */
  begin(patch) {
    this.stroke = { last: patch, hides: !this.state.hidden.includes(patch) };
    this.paintTo(patch);
  }

  /** A stroke over one patch. @param {number} patch */
  dot(patch) {
    this.begin(patch);
    this.endStroke();
  }

  /** Pins once the finger is lifted: one that goes on to scroll the page pins nothing. @param {PointerEvent} event */
  tap(event) {
    const patch = this.tokenUnder(event);
    if (patch !== null && !this.tools.painting && this.header.words === null) this.pin(patch + this.header.grid.first);
  }

  /** @param {number} patch */
  paintTo(patch) {
    if (!this.stroke) return;
    const hidden = new Set(this.state.hidden);
    for (const each of patchesBetween(this.stroke.last, patch, this.header.grid.columns)) {
      if (this.stroke.hides) hidden.add(each);
      else hidden.delete(each);
    }
    this.stroke.last = patch;
    this.change({ hidden: [...hidden].sort((a, b) => a - b) }, false);
  }

  endStroke() {
    if (!this.stroke) return;
    this.stroke = null;
    this.tell();
  }

  /** @param {number} token */
  pin(token) {
    const { pins } = this.state;
    const without = pins.filter((each) => each !== token);
    const now = without.length < pins.length ? without : [...pins.slice(-MOST_PINS + 1), token];
    this.change({ pins: now });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { grid, words } = this.header;
    const at = Math.max(0, (this.pointed ?? this.query) - grid.first);
    if (event.key === "Enter" || event.key === " ") this.tools.painting ? this.dot(at) : this.pin(this.query);
    else if (event.key === "Escape") {
      if (this.pointed === null && !this.state.pins.length) return; // nothing is held: the key belongs to the page
      this.pointed = null;
      this.change({ pins: [] });
    } else {
      const next = words === null ? stepFrom(at, event.key, grid) : wordFrom(this.query, event.key, words.length);
      if (next === null) return;
      this.point(words === null ? next + grid.first : next);
    }
    event.preventDefault();
  }

  /**
   * @param {number} layer
   * @param {number} head
   */
  choose(layer, head) {
    this.change({ layer, head, factor: 1 });
  }

  toggleSilence() {
    const { layer, head, silenced } = this.state;
    const others = silenced.filter(([l, h]) => l !== layer || h !== head);
    this.change({ silenced: others.length < silenced.length ? others : [...others, [layer, head]] });
  }

  toggleScale() {
    this.oneScale = !this.oneScale;
    this.redraw();
  }

  /**
   * @param {Partial<PatchState>} more
   * @param {boolean} ends whether the gesture ends, so that Python hears of it
   */
  change(more, ends = true) {
    this.chosen = { ...this.state, ...more };
    this.redraw();
    if (ends) this.tell();
  }

  /** Tells Python what is chosen. */
  tell() {
    this.component?.setStateValue("view", { ...this.state, doc: this.header.doc, seq: this.gestures.next() });
  }

  /** @param {string} text */
  say(text) {
    this.read.textContent = text;
  }

  resize() {
    if (this.held) this.draw();
  }

  leave() {
    clearTimeout(this.walk);
  }

  draw() {
    const width = this.root.clientWidth;
    if (!this.held || !this.numbers || !this.ground || width === 0) return;
    const start = performance.now();
    this.root.dataset.narrow = String(width < NARROW);
    const theme = themeOf(this.root, this.held.colours);
    this.drawLarge(theme);
    this.drawTiles();
    drawPins(this, theme);
    this.tools.update();
    this.root.dataset.query = String(this.query);
    measured("av-patches", start);
    markPainted(this.root, "av-patches", `${this.state.layer}.${this.state.head}.${this.query}`);
  }

  /** The row on show in the large picture. @param {number} query */
  rowOf(query) {
    return /** @type {PatchNumbers} */ (this.numbers).shown(query, this.state);
  }

  /** @param {Theme} theme */
  drawLarge(theme) {
    const { header, state, query } = this;
    const main = /** @type {HTMLElement} */ (this.large.parentElement);
    const row = this.rowOf(query);
    const size = fitted(header.picture, main.clientWidth - 2, Math.min(TALLEST, main.clientWidth));
    const ink = this.light(this.large, size, row);
    const window = ["row", "mean"].includes(state.shows) ? header.windows[state.layer] : undefined;
    windowBorders(ink, window, header.grid, size);
    corners(ink, header.sinks, header.grid, size);
    const { first } = header.grid;
    if (header.words === null && state.shows !== "mean") {
      state.pins.forEach((token, i) => {
        if (token >= first) frame(ink, token - first, header, size, theme.q, String(i + 1), theme);
      });
      if (query >= first && !state.pins.includes(query)) frame(ink, query - first, header, size, theme.q, "", theme);
    }
    this.title.textContent = titleOf(header, state);
    this.say(sentence(header, query, row, state.shows));
    this.large.setAttribute("aria-label", heard(header, this.title, this.read));
    this.bar.textContent = fill(header.labels.full_light, { share: percent(this.topOf(row)) });
    for (const chip of this.chips.querySelectorAll(".pv-chip")) {
      const token = Number(/** @type {HTMLElement} */ (chip).dataset.token);
      chip.setAttribute("aria-pressed", String(state.pins.includes(token)));
      chip.toggleAttribute("data-lit", token === query && state.shows !== "mean");
    }
  }

  /**
   * What is as bright as light can be: this row's own brightest patch, or a weight of 1.
   * @param {Float32Array} row
   */
  topOf(row) {
    return this.oneScale ? 1 : /** @type {PatchNumbers} */ (this.numbers).top(row);
  }

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {Size} size
   * @param {Float32Array} row
   */
  light(canvas, size, row) {
    const ground = /** @type {HTMLCanvasElement} */ (this.ground);
    return drawLight(canvas, ground, size, this.header, { row, top: this.topOf(row), hidden: this.state.hidden });
  }

  /** Draws the small pictures, unless nothing that they show has changed. */
  drawTiles() {
    const { state } = this;
    const numbers = /** @type {PatchNumbers} */ (this.numbers);
    const query = numbers.follows && state.shows !== "mean" ? this.query : null;
    const { doc } = this.header;
    const name = JSON.stringify([doc, this.root.clientWidth, devicePixelRatio, query, state, this.oneScale]);
    if (name === this.drawnTiles && this.small.childElementCount) return;
    this.drawnTiles = name;
    for (const tile of /** @type {NodeListOf<HTMLElement>} */ (this.small.querySelectorAll(".pv-tile"))) {
      const [layer, head] = String(tile.dataset.head).split(".").map(Number);
      const canvas = /** @type {HTMLCanvasElement} */ (tile.firstElementChild);
      const row = numbers.row(layer, head, this.query, state);
      this.light(canvas, fitted(this.header.picture, Math.max(16, tile.clientWidth - 4), 200), row);
      const silenced = state.silenced.some(([l, h]) => l === layer && h === head);
      tile.toggleAttribute("data-silenced", silenced);
      tile.setAttribute("aria-pressed", String(layer === state.layer && head === state.head));
    }
  }
}

export default viewComponent(PatchView);
