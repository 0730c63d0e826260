// Several heads of one layer in one picture of lines: which, in which colours, under the visitor's mask and scale, and what each
// says of a token. No drawing.

import { changes, editFor, NO_EDIT } from "../shared/edit.js";
import { codedNumbers, RawNumbers } from "./head_numbers.js";
import { magnitudes } from "../lines/line_geometry.js";

/** @import { HeadComponent } from "./head.js" */
/** @import { Axis, HeadHeader, Hover, RawHead } from "../shared/types.js" */

/** Heads in one picture at most: as many colours can be told apart. */
export const MOST_HEADS = 8;

/**
 * The heads in the picture, the one on show first; one alone is the picture as it always is.
 * @param {readonly number[]} chosen heads that a visitor laid over it, in the order in which they were
 * @param {number} lead the head on show
 * @param {number} count heads of the layer
 */
export function overlaid(chosen, lead, count) {
  const others = [...new Set(chosen)].filter((head) => head !== lead && head >= 0 && head < count);
  return [lead, ...others].slice(0, MOST_HEADS);
}

/** The chosen heads with one more, or one less. The head on show stays, and nothing comes on top of the most. */
/** @param {readonly number[]} chosen @param {number} head @param {number} lead @param {number} count */
export function toggled(chosen, head, lead, count) {
  if (head === lead || head < 0 || head >= count) return [...chosen];
  const shown = overlaid(chosen, lead, count);
  if (shown.includes(head)) return chosen.filter((other) => other !== head);
  return shown.length >= MOST_HEADS ? [...chosen] : [...shown.slice(1), head];
}

/**
 * The colour of each head, by its place among the eight: the head's own where no other has it, else the next free one.
 * Those laid over keep theirs when another head is on show.
 * @param {readonly number[]} shown what `overlaid` answers
 * @returns {Map<number, number>}
 */
export function coloursOf(shown) {
  /** @type {Map<number, number>} */
  const places = new Map();
  for (const head of [...shown.slice(1), shown[0]]) {
    const taken = new Set(places.values());
    let place = head % MOST_HEADS;
    while (taken.has(place)) place = (place + 1) % MOST_HEADS;
    places.set(head, place);
  }
  return places;
}

/**
 * What is pointed at or told of: a cell, or a token of one side.
 * @param {Hover | null} hover @param {[number, number] | null} cell @param {{ axis: Axis, i: number } | null} lead
 * @param {number} row @returns {Hover}
 */
export function aboutWhat(hover, cell, lead, row) {
  if (hover?.axis === "cell") return hover;
  if (!hover && cell) return { axis: "cell", q: cell[0], k: cell[1] };
  return lead ?? { axis: "q", i: row };
}

/**
 * One head's lines. `colour` is its place among the heads' colours, null where there is only one head.
 * @typedef {object} LineLayer
 * @property {number} head
 * @property {number | null} colour
 * @property {Uint16Array} codes
 * @property {Uint16Array} sizes
 * @property {Float32Array | null} values
 * @property {HeadHeader} header
 */

export class OverlayNumbers {
  /** @param {HeadComponent} view */
  constructor(view) {
    this.view = view;
    this.name = "";
    /** @type {LineLayer[]} */
    this.layers = [];
    /** @type {WeakMap<RawHead, RawNumbers>} */
    this.makers = new WeakMap();
    /** heads that are chosen and have not come */
    this.missing = 0;
    /** @type {Set<string>} what was asked for: once for each picture, so that one who does not answer is not besieged */
    this.asked = new Set();
  }

  /** The heads to draw, the one on show first. */
  get heads() {
    const { header, group } = this.view.drawn;
    if (!header.tile || !this.possible) return [header.tile?.[1] ?? 0];
    return overlaid(group.over, header.tile[1], this.count);
  }

  /** Heads of the layer on show. */
  get count() {
    const { header, group } = this.view.drawn;
    const layer = header.tile?.[0] ?? 0;
    return group.counts[layer] ?? group.all?.counts[layer] ?? 0;
  }

  /** Whether heads can be laid over the one on show. */
  get possible() {
    const { header } = this.view.drawn;
    return header.over !== null && header.tile !== null && header.lines && this.count > 1;
  }

  /** Computes what is drawn, if something of it has changed. */
  refresh() {
    const { header, codes, values, group, picture } = this.view.drawn;
    const { heads } = this;
    const name = JSON.stringify([picture, header.look, header.tile, heads, group.all?.from, group.edit.where]);
    if (name === this.name && this.missing === 0) return this.layers;
    if (name !== this.name) this.asked.clear();
    this.name = name;
    const own = { head: heads[0], colour: null, codes, values, sizes: magnitudes(codes, header.signed), header };
    this.layers = heads.length === 1 ? [own] : this.several(heads, own);
    this.missing = heads.length - this.layers.length;
    return this.layers;
  }

  /** @param {number[]} heads @param {LineLayer} own */
  several(heads, own) {
    const colours = coloursOf(heads);
    /** @type {LineLayer[]} */
    const layers = [own];
    for (const head of heads.slice(1)) {
      const found = this.numbersOf(head);
      if (!found) continue;
      const { codes, values, signed, top, shownTop } = found;
      const header = { ...own.header, signed, top, scale: { ...own.header.scale, top: shownTop } };
      layers.push({ head, colour: null, codes, values, sizes: magnitudes(codes, signed), header });
    }
    const top = Math.max(...layers.map(({ header }) => header.scale.top)); // one scale for all
    return layers.map((layer) => ({
      ...layer,
      colour: colours.get(layer.head) ?? 0,
      header: { ...layer.header, scale: { ...layer.header.scale, top } },
    }));
  }

  /** Another head of this layer, as far as it is here; if not, it is asked for. @param {number} head */
  numbersOf(head) {
    const { header, group } = this.view.drawn;
    /** @type {[number, number]} */
    const tile = [header.tile?.[0] ?? 0, head];
    const source = this.view.supply.known(tile)?.source;
    if (!source) {
      if (!this.asked.has(String(tile))) void this.view.supply.fetch(tile).then(() => this.view.redraw());
      this.asked.add(String(tile));
      return null;
    }
    if ("codes" in source) return codedNumbers(header, source.codes);
    const known = this.makers.get(source.raw);
    const maker = known?.header.look === header.look ? known : new RawNumbers(source.raw, source.how, header);
    this.makers.set(source.raw, maker);
    const edit = header.edit === null ? NO_EDIT : editFor(group.edit, tile, header.tile);
    const { seen } = this.view.controls;
    if (changes(edit)) return maker.under(edit, seen);
    return maker.under(NO_EDIT, seen === "difference" ? "difference" : "before");
  }
}
