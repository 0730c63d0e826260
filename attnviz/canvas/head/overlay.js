// Several heads of one layer in one picture of lines: which, in which colours, under the visitor's mask and scale. Coloured
// squares choose them; below these stands what each head says of the token that is pointed at.

import { magnitudes } from "../lines/lines_scene.js";
import { nextButton } from "../shared/controls.js";
import { createButton, el, fill, joinTexts, setName, setProperty } from "../shared/dom.js";
import { isEdited, editFor, NO_EDIT } from "../shared/edit.js";
import { tell } from "../shared/group.js";
import { formatFixed, formatFourDigits } from "../shared/numbers.js";
import { firstPinnedToken, describedRow } from "./head_gestures.js";
import { numbersFromCodes, RawNumbers } from "./head_numbers.js";
import { strongestOf, tokenText } from "./head_readout.js";

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
export function overlaidHeads(chosen, lead, count) {
  const others = [...new Set(chosen)].filter((head) => head !== lead && head >= 0 && head < count);
  return [lead, ...others].slice(0, MOST_HEADS);
}

/** The chosen heads with one more, or one less. The head on show stays, and nothing comes on top of the most. */
/** @param {readonly number[]} chosen @param {number} head @param {number} lead @param {number} count */
export function toggleOverlay(chosen, head, lead, count) {
  if (head === lead || head < 0 || head >= count) return [...chosen];
  const shown = overlaidHeads(chosen, lead, count);
  if (shown.includes(head)) return chosen.filter((other) => other !== head);
  return shown.length >= MOST_HEADS ? [...chosen] : [...shown.slice(1), head];
}

/**
 * The colour of each head, by its place among the eight: the head's own where no other has it, else the next free one.
 * Those laid over keep theirs when another head is on show.
 * @param {readonly number[]} shown what `overlaidHeads` answers
 * @returns {Map<number, number>}
 */
export function overlayColours(shown) {
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
export function describedCell(hover, cell, lead, row) {
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
    return overlaidHeads(group.over, header.tile[1], this.count);
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
    const colours = overlayColours(heads);
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
    if ("codes" in source) return numbersFromCodes(header, source.codes);
    const known = this.makers.get(source.raw);
    const maker = known?.header.look === header.look ? known : new RawNumbers(source.raw, source.how, header);
    this.makers.set(source.raw, maker);
    const edit = header.edit === null ? NO_EDIT : editFor(group.edit, tile, header.tile);
    const { seen } = this.view.controls;
    if (isEdited(edit)) return maker.under(edit, seen);
    return maker.under(NO_EDIT, seen === "difference" ? "difference" : "before");
  }
}

export class HeadSquares {
  /** @param {HeadComponent} view @param {OverlayNumbers} numbers */
  constructor(view, numbers) {
    this.view = view;
    this.numbers = numbers;
    this.box = el("div", "av-squares", null, { "data-testid": "squares" });
    this.box.hidden = true;
    this.row = el("div", "av-wrap av-squares-row", null, { role: "group" });
    this.legend = el("ul", "av-wrap av-legend", null, { "data-testid": "legend" });
    this.title = el("summary", "av-controls-name");
    this.door = el("details", "av-squares-door");
    this.door.append(this.title, this.row);
    this.only = createButton("av-button av-only", "×", () => this.put([]));
    this.box.append(this.door, this.legend);
    /** @type {HTMLButtonElement[]} */
    this.squares = [];
    this.built = "";
    /** what the squares were dressed for: they follow the choice of heads, not the weights */
    this.dressed = "";
    this.at = 0;
    this.row.addEventListener("keydown", (e) => this.key(e));
  }

  /** Builds the squares of this layer, if it has others than there are, and sets them. */
  draw() {
    const { numbers, box } = this;
    setProperty(box, "hidden", !numbers.possible);
    if (box.hidden) return;
    const { words } = this.view.drawn.header;
    const name = JSON.stringify([numbers.count, words.squares]);
    if (name !== this.built) this.build(numbers.count);
    this.built = name;
    this.dress();
    this.light();
  }

