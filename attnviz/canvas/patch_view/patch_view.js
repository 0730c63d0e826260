// A picture and every head of a model over it: all of them small, one large, the row of whatever is pointed at as discs.

import { themeOf } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import { around, el, fill, joined } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { offerPicture } from "../shared/offer.js";
import { inflate } from "../shared/packing.js";
import { PatchChips } from "./patch_chips.js";
import { presentedRoom } from "../shared/window.js";
import { dimmed, drawLight, drawPhotograph } from "./patch_drawing.js";
import { besideWords, drawMarks, fitted } from "./patch_scene.js";
import { patchFigure } from "./patch_figure.js";
import { PatchHand } from "./patch_hand.js";
import { PatchNumbers } from "./patch_numbers.js";
import { brightest } from "./patch_rows.js";
import { queryName, sentence, titleOf } from "./patch_sentence.js";
import { drawPins, PatchTiles } from "./patch_tiles.js";
import { PatchTools } from "./patch_tools.js";
import { markPainted, onceAFrame, sized } from "../shared/surface.js";

/** @import { PatchScene, Size } from "./patch_scene.js" */
/** @import { Component, FigurePart, PatchChoices, PatchFigureHeader, PatchHeader, Theme } from "../shared/types.js" */

/** Below this width the large picture stands above the small ones. */
const NARROW = 640;
const MOST_PINS = 6;
/** Pixels that the large picture may be high above its words. */
const TALLEST = 400;
/** Pixels of a window that are not for a picture beside its words: what is chosen above it, and some air below. */
const AROUND = 500;
/** Pixels that the picture itself may be wide and high beside the large one, at least, and between them. */
const [PLAIN, SMALLEST, AIR] = [150, 56, 20];
/** Pixels that are said and pressed above and below a picture that is presented. */
const BELOW = 190;

