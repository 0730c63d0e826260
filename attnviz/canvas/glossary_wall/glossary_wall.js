// A wall of small pictures, one for each word: pointing at one says it in a sentence, pressing opens the page that shows it.

import { readTheme } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import { createBox, createButton, el, setText } from "../shared/dom.js";
import { clamp } from "../shared/numbers.js";
import { offerPicture } from "../shared/offer.js";
import { layOver, sizeCanvas } from "../shared/surface.js";
import { Glide, marksBetween } from "../scene/glide.js";
import { drawWall, wallFigure, wallLayout } from "./wall_scene.js";

/** @import { Answer, Component, GlossaryWallHeader } from "../shared/types.js" */
/** @import { Tile } from "./wall_scene.js" */

/** Pixels of what is said of a word. */
const CARD = 320;

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
    this.card = createBox("gw-card", this.name, this.first, this.rest, this.see);
    this.card.hidden = true;
    /** @type {string | null} */
    this.pointed = null;
    this.height = 0;
    /** @type {ReturnType<typeof wallLayout>} */
    this.layout = { columns: 1, tiles: [], height: 0 };
    /** @type {HTMLButtonElement[]} */
    this.buttons = [];
    const stage = createBox("gw-stage", this.canvas, this.list, this.card);
    root.replaceChildren(stage);
    this.glide = new Glide(this.canvas, (/** @type {Tile[]} */ tiles) => this.paint(tiles), marksBetween);
    stage.addEventListener("pointerleave", () => this.point(null));
    stage.addEventListener("keydown", (event) => this.key(event));
    offerPicture(root, () => [["wall", { ...this.header, title: "" }, new Uint8Array()]], wallFigure);
  }

  /** @param {Component} component */
  show(component) {
    const { header, before } = this.receive(component);
    const ids = header.terms.map(({ id, name }) => id + name).join();
    if (before?.terms.map(({ id, name }) => id + name).join() !== ids) {
      this.point(null);
      this.buttons = header.terms.map(({ id, name, first, rest }) => this.tile(id, `${name}. ${first} ${rest}`));
      this.list.replaceChildren(...this.buttons.map((button) => createBox("gw-item", button)));
      for (const item of this.list.children) item.setAttribute("role", "listitem");
      this.focusable(0);
    }
    setText(this.see, header.words.see);
    this.see.hidden = header.session === "room"; // a phone of a class opens no page
    this.draw(before !== null);
  }

  /** The button over a word's picture: a first touch says it, a second opens it; who points has been told already. */
  /** @param {string} id @param {string} label */
  tile(id, label) {
    let wasPointed = false;
    const press = () => (wasPointed ? this.openTerm(id) : this.point(id));
    const button = createButton("gw-tile", null, press, { "aria-label": label, "data-term": id });
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
    if (id === this.pointed) return;
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
    this.paint(this.layout.tiles);
  }

  /** @param {string} id */
  openTerm(id) {
    this.tellPython("opened", { term: id });
  }

  resize() {
    if (this.held && this.root.clientWidth) this.draw(false);
  }

  /** @param {boolean} glides */
  draw(glides) {
    const { terms } = this.header;
    if (!this.root.clientWidth) return;
    this.layout = wallLayout(terms, this.root.clientWidth);
    this.layout.tiles.forEach((tile, n) => layOver(this.buttons[n], tile));
    if (glides) this.glide.to(this.layout.tiles);
    else this.glide.show(this.layout.tiles);
  }

  /** @param {Tile[]} tiles */
  paint(tiles) {
    const { colours } = this.header;
    const context = sizeCanvas(this.canvas, this.root.clientWidth, this.layout.height);
    drawWall(context, tiles, this.header, readTheme(this.root, colours), this.pointed);
  }
}

export default viewComponent(GlossaryWall);