  /** @param {number} count */
  build(count) {
    const { words } = this.view.drawn.header;
    this.row.setAttribute("aria-label", words.squares);
    this.title.textContent = words.squares;
    setName(this.only, words.only);
    this.squares = Array.from({ length: count }, (_none, head) =>
      createButton("av-square", String(head), () => this.press(head), { "data-head": String(head) }),
    );
    this.at = Math.min(this.at, count - 1);
    this.row.replaceChildren(...this.squares, this.only);
  }

  /** Colours and names of the squares. */
  dress() {
    const { header, theme } = this.view.drawn;
    const { words, colours } = header;
    const shown = this.numbers.heads;
    const places = overlayColours(shown);
    const full = shown.length >= MOST_HEADS;
    const how = JSON.stringify([this.built, shown, theme.dark, colours.heads, words.square_on, this.at]);
    if (this.dressed === how) return;
    this.dressed = how;
    this.squares.forEach((square, head) => {
      const on = places.has(head);
      const colour = colours.heads[places.get(head) ?? head % MOST_HEADS][Number(theme.dark)];
      const name =
        head === shown[0] ? words.square_lead : on ? words.square_off : full ? words.square_full : words.square_on;
      square.style.setProperty("--av-head", colour);
      square.classList.toggle("av-lead", head === shown[0]);
      square.setAttribute("aria-pressed", String(on));
      square.setAttribute("aria-disabled", String(head === shown[0] || (full && !on)));
      setName(square, fill(name, { head }));
      square.tabIndex = head === this.at ? 0 : -1;
    });
    this.only.hidden = shown.length === 1;
    if (shown.length > 1) this.door.open = true;
  }

  /** The legend, about what is pointed at. */
  light() {
    if (this.box.hidden) return;
    const { layers } = this.numbers;
    setProperty(this.legend, "hidden", layers.length < 2);
    if (this.legend.hidden) return;
    const { drawn } = this.view;
    const { header, group, theme } = drawn;
    const { words } = header;
    const about = describedCell(
      group.hover,
      group.cell,
      firstPinnedToken(group),
      header.signed ? 0 : describedRow(drawn),
    );
    const [axis, i] = about.axis === "cell" ? ["q", about.q] : [about.axis, about.i];
    const template = axis === "q" ? words.legend_looks : words.legend_looked;
    const token = tokenText(drawn, axis === "q" ? "q" : "k", /** @type {number} */ (i));
    const rows = layers.map((layer) => {
      const item = el("li", "av-legend-item");
      item.style.setProperty("--av-head", header.colours.heads[layer.colour ?? 0][Number(theme.dark)]);
      const largest = strongestOf(layer, about, 2).map(({ axis: side, i: at, value }) => {
        const short = Math.abs(value) < 1 ? formatFixed(value, 2) : formatFourDigits(value);
        return fill(words.share, { token: tokenText(layer, side, at), value: short });
      });
      const said = joinTexts(words.join_things, largest);
      item.append(
        el("span", "av-swatch", null, { "aria-hidden": "true" }),
        el("b", "", fill(words.legend_head, { head: layer.head })),
        el("span", "", said || words.hidden),
      );
      return item;
    });
    const first = el("li", "av-legend-about", fill(template, { token }));
    this.legend.replaceChildren(first, ...rows);
  }

  /** @param {number} head */
  press(head) {
    const { drawn } = this.view;
    const { group, header } = drawn;
    this.at = head;
    const lead = header.tile?.[1] ?? 0;
    const over = toggleOverlay(group.over, head, lead, this.numbers.count);
    if (over.join() === group.over.join()) this.dress();
    else this.put(over);
    const { heads } = this.numbers;
    const said =
      head === lead ? header.words.square_lead : heads.includes(head) ? header.words.laid : header.words.taken;
    const full = heads.length >= MOST_HEADS && !heads.includes(head);
    this.view.announce(fill(full ? header.words.square_full : said, { head, count: heads.length }));
  }

  /** @param {number[]} over */
  put(over) {
    const { group } = this.view.drawn;
    group.over = over;
    tell(group, "over");
    group.overs.send(this.view, "over", { heads: over });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const to = nextButton(event, this.squares);
    if (to === null) return;
    this.at = to;
    this.dress();
    this.squares[to].focus();
  }
}
