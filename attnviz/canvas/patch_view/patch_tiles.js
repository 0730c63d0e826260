// Heads and rows, each over a small picture of its own: all heads of a model, and the rows that are held, to be compared.

import { createBox, setAttribute, createButton, el, fill, listOf, setName } from "../shared/dom.js";
import { drawFrames, drawLight, drawTiles, fitPicture, placeTiles } from "./patch_scene.js";
import { isSilenced } from "./patch_numbers.js";
import { queryName } from "./patch_sentence.js";
import { placeOfHead } from "../shared/raw_scores.js";
import { layOver, sizeCanvas } from "../shared/surface.js";

/** @import { PatchScene } from "./patch_scene.js" */
/** @import { PatchView } from "./patch_view.js" */
/** @import { PatchChoices, Theme } from "../shared/types.js" */

/** Pixels that a finger needs. */
const TOUCH = 24;

export class PatchTiles {
  /** @param {PatchView} view */
  constructor(view) {
    this.view = view;
    this.box = el("div", "pv-small", null, { "data-testid": "heads" });
    this.canvas = el("canvas");
    const order = (/** @type {string} */ by) => view.change({ order: /** @type {PatchChoices["order"]} */ (by) });
    this.orders = listOf("pv-orders", [], order, { "data-testid": "orders" });
    this.side = createBox("pv-side", this.orders, this.box);
    /** @type {HTMLButtonElement[]} a head each */
    this.tiles = [];
    this.drawn = "";
  }

  /** Builds the tiles anew where heads, their order or their words changed. */
  build() {
    const { header, numbers } = this.view.shown;
    const { order } = numbers;
    const { labels, orders, state } = header;
    const name = JSON.stringify([header.doc, order, header.measureText, labels.tile, orders, state.order]);
    if (this.box.dataset.name === name) return;
    this.box.dataset.name = name;
    this.drawn = "";
    const options = orders.map((by) => el("option", "", labels[`order_${by}`], { value: by }));
    this.orders.replaceChildren(...options);
    this.orders.value = state.order;
    setAttribute(this.orders, "aria-label", labels.orders);
    this.tiles = order.map(([layer, head]) => this.tile(layer, head));
    this.box.replaceChildren(createBox("pv-board", this.canvas, ...this.tiles));
  }

  /** @param {number} layer @param {number} head */
  tile(layer, head) {
    const { heads, labels, measureText } = this.view.header;
    const choose = () => this.view.change({ layer, head, factor: 1 });
    const tile = createButton("pv-tile", null, choose, { "data-head": `${layer}.${head}` });
    const title = fill(labels.tile, { layer, head });
    const more = measureText[placeOfHead(heads, layer, head)] ?? "";
    tile.title = more ? `${title}: ${more}` : title;
    tile.setAttribute("aria-label", `${layer}.${head} ${tile.title}`); // what is seen is what it can be called
    return tile;
  }

  /** Draws the small pictures, unless nothing that they show has changed. @param {Theme} theme */
  draw(theme) {
    const { shown, state, root, query: now, oneScale } = this.view;
    const { header, numbers } = shown;
    const query = numbers.follows && state.shows !== "mean" ? now : null;
    const name = JSON.stringify([
      header.picture.name,
      root.clientWidth,
      devicePixelRatio,
      query,
      state,
      oneScale,
      theme,
    ]);
    if (name === this.drawn) return;
    this.drawn = name;
    const place = () => placeTiles(header, numbers.order, this.box.clientWidth - 4);
    let board = place();
    sizeCanvas(this.canvas, board.width, board.height);
    if (this.box.clientWidth - 4 !== board.width) board = place(); // so many that they scroll
    const context = sizeCanvas(this.canvas, board.width, board.height);
    const sceneOf = (/** @type {{ layer: number, head: number }} */ { layer, head }) =>
      this.view.scene(board.size, theme, numbers.row(layer, head, now, state));
    drawTiles(context, board, state, theme, sceneOf);
    board.tiles.forEach(({ layer, head, place: { x, y, w, h } }, n) => {
      const tile = this.tiles[n];
      const beside = Math.max(0, (TOUCH - w) / 2);
      layOver(tile, { x: x - beside, y, w: w + 2 * beside, h });
      tile.toggleAttribute("data-silenced", isSilenced(state, layer, head));
      setAttribute(tile, "aria-pressed", String(layer === state.layer && head === state.head));
    });
  }
}

/** Draws a picture and its discs on a canvas. @param {HTMLCanvasElement} canvas @param {PatchScene} scene */
export function drawRow(canvas, scene) {
  const context = sizeCanvas(canvas, scene.size.width, scene.size.height);
  drawLight(context, scene);
  return context;
}

const SIDE = 110;

/** @param {PatchView} view @param {Theme} theme */
export function drawPins(view, theme) {
  const { header, state, pinned } = view;
  pinned.hidden = state.pins.length === 0;
  pinned.replaceChildren(
    ...state.pins.map((token, i) => {
      const name = queryName(header, token);
      const pin = createButton("pv-pin", null, () => view.pin(token));
      const box = setName(pin, fill(header.labels.unpin, { token: name }));
      const canvas = el("canvas");
      const size = fitPicture(header.picture, SIDE, SIDE);
      const scene = view.scene(size, theme, view.rowOf(token), [{ token, name: "" }]);
      drawFrames(drawRow(canvas, scene), scene);
      box.append(canvas, el("span", "", `${i + 1}: ${name}\u00a0×`));
      return box;
    }),
  );
}
