// The picture of a head: its overview, and over it tiles of what is looked at; zoomed and moved by wheel, fingers and keys.

import { canvasContext, pixelCanvas } from "../scene/canvas_context.js";
import { Latest } from "../shared/component.js";
import { ARROWS } from "../shared/controls.js";
import { createBox, el } from "../shared/dom.js";
import { clamp } from "../shared/numbers.js";
import { createStage, fillBox, frameBox, oncePerFrame, pause, sizeCanvas } from "../shared/surface.js";
import { placeOn, sharpness } from "../shared/window.js";
import { clampZoom, EVERYTHING, wheelFactor, zoomAt } from "../shared/zoom.js";
import { codeColours, drawInPlot, drawNames, ROOM } from "./text_scene.js";
import { TILE } from "./tile_numbers.js";

/** @import { DrawingContext, Stops, Theme, Zoom } from "../shared/types.js" */
/** @import { HeadSupply, Overview, Tile } from "./head_supply.js" */
/** @import { Rule } from "./tile_numbers.js" */
/** @import { TextFigureHeader } from "./text_scene.js" */

/** @typedef {{ picture: HTMLCanvasElement, tile: Tile }} Painted */
/** @typedef {{ query: number, key: number, size: number, code: number, weight?: number }} Cell a cell, or a block of tokens */

const MAP = 84;
const LARGEST_STEP = 4; // of tiles that a worker makes while a hand moves mask or scale: larger ones would keep it too long
const AGAIN = 2000; // milliseconds until a tile that did not come is asked for again

export class Pyramid {
  /** @type {Zoom} */
  zoom = EVERYTHING;
  /** @type {Overview | null} */
  head = null;
  /** @type {Rule | null} a visitor's mask and scale */
  rule = null;
  /** @type {Latest<Painted | null>} null while a tile is on its way */
  tiles = new Latest(120);
  /** @type {HTMLCanvasElement | null} */
  whole = null;
  /** @type {[number, number] | null} tokens whose rows are marked */
  marked = null;
  /** @type {Map<number, { clientX: number, clientY: number }>} */
  fingers = new Map();
  moved = false;
  /** @type {Uint32Array} */
  colours = new Uint32Array(256);
  draw = oncePerFrame(() => this.drawNow());

  /**
   * @param {HTMLElement} host
   * @param {{ point: (cell: Cell | null) => void, press: (cell: Cell) => void, supply: () => HeadSupply,
   *   labelOf: (unit: number, letters: number) => string }} does
   */
  constructor(host, does) {
    this.does = does;
    this.stage = createStage("av-stage lt-stage", "pyramid", "");
    this.canvas = el("canvas");
    this.stage.append(this.canvas);
    host.append(createBox("lt-picture", this.stage));
    this.listen();
  }

  /** @param {{ tokens: number, starts: number[], theme: Theme, stops: Stops }} scene */
  show(scene) {
    const same = this.scene?.stops === scene.stops;
    this.scene = scene;
    this.colours = codeColours(scene.stops);
    if (this.head && !same) this.paintHead(this.head, this.rule);
    this.draw();
  }

  /** @param {Overview} head @param {Rule | null} rule */
  paintHead(head, rule) {
    Object.assign(this, { head, rule, whole: this.paint(head) });
    this.draw();
  }

  /** @param {Tile} tile */
  paint({ codes, columns }) {
    const pixels = new Uint32Array(codes.length);
    for (let i = 0; i < codes.length; i++) pixels[i] = this.colours[codes[i]];
    return pixelCanvas(pixels, columns);
  }

  /** Shows the whole of another text. */
  reset() {
    Object.assign(this, { zoom: EVERYTHING, head: null, whole: null });
    this.tiles.clear();
  }

  get shape() {
    const n = this.scene?.tokens ?? 1;
    return /** @type {[number, number]} */ ([n, n]);
  }

  get plot() {
    const side = Math.max(120, Math.min(this.stage.clientWidth - ROOM.left, this.stage.clientHeight - ROOM.top));
    return { x: ROOM.left, y: ROOM.top, w: side, h: side };
  }

  /** Tokens in a pixel. */
  get perPixel() {
    return this.shape[0] / this.zoom.z / this.plot.w;
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
    const { scene, head, whole, plot, first, perPixel } = this;
    if (!scene || !this.stage.clientWidth) return;
    const context = sizeCanvas(this.canvas, this.stage.clientWidth, this.stage.clientHeight);
    canvasContext(this.canvas).imageSmoothingEnabled = false;
    drawInPlot(context, plot, scene.theme, () => {
      if (head && whole) {
        this.drawCells(whole, 0, 0, head.step, head);
        const fine = this.rule ? Math.min(LARGEST_STEP, head.step - 1) : head.step - 1;
        if (this.step <= fine || head.step === 1) this.drawTiles(head);
      }
      this.drawMarks(context);
    });
    drawNames(context, { plot, first, perPixel }, { starts: scene.starts, labelOf: this.does.labelOf }, scene.theme);
    if (this.zoom.z > 1.5 && whole) this.drawMap(context, whole, scene.theme);
    this.stage.dataset.step = String(this.step);
    this.stage.dataset.waiting = String([...this.tiles.values()].filter((tile) => !tile).length);
  }

