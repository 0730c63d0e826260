// All heads at once: a mosaic of thumbnails on one canvas, a floating preview, a focus that arrow keys move.

import { themeOf } from "../shared/colour.js";
import { drawColourBar } from "../shared/colour_bar.js";
import { viewComponent } from "../shared/component.js";
import { ARROWS, isPress } from "../shared/controls.js";
import { around, el, fill, joined, liveRegion } from "../shared/dom.js";
import { groupOf, Member, tell } from "../shared/group.js";
import { findSentence, keepSentence, onHandedOver, unpackedTiles } from "./known_sentences.js";
import { MosaicDrawing } from "./mosaic_drawing.js";
import { neighbour, relativeMeasure, tileAt, tileOrder, tilesOf } from "./mosaic_geometry.js";
import { mosaicFigure } from "./mosaic_figure.js";
import { offerPicture } from "../shared/offer.js";
import { MASKED_8 } from "../shared/packing.js";
import { Preview } from "./preview.js";
import { afterDrawing, afterPainting, painted } from "../shared/surface.js";
import { atItsPace, editedInTasks, editedTiles } from "./tiles.js";
import { placeOn, scrollWithin } from "../shared/window.js";

/** @import { Component, FigurePart, OverviewHeader } from "../shared/types.js" */

/** A head is fetched ahead when the pointer has rested on its tile for so many milliseconds. */
const REST = 30;

