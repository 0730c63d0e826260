// The sentence as a picture: ribbons from its words into the one that is touched, chosen among all heads by sliding, under a
// mask and a scale, unfolded into the matrix. Python hears where a hand left it.

import { HeadsStrip } from "./heads_strip.js";
import { RibbonsControls } from "./ribbons_controls.js";
import { followHand } from "./ribbons_hand.js";
import { placeField, writeSentence } from "./sentence_field.js";
import { ribbonsFigure, ribbonsFilm } from "./ribbons_figure.js";
import { scenesBetween } from "./ribbons_glide.js";
import { computeHead, describeTouched, plainText, tellingWeight, touchedWeights, wordName } from "./ribbons_numbers.js";
import { drawRibbons, ribbonsScene } from "./ribbons_scene.js";
import { Glide, isSame } from "../scene/glide.js";
import { readTheme } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import {
  createBox,
  createButton,
  el,
  fill,
  liveRegion,
  setAttribute,
  setProperty,
  setText,
  visibleToken,
} from "../shared/dom.js";
import { NO_EDIT } from "../shared/edit.js";
import { packEdit, unpackEdit } from "../shared/group.js";
import { nextToAsk } from "../shared/guess.js";
import { setMarkedText } from "../shared/marked_text.js";
import { film, prefersReducedMotion } from "../shared/motion.js";
import { offerPicture } from "../shared/offer.js";
import { AllHeads, fetchBytes, packRawScores, placeOfHead, readRawScores } from "../shared/raw_scores.js";
import {
  afterPainting,
  clipTo,
  layOver,
  markPainted,
  measureTime,
  oncePerFrame,
  runSoon,
  sizeCanvas,
} from "../shared/surface.js";
import { presentationRoom } from "../shared/window.js";

/** @import { Head, Touched } from "./ribbons_numbers.js" */
/** @import { RibbonsView, Scene } from "./ribbons_scene.js" */
/** @import { Tile } from "./heads_strip.js" */
/** @import { Component, Edit, FigurePart, RawHead, RibbonsHeader, Theme } from "../shared/types.js" */

/** Milliseconds in which ribbons grow on arrival. */
const ARRIVAL = 1100;

