// Attention over tiles as a film: a bar to play it both ways, two memories with a door that tiles are carried through, and the
// bytes that have gone through it beside the naive way's.
// The payload is a code for each cell (0 to 254 on a scale centred on 127, 255: masked), then float32: what lines keep.

import { readTheme } from "../shared/colour.js";
import { viewComponent } from "../shared/component.js";
import { createBox, el, joinTexts, setAttribute, setText } from "../shared/dom.js";
import { FilmView } from "../shared/film_view.js";
import { film, prefersReducedMotion } from "../shared/motion.js";
import { clamp } from "../shared/numbers.js";
import { offerPicture } from "../shared/offer.js";
import { layOver, oncePerFrame, sizeCanvas } from "../shared/surface.js";
import { magnification, placeOn, placeOnPage, presentationRoom } from "../shared/window.js";
import { momentOf, tileFigure, tileFilm } from "./tile_film_figure.js";
import { filmLayout, mostTellingLine, readTileNumbers, stepAt, tileLines } from "./tile_film_geometry.js";
import { describeLine, describeRace, describeStep, drawFilm, tileScene } from "./tile_film_scene.js";
import { describeMemory } from "./tile_film_memory.js";

/** @import { Component, TileHeader } from "../shared/types.js" */

/** Milliseconds that a tile takes while the film plays, that all take at most, and that one takes by itself. */
const [STAND, LONGEST, ALONE] = [900, 24000, 1100];
/** Pixels of what is said below the picture, between its lines and the picture, and of memories and race where there is no window's height to fill. */
const [SAID, BETWEEN, HIGH, ASKED] = [82, 22, 500, 68]; // the last: of a question below

