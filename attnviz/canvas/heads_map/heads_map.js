// The map of all heads: it opens in the model's order and has each head fly to its kind. A head that is pointed at says what it
// does, in how many of its rows, and how its texts are spread; a click chooses it.

import { Glide, marksBetween } from "../scene/glide.js";
import { readTheme } from "../shared/colour.js";
import { viewComponent } from "../shared/component.js";
import { ARROWS, focusedButton, isPress, radioGroup } from "../shared/controls.js";
import { createBox, createButton, el, fill, joinTexts, setAttribute, setText } from "../shared/dom.js";
import { MovedView } from "../shared/film_view.js";
import { prefersReducedMotion } from "../shared/motion.js";
import { clamp, formatFixed, formatPercent, formatSigned } from "../shared/numbers.js";
import { createStage, sizeCanvas } from "../shared/surface.js";
import { placeOn, presentationRoom } from "../shared/window.js";
import {
  drawLargeHead,
  drawMap,
  drawTenths,
  mapFigure,
  mapFilm,
  mapScene,
  readHeads,
  smoothstep,
} from "./heads_map_scene.js";

/** @import { Answer, Component, HeadsMapHeader } from "../shared/types.js" */
/** @import { Heads, MapScene, TileMark } from "./heads_map_scene.js" */

/** Share of the flight on arrival in which the model is seen as it is. */
const HOLD = 0.3;
/** Milliseconds of the flight on arrival and from one order to the other; pixels of a head's large picture and of its texts. */
const [ARRIVAL, FLIGHT, LARGE, TENTHS] = [2400, 700, 168, { w: 252, h: 66 }];
/** Pixels from which the words stand beside the map, and that they take with the gap. */
const [BESIDE, CARD] = [720, 296];
/** Pixels above and below a map that is presented: its orders, its legend, and what is said of it. */
const BELOW = 200;
/** Pixels that the words beside a head's large picture take. */
const EDGE = 16;
const ORDERS = ["kind", "layer"];

