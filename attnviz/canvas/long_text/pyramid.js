// The picture of a head: its overview, and over it tiles of what is looked at; zoomed and moved by wheel, fingers and keys.

import { canvasContext, pixelCanvas } from "../scene/canvas_context.js";
import { Latest } from "../shared/component.js";
import { ARROWS } from "../shared/controls.js";
import { createBox, el } from "../shared/dom.js";
import { listenToGestures } from "../shared/plot_gestures.js";
import { createStage, fillBox, frameBox, measureTime, oncePerFrame, pause, sizeCanvas } from "../shared/surface.js";
import { placeOn, sharpness } from "../shared/window.js";
import { clampZoom, EVERYTHING, zoomAt } from "../shared/zoom.js";
import { codeColours, drawInPlot, drawNames, ROOM } from "./text_scene.js";
import { TILE } from "./tile_numbers.js";

/** @import { DrawingContext, Shape, Stops, Theme, Zoom } from "../shared/types.js" */
/** @import { Place } from "../shared/plot_gestures.js" */
/** @import { HeadSupply, Overview, Tile } from "./head_supply.js" */
/** @import { Rule } from "./tile_numbers.js" */
/** @import { Names, TextFigureHeader } from "./text_scene.js" */

/** @typedef {Tile & { q: number, k: number, step: number, picture: HTMLCanvasElement }} Piece from a query and a key on */
/** @typedef {{ query: number, key: number, step: number, code: number, weight?: number }} Cell a cell, or a block of tokens */

const MAP = 84;
const AGAIN = 2000; // milliseconds until a tile that did not come is asked for again

export class Pyramid {
  zoom = EVERYTHING;
  /** @type {Overview | null} */
  head = null;
  /** @type {Rule | null} a visitor's mask and scale */
  rule = null;
  /** Whether the rule still changes: tiles, which would keep the worker busy, are not asked for. */
  isMoving = false;
  /** @type {Latest<Piece | null>} null while a tile is on its way */
  tiles = new Latest(120);
  /** @type {Piece | null} */
  whole = null;
  /** @type {[number, number] | null} tokens whose rows are marked */
  marked = null;
  colours = new Uint32Array(256);
  draw = oncePerFrame(() => this.drawNow());

  /**
   * @param {HTMLElement} host
   * @param {{ point: (cell: Cell | null) => void, press: (cell: Cell) => void, supply: () => HeadSupply,
   *   names: (perPixel: number) => Names }} does
   */
  constructor(host, does) {
    this.does = does;
    this.stage = createStage("av-stage lt-stage", "pyramid", "");
    this.canvas = el("canvas");
    this.stage.append(this.canvas);
    host.append(createBox("lt-picture", this.stage));
    this.listen();
  }

  /** @param {{ tokens: number, theme: Theme, stops: Stops }} scene */
  show(scene) {
    const before = this.scene?.stops;
    this.scene = scene;
    if (before?.join() !== scene.stops.join()) {
      this.colours = codeColours(scene.stops);
      this.tiles.clear();
      if (this.head) this.paintHead(this.head, this.rule, this.isMoving);
    }
    this.draw();
  }

  /** @param {Overview} head @param {Rule | null} rule @param {boolean} isMoving */
  paintHead(head, rule, isMoving) {
    Object.assign(this, { head, rule, isMoving, whole: this.paint(head, 0, 0, head.step) });
    this.draw();
  }

  /** @param {Tile} tile @param {number} q @param {number} k @param {number} step @returns {Piece} */
  paint(tile, q, k, step) {
    const pixels = new Uint32Array(tile.codes.length);
    for (let i = 0; i < pixels.length; i++) pixels[i] = this.colours[tile.codes[i]];
    return { ...tile, q, k, step, picture: pixelCanvas(pixels, tile.columns) };
  }

  /** Shows the whole of another text. */
  reset() {
    Object.assign(this, { zoom: EVERYTHING, head: null, whole: null });
    this.tiles.clear();
  }

  get tokens() {
    return this.scene?.tokens ?? 1;
  }

  /** @returns {Shape} */
  get shape() {
    return [this.tokens, this.tokens];
  }

  get plot() {
    const side = Math.max(120, Math.min(this.stage.clientWidth - ROOM.left, this.stage.clientHeight - ROOM.top));
    return { x: ROOM.left, y: ROOM.top, w: side, h: side };
  }

  /** Tokens in a pixel. */
  get perPixel() {
    return this.tokens / this.zoom.z / this.plot.w;
  }

