// All heads of a model, each over a small picture of its own; the one that is chosen is shown large beside them.

import { el, fill } from "../shared/dom.js";
import { fitted } from "./patch_geometry.js";
import { placeOfHead } from "./patch_rows.js";

/** @import { PatchNumbers } from "./patch_numbers.js" */
/** @import { PatchView } from "./patch_view.js" */

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

  /**
   * @param {number} layer
   * @param {number} head
   */
  tile(layer, head) {
    const { heads, labels, measureText } = this.view.header;
    const tile = el("button", "pv-tile", null, { type: "button", "data-head": `${layer}.${head}` });
    const title = fill(labels.tile, { layer, head });
    const more = measureText[placeOfHead(heads, layer, head)] ?? "";
    tile.title = more ? `${title}: ${more}` : title;
    tile.setAttribute("aria-label", `${layer}.${head} ${tile.title}`); // what is seen is what it can be called
    tile.append(el("canvas", "pv-tile-canvas"), el("span", "pv-tile-name", `${layer}.${head}`));
    tile.addEventListener("click", () => this.view.choose(layer, head));
    return tile;
  }

  /** Draws the small pictures, unless nothing that they show has changed. @param {PatchNumbers} numbers */
  draw(numbers) {
    const { state, header, root, query: now, oneScale } = this.view;
    const query = numbers.follows && state.shows !== "mean" ? now : null;
    const name = JSON.stringify([header.doc, root.clientWidth, devicePixelRatio, query, state, oneScale]);
    if (name === this.drawn && this.box.childElementCount) return;
    this.drawn = name;
    for (const tile of /** @type {NodeListOf<HTMLElement>} */ (this.box.querySelectorAll(".pv-tile"))) {
      const [layer, head] = String(tile.dataset.head).split(".").map(Number);
      const canvas = /** @type {HTMLCanvasElement} */ (tile.firstElementChild);
      const row = numbers.row(layer, head, now, state);
      this.view.light(canvas, fitted(header.picture, Math.max(16, tile.clientWidth - 4), TALLEST), row);
      const silenced = state.silenced.some(([l, h]) => l === layer && h === head);
      tile.toggleAttribute("data-silenced", silenced);
      tile.setAttribute("aria-pressed", String(layer === state.layer && head === state.head));
    }
  }
}
