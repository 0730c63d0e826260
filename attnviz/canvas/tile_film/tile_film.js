// Attention over tiles as a film: a bar to play it both ways, the matrix, the tile at work, and what lies in which memory.
// The payload is a code for each cell (0 to 254 on a scale centred on 127, 255: masked), then float32: what lines keep.

import { readTheme } from "../shared/colour.js";
import { viewComponent } from "../shared/component.js";
import { createBox, setAttribute, el, joinTexts, setText } from "../shared/dom.js";
import { FilmView } from "../shared/film_view.js";
import { clamp } from "../shared/numbers.js";
import { offerPicture } from "../shared/offer.js";
import { oncePerFrame, sizeCanvas } from "../shared/surface.js";
import { placeOn, presentationRoom } from "../shared/window.js";
import { tileFigure, tileFilm } from "./tile_film_figure.js";
import {
  HIGH,
  tileLines,
  LOW,
  matrixLayout,
  readTileNumbers,
  stepAt,
  mostTellingLine,
  tileLayout,
} from "./tile_film_geometry.js";
import { describeLine, describeStep, drawMatrix, drawTile, tileScene } from "./tile_film_scene.js";
import { drawMemory, memoryScene } from "./tile_film_memory.js";

/** @import { Component, TileHeader } from "../shared/types.js" */

/** Milliseconds that a tile stands while the film plays, and that all take at most. */
const [STAND, LONGEST] = [600, 20000];
const LINES = 56; // pixels of the longest sentence about a line, which another tile may bring

/** @extends {FilmView<TileHeader>} */
class TileFilm extends FilmView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    /** @type {number | null} */
    this.line = null;
    this.high = HIGH; // of the large tile
    /** @type {import("./tile_film_scene.js").TileScene | null} */
    this.scene = null;
    /** @type {Uint8Array} */
    this.payload = new Uint8Array(); // what cells and lines hold
    const header = () => ({ ...this.header, at: this.at, title: "" });
    offerPicture(
      root,
      () => [["tiles", header(), this.payload]],
      tileFigure,
      () => this.scene && tileFilm(header(), this.payload),
    );
    this.draw = oncePerFrame(() => this.picture());
    this.bar = el("div", "av-line tf-bar");
    this.mover(this.bar, "«", "start_over", -Infinity);
    this.player(this.bar, "◀", "rewind", 0);
    this.mover(this.bar, "‹", "back", -1);
    this.mover(this.bar, "›", "next", 1);
    this.player(this.bar, "▶", "play", Infinity);
    this.mover(this.bar, "»", "end", Infinity);
    this.bar.append(this.range);
    this.said = el("div", "av-strong tf-said", null, { "aria-live": "polite" });
    this.matrix = el("canvas", "tf-matrix av-pan", null, { role: "img" });
    this.tile = el("canvas", "tf-tile av-pan", null, { tabindex: "0", role: "application" });
    this.readout = el("div", "tf-readout", null, { "aria-live": "polite" });
    this.spoken = [this.said, this.readout];
    this.memory = el("canvas", "", null, { role: "img" });
    this.left = createBox("av-column tf-left", this.matrix);
    this.right = createBox("av-column tf-right", this.tile, this.readout, this.memory);
    root.replaceChildren(this.bar, this.said, createBox("av-wrap tf-stage", this.left, this.right));
    root.style.visibility = "hidden"; // its heights are not known before the first picture
    this.listen();
  }

  resize() {
    this.high = HIGH;
    this.unfitted = true;
    this.draw();
  }

  listen() {
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.dragged(this.matrix, (event) => {
      const { matrix } = matrixLayout(this.left.clientWidth, this.header.backward);
      return this.scene && stepAt(this.header, this.scene.order, matrix, ...placeOn(this.matrix, event));
    });
    for (const kind of /** @type {const} */ (["pointermove", "pointerdown"])) {
      this.tile.addEventListener(kind, (event) => this.point(placeOn(this.tile, event)[1]));
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
      this.high = HIGH; // the same film may be playing, and keeps its height
    }
    this.tile.setAttribute("aria-label", header.words.tile);
    this.arrive(header.tiles.length - 1, other);
    const bytes = this.scene ? this.payload : header.address ? await this.fetch(header.address) : payload;
    if (this.header !== header) return;
    this.payload = bytes;
    this.scene = tileScene(
      header,
      this.scene?.numbers ?? readTileNumbers(header, bytes),
      readTheme(this.root, header.colours),
    );
    this.draw();
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
    const { blocks, backward } = this.header;
    const { lines } = tileLines(this.header, this.at);
    const { cells, row } = tileLayout(this.tile.clientWidth, this.high, blocks[backward ? 1 : 0], backward);
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

  picture() {
    if (!this.held || !this.scene) return;
    const { header, at } = this;
    const { words, backward, blocks } = header;
    const scene = { ...this.scene, at };
    const line = this.shownLine();
    const [left, right] = [this.left, this.right].map((side) => Math.max(200, side.clientWidth));
    const matrix = matrixLayout(left, backward);
    const tile = tileLayout(Math.min(520, right), this.high, blocks[backward ? 1 : 0], backward);
    drawMatrix(sizeCanvas(this.matrix, matrix.width, matrix.height), scene, matrix);
    drawTile(sizeCanvas(this.tile, tile.width, tile.height), scene, tile, line);
    const memory = memoryScene(header, at, right);
    drawMemory(sizeCanvas(this.memory, memory.width, memory.height), memory, scene.theme);
    const said = describeStep(header, at);
    const about = describeLine(header, scene.numbers, at, line);
    setAttribute(this.range, "aria-valuetext", said);
    if (!this.isMoving) {
      setAttribute(this.matrix, "aria-label", joinTexts(words.join_heard, [words.scene, said, about]));
      const kept = memory.memories.flatMap(({ name, chips }) => [name, ...chips.map(({ chip }) => chip.text)]);
      setAttribute(this.memory, "aria-label", joinTexts(words.join_clauses, kept));
    }
    setText(this.said, said);
    setText(this.readout, about);
    this.root.dataset.step = String(at);
    this.root.style.visibility = "";
    if (this.unfitted || !this.isMoving) this.fit();
    this.unfitted = false;
  }

  /** Presented, the large tile is as high as leaves all that stands below it above the bar. */
  fit() {
    const room = presentationRoom(this.root);
    if (room === null || this.right.offsetTop > this.left.offsetTop) return;
    const longer = Math.max(0, LINES - this.readout.offsetHeight);
    const others = this.right.offsetTop + this.right.offsetHeight + longer - this.high;
    const high = clamp(room - others, LOW, this.high);
    if (high < this.high) this.draw();
    this.high = high;
  }
}

export default viewComponent(TileFilm);
