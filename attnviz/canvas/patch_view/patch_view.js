// A picture and every head of a model over it: all of them small, one large, the row of whatever is pointed at as discs.

import { readTheme } from "../shared/colour.js";
import { Drawing, viewComponent } from "../shared/component.js";
import { createBox, el, fill, joinTexts } from "../shared/dom.js";
import { clamp, formatPercent } from "../shared/numbers.js";
import { offerPicture } from "../shared/offer.js";
import { inflate } from "../shared/packing.js";
import { PatchChips } from "./patch_chips.js";
import { presentationRoom } from "../shared/window.js";
import { canvasContext } from "../scene/canvas_context.js";
import { Glide, interpolateNumberArray } from "../scene/glide.js";
import { answerHeight, countColumns, drawAnswer, drawMarks, fitPicture, FLOOR, LEFT } from "./patch_scene.js";
import { patchFigure } from "./patch_figure.js";
import { PatchHand } from "./patch_hand.js";
import { PatchLayers } from "./patch_layers.js";
import { PatchPen } from "./patch_pen.js";
import { largestPatchWeight, PatchNumbers } from "./patch_numbers.js";
import { queryName, patchSentence, patchTitle } from "./patch_sentence.js";
import { drawPins, drawRow, PatchTiles } from "./patch_tiles.js";
import { PatchTools } from "./patch_tools.js";
import { markPainted, oncePerFrame, sizeCanvas } from "../shared/surface.js";

/** @import { PatchScene, Size } from "./patch_scene.js" */
/** @import { Component, DrawingContext, Rectangle, FigurePart, PatchChoices, PatchFigureHeader, PatchHeader, Theme } from "../shared/types.js" */

/** Below this width the large picture stands above the small ones. */
const NARROW = 760;
const MOST_PINS = 6;
/** Heads of a layer from which on all stand below the large picture. */
const MANY = 6;
/** Pixels that the large picture may be high, at least, and pixels of a window that are not for it. */
const [TALLEST, AROUND] = [360, 362];
/** Pixels that the answer beside it is wide, and between them; how wide and high the picture itself is below that. */
const [ANSWER, AIR, PLAIN] = [[160, 240], 20, 150];
/** Milliseconds that discs take to come. */
const ARRIVAL = 900;
/** Pixels that are said and pressed above and below a picture that is presented. */
const BELOW = 235;

/**
 * What is on show: the picture's file, it with and without its colours, and what is chosen just now.
 * @typedef {object} Shown
 * @property {PatchHeader} header
 * @property {PatchNumbers} numbers
 * @property {Uint8Array} file
 * @property {ImageBitmap} image
 * @property {HTMLCanvasElement} ground
 * @property {PatchChoices} state
 *
 * What glides: a row, the weight of a disc that fills its patch, and the shares of the answer.
 * @typedef {{ row: Float32Array, top: number, shares: number[] }} Lit
 */

/** The picture without its colours and a little darker, which the discs are drawn over. Made once. */
/** @param {ImageBitmap} picture */
function dimColours(picture) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.width, picture.height];
  const context = canvasContext(canvas);
  context.drawImage(picture, 0, 0);
  Object.assign(context, { globalCompositeOperation: "saturation", fillStyle: "#000000" });
  context.fillRect(0, 0, canvas.width, canvas.height);
  const veil = FLOOR / (1 - LEFT);
  Object.assign(context, { globalCompositeOperation: "source-over", globalAlpha: 1 - LEFT });
  context.fillStyle = `rgb(${veil} ${veil} ${veil})`;
  context.fillRect(0, 0, canvas.width, canvas.height);
  return canvas;
}

/** A photograph fills a place. @param {DrawingContext} context of a canvas @param {CanvasImageSource} picture @param {boolean} smooth @param {Rectangle} place */
function drawPhotograph(context, picture, smooth, { x, y, w, h }) {
  const canvas = /** @type {CanvasRenderingContext2D} */ (/** @type {unknown} */ (context));
  canvas.imageSmoothingEnabled = smooth;
  canvas.drawImage(picture, x, y, w, h);
}

/** Discs and bars that grow and shrink; as they come, so slowly that it is seen. */
/** @param {Lit} from @param {Lit} to @returns {((share: number) => Lit) & { milliseconds?: number } | null} */
function litBetween(from, to) {
  if (from.row.length !== to.row.length || from.shares.length !== to.shares.length) return null;
  const [row, shares] = [interpolateNumberArray(from.row, to.row), interpolateNumberArray(from.shares, to.shares)];
  const top = (/** @type {number} */ share) => from.top + (to.top - from.top) * share;
  const way = (/** @type {number} */ share) => ({
    row: Float32Array.from(row(share)),
    top: top(share),
    shares: [...shares(share)],
  });
  return Object.assign(way, from.row.some(Boolean) ? {} : { milliseconds: ARRIVAL });
}

