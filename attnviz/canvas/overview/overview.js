// All heads at once: a mosaic of thumbnails on one canvas, a floating preview, a focus that arrow keys move.

import { readTheme } from "../shared/colour.js";
import { drawColourBar } from "../shared/colour_bar.js";
import { Drawing, viewComponent } from "../shared/component.js";
import { ARROWS, isPress } from "../shared/controls.js";
import { createBox, el, fill, joinTexts, liveRegion, setProperty } from "../shared/dom.js";
import { groupOf, Member, isSameHead, tell } from "../shared/group.js";
import { formatFixed } from "../shared/numbers.js";
import { offerPicture } from "../shared/offer.js";
import { MASKED_8 } from "../shared/packing.js";
import {
  afterDrawing,
  afterPainting,
  markPainted,
  oncePerFrame,
  nextPaint,
  sizeCanvas,
  createStage,
} from "../shared/surface.js";
import { magnification, placeOn, placeOnPage, presentationRoom, scrollWithin, sharpness } from "../shared/window.js";
import { findSentence, keepSentence, onHandedOver, unpackTiles } from "./known_sentences.js";
import {
  mosaicLayout,
  neighbouringTile,
  relativeMeasure,
  tileAt,
  tileNumber,
  tileOrder,
  listTiles,
} from "./mosaic_geometry.js";
import { drawMosaic, drawMosaicLit, mosaicBoard, mosaicFigure } from "./mosaic_scene.js";
import { Preview } from "./preview.js";
import { awaitArrivals } from "../shared/raw_scores.js";
import { drawAtPace, editTilesInTasks, editTiles } from "./tiles.js";

/** @import { Component, FigurePart, OverviewHeader, Theme } from "../shared/types.js" */
/** @import { Group } from "../shared/group.js" */
/** @import { Board } from "./mosaic_scene.js" */
/** @import { Mosaic, Tile } from "./mosaic_geometry.js" */

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

/** A head is fetched ahead when the pointer has rested on its tile for so many milliseconds. */
const REST = 30;
/** What overview.css gives all tiles before they scroll. */
const TALLEST = 556;
/** A window this wide has room for a head beside them; how low the wall may be, and the air below it. */
const [BESIDE, LOWEST, AIR] = [1000, 420, 12];

/** @extends {Drawing<OverviewHeader, AllHeads>} */
export class Overview extends Drawing {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.stage = createStage("av-stage", "overview", "summary");
    this.base = el("canvas");
    this.over = el("canvas", "av-over");
    this.stage.append(this.base, this.over);
    /** @type {Mosaic | null} */
    this.laid = null;
    /** @type {(Board & { how: string }) | null} */
    this.painted = null;
    /** @type {number | null} the tile under the pointer or the keyboard */
    this.at = null;
    this.relight = oncePerFrame(() => this.light());
    this.label = el("div", "av-sr", null, { id: "summary" });
    this.live = liveRegion();
    this.scroll = createBox("av-scroll", this.stage);
    this.preview = new Preview(this);
    this.bar = el("div", "av-bar-row");
    this.resting = 0;
    this.member = new Member((what) => {
      if (what === "edit") this.strike();
      if (what === "found") this.relight();
      const { wish } = this.held?.group ?? {};
      if (what === "wish" && wish) this.pick(tileNumber(this.shown.tiles, ...wish));
      if (what === "edit" || what === "all") this.follow(this.held?.header.q.length ?? 0);
      if (what !== "selected" || !this.laid) return;
      this.relight();
      afterPainting(() => this.held && this.bringIntoView(this.chosen()));
    });
    /** @type {Uint8Array | null} the tiles as they came */
    this.own = null;
    this.follow = drawAtPace(
      () => void this.followEdit(editTiles),
      () => this.followEdit(editTilesInTasks),
    );
    this.gone = new AbortController();
    this.listen();
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

  /**
   * What all tiles may take of the window: beside a head they are a wall down to its lower edge; presented, all are seen, and
   * what is said below them. Null where they stand above a head and may be scrolled.
   */
  room() {
    const { root, scroll } = this;
    const presented = presentationRoom(root);
    const by = magnification(root);
    if (presented !== null) {
      const box = root.getBoundingClientRect();
      const { top, bottom } = scroll.getBoundingClientRect();
      return Math.min(TALLEST, presented - (top - box.top + box.bottom - bottom) / by);
    }
    if (!this.isBeside()) return null;
    const below = this.bar.offsetHeight + AIR;
    return Math.max(LOWEST, (globalThis.innerHeight - placeOnPage(scroll)) / by - below);
  }

  /** Whether there is room for a large head at its right. */
  isBeside() {
    return globalThis.innerWidth >= BESIDE && this.isNarrow();
  }

  /** Whether a head stands at its right, large or not. */
  isNarrow() {
    return this.root.clientWidth * magnification(this.root) < globalThis.innerWidth / 2;
  }

  draw() {
    if (!this.held || this.root.clientWidth === 0) return;
    const { header, tiles, sorted } = this.held;
    const high = this.room();
    this.scroll.style.maxHeight = high === null ? "" : `${high}px`;
    const mosaic = mosaicLayout(header, tiles, sorted, this.root.clientWidth, high);
    this.laid = mosaic;
    const context = sizeCanvas(this.base, mosaic.width, mosaic.height);
    drawMosaic(context, this.scene(), this.board());
    this.stage.dataset.silenced = this.silenced.map((place) => place.join(".")).join(" ");
    this.light();
    this.stage.dataset.tiles = JSON.stringify([mosaic.tw, mosaic.th, mosaic.places]);
    markPainted(this.root, "attnviz-overview-painted", header.data);
  }

