// The mosaic as drawn: all tiles in one picture, labels, brackets, outlines.

import { Drawing } from "../shared/component.js";
import { el, fill } from "../shared/dom.js";
import { sameHead } from "../shared/group.js";
import { mosaicBoard } from "./mosaic_board.js";
import { mosaicLayout, tileNumber } from "./mosaic_geometry.js";
import { drawMosaic, drawMosaicLit } from "./mosaic_scene.js";
import { fixed } from "../shared/numbers.js";
import { markPainted, onceAFrame, sized, stageOf } from "../shared/surface.js";
import { magnification, presentedRoom, sharpness } from "../shared/window.js";

/** @import { Group } from "../shared/group.js" */
/** @import { Board } from "./mosaic_board.js" */
/** @import { Mosaic, Tile } from "./mosaic_geometry.js" */
/** @import { OverviewHeader, Theme } from "../shared/types.js" */

/**
 * All that a drawing needs, complete or not there at all.
 * @typedef {object} AllHeads
 * @property {OverviewHeader} header
 * @property {Uint8Array} codes the pixels of all tiles, one tile after the other
 * @property {Group} group
 * @property {Theme} theme
 * @property {Tile[]} tiles
 * @property {number[]} sorted tile numbers in the order they are walked through
 * @property {number[] | null} measured from 0 to 1, for dimming
 */

/** What overview.css gives all tiles before they scroll. */
const TALLEST = 556;

/** @extends {Drawing<OverviewHeader, AllHeads>} */
export class MosaicDrawing extends Drawing {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.stage = stageOf("av-stage", "overview", "summary");
    this.base = el("canvas");
    this.over = el("canvas", "av-over");
    this.stage.append(this.base, this.over);
    /** @type {Mosaic | null} */
    this.laid = null;
    /** @type {(Board & { how: string }) | null} */
    this.painted = null;
    /** @type {number | null} the tile under the pointer or the keyboard */
    this.at = null;
    this.relight = onceAFrame(() => this.light());
  }

  /** Where the tiles are; nothing asks before they are drawn. */
  get mosaic() {
    if (!this.laid) throw new Error("the tiles have no places yet");
    return this.laid;
  }

  /** @param {number | null} i the tile to light */
  standOn(i) {
    this.at = i;
    this.relight();
  }

  /** The tile of the head on show. */
  chosen() {
    const { group, tiles } = this.shown;
    return group.selected ? Math.max(0, tileNumber(tiles, ...group.selected)) : 0;
  }

  /** @param {number} i */
  name(i) {
    const { tiles, header } = this.shown;
    const { layer, head } = tiles[i];
    return fill(header.words.tile, { layer: header.layers[layer], head });
  }

  /** All tiles in one picture, made anew for other tiles, places or colours. */
  board() {
    const { codes } = this.shown;
    const scene = this.scene();
    const { header, theme, mosaic, measured } = scene;
    const fine = sharpness(this.base);
    const how = JSON.stringify([mosaic, theme, measured, header.scale, header.colours, fine]);
    const before = this.painted?.how === how ? this.painted : null;
    if (before?.codes !== codes) this.painted = { ...mosaicBoard(scene, codes, fine, before), how };
    return /** @type {Board} */ (this.painted);
  }

  /** What all tiles may take of the window where they are presented: they are all seen, and what is said below them. */
  room() {
    const presented = presentedRoom(this.root);
    const place = this.stage.parentElement;
    if (presented === null || place === null) return null;
    const box = this.root.getBoundingClientRect();
    const { top, bottom } = place.getBoundingClientRect();
    return Math.min(TALLEST, presented - (top - box.top + box.bottom - bottom) / magnification(this.root));
  }

  draw() {
    if (!this.held || this.root.clientWidth === 0) return;
    const { header, tiles, sorted } = this.held;
    const mosaic = mosaicLayout(header, tiles, sorted, this.root.clientWidth, this.room());
    this.laid = mosaic;
    const context = sized(this.base, mosaic.width, mosaic.height);
    drawMosaic(context, this.scene(), this.board());
    this.stage.dataset.silenced = (header.silenced ?? []).map((place) => place.join(".")).join(" ");
    this.light();
    this.stage.dataset.tiles = JSON.stringify([mosaic.tw, mosaic.th, mosaic.places]);
    markPainted(this.root, "attnviz-overview-painted", header.data);
  }

  /** What is drawn now. */
  scene() {
    const { header, tiles, theme, group } = this.shown;
    const measured = header.dim ? this.shown.measured : null;
    return { header, tiles, theme, measured, mosaic: this.mosaic, selected: group.selected, at: this.at };
  }

  light() {
    if (!this.held || !this.laid) return;
    const { tiles, group } = this.held;
    const { width, height } = this.laid;
    drawMosaicLit(sized(this.over, width, height), this.scene());
    const at = this.at === null ? null : tiles[this.at];
    this.stage.dataset.at = at ? `${at.layer},${at.head}` : "";
    this.stage.dataset.selected = group.selected ? group.selected.join(",") : "";
  }

  /** What there is to say about a tile: its measure, and whom it shares keys and values with. @param {number} i */
  note(i) {
    const { header, tiles } = this.shown;
    const { words, measure, measureName, heads } = header;
    const { layer, head, share, size } = tiles[i];
    const notes = [];
    if (header.silenced?.some((place) => sameHead(place, [layer, head]))) notes.push(words.silenced);
    const value = measure?.[i] ?? null;
    if (value !== null) notes.push(fill(words.measured, { measure: measureName, value: fixed(value, 2) }));
    if (share >= 0) {
      const last = Math.min((share + 1) * size, heads[layer]) - 1;
      notes.push(fill(words.shared, { heads: `${share * size}–${last}` }));
    }
    return notes.join(" · ");
  }
}