  /** How many tokens a side a drawn cell has: as fine as pixels of the screen can tell. */
  get step() {
    const wanted = this.perPixel / sharpness(this.canvas);
    return Math.min(this.head?.step ?? 1, 2 ** Math.max(0, Math.floor(Math.log2(Math.max(1, wanted)))));
  }

  /** @returns {[query: number, key: number]} of the corner on show */
  get first() {
    return [this.zoom.q0, this.zoom.k0];
  }

  drawNow() {
    const { scene, whole, plot, first, perPixel, marked } = this;
    if (!scene || !this.stage.clientWidth) return;
    const start = performance.now();
    const context = sizeCanvas(this.canvas, this.stage.clientWidth, this.stage.clientHeight);
    const canvas = canvasContext(this.canvas);
    canvas.imageSmoothingEnabled = false;
    const place = (/** @type {number} */ query, /** @type {number} */ key) => ({
      x: plot.x + (key - first[1]) / perPixel,
      y: plot.y + (query - first[0]) / perPixel,
    });
    drawInPlot(context, plot, scene.theme, () => {
      for (const { picture, q, k, step, rows, columns } of whole ? [whole, ...this.tilesOnShow()] : []) {
        const { x, y } = place(q, k);
        canvas.drawImage(picture, x, y, (columns * step) / perPixel, (rows * step) / perPixel);
      }
      if (!marked) return;
      const high = Math.max(2, (marked[1] - marked[0]) / perPixel);
      frameBox(context, { ...plot, y: place(marked[0], 0).y, h: high }, 0, scene.theme.q, 1.5);
    });
    drawNames(context, { plot, first, perPixel }, this.does.names(perPixel), scene.theme);
    if (this.zoom.z > 1.5 && whole) this.drawMap(context, whole.picture, scene.theme);
    this.stage.dataset.step = String(this.step);
    this.stage.dataset.waiting = String([...this.tiles.values()].filter((tile) => !tile).length);
    measureTime("attnviz-pyramid", start);
  }

  /** @param {number} i @param {number} j */
  nameOf(i, j) {
    return JSON.stringify([this.head?.place, this.rule, this.step, i, j]);
  }

  /** Tiles that are here of what is on show; the others are sent for. */
  tilesOnShow() {
    const { head, step, first, plot, perPixel, rule } = this;
    /** @type {Piece[]} */
    const here = [];
    // an overview of the model's own is as fine as its own step, and exact in tiles alone where that is a token
    if (!head || (rule ? this.isMoving : step === head.step && step > 1)) return here;
    const size = TILE * step;
    const last = Math.ceil(this.tokens / size) - 1;
    const [[i0, i1], [j0, j1]] = first.map((at) =>
      [at, at + plot.w * perPixel].map((token) => Math.floor(token / size)),
    );
    for (let i = i0; i <= Math.min(last, i1); i++) {
      for (let j = j0; j <= Math.min(last, j1); j++) {
        if (head.plain && j > i && rule?.mask !== "none") continue; // all of it is masked
        const name = this.nameOf(i, j);
        const tile = this.tiles.get(name);
        if (tile)
          here.push(this.tiles.keep(name, tile) ?? tile); // the latest
        else if (tile === undefined) void this.bring(name, head, step, i, j);
      }
    }
    return here;
  }

  /** @param {string} name @param {Overview} head @param {number} step @param {number} i @param {number} j */
  async bring(name, head, step, i, j) {
    this.tiles.keep(name, null);
    const start = performance.now();
    try {
      const tile = await this.does.supply().tile(head, this.rule, step, i, j);
      if (tile) this.tiles.keep(name, this.paint(tile, i * TILE * step, j * TILE * step, step));
      else this.tiles.delete(name);
      measureTime("attnviz-tile", start);
    } catch {
      await pause(AGAIN); // else every frame would ask a server that is away
      this.tiles.delete(name);
    }
    this.draw();
  }

  /** @param {DrawingContext} context @param {HTMLCanvasElement} picture @param {Theme} theme */
  drawMap(context, picture, theme) {
    const [box, by, span] = [this.mapBox, MAP / this.tokens, Math.max(3, MAP / this.zoom.z)];
    fillBox(context, box, theme.background);
    canvasContext(this.canvas).drawImage(picture, box.x, box.y, box.w, box.h);
    frameBox(context, box, 0, theme.border);
    const seen = { x: box.x + this.zoom.k0 * by, y: box.y + this.zoom.q0 * by, w: span, h: span };
    frameBox(context, seen, 0, theme.primary, 2);
  }

  get mapBox() {
    const { plot } = this;
    return { x: plot.x + plot.w - MAP - 6, y: plot.y + 6, w: MAP, h: MAP };
  }

