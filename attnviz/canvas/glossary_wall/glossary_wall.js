// A wall of small pictures, one for each word: pointing at one says it in a sentence, pressing opens the page that shows it.

import { readTheme } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import { createBox, createButton, el, fill, setAttribute, setText } from "../shared/dom.js";
import { film, prefersReducedMotion } from "../shared/motion.js";
import { clamp } from "../shared/numbers.js";
import { layOver, sizeCanvas } from "../shared/surface.js";
import { canvasContext, drawingContext } from "../scene/canvas_context.js";
import { Glide, marksBetween } from "../scene/glide.js";
import { drawWall, firstWords, wallFigure, wallLayout } from "./wall_scene.js";

/** @import { Answer, Component, GlossaryWallHeader } from "../shared/types.js" */
/** @import { Tile } from "./wall_scene.js" */

/** Pixels of what is said of a word. */
const CARD = 320;
/** Milliseconds that a picture takes to be drawn, and that it begins after the one before it, of so many. */
const [DRAWN, AFTER, SEEN] = [600, 30, 40];
/** The word that is asked for first; and how much later one learns the next, so that all have their turn. */
const [FIRST, NEXT] = ["key", 7];

/** @extends {View<Answer & GlossaryWallHeader>} */
class GlossaryWall extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.canvas = el("canvas", "gw-canvas", null, { "aria-hidden": "true" });
    this.list = el("div", "gw-list", null, { role: "list" });
    this.name = el("strong", "gw-name");
    this.first = el("p", "gw-first");
    this.rest = el("p", "gw-rest");
    this.see = createButton("av-button gw-see", "", () => this.pointed && this.openTerm(this.pointed));
    this.said = el("p", "gw-said", null, { "aria-live": "polite" });
    this.ask = createButton("av-button gw-ask", "", () => this.askNext());
    this.end = createButton("av-button gw-end", "", () => this.play("", ""));
    this.card = createBox("gw-card", this.name, this.first, this.rest, this.see);
    this.card.hidden = true;
    /** @type {string | null} */
    this.pointed = null;
    this.height = 0;
    /** @type {ReturnType<typeof wallLayout>} */
    this.layout = { columns: 1, tiles: [], height: 0 };
    /** @type {Map<string, HTMLButtonElement>} by their words */
    this.tiles = new Map();
    /** @type {HTMLButtonElement[]} in their order */
    this.buttons = [];
    this.game = { asked: "", guess: "" };
    this.stop = () => {}; // the film of a picture that is being drawn, or of all
    /** @type {((key: string, n: number) => number) | undefined} */
    this.shareOf = undefined;
    const stage = createBox("gw-stage", this.canvas, this.list, this.card);
    root.replaceChildren(createBox("av-wrap gw-bar", this.said, this.ask, this.end), stage);
    this.glide = new Glide(this.canvas, (/** @type {Tile[]} */ tiles) => this.paint(tiles), marksBetween);
    stage.addEventListener("pointerleave", () => this.point(null));
    stage.addEventListener("keydown", (event) => this.key(event));
    this.offer("wall", wallFigure);
  }

  /** @param {Component} component */
  show(component) {
    const { header, before } = this.receive(component);
    const isBehind = this.gestures.isBehind(header.session, header.ack);
    if (!isBehind) this.game = { asked: header.asked, guess: header.guess };
    setText(this.see, header.words.see);
    this.see.hidden = header.session === "room"; // a phone of a class opens no page
    this.draw(before !== null);
    if (!before) this.drawPictures((AFTER * SEEN) / DRAWN + 1, (_key, n) => (AFTER * n) / DRAWN);
  }

  /** What is on the wall, with a question that is open here. */
  get displayed() {
    return { ...super.displayed, ...this.game };
  }

  /** Whether a picture is looked for, so that names are hidden. */
  get isAsking() {
    return this.game.asked !== "" && this.game.guess === "";
  }

  /** Asks for the word after the one that was asked for. */
  askNext() {
    const { terms } = this.header;
    const place = terms.find(({ id }) => id === this.game.asked)?.place;
    const next = terms.find((term) => place !== undefined && term.place === (place + NEXT) % terms.length);
    this.play(next?.id ?? FIRST, "");
  }

  /** Goes on with a question, and tells Python. @param {string} asked @param {string} guess */
  play(asked, guess) {
    this.game = { asked, guess };
    this.tellPython("opened", { term: "", ...this.game });
    this.point(null);
    this.draw(true);
    if (guess) this.point(asked); // the truth is said beside the picture
  }

  /** Has pictures draw themselves, each as late as `after` says, counted in the time that one takes; or the one pointed at. */
  /** @param {number} whole @param {(key: string, n: number) => number} [after] */
  drawPictures(whole, after) {
    if (prefersReducedMotion()) return;
    const draw = (/** @type {number} */ share) => {
      const shareOf = (/** @type {string} */ key, /** @type {number} */ n) =>
        clamp(share * whole - (after?.(key, n) ?? 0), 0, 1);
      this.shareOf = after && share < 1 ? shareOf : undefined;
      this.list.toggleAttribute("data-gliding", share < 1);
      if (after || !this.paintPointed(share)) this.repaint();
    };
    draw(0);
    this.stop = film(this.root, whole * DRAWN, draw, () => draw(1));
  }

  /** The button over a word's picture: a first touch says it, a second opens it; who points has been told already. */
  /** @param {string} id */
  tile(id) {
    let wasPointed = false;
    const press = () => {
      if (!this.isAsking) wasPointed ? this.openTerm(id) : this.point(id);
      else if (firstWords(this.displayed).some((term) => term.id === id)) this.play(this.game.asked, id);
    };
    const button = createButton("gw-tile", null, press, { "data-term": id });
    button.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && this.point(id));
    button.addEventListener("pointerdown", () => (wasPointed = this.pointed === id));
    button.addEventListener("keydown", () => (wasPointed = this.pointed === id));
    button.addEventListener("focus", () => button.matches(":focus-visible") && this.point(id));
    return button;
  }

  /** Of all words one is a stop of Tab. @param {number} at */
  focusable(at) {
    this.buttons.forEach((button, n) => (button.tabIndex = n === at ? 0 : -1));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key === "Escape" && this.pointed) {
      event.preventDefault();
      this.point(null);
      return;
    }
    const at = this.buttons.findIndex((button) => button === event.target);
    const { columns } = this.layout;
    /** @type {Record<string, number>} */
    const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -at, End: Infinity };
    if (at < 0 || !(event.key in steps)) return;
    event.preventDefault();
    const to = clamp(at + steps[event.key], 0, this.buttons.length - 1);
    this.focusable(to);
    this.buttons[to].focus();
  }

  /** Says a word in a sentence beside its picture. @param {string | null} id */
  point(id) {
    if (id === this.pointed || (id !== null && this.isAsking)) return;
    this.pointed = id;
    const term = this.held?.terms.find((one) => one.id === id);
    const tile = this.layout.tiles.find(({ key }) => key === id);
    this.card.hidden = !term || !tile;
    if (term && tile) {
      setText(this.name, term.name);
      setText(this.first, term.first);
      setText(this.rest, term.rest);
      const width = Math.min(CARD, this.root.clientWidth);
      const left = clamp(tile.x + tile.w / 2 - width / 2, 0, this.root.clientWidth - width);
      Object.assign(this.card.style, { width: `${width}px`, left: `${left}px` });
      const [below, high] = [tile.y + tile.h - 4, this.card.offsetHeight];
      const isAbove = below + high > this.layout.height && tile.y > high;
      this.card.style.top = `${isAbove ? tile.y - high + 4 : below}px`;
    }
    if (id !== null || !this.shareOf) this.endFilm(); // what draws itself on arrival goes on
    this.repaint();
    if (id !== null) this.drawPictures(1);
  }

  /** @param {string} id */
  openTerm(id) {
    this.tellPython("opened", { term: id, ...this.game });
  }

  resize() {
    if (this.held && this.root.clientWidth) this.draw(false);
  }

  /** @param {boolean} glides */
  draw(glides) {
    if (!this.root.clientWidth) return;
    this.layout = wallLayout(this.displayed, this.root.clientWidth);
    this.say();
    this.layTiles();
    if (glides) this.glide.to(this.layout.tiles);
    else this.glide.show(this.layout.tiles);
  }

  /** Says what is on the wall, or what is asked and how it went. */
  say() {
    const { terms, words, sentence } = this.header;
    const { asked, guess } = this.game;
    const nameOf = (/** @type {string} */ of) => terms.find(({ id }) => id === of)?.name ?? "";
    const template = guess ? (guess === asked ? words.right : words.other) : words.ask;
    setText(this.said, asked ? fill(template, { word: nameOf(asked), guess: nameOf(guess) }) : sentence);
    setText(this.ask, asked ? words.another : words.begin);
    setText(this.end, words.end);
    this.end.hidden = !asked;
  }

  /** Lays a button over each tile: they follow each other as the tiles do, and have the names that are seen. */
  layTiles() {
    const { terms, words } = this.header;
    const { tiles } = this.layout;
    const buttons = tiles.map(({ key }) => this.tiles.get(key) ?? this.tile(key));
    if (buttons.some((button, n) => button !== this.buttons[n])) {
      this.point(null);
      this.tiles = new Map(tiles.map(({ key }, n) => [key, buttons[n]]));
      this.buttons = buttons;
      const items = buttons.map((button) => createBox("gw-item", button));
      for (const item of items) setAttribute(item, "role", "listitem");
      this.list.replaceChildren(...items);
      this.focusable(0);
    }
    const said = new Map(terms.map(({ id, name, first, rest }) => [id, `${name}. ${first} ${rest}`]));
    tiles.forEach((tile, n) => {
      layOver(buttons[n], tile);
      const label = tile.named ? (said.get(tile.key) ?? "") : fill(words.picture, { number: n + 1 });
      setAttribute(buttons[n], "aria-label", label);
    });
  }

  endFilm() {
    this.stop();
    this.shareOf = undefined;
    this.list.removeAttribute("data-gliding");
  }

  /** Paints the tile that is pointed at alone, up to a share of its picture; answers whether it lies still. @param {number} share */
  paintPointed(share) {
    const tile = this.layout.tiles.find(({ key }) => key === this.pointed);
    if (!tile || "gliding" in this.canvas.dataset) return false;
    const context = drawingContext(this.canvas);
    canvasContext(this.canvas).clearRect(tile.x, tile.y, tile.w, tile.h);
    drawWall(context, [tile], this.displayed, readTheme(this.root, this.header.colours), this.pointed, () => share);
    return true;
  }

  repaint() {
    this.paint(this.glide.shown ?? this.layout.tiles);
  }

  /** @param {Tile[]} tiles */
  paint(tiles) {
    const { colours } = this.header;
    const context = sizeCanvas(this.canvas, this.root.clientWidth, this.layout.height);
    drawWall(context, tiles, this.displayed, readTheme(this.root, colours), this.pointed, this.shareOf);
  }
}

export default viewComponent(GlossaryWall);