  /**
   * @param {HTMLCanvasElement} picture @param {number} q @param {number} k first tokens
   * @param {number} step @param {Tile} tile
   */
  drawCells(picture, q, k, step, { rows, columns }) {
    const { plot, zoom, perPixel } = this;
    const x = plot.x + (k - zoom.k0) / perPixel;
    const y = plot.y + (q - zoom.q0) / perPixel;
    canvasContext(this.canvas).drawImage(picture, x, y, (columns * step) / perPixel, (rows * step) / perPixel);
  }

  /** @param {number} i @param {number} j */
  nameOf(i, j) {
    return JSON.stringify([this.head?.place, this.rule, this.step, i, j]);
  }

  /** @param {Overview} head */
  drawTiles(head) {
    const { step, zoom, plot, perPixel, rule } = this;
    const size = TILE * step;
    const last = Math.ceil(this.shape[0] / size) - 1;
    const range = (/** @type {number} */ from) => [
      Math.floor(from / size),
      Math.min(last, Math.floor((from + plot.w * perPixel) / size)),
    ];
    const [[i0, i1], [j0, j1]] = [range(zoom.q0), range(zoom.k0)];
    for (let i = i0; i <= i1; i++) {
      for (let j = j0; j <= j1; j++) {
        if (head.plain && j > i && rule?.mask !== "none") continue; // all of it is masked
        const name = this.nameOf(i, j);
        const tile = this.tiles.get(name);
        if (tile) {
          this.tiles.keep(name, tile); // the latest
          this.drawCells(tile.picture, i * size, j * size, step, tile.tile);
        } else if (tile === undefined) void this.bring(name, head, step, i, j);
      }
    }
  }

  /** @param {string} name @param {Overview} head @param {number} step @param {number} i @param {number} j */
  async bring(name, head, step, i, j) {
    this.tiles.keep(name, null);
    try {
      const tile = await this.does.supply().tile(head, this.rule, step, i, j);
      if (tile) this.tiles.keep(name, { tile, picture: this.paint(tile) });
      else this.tiles.delete(name);
    } catch {
      await pause(AGAIN); // else every frame would ask a server that is away
      this.tiles.delete(name);
    }
    this.draw();
  }

  /** @param {DrawingContext} context */
  drawMarks(context) {
    const { plot, zoom, perPixel, scene, marked } = this;
    if (!scene || !marked) return;
    const [start, stop] = marked;
    const box = { ...plot, y: plot.y + (start - zoom.q0) / perPixel, h: Math.max(2, (stop - start) / perPixel) };
    frameBox(context, box, 0, scene.theme.q, 1.5);
  }

  /** @param {DrawingContext} context @param {HTMLCanvasElement} whole @param {Theme} theme */
  drawMap(context, whole, theme) {
    const box = this.mapBox;
    fillBox(context, box, theme.background);
    canvasContext(this.canvas).drawImage(whole, box.x, box.y, box.w, box.h);
    frameBox(context, box, 0, theme.border);
    const by = MAP / this.shape[0];
    const span = Math.max(3, MAP / this.zoom.z);
    const seen = { x: box.x + this.zoom.k0 * by, y: box.y + this.zoom.q0 * by, w: span, h: span };
    frameBox(context, seen, 0, theme.primary, 2);
  }

  get mapBox() {
    const { plot } = this;
    return { x: plot.x + plot.w - MAP - 6, y: plot.y + 6, w: MAP, h: MAP };
  }

  /** What is drawn of a query and a key: a cell of a tile, or of the overview until the tile has come. @param {number} query @param {number} key */
  drawnAt(query, key) {
    const head = /** @type {Overview} */ (this.head);
    const size = this.step * TILE;
    const tile = this.tiles.get(this.nameOf(Math.floor(query / size), Math.floor(key / size)));
    const [source, step] = tile ? [tile.tile, this.step] : [head, head.step];
    const [row, column] = [query, key].map((at) => Math.floor((tile ? at % size : at) / step));
    const at = row * source.columns + column;
    return { size: step, code: source.codes[at], weight: source.weights?.[at] };
  }

  /** What is drawn at a pointer. @param {{ clientX: number, clientY: number }} event @returns {Cell | null} */
  cellAt(event) {
    const [x, y] = placeOn(this.stage, event);
    const { plot, first, perPixel } = this;
    const [query, key] = [y - plot.y, x - plot.x].map((pixels, side) => Math.floor(first[side] + pixels * perPixel));
    const inside = x >= plot.x && y >= plot.y && x < plot.x + plot.w && y < plot.y + plot.h;
    if (!this.head || !inside || query >= this.shape[0] || key >= this.shape[1]) return null;
    return { query, key, ...this.drawnAt(query, key) };
  }