  /** What is drawn of a query and a key: a cell of a tile, or of the overview until the tile has come. @param {number} query @param {number} key */
  drawnAt(query, key) {
    const size = this.step * TILE;
    const tile = this.tiles.get(this.nameOf(Math.floor(query / size), Math.floor(key / size)));
    const { q, k, step, columns, codes, weights } = tile ?? /** @type {Piece} */ (this.whole);
    const at = Math.floor((query - q) / step) * columns + Math.floor((key - k) / step);
    return { step, code: codes[at], weight: weights?.[at] };
  }

  /** Query and key at a pointer; they may lie outside. @param {Place} at */
  tokensAt(at) {
    const [x, y] = placeOn(this.stage, at);
    const { plot, zoom, perPixel } = this;
    return { query: zoom.q0 + (y - plot.y) * perPixel, key: zoom.k0 + (x - plot.x) * perPixel };
  }

  /** What is drawn at a pointer. @param {Place} at @returns {Cell | null} */
  cellAt(at) {
    const { query, key } = this.tokensAt(at);
    const span = this.tokens / this.zoom.z;
    const isInside = this.first.every((from, side) => [query, key][side] >= from && [query, key][side] < from + span);
    if (!this.whole || !isInside) return null;
    const [row, column] = [query, key].map(Math.floor);
    return { query: row, key: column, ...this.drawnAt(row, column) };
  }

  /** What is on show, for a file. @returns {[Pick<TextFigureHeader, "first" | "span" | "corner" | "step" | "columns">, Uint8Array]} */
  get shown() {
    const { first, step, tokens } = this;
    const span = tokens / this.zoom.z;
    const corner = /** @type {[number, number]} */ (first.map((at) => Math.floor(at / step) * step));
    const counts = corner.map((at, side) => Math.ceil((Math.min(tokens, first[side] + span) - at) / step));
    const codes = Uint8Array.from({ length: counts[0] * counts[1] }, (_, cell) => {
      const [i, j] = [Math.floor(cell / counts[1]), cell % counts[1]];
      return this.drawnAt(corner[0] + i * step, corner[1] + j * step).code;
    });
    return [{ first, span, corner, step, columns: counts[1] }, codes];
  }

  /** @param {Zoom} zoom */
  move(zoom) {
    this.zoom = clampZoom(zoom, this.shape);
    this.draw();
  }

  /** @param {number} factor @param {Place} [at] null: around the middle */
  magnify(factor, at) {
    const { zoom } = this;
    const half = this.tokens / zoom.z / 2;
    const { query, key } = at ? this.tokensAt(at) : { query: zoom.q0 + half, key: zoom.k0 + half };
    this.move(zoomAt(zoom, factor, query, key, this.shape));
  }

  listen() {
    const { stage } = this;
    listenToGestures(stage, {
      begin: () => {
        const { zoom, perPixel } = this;
        return {
          move: (_event, [dx, dy]) => this.move({ ...zoom, q0: zoom.q0 - dy * perPixel, k0: zoom.k0 - dx * perPixel }),
          press: (event) => {
            const cell = this.cellAt(event);
            if (!this.goOnMap(event) && cell) this.does.press(cell);
          },
        };
      },
      point: (event) => this.does.point(event && this.cellAt(event)),
      zoom: (factor, at) => this.magnify(factor, at),
      takesWheel: (event) => this.zoom.z > 1 || event.deltaY < 0, // all is shown: the page scrolls on
    });
    stage.addEventListener("dblclick", (event) => this.magnify(4, event));
    stage.addEventListener("keydown", (event) => {
      const arrow = /** @type {Record<string, number[]>} */ (ARROWS)[event.key];
      const span = this.tokens / this.zoom.z / 4;
      if (arrow) this.move({ ...this.zoom, q0: this.zoom.q0 + arrow[0] * span, k0: this.zoom.k0 + arrow[1] * span });
      else if (event.key === "+" || event.key === "=") this.magnify(2);
      else if (event.key === "-") this.magnify(0.5);
      else if (event.key === "0" || event.key === "Home") this.move(EVERYTHING);
      else return;
      event.preventDefault();
    });
  }

  /** Goes where the small map was pressed. @param {PointerEvent} event */
  goOnMap(event) {
    const [x, y] = placeOn(this.stage, event);
    const [k, q] = [(x - this.mapBox.x) / MAP, (y - this.mapBox.y) / MAP];
    if (this.zoom.z <= 1.5 || k < 0 || q < 0 || k > 1 || q > 1) return false;
    const half = this.tokens / this.zoom.z / 2;
    this.move({ ...this.zoom, q0: q * this.tokens - half, k0: k * this.tokens - half });
    return true;
  }
}
