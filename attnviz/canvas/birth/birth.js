// A training run with a handle: its curves, and at the handle's step all heads on the visitor's words, computed here from the
// model's numbers. Those of the step on show come with the header, 16 bits each; those of all steps are fetched once.

import { drawColourBar } from "../shared/colour_bar.js";
import { readTheme } from "../shared/colour.js";
import { viewComponent } from "../shared/component.js";
import { createBox, setAttribute, createButton, el, fill, joinTexts, setText, visibleToken } from "../shared/dom.js";
import { FilmView } from "../shared/film_view.js";
import { clamp, formatFixed, formatGrouped, formatPercent } from "../shared/numbers.js";
import { offerPicture } from "../shared/offer.js";
import { layOver, oncePerFrame, sizeCanvas } from "../shared/surface.js";
import {
  birthFigure,
  birthFilm,
  drawHeads,
  drawStory,
  NAME,
  headLabels,
  momentSentence,
  passesFilm,
  placeHeads,
  placeStory,
  birthScene,
} from "./birth_scene.js";
import { nearestStep, shareAt, stepTimes } from "./curves.js";
import { forward, passesByStep, decodeSingles } from "./forward.js";
import { ARROWS } from "../shared/controls.js";
import { placeOn, presentationRoom } from "../shared/window.js";

/** @import { Pass } from "./forward.js" */
/** @import { BirthHeader, Component } from "../shared/types.js" */
/** @import { BirthScene, PlacedHeads, Story } from "./birth_scene.js" */

/** Milliseconds of a film of all steps. */
const WHOLE = 10_000;

/** What lies over the drawing: a button on each head, which is pointed into, too, and the words as text. */
class Heads {
  /** @param {(head: number) => void} onClick */
  constructor(onClick) {
    this.onClick = onClick;
    this.grid = el("div", "bi-heads");
    this.pointed = el("div", "av-small av-readout", null, { "aria-live": "polite" });
    this.cell = [0, 0]; // query and key
    this.copies = el("div", "bi-copies");
    this.tiles = /** @type {{ control: HTMLElement, name: HTMLElement, what: HTMLElement }[]} */ ([]);
    this.chips = /** @type {{ chip: HTMLElement, below: HTMLElement }[]} */ ([]);
    /** @type {BirthScene | null} */
    this.scene = null;
  }

  /** Writes the weight of a head in the cell under the pointer. @param {BirthHeader} header @param {number} head */
  writeCellWeight({ names, tokens, words }, head) {
    const [q, k] = this.cell;
    const [query, key] = [tokens[q], tokens[k]].map(visibleToken);
    const weight = formatPercent(this.scene?.pass.weights[head][q * tokens.length + k] ?? 0);
    setText(this.pointed, fill(words.cell, { head: names[head], query, key, q: q + 1, k: k + 1, weight }));
  }

  /** @param {BirthHeader} header */
  build(header) {
    const { names, tokens, words } = header;
    const last = tokens.length - 1;
    this.cell = [last, 0];
    this.tiles = names.map((_name, head) => {
      const [name, what] = [el("b"), el("span")];
      const control = createButton("av-words bi-tile", null, () => this.onClick(head), { title: words.silence });
      control.append(name, what);
      control.addEventListener("pointermove", (event) => {
        const [x, y] = placeOn(control, event);
        if (y < NAME) return;
        this.cell = [y - NAME, x].map((at) => clamp(Math.floor((at / control.clientWidth) * (last + 1)), 0, last));
        this.writeCellWeight(header, head);
      });
      control.addEventListener("keydown", (event) => {
        const way = ARROWS[event.key];
        if (!way) return;
        event.preventDefault();
        this.cell = this.cell.map((at, i) => clamp(at + way[i], 0, last));
        this.writeCellWeight(header, head);
      });
      for (const end of ["pointerleave", "blur"])
        control.addEventListener(end, () => setText(this.pointed, words.rest));
      return { control, name, what };
    });
    this.grid.replaceChildren(...this.tiles.map(({ control }) => control));
    setText(this.pointed, words.rest);
    this.chips = tokens.map((token) => {
      const below = el("span");
      return { chip: createBox("av-words bi-chip", el("b", "", visibleToken(token)), below), below };
    });
    const half = tokens.length / 2;
    const copy = (/** @type {string} */ name, /** @type {number} */ from) =>
      createBox("", el("span", "av-sr", name), ...this.chips.slice(from, from + half).map(({ chip }) => chip));
    this.copies.replaceChildren(copy(words.first, 0), copy(words.second, half));
  }