/** @extends {View<RibbonsHeader>} */
export class Ribbons extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.canvas = el("canvas", "rb-canvas");
    this.words = el("div", "rb-words", null, { role: "listbox", tabindex: "-1" });
    this.stage = createBox("rb-stage", this.canvas, this.words);
    this.stage.dataset.testid = "ribbons";
    this.said = el("div", "rb-said", null, { "data-testid": "said" });
    this.write = createButton("av-link", "", () => writeSentence(root), { "data-testid": "write" });
    this.ask = createButton("av-link", "", () => this.askNext(), { "data-testid": "guess" });
    this.strip = new HeadsStrip((tile, ended) => this.choose(tile, ended));
    /** @type {Parameters<HeadsStrip["draw"]> | null} what it shows */
    this.drawnStrip = null;
    this.controls = new RibbonsControls(this);
    this.live = liveRegion();
    root.append(
      this.stage,
      createBox("av-wrap rb-line", this.said, createBox("av-wrap rb-links", this.ask, this.write)),
      this.strip.box,
      this.controls.box,
      this.live,
    );
    /** @type {Tile} */
    this.tile = [0, 0];
    /** @type {Touched} */
    this.touched = { word: 0, axis: "q", pinned: null };
    /** @type {Edit} */
    this.edit = NO_EDIT;
    this.unfolded = false;
    /** whether somebody is asked where the touched word looks, which is kept back; and the word that he expected */
    this.asked = false;
    /** @type {number | null} */
    this.guess = null;
    /** @type {Set<number>} words that were asked about */
    this.known = new Set();
    /** @type {number | null} the word that the next question is about */
    this.next = null;
    /** @type {number | null} the word that is pointed at */
    this.lit = null;
    this.grown = prefersReducedMotion() ? 1 : 0;
    /** @type {number | null} pixels for the picture where it is presented */
    this.high = null;
    /** @type {RawHead | null} the head as it was sent */
    this.own = null;
    /** @type {AllHeads | null} all heads of the sentence, once they have come */
    this.all = null;
    this.fetched = "";
    /** @type {Float32Array | null} how much each head tells of the touched word */
    this.telling = null;
    /** @type {Scene | null} */
    this.scene = null;
    /** @type {HTMLButtonElement[]} */
    this.buttons = [];
    this.glide = new Glide(root, (/** @type {Scene} */ scene) => this.paint(scene), scenesBetween);
    this.refresh = oncePerFrame(() => this.draw(false));
    this.heard = "";
    this.speak = runSoon(() => setText(this.live, this.heard), 400);
    this.measure = runSoon(() => this.measureHeads(), 30);
    followHand(this);
    offerPicture(
      root,
      () => [this.part()],
      ribbonsFigure,
      () => {
        const [, header, payload] = this.part();
        return ribbonsFilm(/** @type {any} */ (header), payload);
      },
    );
    Object.assign(this.stage, { matrix: () => this.head.weights }); // for scripts and tests
  }

  /** @param {Component} component */
  show(component) {
    const { header, payload, before } = this.receive(component);
    const behind = this.gestures.isBehind(header.session, header.ack);
    const isOther = before?.doc !== header.doc;
    const heads = readRawScores(header.raw, payload);
    if (heads.length > 1) this.all = new AllHeads(heads, header.heads, "inline", header.doc);
    else if (isOther || (this.all && this.all.from !== header.every)) this.all = null;
    if (isOther || !behind) {
      const { tile, word, axis, pinned, unfolded, edit } = header.state;
      const raw = heads.length > 1 ? heads[placeOfHead(header.heads, ...tile)] : heads[0];
      Object.assign(this, {
        tile,
        touched: { word, axis, pinned },
        unfolded,
        own: raw,
        edit: unpackEdit(edit, raw.shape),
        lit: null,
      });
    }
    if (isOther) {
      Object.assign(this, { asked: false, guess: null, known: new Set() });
      this.build();
    }
    this.controls.name(header.words);
    setText(this.write, header.words.write);
    setAttribute(this.words, "aria-label", header.words.label);
    if (!before && this.grown < 1) this.arrive();
    else this.draw(isOther); // what glides already where this is goes on
    this.measure();
    if (header.every) afterPainting(() => void this.bringAll(/** @type {string} */ (header.every)));
  }

  /** @param {string} address */
  async bringAll(address) {
    if (this.all || this.fetched === address) return;
    this.fetched = address;
    const all = await fetchBytes(
      address,
      (from) => fetch(from, { priority: "low" }),
      (bytes) => AllHeads.read(bytes, address),
    );
    if (!all || this.header.every !== address) return;
    this.all = all;
    this.measure();
  }

  /** The raw scores on show. */
  get raw() {
    const { tile } = this.header.state;
    const isSent = tile[0] === this.tile[0] && tile[1] === this.tile[1];
    const known = isSent && this.header.raw.count === 1 ? null : this.all?.head(this.tile);
    return known ?? /** @type {RawHead} */ (this.own);
  }

  get head() {
    return computeHead(this.header, this.raw, this.edit);
  }

  /** @returns {RibbonsView} */
  get view() {
    const { touched, asked, guess, unfolded, lit, grown, high } = this;
    return { ...touched, asked, guess, unfolded, lit: lit ?? touched.pinned, grown, high };
  }

  /** Words as buttons above the drawing. */
  build() {
    this.buttons = this.header.q.map((token, i) => {
      const button = createButton("rb-word", token.trim() || "␣", () => this.touch(i), {
        role: "option",
        tabindex: "-1",
      });
      button.addEventListener("pointerenter", () => this.light(i));
      return button;
    });
    this.words.replaceChildren(...this.buttons);
  }

  /** Presented, the picture fills what its sentence and handles leave. */
  fit() {
    const room = presentationRoom(this.root);
    this.high = room === null ? null : room - (this.root.offsetHeight - this.stage.offsetHeight);
  }

  /** Draws what is to be seen; it glides there, unless a hand drags. @param {boolean} follows */
  draw(follows) {
    if (!this.held || !this.root.clientWidth) return;
    const began = performance.now();
    const { header, head } = this;
    const theme = readTheme(this.root, header.colours);
    const { colours, words } = header;
    const width = this.stage.clientWidth;
    const scene = ribbonsScene(head, this.view, width, { theme, colours, words });
    this.scene = scene;
    this.theme = theme;
    if (follows) this.glide.show(scene);
    else this.glide.to(scene);
    this.placeButtons(scene);
    setProperty(this.write, "hidden", !placeField(this.root, scene, this.touched.word));
    this.say(head);
    this.offerGuess(head);
    this.drawStrip(theme);
    this.controls.draw(head);
    measureTime("attnviz-ribbons", began);
  }

  /** @param {Theme} theme */
  drawStrip(theme) {
    if (!this.stage.clientWidth) return; // not on the page just now
    const { header, tile, touched, telling } = this;
    const token = visibleToken(header.q[touched.word]).trim();
    const texts = { token, model: header.model, title: header.title };
    /** @type {Parameters<HeadsStrip["draw"]>} */
    const strip = [header.heads, tile, telling, this.stage.clientWidth, theme, header.words, texts];
    if (!isSame(strip, this.drawnStrip)) this.strip.draw(...strip);
    this.drawnStrip = strip;
  }

  /** @param {Scene} scene */
  paint(scene) {
    const { width, height, room = height } = scene;
    const context = sizeCanvas(this.canvas, width, Math.ceil(room));
    const { colours, words } = this.header;
    clipTo(context, { x: 0, y: 0, w: width, h: Math.ceil(height) }, 0);
    drawRibbons(context, scene, { theme: /** @type {Theme} */ (this.theme), colours, words });
    context.restore();
    this.stage.style.height = `${Math.ceil(scene.height)}px`;
    markPainted(this.root, "attnviz-ribbons-painted", [this.tile, this.touched.word, this.unfolded].join());
  }

  /** @param {Scene} scene */
  placeButtons({ layout, marks, cells }) {
    const labels = new Map(marks.map((mark) => [mark.key, mark]));
    this.buttons.forEach((button, i) => {
      const { x, line, width } = layout.words[i];
      const row = labels.get(`row ${i}`);
      if (cells && row && "y" in row) {
        const high = cells.h / layout.words.length;
        layOver(button, { x: 0, y: row.y - high / 2, w: cells.x, h: high });
      } else
        layOver(button, {
          x: x - width / 2 - 4,
          y: layout.top(line) - 4,
          w: width + 8,
          h: Math.max(44, layout.line + 8),
        });
      setAttribute(button, "aria-selected", String(i === this.touched.word));
      button.tabIndex = i === this.touched.word ? 0 : -1;
    });
  }

  /** The sentences, their names in the colours of their ribbons. @param {Head} head */
  say(head) {
    const { words } = this.header;
    const sentences = describeTouched(head, this.view, this.edit, words);
    // each in a line
    if (setMarkedText(this.said, sentences.join("\n"))) this.announce(plainText(sentences, words));
  }

  /** @param {string} text */
  announce(text) {
    this.heard = text;
    this.speak();
  }

  /** How much each head tells of the touched word. */
  measureHeads() {
    const { all, touched, edit } = this;
    this.telling = all
      ? Float32Array.from(all.heads, (raw) => (raw.exact ? tellingWeight(raw, edit, touched) : 0))
      : null;
    if (this.theme) this.drawStrip(this.theme);
  }

  /** Ribbons grow, once. */
  arrive() {
    this.draw(true);
    film(
      this.root,
      ARRIVAL,
      (share) => {
        this.grown = 1 - (1 - share) ** 3;
        this.draw(true);
      },
      () => (this.grown = 1),
    );
  }

  /** The word to ask about next, whose truth the sentence on show does not tell. @param {Head} head */
  offerGuess({ weights, n }) {
    const { header, touched, asked, known } = this;
    this.next = nextToAsk(weights, [n, n], touched.word, known);
    setProperty(this.ask, "hidden", !asked && this.next === null);
    const token = this.next === null ? "" : wordName(header.q, this.next);
    setText(this.ask, asked ? header.words.guess_show : fill(header.words.guess, { token }));
  }

  /** Asks about the next word; or shows what was asked. */
  askNext() {
    const word = this.asked ? null : this.next;
    if (word === null) {
      this.change({});
      return;
    }
    this.unfolded = false;
    this.known.add(word);
    this.change({ word, axis: "q", pinned: null }, true);
    this.buttons[word].focus({ preventScroll: true });
  }

  /** A change of what is touched, as a hand makes it. @param {Partial<Touched>} touched @param {boolean} [asked] */
  change(touched, asked = false) {
    const before = this.touched;
    this.touched = { ...before, ...touched };
    if (asked || before.word !== this.touched.word || before.axis !== this.touched.axis) this.guess = null;
    this.asked = asked;
    this.lit = null;
    this.draw(false);
    this.measure();
    this.report();
  }

  /** Touches a word. The one on show stays. Whoever is asked has answered. @param {number} word */
  touch(word) {
    this.buttons[word].focus({ preventScroll: true });
    if (this.asked) {
      this.guess = word;
      this.change({});
    } else this.change({ word, pinned: null });
  }

  /** The word that has the keyboard while somebody is asked. */
  get aimed() {
    return this.buttons.findIndex((button) => button.matches(":focus"));
  }

  /** Goes to a word with the keyboard, without an answer. @param {number} word */
  aim(word) {
    this.buttons[word].focus({ preventScroll: true });
    this.light(word);
  }

  /** @param {number | null} i */
  light(i) {
    const { word } = this.touched;
    const shares = i === null || i === word ? null : touchedWeights(this.head, this.touched);
    const lit = shares && i !== null && shares[i] !== null ? i : null;
    if (lit === this.lit) return;
    this.lit = lit;
    this.refresh();
  }

  /** @param {Tile} tile @param {boolean} ended */
  choose(tile, ended) {
    Object.assign(this, { tile, asked: false, guess: null });
    if (this.all || ended) this.draw(false);
    if (ended) this.report();
  }

  /**
   * Draws another mask or scale; an open question about a word is dropped.
   * @param {Edit} edit
   * @param {boolean} ended whether the hand has let go
   * @param {boolean} [follows] whether it is drawn at once, without gliding
   */
  setEdit(edit, ended, follows = false) {
    Object.assign(this, { edit, asked: false });
    this.draw(follows);
    this.measure();
    if (ended) this.report();
  }

  toggleMatrix() {
    Object.assign(this, { unfolded: !this.unfolded, asked: false });
    this.draw(false);
    this.report();
  }

  report() {
    const { tile, touched, edit, unfolded, header } = this;
    this.tellPython("stood", { doc: header.doc, tile, ...touched, unfolded, edit: packEdit(edit) });
  }

  /** What is on show, as a part of a figure. @returns {FigurePart} */
  part() {
    const { header, raw, tile, touched, asked, guess, unfolded, edit } = this;
    const { q, glued, colours, words, title } = header;
    const one = packRawScores([raw]);
    const state = { tile, ...touched, asked, guess, unfolded, edit: packEdit(edit) };
    return ["ribbons", { q, glued, raw: one.header, state, colours, words, title: titleOf(title, tile) }, one.payload];
  }

  resize() {
    this.drawnStrip = null; // another window may have other pixels
    this.draw(true); // its strip of heads has the lines that it takes here
    this.fit();
    if (this.high !== null) this.draw(true);
  }
}

/** @param {string} template @param {Tile} tile */
function titleOf(template, [layer, head]) {
  return fill(template, { layer, head });
}

export default /* @__PURE__ */ viewComponent(Ribbons);
