// Heads and rows, each over a small picture of its own: all heads of a model, and the rows that are held, to be compared.

import { button, el, fill, named } from "../shared/dom.js";
import { fitted } from "./patch_geometry.js";
import { drawFrames } from "./patch_scene.js";
import { queryName } from "./patch_sentence.js";
import { placeOfHead } from "../shared/raw_scores.js";

/** @import { PatchNumbers } from "./patch_numbers.js" */
/** @import { PatchView } from "./patch_view.js" */
/** @import { Theme } from "../shared/types.js" */

const MOST_COLUMNS = 12;
/** Of heads that are ordered by a measure and not by layer. */
const COLUMNS = 4;
const TALLEST = 200;

export class PatchTiles {
  /** @param {PatchView} view */
  constructor(view) {
    this.view = view;
    this.box = el("div", "pv-small", null, { "data-testid": "heads" });
    this.drawn = "";
  }

  /** Builds the tiles anew where heads, their order or their words changed. @param {PatchNumbers} numbers */
  build({ order }) {
    const { header } = this.view;
    const name = JSON.stringify([header.doc, order, header.measureText, header.labels.tile]);
    if (this.box.dataset.name === name) return;
    this.box.dataset.name = name;
    this.drawn = "";
    const columns = header.ordered ? COLUMNS : Math.min(MOST_COLUMNS, Math.max(...header.heads));
    this.box.style.setProperty("--pv-columns", String(columns));
    this.box.replaceChildren(...order.map(([layer, head]) => this.tile(layer, head)));
  }

  /** @param {number} layer @param {number} head */
  tile(layer, head) {
    const { heads, labels, measureText } = this.view.header;
    const choose = () => this.view.change({ layer, head, factor: 1 });
    const tile = button("pv-tile", null, choose, { "data-head": `${layer}.${head}` });
    const title = fill(labels.tile, { layer, head });
    const more = measureText[placeOfHead(heads, layer, head)] ?? "";
    tile.title = more ? `${title}: ${more}` : title;
    tile.setAttribute("aria-label", `${layer}.${head} ${tile.title}`); // what is seen is what it can be called
    tile.append(el("canvas", "pv-tile-canvas"), el("span", "pv-tile-name", `${layer}.${head}`));
    return tile;
  }

  /** Draws the small pictures, unless nothing that they show has changed. @param {PatchNumbers} numbers @param {Theme} theme */
  draw(numbers, theme) {
    const { state, header, root, query: now, oneScale } = this.view;
    const query = numbers.follows && state.shows !== "mean" ? now : null;
    const name = JSON.stringify([header.doc, root.clientWidth, devicePixelRatio, query, state, oneScale]);
    if (name === this.drawn && this.box.childElementCount) return;
    this.drawn = name;
    for (const tile of /** @type {NodeListOf<HTMLElement>} */ (this.box.querySelectorAll(".pv-tile"))) {
      const [layer, head] = String(tile.dataset.head).split(".").map(Number);
      const canvas = /** @type {HTMLCanvasElement} */ (tile.firstElementChild);
      const row = numbers.row(layer, head, now, state);
      const size = fitted(header.picture, Math.max(16, tile.clientWidth - 4), TALLEST);
      this.view.light(canvas, this.view.scene(size, theme, row));
      const silenced = state.silenced.some(([l, h]) => l === layer && h === head);
      tile.toggleAttribute("data-silenced", silenced);
      tile.setAttribute("aria-pressed", String(layer === state.layer && head === state.head));
    }
  }
}

const SIDE = 110;

/** @param {PatchView} view @param {Theme} theme */
export function drawPins(view, theme) {
  const { header, state, pinned } = view;
  pinned.hidden = state.pins.length === 0;
  pinned.replaceChildren(
    ...state.pins.map((token, i) => {
      const name = queryName(header, token);
      const pin = button("pv-pin", null, () => view.pin(token));
      const box = named(pin, fill(header.labels.unpin, { token: name }));
      const canvas = el("canvas");
      const size = fitted(header.picture, SIDE, SIDE);
      const scene = view.scene(size, theme, view.rowOf(token), [{ token, name: "" }]);
      drawFrames(view.light(canvas, scene), scene);
      box.append(canvas, el("span", "", `${i + 1}: ${name}\u00a0×`));
      return box;
    }),
  );
}