export class Overview extends MosaicDrawing {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.label = el("div", "av-sr", null, { id: "summary" });
    this.live = liveRegion();
    this.scroll = around("av-scroll", this.stage);
    this.preview = new Preview(this);
    this.bar = el("div", "av-bar-row");
    this.resting = 0;
    this.member = new Member((what) => {
      if (what === "edit" || what === "all") this.follow(this.held?.header.q.length ?? 0);
      if (what !== "selected" || !this.laid) return;
      this.relight();
      afterPainting(() => this.held && this.bringIntoView(this.chosen()));
    });
    /** @type {Uint8Array | null} the tiles as they came */
    this.own = null;
    this.follow = atItsPace(
      () => this.followEdit(),
      () => this.followInTasks(),
    );
    this.gone = new AbortController();
    this.listen();
  }

  listen() {
    const { stage } = this;
    stage.addEventListener("pointermove", (e) => {
      if (e.pointerType !== "touch") this.point(this.tileUnder(e));
    });
    stage.addEventListener("pointerleave", () => this.point(null));
    stage.addEventListener("click", (e) => {
      const tile = this.tileUnder(e);
      if (tile !== null) this.pick(tile);
    });
    stage.addEventListener("keydown", (e) => this.key(e));
    stage.addEventListener("blur", () => this.point(null));
    stage.addEventListener("focus", () => {
      if (stage.matches(":focus-visible") && this.laid && this.at === null) this.point(this.chosen(), true);
    });
    const options = { capture: true, passive: true, signal: this.gone.signal };
    globalThis.addEventListener("scroll", () => this.preview.hide(), options);
    onHandedOver(
      () => this.held?.header.asked ?? null,
      (text) => this.readAgain(text),
      this.gone.signal,
    );
  }

  /** Draws a sentence that was read before; the server, which is asked for it at the same time, then says the same. */
  /** @param {string} text */
  readAgain(text) {
    tell(this.shown.group, "left");
    const known = findSentence(this.shown.group.readBefore, this.shown.header.asked, text);
    if (!known) return;
    this.turn += 1;
    this.begin(known.header);
    this.take(known.header, known.tiles);
    tell(this.shown.group, "sentence");
  }

  /** @param {OverviewHeader} header */
  begin(header) {
    const group = groupOf(header.group);
    group.tiles = header.data;
    if (String(group.counts) === String(header.heads)) return;
    group.counts = header.heads;
    tell(group, "counts");
  }

  /** @param {Component} component */
  async show(component) {
    const { header, payload, turn } = this.open(component);
    this.begin(header);
    const drawn = this.unpack(header, payload, turn);
    groupOf(header.group).tilesPainted = drawn.then(painted, () => {});
    await drawn;
  }

  /** @param {OverviewHeader} header @param {Uint8Array} payload @param {number} turn */
  async unpack(header, payload, turn) {
    const unpacked = unpackedTiles(header.data, payload);
    const own = unpacked instanceof Uint8Array ? unpacked : await unpacked;
    keepSentence(groupOf(header.group).readBefore, { header, tiles: own });
    if (turn === this.turn && !this.shows(header)) this.take(header, own);
  }

  /** Whether just this is on show: a run of the page's script that changed something else sends it again. */
  /** @param {OverviewHeader} header */
  shows(header) {
    if (!this.held || JSON.stringify(this.held.header) !== JSON.stringify(header)) return false;
    return JSON.stringify(this.held.theme) === JSON.stringify(themeOf(this.root, header.colours));
  }

  /**
   * @param {OverviewHeader} header
   * @param {Uint8Array} own the pixels of all tiles, under the model's own mask and scale
   */
  take(header, own) {
    const before = this.held;
    const group = groupOf(header.group);
    const tiles = tilesOf(header);
    this.own = own;
    const codes = editedTiles(group, tiles, own);
    const sorted = tileOrder(tiles.length, header);
    const measured = header.measure && relativeMeasure(header.measure);
    const theme = themeOf(this.root, header.colours);
    this.hold({ header, codes, group, tiles, sorted, measured, theme });
    if (this.at !== null && this.at >= tiles.length) this.standOn(null);
    this.member.join(group);
    if (!before) this.root.append(this.label, this.live, this.scroll, this.bar, this.preview.box);
    this.dress();
    this.draw();
  }

  /** The tiles under the visitor's mask and scale. */
  followEdit() {
    if (this.held && this.own) this.use(editedTiles(this.held.group, this.held.tiles, this.own));
  }

  /** The same, of a long sentence: another one may come meanwhile. */
  async followInTasks() {
    const { held, own } = this;
    if (!held || !own) return;
    const codes = await editedInTasks(held.group, held.tiles, own);
    if (this.own === own) this.use(codes);
  }

  /** @param {Uint8Array} codes */
  use(codes) {
    if (this.shown.codes === codes) return;
    this.shown.codes = codes;
    this.draw();
  }

  dress() {
    const { header, tiles, codes, theme } = this.shown;
    const { words } = header;
    this.stage.setAttribute("aria-label", words.label);
    const summary = fill(words.summary, { layers: header.heads.length, heads: tiles.length });
    this.label.textContent = `${summary} ${words.help}`;
    drawColourBar(this.bar, { ...header, signed: false }, theme.dark, codes.includes(MASKED_8) ? words.hidden : null);
  }

  resize() {
    this.draw();
  }

  leave() {
    this.member.leave();
    this.gone.abort();
    clearTimeout(this.resting);
  }

  /** @param {MouseEvent} event */
  tileUnder(event) {
    if (!this.laid) return null;
    return tileAt(...placeOn(this.stage, event), this.laid);
  }

  /** @param {number | null} i @param {boolean} byKey */
  point(i, byKey = false) {
    if (i === this.at && !byKey) return;
    this.standOn(i);
    this.stage.style.cursor = i === null ? "" : "pointer";
    clearTimeout(this.resting);
    if (i === null) {
      if (this.held) this.held.group.pointed = null;
      this.preview.hide();
      return;
    }
    if (byKey) {
      this.live.textContent = joined(this.shown.header.words.join_things, [this.name(i), this.note(i)]);
      this.bringIntoView(i);
    }
    this.preview.show(i);
    const { group, tiles } = this.shown;
    this.resting = setTimeout(() => {
      group.pointed = [tiles[i].layer, tiles[i].head];
      tell(group, "pointed");
    }, REST);
  }

  /** A box without a width, in a page that is still coming, has nothing to bring. @param {number} i */
  bringIntoView(i) {
    if (this.laid) scrollWithin(this.scroll, this.laid.places[i][1], this.laid.th, 8);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!this.laid) return;
    const { sorted } = this.shown;
    const from = this.at ?? this.chosen();
    if (event.key in ARROWS) this.walk(from, ARROWS[event.key]);
    else if (isPress(event)) this.pick(from);
    else if (event.key === "Escape") this.point(null);
    else if (event.key === "Home") this.point(sorted[0], true);
    else if (event.key === "End") this.point(sorted[sorted.length - 1], true);
    else return;
    event.preventDefault();
  }

  /** @param {number} from @param {[number, number]} way */
  walk(from, [dy, dx]) {
    const { tiles, sorted, header } = this.shown;
    this.point(neighbour(from, dx, dy, { tiles, sorted, heads: header.heads, mosaic: this.mosaic }), true);
  }

  /**
   * Chooses a head: drawn at once if it is known, and told to Python. A state and not a trigger, so that it is told
   * again after the connection was lost. The picture goes first: the script's run would keep server and page busy.
   * @param {number} i
   */
  pick(i) {
    const { group, tiles, header } = this.shown;
    const { layer, head } = tiles[i];
    group.selected = [layer, head];
    const seq = group.picks.next();
    group.picks.keep(this, "pick", { layer, head });
    this.preview.hide(); // it would cover the head that is chosen
    group.coming = null;
    tell(group, "selected");
    this.live.textContent = joined(header.words.join_things, [this.name(i), header.words.chosen]);
    afterDrawing(group.coming, () => {
      if (seq === group.picks.sent) this.component?.setStateValue("pick", { layer, head, seq });
    });
  }
}

/** All heads on a page, where a menu below them saves them; in a live file there is none. */
class SavedOverview extends Overview {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    offerPicture(root, () => [this.part()], mosaicFigure);
  }

  /** The tiles on show, as a part of a figure. @returns {FigurePart} */
  part() {
    const { header, codes, group } = this.shown;
    return ["mosaic", { ...header, selected: group.selected, title: "" }, codes];
  }
}

export default /* @__PURE__ */ viewComponent(SavedOverview);
