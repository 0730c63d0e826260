// One slider from as many K/V heads as query heads to one: it plays once on arrival, up to the way of sharing that is chosen.

import { readTheme } from "../shared/colour.js";
import { viewComponent } from "../shared/component.js";
import { el, fill, setAttribute, setText } from "../shared/dom.js";
import { FilmView } from "../shared/film_view.js";
import { sizeCanvas } from "../shared/surface.js";
import { pictureHeight, placeOn } from "../shared/window.js";
import { Glide, marksBetween } from "../scene/glide.js";
import { drawSharing, headMarks, sharingFigure, sharingFilm, sharingScene } from "./columns_scene.js";

/** @import { HeadMark } from "./columns_scene.js" */
/** @import { Answer, Component, SharingHeader } from "../shared/types.js" */

/** Milliseconds of a step that plays, and of the heads' way in it. */
const [STEP, WAY] = [1100, 700];
/** Pixels of the picture at least and at most, and of what stands below it. */
const ROOM = { least: 250, most: 520, below: 130 };

/** @extends {FilmView<Answer & SharingHeader>} */
class SharingColumns extends FilmView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.canvas = el("canvas", "av-pan sc-canvas", null, { role: "img" });
    this.bar = el("div", "av-player");
    this.addPlayButton(this.bar, "▶", "play", Infinity);
    this.said = el("output", "av-strong sc-said");
    this.spoken = [this.said];
    this.bar.append(this.range, this.said);
    root.replaceChildren(this.canvas, this.bar);
    const between = (/** @type {HeadMark[]} */ from, /** @type {HeadMark[]} */ to) =>
      Object.assign(marksBetween(from, to), this.film ? { milliseconds: WAY } : {});
    this.glide = new Glide(this.canvas, (/** @type {HeadMark[]} */ marks) => this.paint(marks), between);
    this.followDrag(this.canvas, (event) =>
      Math.round((placeOn(this.canvas, event)[0] / this.canvas.clientWidth) * this.last),
    );
    this.offer("sharing", sharingFigure, sharingFilm);
  }

  /** @param {Component} component */
  show(component) {
    const { header, before } = this.receive(component);
    const ways = (/** @type {SharingHeader} */ { columns }) => columns.map(({ kv_heads: kvHeads }) => kvHeads).join();
    this.arrive(header.columns.length - 1, !before || ways(before) !== ways(header));
    if (!before) this.playOnArrival();
  }

  /** @param {number} stops */
  pace(stops) {
    return STEP * stops;
  }

  /** The picture at its size, and the way of sharing that is written in it. */
  scene() {
    const size = { width: this.root.clientWidth, height: pictureHeight(this.root, ROOM) };
    return sharingScene(this.header, this.at, size, readTheme(this.root, this.header.colours));
  }

  draw() {
    if (!this.held || !this.root.clientWidth) return;
    const column = this.header.columns[this.at];
    this.glide.to(headMarks(column));
    if (!this.glide.picture.dataset.gliding) this.paint(headMarks(column)); // a number may have changed alone
    setText(this.said, fill(this.header.words.heads, { n: column.kv_heads }));
    setAttribute(this.range, "aria-valuetext", column.spoken);
    setAttribute(this.canvas, "aria-label", column.spoken);
    this.root.dataset.reached = String(column.kv_heads);
  }

  /** @param {HeadMark[]} marks */
  paint(marks) {
    const scene = this.scene();
    drawSharing(sizeCanvas(this.canvas, scene.width, scene.height), scene, marks);
  }
}

export default viewComponent(SharingColumns);
