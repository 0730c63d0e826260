// What a cache holds as a slider moves, or plays: bars of bytes for each way of sharing as tokens come, or the bricks of a decoder's
// steps with a cache and without. Every number is Python's; the browser only chooses the place and draws it.

import { readTheme } from "../shared/colour.js";
import { viewComponent } from "../shared/component.js";
import { setAttribute, el, fill, joinTexts } from "../shared/dom.js";
import { FilmView } from "../shared/film_view.js";
import { formatGrouped } from "../shared/numbers.js";
import { Glide } from "../scene/glide.js";
import { drawMarks, travel } from "../scene/marks.js";
import { offerPicture } from "../shared/offer.js";
import { sizeCanvas } from "../shared/surface.js";
import { pictureHeight, placeOn } from "../shared/window.js";
import { brickFigure, brickFilm, brickScene, brickSentence, stepUnder } from "./brick_scene.js";
import { cacheBars, drawGrowth, growthFigure, growthScene } from "./cache_growth_scene.js";

/** @import { Answer, BrickRun, Component, DrawingContext, GrowthRun } from "../shared/types.js" */

/** Milliseconds of a step that plays, of all at most, and of the bricks' way in one. */
const [STEP, LONGEST, WAY] = [800, 9000, 450];
/** Pixels of the bricks at least and at most, and of what stands below them. */
const ROOM = { least: 300, most: 440, below: 130 };

/** @extends {FilmView<Answer & (GrowthRun | BrickRun)>} */
class CacheGrowth extends FilmView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.bar = el("div", "av-player cg-bar");
    this.said = el("output", "av-strong cg-said");
    this.bars = el("canvas", "av-pan cg-bars", null, { role: "img" });
    this.addPlayButton(this.bar, "▶", "play", Infinity);
    this.range.classList.add("cg-range");
    this.bar.append(this.range, this.said);
    this.spoken = [this.said];
    /** What is drawn now: of this size, by this function. */
    /** @type {{ width: number, height: number, draw: (context: DrawingContext, marks: any[]) => void } | null} */
    this.scene = null;
    const draw = (/** @type {any[]} */ marks) => {
      if (this.scene) this.scene.draw(sizeCanvas(this.bars, this.scene.width, this.scene.height), marks);
    };
    const between = (/** @type {any[]} */ from, /** @type {any[]} */ to) =>
      Object.assign(travel(from, to), this.film ? { milliseconds: Math.min(WAY, 0.6 * this.pace(1)) } : {});
    this.glide = new Glide(this.bars, draw, between);
    root.replaceChildren(this.bars, this.bar);
    this.followDrag(this.bars, (event) => {
      const [x] = placeOn(this.bars, event);
      return "contexts" in this.header ? stepUnder(this.header, this.root.clientWidth, x) : null;
    });
    const none = new Uint8Array();
    const saved = () => /** @type {any} */ ({ ...this.header, at: this.at, title: "" });
    offerPicture(
      root,
      () => [[this.isBricks ? "bricks" : "growth", saved(), none]],
      (header, payload, theme) =>
        (this.isBricks ? brickFigure : growthFigure)(/** @type {any} */ (header), payload, theme),
      () => (this.isBricks ? brickFilm(saved()) : null),
    );
  }

  get isBricks() {
    return "contexts" in this.header;
  }

  /** @param {Component} component */
  show(component) {
    const { header, before } = this.receive(component);
    this.root.classList.toggle("cg-first", !("contexts" in header)); // the slider stands above bars
    if (!("contexts" in header)) {
      this.arrive(header.tokens.length - 1, !before);
      return;
    }
    const old = before && "contexts" in before ? before : null;
    const grows = old !== null && old.labels.every((label, token) => label === header.labels[token]);
    const isNewest = grows && this.at === old.contexts.length - 1;
    this.arrive(header.contexts.length - 1, !grows);
    if (isNewest && !this.isMoving && header.at >= this.at) this.stand(header.at);
    if (!before && header.contexts.length === header.total) this.playOnArrival();
  }

  /** @param {number} stops */
  pace(stops) {
    if (!this.isBricks) return super.pace(stops);
    return stops * Math.min(STEP, LONGEST / Math.max(1, this.last));
  }

  draw() {
    if (!this.held || !this.root.clientWidth) return;
    const header = this.held;
    const { said, heard, seen, ...scene } = "contexts" in header ? this.bricks(header) : this.growth(header);
    const marks = /** @type {any[]} */ (scene.marks);
    this.said.textContent = said;
    if (this.isMoving && !this.isBricks) this.glide.show(marks);
    else this.glide.to(marks);
    this.range.setAttribute("aria-valuetext", heard);
    setAttribute(this.bars, "aria-label", seen);
  }

  /** @param {BrickRun} header */
  bricks(header) {
    const size = { width: this.root.clientWidth, height: pictureHeight(this.root, ROOM) };
    const { marks, theme } = brickScene(header, this.at, size, readTheme(this.root, header.colours));
    this.scene = { ...size, draw: (context, moved) => drawMarks(context, moved, theme) };
    this.root.dataset.reached = String(this.at);
    const heard = brickSentence(header, this.at);
    const said = fill(header.words.place, { step: this.at + 1, total: header.total });
    return { marks, said, heard, seen: heard };
  }

  /** @param {GrowthRun} header */
  growth(header) {
    const { tokens, words, colours } = header;
    const held = tokens[this.at];
    const said = fill(held === 1 ? words.one : words.many, { n: formatGrouped(held) });
    const scene = growthScene(header, this.at, this.root.clientWidth, readTheme(this.root, colours));
    this.scene = { ...scene, draw: (context, bars) => drawGrowth(context, scene, bars) };
    const kept = scene.groups.map(({ rows }) => rows.map((row) => `${row.said} ${row.text}`));
    const keptIn = (/** @type {string} */ what, /** @type {string[]} */ bars) =>
      fill(words.kept, { said: what, kept: joinTexts(words.join_things, bars) });
    const groups = scene.groups.map(({ name }, n) => keptIn(name, kept[n]));
    this.root.dataset.tokens = String(held);
    return {
      marks: cacheBars(scene),
      said,
      heard: keptIn(said, kept.flat()),
      seen: joinTexts(words.join_clauses, groups),
    };
  }
}

export default viewComponent(CacheGrowth);