/** @extends {View<PatchHeader>} */
export class PatchView extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    /** @type {PatchNumbers | null} */
    this.numbers = null;
    /** @type {Uint8Array} */
    this.picture = new Uint8Array(); // its file
    /** @type {HTMLCanvasElement | null} */
    this.ground = null;
    /** @type {ImageBitmap | null} */
    this.image = null;
    /** @type {PatchChoices | null} */
    this.chosen = null;
    /** @type {number | null} the token under the hand */
    this.pointed = null;
    this.oneScale = false;
    this.tiles = new PatchTiles(this);
    this.chips = new PatchChips(this);
    this.large = el("canvas", "pv-large av-pan", null, {
      tabindex: "0",
      role: "application",
      "data-testid": "picture",
    });
    this.plain = el("canvas", "pv-plain", null, { role: "img" });
    this.title = el("div", "pv-title av-strong");
    this.pinned = el("div", "av-wrap pv-pins", null, { "data-testid": "pins" });
    this.read = el("div", "pv-read", null, { "aria-live": "polite", "data-testid": "read" });
    this.bar = el("div", "pv-bar av-small");
    this.tools = new PatchTools(this);
    this.build();
    this.redraw = onceAFrame(() => this.draw());
    offerPicture(root, () => this.figureParts(), patchFigure);
  }

  /** What is chosen just now. */
  get state() {
    if (!this.chosen) throw new Error("no picture has come yet");
    return this.chosen;
  }

  /** The picture without its colours. */
  get dimmed() {
    return /** @type {HTMLCanvasElement} */ (this.ground);
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
    const head = around("av-wrap pv-head", this.title, this.chips.box);
    const words = around("pv-words", this.bar, this.read, this.tools.box, this.pinned);
    this.root.replaceChildren(this.tiles.box, around("pv-main", head, this.large, this.plain, words));
    this.root.classList.add("pv-root");
    this.hand = new PatchHand(this);
  }

  /** @param {Component} component */
  async show(component) {
    const { header, payload: packed, turn } = this.open(component);
    const picture = packed.subarray(0, header.parts.picture);
    const same = this.held?.doc === header.doc && this.ground !== null;
    const [payload, image] = await Promise.all([
      inflate(packed.subarray(header.parts.picture)),
      same ? null : createImageBitmap(new Blob([picture.slice()], { type: header.picture.type })),
    ]);
    if (turn !== this.turn) return;
    const behind = this.gestures.isBehind(header.session, header.ack);
    this.hold(header);
    this.picture = picture;
    this.numbers = new PatchNumbers(header, payload);
    if (image) [this.image, this.ground] = [image, dimmed(image)];
    if (!same) this.pointed = null;
    if (!behind || !this.chosen || !same) this.chosen = structuredClone(header.state);
    this.tools.build();
    this.tiles.build(this.numbers);
    this.chips.build();
    this.draw();
  }

  /** @param {number | null} token */
  point(token) {
    if (token === this.pointed) return;
    this.pointed = token;
    this.redraw();
  }

  /** @param {number} token */
  pin(token) {
    const { pins } = this.state;
    const without = pins.filter((each) => each !== token);
    const now = without.length < pins.length ? without : [...pins.slice(-MOST_PINS + 1), token];
    this.change({ pins: now });
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
   * @param {Partial<PatchChoices>} more
   * @param {boolean} ends whether the gesture ends, so that Python hears of it
   */
  change(more, ends = true) {
    this.chosen = { ...this.state, ...more };
    this.redraw();
    if (ends) this.tell();
  }

  /** Tells Python what is chosen. */
  tell() {
    this.tellPython("view", { ...this.state, doc: this.header.doc });
  }

  /** @param {string} text */
  say(text) {
    this.read.textContent = text;
  }

  resize() {
    if (this.held) this.draw();
  }

  leave() {
    this.chips.stop();
  }

  draw() {
    const width = this.root.clientWidth;
    if (!this.held || !this.numbers || !this.ground || width === 0) return;
    this.root.dataset.narrow = String(width < NARROW);
    const room = presentedRoom(this.root);
    this.tiles.box.style.maxHeight = room === null ? "" : `${room - 8}px`;
    const theme = themeOf(this.root, this.held.colours);
    this.drawLarge(theme, room);
    this.tiles.draw(this.numbers, theme);
    drawPins(this, theme);
    this.tools.update();
    this.root.dataset.query = String(this.query);
    markPainted(this.root, "av-patches", `${this.state.layer}.${this.state.head}.${this.query}`);
  }

  /** The row on show in the large picture. @param {number} query */
  rowOf(query) {
    return /** @type {PatchNumbers} */ (this.numbers).shown(query, this.state);
  }

  /** @param {Theme} theme @param {number | null} room of a window in which it is presented */
  drawLarge(theme, room) {
    const { header, state, query } = this;
    const main = /** @type {HTMLElement} */ (this.large.parentElement);
    const row = this.rowOf(query);
    const width = main.clientWidth - 2;
    const above = fitted(header.picture, width, Math.min(TALLEST, main.clientWidth, (room ?? Infinity) - BELOW));
    const beside = besideWords(header.picture, width, Math.max(TALLEST, innerHeight - AROUND), above);
    main.toggleAttribute("data-beside", beside !== null);
    const size = beside ?? above;
    this.drawPlain(beside ? PLAIN : width - size.width - AIR);
    const framed = state.pins.map((token, i) => ({ token, name: String(i + 1) }));
    if (!state.pins.includes(query)) framed.push({ token: query, name: "" });
    const scene = this.scene(size, theme, row, framed);
    drawMarks(this.light(this.large, scene), scene);
    const [title, said] = [titleOf(header, state), sentence(header, query, row, state.shows)];
    this.title.textContent = title;
    this.say(said);
    this.large.setAttribute("aria-label", joined(header.labels.join_heard, [title, said]));
    const changed = state.hidden.length > 0 || state.silenced.length > 0;
    const light = changed ? header.labels.full_light_changed : header.labels.full_light;
    this.bar.textContent = fill(light, { share: percent(this.topOf(row)) });
    this.chips.update();
  }

  /** The picture as it is, beside the large one where there is room. @param {number} room */
  drawPlain(room) {
    this.plain.hidden = room < SMALLEST;
    if (this.plain.hidden || !this.image) return;
    const { width, height } = fitted(this.header.picture, Math.min(room, PLAIN), PLAIN);
    sized(this.plain, width, height);
    const place = { x: 0, y: 0, w: width, h: height };
    drawPhotograph(sized(this.plain, width, height), this.image, this.header.picture.smooth, place);
    this.plain.setAttribute("aria-label", this.header.labels.plain);
  }

  /** The weight of a disc that fills its patch: this row's own largest, or 1. @param {Float32Array} row */
  topOf(row) {
    return this.oneScale ? 1 : brightest(row, this.header.grid.first);
  }

  /**
   * What a picture of a row shows.
   * @param {Size} size @param {Theme} theme @param {Float32Array} row @param {PatchScene["framed"]} framed
   * @returns {PatchScene}
   */
  scene(size, theme, row, framed = []) {
    return { header: this.header, size, theme, row, top: this.topOf(row), state: this.state, framed };
  }

  /** The pinned rows, else the usual one, and the picture itself, as parts of a figure. @returns {FigurePart[]} */
  figureParts() {
    const { header, state, picture } = this;
    const { labels, usual } = header;
    const light = state.hidden.length || state.silenced.length ? labels.full_light_changed : labels.full_light;
    const part = (/** @type {Partial<PatchFigureHeader>} */ more, /** @type {Uint8Array} */ row) =>
      /** @type {FigurePart} */ ([
        "patches",
        { ...header, state, parts: { picture: picture.length }, side: 400, brief: false, light, ...more },
        new Uint8Array([...picture, ...row]),
      ]);
    const isMean = state.shows === "mean";
    const rows = (isMean || !state.pins.length ? [usual] : state.pins).map((query) =>
      part(
        { title: isMean ? labels.mean_title : queryName(header, query), query },
        new Uint8Array(this.rowOf(query).slice().buffer),
      ),
    );
    return [...rows, part({ title: labels.plain, query: null, side: 150 }, new Uint8Array())];
  }

  /** @param {HTMLCanvasElement} canvas @param {PatchScene} scene */
  light(canvas, scene) {
    return drawLight(canvas, this.dimmed, this.header.picture.smooth, scene);
  }
}

export default viewComponent(PatchView);