/** @extends {Drawing<PatchHeader, Shown>} */
export class PatchView extends Drawing {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    /** @type {number | null} the token under the hand */
    this.pointed = null;
    this.oneScale = false;
    this.tiles = new PatchTiles(this);
    this.chips = new PatchChips(this);
    const attributes = { tabindex: "0", role: "application", "data-testid": "picture" };
    this.large = el("canvas", "pv-large av-pan", null, attributes);
    this.plain = el("canvas", "pv-plain", null, { role: "img" });
    this.answer = el("canvas", "pv-answer", null, { role: "img", "data-testid": "answer" });
    this.beside = createBox("pv-beside", this.answer, this.plain);
    this.title = el("div", "pv-title av-strong");
    this.pinned = el("div", "av-wrap pv-pins", null, { "data-testid": "pins" });
    this.read = el("div", "pv-read", null, { "aria-live": "polite", "data-testid": "read" });
    this.bar = el("div", "pv-bar av-small");
    this.tools = new PatchTools(this);
    this.layers = new PatchLayers(this);
    this.pen = new PatchPen(this);
    this.size = { width: 1, height: 1 };
    this.glide = new Glide(this.large, (lit) => this.drawLit(lit), litBetween);
    const head = createBox("av-wrap pv-head", this.title, this.chips.box, this.tools.penBox);
    const words = createBox("pv-words", this.bar, this.read, this.tools.box, this.pinned);
    const main = createBox("pv-main", head, this.large, this.layers.box, this.beside, words, this.pen.live);
    root.replaceChildren(main, this.tiles.side);
    root.classList.add("pv-root");
    this.hand = new PatchHand(this);
    this.redraw = oncePerFrame(() => this.draw());
    offerPicture(root, () => this.figureParts(), patchFigure);
  }

  get header() {
    return this.shown.header;
  }

  /** What is chosen just now, but for the layer that a film shows. */
  get state() {
    const { state, header } = this.shown;
    const layer = this.layers.at;
    if (layer === null || layer === state.layer) return state;
    return { ...state, layer, head: Math.min(state.head, header.heads[layer] - 1), factor: 1 };
  }

  /** Whether the head on show can have another scale: its scores are here and not only its weights. */
  get exact() {
    return this.shown.numbers.rawOf(this.state.layer, this.state.head)?.exact ?? false;
  }

  /** The token whose row is on show: under the hand, else the last pinned, else the usual one. */
  get query() {
    const { pins } = this.state;
    return this.pointed ?? pins[pins.length - 1] ?? this.header.usual;
  }

  /** What says how much the largest disc is. */
  get light() {
    const { state, header } = this;
    const changed = state.hidden.length > 0 || state.silenced.length > 0;
    return changed ? header.labels.full_light_changed : header.labels.full_light;
  }

  /** @param {Component} component */
  async show(component) {
    const { header, payload: packed, turn } = this.open(component);
    const [isFirst, before] = [!this.held, this.held?.header.doc === header.doc ? this.held : null];
    const file = packed.subarray(0, header.parts.picture);
    const [payload, image] = await Promise.all([
      inflate(packed.subarray(header.parts.picture)),
      (before?.header.picture.name === header.picture.name && before.image) ||
        createImageBitmap(new Blob([file.slice()], { type: header.picture.type })),
    ]);
    if (turn !== this.turn) return;
    const behind = this.gestures.isBehind(header.session, header.ack);
    const state = behind && before ? before.state : structuredClone(header.state);
    const numbers = new PatchNumbers(header, payload);
    const ground = before?.image === image ? before.ground : dimColours(image);
    this.hold({ header, numbers, file, image, ground, state });
    this.pen.take(header.state.drawings, behind);
    if (!before) this.pointed = null;
    if (!before) this.layers.rest();
    this.tools.build();
    this.tiles.build();
    this.chips.build();
    this.draw();
    if (isFirst) this.layers.arrive();
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

  /** @param {Partial<PatchChoices>} more @param {boolean} ends whether the gesture ends, so that Python hears of it */
  change(more, ends = true) {
    this.shown.state = { ...this.shown.state, ...more };
    this.layers.rest();
    this.redraw();
    if (ends) this.tell();
  }

  /** Tells Python what is chosen. */
  tell() {
    this.tellPython("view", { ...this.shown.state, doc: this.header.doc });
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
    this.layers.stop();
  }

  draw() {
    const width = this.root.clientWidth;
    if (!this.held || width === 0) return;
    this.root.dataset.narrow = countColumns(this.header) > MANY ? "many" : String(width < NARROW);
    const room = presentationRoom(this.root);
    this.tiles.box.style.maxHeight = room === null ? "" : `${room - 56}px`;
    const theme = readTheme(this.root, this.header.colours);
    this.drawLarge(room);
    this.tiles.draw(theme);
    drawPins(this, theme);
    this.tools.update();
    this.layers.update();
    this.root.dataset.query = String(this.query);
    markPainted(this.root, "av-patches", `${this.state.layer}.${this.state.head}.${this.query}`);
  }

  /** The row on show in the large picture. @param {number} query */
  rowOf(query) {
    return this.shown.numbers.shown(query, this.state);
  }

  /** @param {number | null} room of a window in which it is presented */
  drawLarge(room) {
    const { header, state, query } = this;
    const main = /** @type {HTMLElement} */ (this.large.parentElement);
    const row = this.rowOf(query);
    const width = main.clientWidth - 2;
    const wide = header.picture.width > header.picture.height * 2;
    const side = header.answer.length && !wide ? clamp(width * 0.3, ANSWER[0], ANSWER[1]) : PLAIN;
    const isBeside = width > 2.5 * ANSWER[0];
    main.toggleAttribute("data-beside", isBeside);
    const tallest = room === null ? Math.max(TALLEST, innerHeight - AROUND) : Math.min(430, room - BELOW);
    this.size = fitPicture(header.picture, isBeside ? width - side - AIR : width, tallest);
    this.beside.style.width = `${isBeside ? Math.min(ANSWER[1], width - this.size.width - AIR) : width}px`;
    this.drawPlain(isBeside && room === null);
    const [title, said] = [patchTitle(header, state), patchSentence(header, query, row, state.shows)];
    this.title.textContent = title;
    this.say(said);
    this.large.setAttribute("aria-label", joinTexts(header.labels.join_heard, [title, said]));
    const isChanged = header.answer.some(([, share, before]) => share !== before);
    const about = [fill(this.light, { share: formatPercent(this.topOf(row)) }), isChanged ? header.labels.before : ""];
    this.bar.textContent = joinTexts(header.labels.join_sentences, about.filter(Boolean));
    this.chips.update();
    const lit = { row, top: this.topOf(row), shares: header.answer.map(([, share]) => share) };
    if (!this.glide.shown) this.glide.show({ row: row.map(() => 0), top: lit.top, shares: lit.shares.map(() => 0) });
    if (this.pointed === null) this.glide.to(lit);
    else this.glide.show(lit); // a hand is followed at once
  }

  /** The discs and the answer, on their way or there. @param {Lit} lit */
  drawLit({ row, top, shares }) {
    const { header, state, query, pen } = this;
    const theme = readTheme(this.root, header.colours);
    const framed = state.pins.map((token, i) => ({ token, name: String(i + 1) }));
    if (!state.pins.includes(query)) framed.push({ token: query, name: "" });
    const frames = this.frames(this.size.height);
    const scene = { ...this.scene({ ...this.size, frames }, theme, row, framed), top };
    if (frames) scene.paint = (context, place) => pen.paint(context, place, frames);
    const context = drawRow(this.large, scene);
    drawMarks(context, scene);
    if (frames) pen.mark(context, this.size.height);
    const width = this.beside.clientWidth;
    this.answer.hidden = !shares.length;
    drawAnswer(sizeCanvas(this.answer, width, answerHeight(header.answer)), header.answer, shares, width, theme);
    const said = header.answer.map(([name, share]) => `${name} ${formatPercent(share)}`);
    this.answer.setAttribute("aria-label", `${header.labels.answer}: ${joinTexts(header.labels.join_things, said)}`);
  }

  /** Where the model's squares lie over what is drawn; nowhere else while nothing is. @param {number} height */
  frames(height) {
    return this.state.drawings === null || !this.header.pads ? undefined : this.pen.frames(height);
  }

  /** The picture as it is, below the answer where there is room. @param {boolean} hasRoom */
  drawPlain(hasRoom) {
    this.plain.hidden = !hasRoom;
    if (!hasRoom) return;
    const { width, height } = fitPicture(this.header.picture, Math.min(this.beside.clientWidth, PLAIN), PLAIN);
    const place = { x: 0, y: 0, w: width, h: height };
    drawPhotograph(sizeCanvas(this.plain, width, height), this.shown.image, this.header.picture.smooth, place);
    this.plain.setAttribute("aria-label", this.header.labels.plain);
  }

  /** The weight of a disc that fills its patch: this row's own largest, or 1. @param {Float32Array} row */
  topOf(row) {
    return this.oneScale ? 1 : largestPatchWeight(row, this.header.grid.first);
  }

  /**
   * What a picture of a row shows.
   * @param {Size} size @param {Theme} theme @param {Float32Array} row @param {PatchScene["framed"]} framed
   * @returns {PatchScene}
   */
  scene(size, theme, row, framed = []) {
    const { header, ground } = this.shown;
    const { state } = this;
    const paint = (/** @type {DrawingContext} */ context, /** @type {Rectangle} */ place) =>
      drawPhotograph(context, ground, header.picture.smooth, place);
    return { header, size, theme, paint, row, top: this.topOf(row), state, framed };
  }

  /** The pinned rows, else the usual one, and the picture itself, as parts of a figure. @returns {FigurePart[]} */
  figureParts() {
    const { header, file } = this.shown;
    const { state } = this;
    const { labels, usual } = header;
    const part = (/** @type {Partial<PatchFigureHeader>} */ more, /** @type {Uint8Array} */ row) =>
      /** @type {FigurePart} */ ([
        "patches",
        { ...header, state, parts: { picture: file.length }, side: 400, light: this.light, ...more },
        new Uint8Array([...file, ...row]),
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
}

export default viewComponent(PatchView);