/** @extends {MovedView<Answer & HeadsMapHeader>} */
class HeadsMap extends MovedView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.fields = ["at", "by"];
    /** @type {number | null} */
    this.at = null;
    this.by = "kind";
    /** @type {number | null} */
    this.pointed = null;
    /** @type {Heads} */
    this.heads = [];
    /** @type {MapScene | null} */
    this.scene = null;
    this.milliseconds = FLIGHT;
    this.height = 0;
    this.orders = el("div", "av-tools hm-orders");
    this.stage = createStage("av-stage hm-stage", "heads-map", "");
    this.stage.removeAttribute("aria-describedby");
    this.canvas = el("canvas", "av-pan", null, { role: "img" });
    this.legend = el("p", "av-small hm-legend");
    this.stage.append(this.canvas, this.legend);
    this.large = el("canvas", "hm-large", null, { role: "img" });
    this.tenths = el("canvas", "hm-tenths", null, { role: "img" });
    this.lines = ["hm-name av-strong", "hm-does", "hm-rows", "hm-cost"].map((name) => el("div", name));
    this.spread = el("div", "av-small");
    this.quote = el("div", "hm-quote");
    this.door = createButton("hm-open", null, () => this.openInExplore());
    this.door.append(this.large);
    const said = createBox("hm-said", ...this.lines);
    this.card = createBox("hm-card", createBox("hm-top", this.door, said), this.tenths, this.spread, this.quote);
    this.card.setAttribute("aria-live", "polite");
    const between = (/** @type {TileMark[]} */ from, /** @type {TileMark[]} */ to) => {
      const [way, hold] = [marksBetween(from, to), this.milliseconds === ARRIVAL ? HOLD : 0];
      return Object.assign((/** @type {number} */ share) => way(smoothstep((share - hold) / (1 - hold))), {
        milliseconds: this.milliseconds,
      });
    };
    this.glide = new Glide(this.canvas, (/** @type {TileMark[]} */ tiles) => this.paint(tiles), between);
    root.replaceChildren(this.orders, createBox("av-wrap hm-body", this.stage, this.card));
    this.listen();
    this.offer("headsMap", mapFigure, mapFilm);
  }

  listen() {
    const { canvas, stage } = this;
    canvas.addEventListener("pointermove", (event) => this.point(this.tileAt(event)));
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("click", (event) => this.choose(this.tileAt(event)));
    stage.addEventListener("blur", () => this.point(null));
    stage.addEventListener("keydown", (event) => {
      if (isPress(event)) this.choose(this.pointed);
      else if (ARROWS[event.key]) this.point(this.neighbour(ARROWS[event.key]));
      else return;
      event.preventDefault();
    });
  }

  /** @param {Component} component */
  show(component) {
    const { header, payload, before } = this.receive(component);
    this.heads = readHeads(header, payload);
    if (!before) {
      const buttons = ORDERS.map((by) =>
        createButton("av-button", header.words[by === "kind" ? by : "model"], () => this.order(by)),
      );
      radioGroup(this.orders, buttons, ORDERS.indexOf(header.by));
      setAttribute(this.orders, "aria-label", header.words.orders);
    }
    this.take(!before);
    const arrives = !before && this.by === "kind" && !prefersReducedMotion();
    if (arrives) this.glide.show(this.makeScene("layer").tiles);
    this.milliseconds = arrives ? ARRIVAL : FLIGHT;
    this.draw();
  }

  measure() {
    this.height = 0;
  }

  /** @param {string} by */
  makeScene(by) {
    const room = this.root.clientWidth;
    this.root.classList.toggle("hm-narrow", room < BESIDE);
    const width = room < BESIDE ? room : room - CARD;
    const high = presentationRoom(this.root);
    const view = { by, at: this.at, pointed: this.pointed, ...(high && { high: high - BELOW }) };
    this.scene = mapScene(this.header, this.heads, view, width, readTheme(this.root, this.header.colours));
    return this.scene;
  }

  draw() {
    if (!this.held || !this.root.clientWidth) return;
    const { tiles } = this.makeScene(this.by);
    const { words } = this.header;
    focusedButton(this.orders, ORDERS.indexOf(this.by));
    setAttribute(this.stage, "aria-label", words.help);
    setAttribute(this.canvas, "aria-label", words.picture);
    setText(this.legend, words.legend);
    this.glide.to(tiles);
    this.tell();
  }

  /** @param {TileMark[]} tiles */
  paint(tiles) {
    if (!this.scene) return;
    const arriving = this.glide.goal !== this.glide.shown;
    this.height = Math.max(this.height, Math.ceil(this.scene.height) + 4); // both orders have the same room
    this.legend.style.transform = `translateY(${Math.ceil(this.scene.height) + 4 - this.height}px)`; // below the lower one, too
    const context = sizeCanvas(this.canvas, this.scene.width, this.height);
    drawMap(context, arriving ? { ...this.scene, labels: [] } : this.scene, tiles);
    if (arriving || this.scene.by !== this.by) return;
    const places = tiles.toSorted((a, b) => a.key - b.key).map(({ x, y, side }) => [x, y, side].map(Math.round));
    this.stage.dataset.tiles = JSON.stringify(places);
  }

  /** @param {string} by */
  order(by) {
    this.by = by;
    this.milliseconds = FLIGHT;
    this.draw();
    this.commit();
  }

  /** @param {PointerEvent | MouseEvent} event */
  tileAt(event) {
    const [x, y] = placeOn(this.canvas, event);
    const tile = this.scene?.tiles.find(
      (each) => x >= each.x - 1 && x <= each.x + each.side + 1 && y >= each.y - 1 && y <= each.y + each.side + 1,
    );
    return tile ? tile.key : null;
  }

  /** The nearest head on that side of the one that is lit. @param {[number, number]} way rows and columns */
  neighbour([down, right]) {
    const tiles = this.scene?.tiles ?? [];
    const middle = (/** @type {TileMark} */ { x, y, side }) => [x + side / 2, y + side / 2];
    const here = tiles.find(({ key }) => key === (this.pointed ?? this.at)) ?? tiles[0];
    const [x0, y0] = middle(here);
    let [best, least] = [here.key, Infinity];
    for (const tile of tiles) {
      const [dx, dy] = middle(tile).map((at, i) => at - [x0, y0][i]);
      const [along, beside] = right ? [dx * right, dy] : [dy * down, dx];
      const far = along + 2.5 * Math.abs(beside);
      if (tile.key !== here.key && along > 0.5 && far < least) [best, least] = [tile.key, far];
    }
    return best;
  }

  /** @param {number | null} key */
  point(key) {
    if (key === this.pointed) return;
    this.pointed = key;
    this.canvas.style.cursor = key === null ? "" : "pointer";
    this.draw();
  }

  /** @param {number | null} key */
  choose(key) {
    if (key === null) return;
    this.at = key;
    this.draw();
    this.commit();
  }

  /** Opens the chosen head in Explore, on the sentence below. */
  openInExplore() {
    this.tellPython("stood", { at: this.at, by: this.by, open: true });
  }

  /** What the head that is lit does, in words. */
  tell() {
    const at = clamp(this.pointed ?? this.at ?? 0, 0, this.heads.length - 1);
    const head = this.heads[at];
    const { words, kinds, does, nouns, sentences } = this.header;
    const mean = formatPercent(head.means[head.pattern], 0);
    const names = {
      layer: head.layer,
      head: head.head,
      kind: head.named ? kinds[head.pattern] : kinds[kinds.length - 1],
    };
    const [name, doing, rows, cost] = this.lines;
    setText(name, fill(words.name, names));
    const told = { does: does[head.pattern], pattern: nouns[head.pattern], mean };
    setText(doing, fill(head.named ? words.does : words.unnamed, told));
    setText(rows, fill(words.rows, { share: formatPercent(head.explained, 0) }));
    setText(cost, isNaN(head.cost) ? words.uncosted : fill(words.cost, { cost: formatSigned(head.cost, 3) }));
    setText(this.quote, sentences[head.best] ?? "");
    setText(this.spread, fill(head.tenths.length > 1 ? words.spread : words.single, told));
    setAttribute(this.door, "title", words.open);
    this.door.disabled = this.header.session === "room"; // a phone of a class opens no page
    const theme = readTheme(this.root, this.header.colours);
    const context = sizeCanvas(this.large, LARGE + EDGE, LARGE + EDGE);
    drawLargeHead(context, this.header, head.means, { x: EDGE, y: EDGE, w: LARGE, h: LARGE }, theme);
    const room = { x: 0, y: 18, ...TENTHS };
    drawTenths(sizeCanvas(this.tenths, room.w, room.h + 22), head.tenths, room, theme);
    setAttribute(this.large, "aria-label", joinTexts(words.join_things, [name.textContent ?? "", told.pattern]));
    setAttribute(this.tenths, "aria-label", [...head.tenths].map((score) => formatFixed(score, 2)).join(", "));
  }
}

export default viewComponent(HeadsMap);