  /** The heads that are switched off: as the visitor last said, else as they came. */
  get silenced() {
    const { header, group } = this.shown;
    return group.editName === "" && !group.editing ? (header.silenced ?? []) : group.edit.silenced;
  }

  /** Strikes out what has been switched off since all heads were drawn. */
  strike() {
    if (this.held && this.stage.dataset.silenced !== this.silenced.map((place) => place.join(".")).join(" "))
      this.draw();
  }

  /** What is drawn now. */
  scene() {
    const { tiles, theme, group } = this.shown;
    const header = { ...this.shown.header, silenced: this.silenced };
    const measured = header.dim ? this.shown.measured : null;
    return {
      header,
      tiles,
      theme,
      measured,
      mosaic: this.mosaic,
      selected: group.selected,
      found: group.found,
      at: this.at,
      quiet: this.isNarrow() && !this.stage.matches(":hover, :focus-visible"),
    };
  }

  light() {
    if (!this.held || !this.laid) return;
    const { tiles, group } = this.held;
    const { width, height } = this.laid;
    drawMosaicLit(sizeCanvas(this.over, width, height), this.scene());
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
    if (this.silenced.some((place) => isSameHead(place, [layer, head]))) notes.push(words.silenced);
    const value = measure?.[i] ?? null;
    if (value !== null) notes.push(fill(words.measured, { measure: measureName, value: formatFixed(value, 2) }));
    if (share >= 0) {
      const last = Math.min((share + 1) * size, heads[layer]) - 1;
      notes.push(fill(words.shared, { heads: `${share * size}–${last}` }));
    }
    return notes.join(" · ");
  }

  listen() {
    const { stage } = this;
    stage.addEventListener("pointermove", (e) => {
      if (e.pointerType !== "touch") this.point(this.tileUnder(e));
    });
    stage.addEventListener("pointerleave", () => this.point(null));
    for (const kind of ["pointerenter", "pointerleave", "blur"]) stage.addEventListener(kind, this.relight);
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
    this.announceHeads(known.header);
    this.take(known.header, known.tiles);
    tell(this.shown.group, "sentence");
  }

  /** Tells the group's other views whose tiles these are, and how many heads each layer has. */
  /** @param {OverviewHeader} header */
  announceHeads(header) {
    const group = groupOf(header.group);
    group.tiles = header.data;
    if (String(group.counts) === String(header.heads)) return;
    group.counts = header.heads;
    tell(group, "counts");
  }

  /** @param {Component} component */
  async show(component) {
    const { header, payload, turn } = this.open(component);
    this.announceHeads(header);
    const drawn = this.unpack(header, payload, turn);
    groupOf(header.group).tilesPainted = drawn.then(nextPaint, () => {});
    await drawn;
  }

  /** @param {OverviewHeader} header @param {Uint8Array} payload @param {number} turn */
  async unpack(header, payload, turn) {
    const unpacked = unpackTiles(header.data, payload);
    const own = unpacked instanceof Uint8Array ? unpacked : await unpacked;
    keepSentence(groupOf(header.group).readBefore, { header, tiles: own });
    if (turn === this.turn && !this.shows(header)) this.take(header, own);
  }

  /** Whether just this is on show: a run of the page's script that changed something else sends it again. */
  /** @param {OverviewHeader} header */
  shows(header) {
    if (!this.held || JSON.stringify(this.held.header) !== JSON.stringify(header)) return false;
    return JSON.stringify(this.held.theme) === JSON.stringify(readTheme(this.root, header.colours));
  }

  /**
   * @param {OverviewHeader} header
   * @param {Uint8Array} own the pixels of all tiles, under the model's own mask and scale
   */
  take(header, own) {
    const before = this.held;
    const group = groupOf(header.group);
    const tiles = listTiles(header);
    this.own = own;
    const codes = editTiles(group, tiles, own);
    const sorted = tileOrder(tiles.length, header);
    const measured = header.measure && relativeMeasure(header.measure);
    const theme = readTheme(this.root, header.colours);
    this.hold({ header, codes, group, tiles, sorted, measured, theme });
    if (this.at !== null && this.at >= tiles.length) this.standOn(null);
    this.member.join(group);
    if (!before) this.root.append(this.label, this.live, this.scroll, this.bar, this.preview.box);
    this.dress();
    this.draw();
  }

  /** Draws the tiles under the visitor's mask and scale; while a long sentence's are made, another one may come. */
  /** @param {(...about: Parameters<typeof editTiles>) => Uint8Array | Promise<Uint8Array>} make */
  async followEdit(make) {
    const { held, own } = this;
    if (!held || !own) return;
    const codes = await make(held.group, held.tiles, own);
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
    // beside a head, whose bar says it, colours from 0 to 1 in even steps are not explained again
    setProperty(this.bar, "hidden", this.isBeside() && !header.scale.root);
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
      this.live.textContent = joinTexts(this.shown.header.words.join_things, [this.name(i), this.note(i)]);
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
    this.point(neighbouringTile(from, dx, dy, { tiles, sorted, heads: header.heads, mosaic: this.mosaic }), true);
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
    this.live.textContent = joinTexts(header.words.join_things, [this.name(i), header.words.chosen]);
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
    offerPicture(
      root,
      () => [this.part()],
      mosaicFigure,
      () => null,
      () => this.ready(),
    );
  }

  /** Waits until the tiles are drawn as the visitor's mask and scale have them. */
  async ready() {
    await awaitArrivals(this.shown.group);
    await this.follow.ready();
  }

  /** The tiles on show, as a part of a figure. @returns {FigurePart} */
  part() {
    const { codes, group } = this.shown;
    const { header } = this.scene();
    return ["mosaic", { ...header, selected: group.selected, title: "" }, codes];
  }
}

export default /* @__PURE__ */ viewComponent(SavedOverview);