  /** What is on show, for a file. @returns {[Pick<TextFigureHeader, "first" | "span" | "corner" | "step" | "columns">, Uint8Array]} */
  get shown() {
    const { first, step } = this;
    const [span, n] = [this.shape[0] / this.zoom.z, this.shape[0]];
    const corner = /** @type {[number, number]} */ (first.map((at) => Math.floor(at / step) * step));
    const counts = corner.map((at, side) => Math.ceil((Math.min(n, first[side] + span) - at) / step));
    const codes = new Uint8Array(counts[0] * counts[1]);
    for (let i = 0, cell = 0; i < counts[0]; i++)
      for (let j = 0; j < counts[1]; j++, cell++)
        codes[cell] = this.drawnAt(corner[0] + i * step, corner[1] + j * step).code;
    return [{ first, span, corner, step, columns: counts[1] }, codes];
  }

  /** @param {Zoom} zoom */
  move(zoom) {
    this.zoom = clampZoom(zoom, this.shape);
    this.draw();
  }

  /** @param {number} factor @param {[number, number]} [middle] in pixels of the stage */
  magnify(factor, middle) {
    const { plot, zoom, perPixel } = this;
    const [x, y] = middle ?? [plot.x + plot.w / 2, plot.y + plot.h / 2];
    const [q, k] = [zoom.q0 + (y - plot.y) * perPixel, zoom.k0 + (x - plot.x) * perPixel];
    this.move(zoomAt(zoom, factor, q, k, this.shape));
  }

  /** Shows a cell large. @param {number} query @param {number} key @param {number} tokens about so many around it */
  visit(query, key, tokens = 60) {
    const z = this.shape[0] / tokens;
    this.move({ z, q0: query - tokens / 2, k0: key - tokens / 2 });
  }

  listen() {
    const { stage, fingers } = this;
    stage.addEventListener("wheel", (event) => {
      if (this.zoom.z <= 1 && event.deltaY > 0) return; // all is shown: the page scrolls on
      event.preventDefault();
      this.magnify(wheelFactor(event), placeOn(stage, event));
    });
    stage.addEventListener("pointerdown", (event) => {
      stage.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, event);
      this.moved = fingers.size > 1;
    });
    stage.addEventListener("pointermove", (event) => this.hear(event));
    for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
      stage.addEventListener(name, (event) => {
        const cell = this.cellAt(event);
        if (name === "pointerup" && fingers.has(event.pointerId) && !this.moved && !this.goOnMap(event) && cell)
          this.does.press(cell);
        fingers.delete(event.pointerId);
      });
    }
    stage.addEventListener("pointerleave", () => this.does.point(null));
    stage.addEventListener("dblclick", (event) => this.magnify(4, placeOn(stage, event)));
    stage.addEventListener("keydown", (event) => {
      const arrow = /** @type {Record<string, number[]>} */ (ARROWS)[event.key];
      const span = this.shape[0] / this.zoom.z / 4;
      if (arrow) this.move({ ...this.zoom, q0: this.zoom.q0 + arrow[0] * span, k0: this.zoom.k0 + arrow[1] * span });
      else if (event.key === "+" || event.key === "=") this.magnify(2);
      else if (event.key === "-") this.magnify(0.5);
      else if (event.key === "0" || event.key === "Home") this.move(EVERYTHING);
      else return;
      event.preventDefault();
    });
  }

  /** @param {PointerEvent} event */
  hear(event) {
    const { fingers, stage } = this;
    const before = fingers.get(event.pointerId);
    if (!before) {
      this.does.point(this.cellAt(event));
      return;
    }
    const others = [...fingers].filter(([id]) => id !== event.pointerId).map(([, finger]) => finger);
    if (Math.hypot(event.clientX - before.clientX, event.clientY - before.clientY) < (this.moved ? 0 : 4)) return;
    this.moved = true;
    fingers.set(event.pointerId, event);
    const { zoom, perPixel } = this;
    if (others.length) {
      const spread = (/** @type {{ clientX: number, clientY: number }} */ finger) =>
        Math.max(1, Math.hypot(finger.clientX - others[0].clientX, finger.clientY - others[0].clientY));
      this.magnify(clamp(spread(event) / spread(before), 0.5, 2), placeOn(stage, others[0]));
      return;
    }
    const [[x0, y0], [x1, y1]] = [placeOn(stage, before), placeOn(stage, event)];
    this.move({ ...zoom, q0: zoom.q0 - (y1 - y0) * perPixel, k0: zoom.k0 - (x1 - x0) * perPixel });
  }

  /** Goes where the small map was pressed. @param {PointerEvent} event */
  goOnMap(event) {
    const [x, y] = placeOn(this.stage, event);
    const box = this.mapBox;
    const [k, q] = [(x - box.x) / MAP, (y - box.y) / MAP];
    if (this.zoom.z <= 1.5 || k < 0 || q < 0 || k > 1 || q > 1) return false;
    const [n, span] = [this.shape[0], this.shape[0] / this.zoom.z / 2];
    this.move({ ...this.zoom, q0: q * n - span, k0: k * n - span });
    return true;
  }
}