  /**
   * Lays all over a drawing, and says which head looks most at the token before, and which at what came next last time.
   * @param {BirthHeader} header @param {BirthScene} scene @param {Story} story @param {PlacedHeads} placed
   */
  lay(header, scene, { copies }, { places }) {
    const { names, words } = header;
    this.scene = scene;
    this.tiles.forEach(({ control, name, what }, head) => {
      layOver(control, places[head]);
      const [named, below] = headLabels(header, scene, head);
      setText(name, named);
      setText(what, below);
      setAttribute(control, "aria-pressed", String(scene.silenced.has(head)));
    });
    const chips = copies.flatMap((copy) => copy.chips);
    this.chips.forEach(({ chip, below }, i) => {
      layOver(chip, chips[i]);
      setText(below, chips[i].below);
    });
    return /** @type {const} */ (["previous", "induction"]).map((what) => {
      const most = scene.scores.reduce((top, each, head, all) => (each[what] > all[top][what] ? head : top), 0);
      return fill(words[`best_${what}`], { head: names[most], score: formatFixed(scene.scores[most][what], 2) });
    });
  }
}

/** @extends {FilmView<BirthHeader>} */
class Birth extends FilmView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.fields = ["at", "silenced"];
    /** @type {number[]} heads whose output is 0, by their place among all */
    this.silenced = [];
    this.reached = 0;
    /** @type {number[]} when a film reaches each step */
    this.times = [];
    /** @type {Uint16Array | null} the numbers of the step that Python chose */
    this.sent = null;
    /** @type {Uint16Array | null} those of all steps */
    this.all = null;
    /** @type {Map<number, import("./forward.js").Pass> | null} what a file has in their place, with the heads on show silenced */
    this.passes = null;
    this.draw = oncePerFrame(() => this.picture());
    const bar = el("div", "av-line av-slider");
    this.addPlayButton(bar, "▶", "play", Infinity);
    this.step = el("span", "av-strong bi-step"); // the slider says it, too
    bar.append(this.range, this.step);
    this.story = el("canvas");
    this.maps = el("canvas");
    this.curves = el("div", "av-words bi-curves av-pan", null, { role: "img" });
    this.heads = new Heads((head) => this.silence(head));
    this.said = el("div", "av-sr bi-said", null, { "aria-live": "polite" });
    this.spoken = [this.said];
    this.scale = el("div", "av-bar-row");
    const story = createBox("bi-drawn", this.story, this.curves, this.said, this.heads.copies);
    this.left = createBox("av-column bi-left", bar, story);
    this.right = createBox(
      "av-column bi-right",
      createBox("bi-drawn", this.maps, this.heads.grid),
      this.heads.pointed,
      this.scale,
    );
    root.replaceChildren(createBox("av-wrap bi-both", this.left, this.right));
    this.followDrag(this.curves, ({ offsetX }) =>
      nearestStep(this.header.steps, shareAt(offsetX, this.curves.clientWidth)),
    );
    offerPicture(
      root,
      () => [this.figurePart()],
      birthFigure,
      () => this.filmOfAll(),
    );
  }

  /** @param {Component} component */
  show(component) {
    const { header, payload, before } = this.receive(component);
    const other = before?.model !== header.model;
    if (other) {
      this.all = null;
      this.reached = 0;
      this.times = stepTimes(header);
      if (header.address) void this.fetch();
      else this.passes = passesByStep(header, payload);
    }
    this.sent = new Uint16Array(payload.slice(0, 2 * header.size).buffer);
    if (before?.layout !== header.layout) this.heads.build(header);
    this.arrive(header.steps.length - 1, other);
  }

  /** Brings the numbers of all steps, piece by piece; without them the picture stays at the step that was sent. */
  async fetch() {
    const { model, pieces, steps, size } = this.header;
    const parts = await Promise.all(pieces.map(async (each) => (await fetch(each)).arrayBuffer())).catch(() => []);
    const bytes = await new Blob(parts).arrayBuffer();
    if (this.header.model !== model || bytes.byteLength !== 2 * steps.length * size) return;
    this.all = new Uint16Array(bytes);
    this.root.dataset.fetched = model;
    this.draw();
    if (this.header.plays && !this.holding && this.spelled(this) === this.told) this.playOnArrival();
  }

  /** What comes is not seen before the film has been there. */
  playOnArrival() {
    this.reached = 0;
    super.playOnArrival();
  }

  /** @param {number} stops */
  pace(stops) {
    return (WHOLE * stops) / this.last;
  }

  /** @param {number} from @param {number} to @param {number} share */
  stopAt(from, to, share) {
    const { times } = this;
    const time = times[from] + share * (times[to] - times[from]);
    return times.findLastIndex((each) => each <= time + 1e-9);
  }

  /** A file stands at steps of which it has passes. @param {number} stop */
  stand(stop) {
    const places = [...(this.passes?.keys() ?? [])];
    const near = (/** @type {number} */ best, /** @type {number} */ place) =>
      Math.abs(place - stop) < Math.abs(best - stop) ? place : best;
    super.stand(places.length ? places.reduce(near) : stop);
  }

  /** Silences a head, or lets it speak again. @param {number} head */
  silence(head) {
    if (this.passes) this.stand(this.header.at);
    const others = this.silenced.filter((each) => each !== head);
    this.silenced = others.length < this.silenced.length ? others : [...others, head].sort((a, b) => a - b);
    this.draw();
    this.commit();
  }

  /** The model's numbers at the step on show, 16 bits each; null until they have come. */
  get numbers() {
    const { size, at } = this.header;
    if (this.all) return this.all.subarray(this.at * size, (this.at + 1) * size);
    return this.at === at ? this.sent : null;
  }

  /** Of all steps, in a file of those of which it has passes; null until they have come. */
  filmOfAll() {
    const { passes, all, header, silenced } = this;
    const told = { ...header, title: "" };
    if (passes) return passesFilm(told, [...passes.keys()], (at) => /** @type {Pass} */ (passes.get(at)));
    return all && birthFilm({ ...told, silenced }, new Uint8Array(all.buffer));
  }

  /** The run at the step on show, as a part of a figure. @returns {[string, any, Uint8Array]} */
  figurePart() {
    const { header, at, silenced, numbers } = this;
    if (!numbers) throw new Error("the numbers of this step have not come yet");
    return ["birth", { ...header, at, silenced, title: "" }, new Uint8Array(numbers.slice().buffer)];
  }

  /** Pixels of a head's picture at most: a presented page has its height. @param {number} layers */
  largestTile(layers) {
    const room = presentationRoom(this.maps);
    if (room === null) return Infinity; // nothing is measured while a film plays
    const below = this.heads.pointed.offsetHeight + this.scale.offsetHeight + 16;
    return Math.max(80, (room - below) / layers - NAME - 8);
  }

  picture() {
    if (!this.held || !this.root.clientWidth) return;
    const { steps, words, colours, open, ids, sizes, at } = this.held;
    const theme = readTheme(this.root, colours);
    const step = steps[this.at];
    this.reached = open ? Infinity : Math.max(this.reached, step);
    setText(this.step, fill(words.at, { step: formatGrouped(step) }));
    const silenced = new Set(this.passes && this.at !== at ? this.held.silenced : this.silenced);
    const bar = { scale: { top: 1, root: false }, signed: false, unit: words.weight, colours };
    drawColourBar(this.scale, bar, theme.dark, sizes.causal ? words.hidden : null);
    const { numbers } = this;
    const pass = numbers ? forward(decodeSingles(numbers), ids, sizes, silenced) : this.passes?.get(this.at);
    const scene = pass ? birthScene(this.held, pass, step, silenced) : this.heads.scene;
    if (!scene) return;
    const room = presentationRoom(this.story) ?? Infinity;
    const story = placeStory(this.held, scene, Math.max(240, this.left.clientWidth), room);
    const most = this.largestTile(sizes.layers);
    const placed = placeHeads(this.held, Math.min(620, this.right.clientWidth), most);
    const now = { step, reached: this.reached, silenced };
    drawStory(sizeCanvas(this.story, story.width, story.height), story, this.held, now, theme);
    drawHeads(sizeCanvas(this.maps, placed.width, placed.height), placed, this.held, scene, theme);
    layOver(this.curves, { x: 0, y: 0, w: story.width, h: story.high });
    const best = this.heads.lay(this.held, scene, story, placed);
    const said = joinTexts(words.join_sentences, [scene.said, momentSentence(this.held, this.reached)]);
    setText(this.said, said);
    setAttribute(this.range, "aria-valuetext", said);
    setAttribute(
      this.curves,
      "aria-label",
      joinTexts(words.join_heard, [words.picture, joinTexts(words.join_sentences, [said, ...best])]),
    );
    if (pass) this.root.dataset.step = String(step);
    if (pass) globalThis.dispatchEvent(new CustomEvent("attnviz-training-step", { detail: this.at }));
  }
}

export default viewComponent(Birth);