/** @extends {FilmView<TileHeader>} */
class TileFilm extends FilmView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    /** @type {number | null} */
    this.line = null;
    this.share = 1; // of the tile's time that is over
    this.stopCarrying = () => {};
    /** @type {import("./tile_film_scene.js").TileScene | null} */
    this.scene = null;
    /** @type {Uint8Array} */
    this.cells = new Uint8Array(); // what cells and lines hold, which is too much to come with each answer
    const header = () => ({ ...this.header, at: this.at, title: "" });
    offerPicture(
      root,
      () => [["tiles", header(), this.cells]],
      tileFigure,
      () => this.scene && tileFilm(header(), this.cells),
    );
    this.draw = oncePerFrame(() => this.picture());
    this.bar = el("div", "av-wrap tf-bar");
    this.addStepButton(this.bar, "«", "start_over", -Infinity);
    this.addPlayButton(this.bar, "◀", "rewind", 0);
    this.addStepButton(this.bar, "‹", "back", -1);
    this.addStepButton(this.bar, "›", "next", 1);
    this.addPlayButton(this.bar, "▶", "play", Infinity);
    this.addStepButton(this.bar, "»", "end", Infinity);
    this.said = el("div", "av-strong tf-said", null, { "aria-live": "polite" });
    this.bar.append(this.range, this.said);
    this.canvas = el("canvas", "", null, { role: "img" });
    this.matrix = el("div", "tf-matrix av-pan");
    this.tile = el("div", "tf-tile av-pan", null, { tabindex: "0", role: "application" });
    this.race = el("div", "tf-race", null, { "aria-live": "polite" });
    this.readout = el("div", "tf-readout", null, { "aria-live": "polite" });
    this.spoken = [this.said, this.race, this.readout];
    this.stage = createBox("tf-stage", this.canvas, this.matrix, this.tile);
    root.replaceChildren(this.bar, this.stage, this.race, this.readout);
    root.style.visibility = "hidden"; // its heights are not known before the first picture
    this.listen();
  }

  get layout() {
    const presented = presentationRoom(this.root);
    const window = (globalThis.innerHeight - placeOnPage(this.root)) / magnification(this.root) - ASKED;
    const high = (presented ?? Math.min(window, HIGH + SAID)) - this.stage.offsetTop - this.below();
    return filmLayout(Math.max(240, this.root.clientWidth), high, this.header);
  }

  /** Pixels of what is said below the picture, which another tile may say in more lines. */
  below() {
    return Math.max(SAID, BETWEEN + this.race.offsetHeight + this.readout.offsetHeight);
  }

  listen() {
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.followDrag(this.matrix, (event) => {
      const { matrix } = this.layout.slow;
      return this.scene && stepAt(this.header, this.scene.order, matrix, ...placeOn(this.canvas, event));
    });
    for (const kind of /** @type {const} */ (["pointermove", "pointerdown"])) {
      this.tile.addEventListener(kind, (event) => this.point(placeOn(this.canvas, event)[1]));
    }
    this.tile.addEventListener("pointerleave", () => this.choose(null));
  }

  /** @param {Component} component */
  async show(component) {
    const { header, payload, before } = this.receive(component);
    const other = before?.name !== header.name;
    if (other) {
      this.line = null;
      this.scene = null;
    }
    this.tile.setAttribute("aria-label", header.words.tile);
    this.arrive(header.tiles.length - 1, other);
    const bytes = this.scene ? this.cells : header.address ? await this.fetch(header.address) : payload;
    if (this.header !== header) return;
    this.cells = bytes;
    this.scene = tileScene(
      header,
      this.scene?.numbers ?? readTileNumbers(header, bytes),
      readTheme(this.root, header.colours),
    );
    this.draw();
    if (!before) this.carry();
  }

  /** What is too much to be sent again with each answer. @param {string} address */
  async fetch(address) {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`the film's cells are not there: ${answer.status}`);
    return new Uint8Array(await answer.arrayBuffer());
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const lines = { ArrowUp: () => this.step(-1), ArrowDown: () => this.step(1) };
    this.stepKeys(event, event.target === this.tile ? lines : {});
  }

  /** @param {number} by */
  step(by) {
    const { lines } = tileLines(this.header, this.at);
    this.choose(clamp(this.shownLine() + by, lines.from, lines.to - 1));
  }

  /** @param {number} y */
  point(y) {
    const { lines } = tileLines(this.header, this.at);
    const { cells, row } = this.layout.fast;
    const line = lines.from + Math.floor((y - cells.y) / row);
    this.choose(line >= lines.from && line < lines.to ? line : null);
  }

  /** @param {number | null} line */
  choose(line) {
    if (line === this.line) return;
    this.line = line;
    this.draw();
  }

  shownLine() {
    const { lines } = tileLines(this.header, this.at);
    if (this.line !== null && this.line >= lines.from && this.line < lines.to) return this.line;
    return this.scene ? mostTellingLine(this.header, this.scene.numbers, this.at) : lines.from;
  }

  /** @param {number} stops */
  pace(stops) {
    return Math.min((LONGEST * stops) / this.last, STAND * stops);
  }

  /** While a film plays a tile's parts are on their way. @param {number} from @param {number} to @param {number} share */
  stopAt(from, to, share) {
    return from + share * (to - from);
  }

  /** Stands at a tile, of whose time a part may be over: between whole numbers its parts are carried. @param {number} position */
  stand(position) {
    this.stopCarrying();
    const { at, share } = momentOf(clamp(position, 0, this.last));
    this.share = share;
    super.stand(at);
  }

  /** What stops stays at a tile that is done. */
  stop() {
    super.stop();
    this.stopCarrying();
    this.share = 1;
  }

  /** @param {number} stop */
  goTo(stop) {
    const isNext = stop === this.at + 1;
    super.goTo(stop);
    if (isNext) this.carry();
  }

  /** Brings what the tile at work needs, once; who asked for less motion finds it there. */
  carry() {
    if (prefersReducedMotion()) return;
    const draw = (/** @type {number} */ share) => {
      this.share = share;
      this.draw();
    };
    this.stopCarrying();
    this.stopCarrying = film(this.root, ALONE, draw, () => {});
  }

  picture() {
    if (!this.held || !this.scene) return;
    const { header, at, share } = this;
    const { words } = header;
    const line = this.shownLine();
    const [said, race] = [describeStep(header, at), describeRace(header, at)];
    const about = describeLine(header, this.scene.numbers, at, line);
    setAttribute(this.range, "aria-valuetext", said);
    if (!this.isMoving) {
      const kept = joinTexts(words.join_clauses, describeMemory(header, at).all);
      setAttribute(this.canvas, "aria-label", joinTexts(words.join_heard, [words.scene, said, race, about, kept]));
    }
    setText(this.said, said);
    setText(this.race, race);
    setText(this.readout, about);
    const { layout } = this; // which leaves room for what is said
    drawFilm(sizeCanvas(this.canvas, layout.width, layout.height), { ...this.scene, at, share }, layout, line);
    layOver(this.matrix, layout.slow.matrix);
    layOver(this.tile, { ...layout.fast.cells, w: layout.fast.box.x + layout.fast.box.w - layout.fast.cells.x });
    this.root.dataset.step = String(at);
    this.root.style.visibility = "";
  }
}

export default viewComponent(TileFilm);
