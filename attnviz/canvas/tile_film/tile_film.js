// Attention over tiles as a film: a bar to play it both ways, the matrix, the tile at work, and what lies in which memory.
// The payload is a code for each cell (0 to 254 on a scale centred on 127, 255: masked), then float32: what lines keep.

import { themeOf } from "../shared/colour.js";
import { lastingComponent } from "../shared/component.js";
import { addButton, around, attribute, el, fill, joined, named, say } from "../shared/dom.js";
import { FilmView } from "../shared/film_view.js";
import { binary, clamp } from "../shared/numbers.js";
import { onceAFrame, watchSize } from "../shared/surface.js";
import { placeOn, presentedRoom } from "../shared/window.js";
import { drawMatrix, drawTile, reelOf, written } from "./tile_film_drawing.js";
import {
  HIGH,
  keptBy,
  linesOf,
  LOW,
  matrixScene,
  numbersOf,
  orderOf,
  spansOf,
  stepAt,
  tellingLine,
  tileScene,
} from "./tile_film_geometry.js";

/** @import { Component, TileHeader } from "../shared/types.js" */

const NUMBER = 4; // bytes of a float32
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
    /** @type {import("./tile_film_drawing.js").Reel | null} */
    this.reel = null;
    this.draw = onceAFrame(() => this.picture());
    this.bar = el("div", "av-line tf-bar");
    const go = (/** @type {number} */ by) => () => this.goTo(this.at + by);
    this.steps = {
      start_over: addButton(this.bar, "«", "", go(-Infinity)),
      rewind: this.player(this.bar, "◀", "rewind", 0),
      back: addButton(this.bar, "‹", "", go(-1)),
      next: addButton(this.bar, "›", "", go(1)),
      play: this.player(this.bar, "▶", "play", Infinity),
      end: addButton(this.bar, "»", "", go(Infinity)),
    };
    this.bar.append(this.range);
    this.said = el("div", "av-strong tf-said", null, { "aria-live": "polite" });
    this.matrix = el("canvas", "tf-matrix av-pan", null, { role: "img" });
    this.tile = el("canvas", "tf-tile av-pan", null, { tabindex: "0", role: "application" });
    this.readout = el("div", "tf-readout", null, { "aria-live": "polite" });
    this.spoken = [this.said, this.readout];
    this.memory = el("div");
    /** @type {HTMLElement[]} */
    this.parts = [];
    this.fast = el("div", "av-strong");
    this.slow = el("div", "av-strong");
    this.left = around("av-column tf-left", this.matrix);
    this.right = around("av-column tf-right", this.tile, this.readout, this.memory);
    root.replaceChildren(this.bar, this.said, around("av-wrap tf-stage", this.left, this.right));
    root.style.visibility = "hidden"; // its heights are not known before the first picture
    this.listen();
    watchSize(root, () => {
      this.high = HIGH;
      this.draw();
    });
  }

  listen() {
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.dragged(this.matrix, (event) => {
      const { matrix } = matrixScene(this.left.clientWidth, this.header.backward);
      return this.reel && stepAt(this.header, this.reel.order, matrix, ...placeOn(this.matrix, event));
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
      this.reel = null;
    }
    this.high = HIGH;
    this.label();
    this.arrive(header.tiles.length - 1, other);
    const numbers =
      this.reel?.numbers ?? numbersOf(header, header.address ? await this.fetch(header.address) : payload);
    if (this.header !== header) return;
    this.reel = reelOf(header, numbers, themeOf(this.root, header.colours), orderOf(header));
    this.draw();
  }

  /** What is too much to be sent again with each answer. @param {string} address */
  async fetch(address) {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`the film's cells are not there: ${answer.status}`);
    return new Uint8Array(await answer.arrayBuffer());
  }

  /** Names and lists that stay from tile to tile. */
  label() {
    const { words, parts, slow, tokens, width, colours, green } = this.header;
    for (const [name, node] of Object.entries(this.steps)) named(node, words[name]);
    this.tile.setAttribute("aria-label", words.tile);
    const colourOf = (/** @type {string} */ name) =>
      ({ Q: colours.q, K: colours.k, V: green, O: green })[name.replace("d", "")] ?? "var(--st-primary-color)";
    const chip = (/** @type {string} */ name, text = "") => {
      const node = el("span", "tf-part", text);
      node.style.setProperty("--tf-colour", colourOf(name));
      return node;
    };
    this.parts = parts.map(([name]) => chip(name));
    const size = { n: tokens, d: width, 1: 1 };
    const lying = slow.map(([name, rows, cols]) => chip(name, this.sized(words.part, name, size[rows], size[cols])));
    const never = chip("", this.sized(words.never, "", tokens, tokens));
    never.classList.add("tf-never");
    this.memory.replaceChildren(this.fast, around("av-wrap tf-parts", ...this.parts));
    this.memory.append(this.slow, around("av-wrap tf-parts", ...lying, never));
  }

  /** @param {string} template @param {string} name @param {number} rows @param {number} cols */
  sized(template, name, rows, cols) {
    return fill(template, { name, rows, cols, bytes: binary(NUMBER * rows * cols) });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.target === this.range) return;
    /** @type {Record<string, () => void>} */
    const acts = {
      ArrowLeft: () => this.goTo(this.at - 1),
      ArrowRight: () => this.goTo(this.at + 1),
      Home: () => this.goTo(0),
      End: () => this.goTo(Infinity),
      ...(event.target === this.tile && { ArrowUp: () => this.step(-1), ArrowDown: () => this.step(1) }),
    };
    if (!(event.key in acts)) return;
    event.preventDefault();
    acts[event.key]();
  }

  /** @param {number} by */
  step(by) {
    const { lines } = linesOf(this.header, this.at);
    this.choose(clamp(this.shownLine() + by, lines.from, lines.to - 1));
  }

  /** @param {number} y */
  point(y) {
    const { blocks, backward } = this.header;
    const { lines } = linesOf(this.header, this.at);
    const { cells, row } = tileScene(this.tile.clientWidth, this.high, blocks[backward ? 1 : 0], backward);
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
    const { lines } = linesOf(this.header, this.at);
    if (this.line !== null && this.line >= lines.from && this.line < lines.to) return this.line;
    return this.reel ? tellingLine(this.header, this.reel.numbers, this.at) : lines.from;
  }

  /** @param {number} stops */
  pace(stops) {
    return Math.min((LONGEST * stops) / this.last, STAND * stops);
  }

  picture() {
    if (!this.held || !this.reel) return;
    const { words, tiles } = this.header;
    const line = this.shownLine();
    const [queries, keys] = spansOf(this.header, this.at);
    const fields = { step: this.at + 1, total: tiles.length, q0: queries.from + 1, q1: queries.to, k0: keys.from + 1 };
    const said = fill(words.said, { ...fields, k1: keys.to });
    const width = [this.left, this.right].map((side) => Math.max(200, side.clientWidth));
    drawMatrix(this.matrix, this.reel, this.at, width[0]);
    drawTile(this.tile, this.reel, this.at, line, [Math.min(520, width[1]), this.high]);
    const about = this.lineSaid(line);
    attribute(this.range, "aria-valuetext", said);
    if (!this.film && !this.holding) {
      attribute(this.matrix, "aria-label", joined(words.join_heard, [words.scene, said, about]));
    }
    say(this.said, said);
    say(this.readout, about);
    this.sayMemory(queries.to - queries.from, keys.to - keys.from);
    this.root.dataset.step = String(this.at);
    this.root.style.visibility = "";
    if (!this.film && !this.holding) this.fit();
  }

  /** Presented, the large tile is as high as leaves all that stands below it above the bar. */
  fit() {
    const room = presentedRoom(this.root);
    if (room === null || this.right.offsetTop > this.left.offsetTop) return;
    const longer = Math.max(0, LINES - this.readout.offsetHeight);
    const others = this.right.offsetTop + this.right.offsetHeight + longer - this.high;
    const high = clamp(room - others, LOW, this.high);
    if (high < this.high) this.draw();
    this.high = high;
  }

  /** What the tile does to a line, in its own numbers. @param {number} line */
  lineSaid(line) {
    const { words, backward } = this.header;
    if (!this.reel) return "";
    const { was, before, first, second, factor, begins } = keptBy(this.header, this.reel.numbers, this.at, line);
    const numbers = { was, before, first, second, factor, added: second - factor * before };
    const texts = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, written(value)]));
    if (backward) {
      const grown = { second: texts.first, other: texts.second, before: texts.was, was: texts.before };
      return fill(begins ? words.start : words.line, { line: line + 1, ...grown });
    }
    const which = !Number.isFinite(first) ? "blind" : begins ? "start" : factor < 1 ? "line" : "same";
    return fill(words[which], { line: line + 1, ...texts });
  }

  /** @param {number} queries @param {number} keys */
  sayMemory(queries, keys) {
    const { words, parts, width, moved } = this.header;
    const size = { q: queries, k: keys, d: width, 1: 1 };
    let total = 0;
    parts.forEach(([name, rows, cols], n) => {
      total += NUMBER * size[rows] * size[cols];
      say(this.parts[n], this.sized(words.part, name, size[rows], size[cols]));
    });
    const [read, wrote] = moved[this.at];
    say(this.fast, fill(words.fast, { bytes: binary(total) }));
    say(this.slow, fill(words.slow, { read: binary(read), written: binary(wrote) }));
  }
}

export default lastingComponent(TileFilm);
