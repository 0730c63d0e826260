// The picture of what grows with d_k: it plays once on arrival, up to the d_k that is chosen; a hand drags d_k on the picture.

import { viewComponent } from "../shared/component.js";
import { readTheme } from "../shared/colour.js";
import { labelledSlider } from "../shared/controls.js";
import { createBox, el, fill, setAttribute } from "../shared/dom.js";
import { FilmView } from "../shared/film_view.js";
import { formatFixed, formatGrouped, formatPercent } from "../shared/numbers.js";
import { sizeCanvas } from "../shared/surface.js";
import { placeOn, presentationRoom } from "../shared/window.js";
import { AROUND, drawWalk, readWalks, stopAtX, walkFigure, walkFilm, walkScene } from "./score_walk_scene.js";

/** @import { Answer, Component, ScoreWalkHeader } from "../shared/types.js" */

/** Pixels below a picture that is presented, for its slider and what is said of it, and of its walks at least. */
const [BELOW, LEAST] = [140, 150];

/** @extends {FilmView<Answer & ScoreWalkHeader>} */
class ScoreWalk extends FilmView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    /** @type {ReturnType<typeof readWalks>} */
    this.stops = [];
    /** @type {ReturnType<typeof walkScene> | null} */
    this.scene = null;
    this.canvas = el("canvas", "av-pan sw-canvas", null, { role: "img" });
    this.slider = labelledSlider(this.range, "sw", "d_k", "d_k", " = ");
    this.addPlayButton(this.slider.line, "▶", "play", Infinity);
    this.slider.line.prepend(this.players[0].button);
    root.replaceChildren(createBox("", this.canvas), this.slider.line);
    this.followDrag(this.canvas, (event) => (this.scene ? stopAtX(this.scene, placeOn(this.canvas, event)[0]) : null));
    this.offer("walk", walkFigure, walkFilm);
  }

  /** @param {Component} component */
  show(component) {
    const { header, payload, before } = this.receive(component);
    this.stops = readWalks(header, payload);
    this.arrive(header.d_k.length - 1, !before);
    if (!before) this.playOnArrival();
  }

  draw() {
    const width = this.root.clientWidth;
    if (!this.held || !width) return;
    const { words, colours } = this.header;
    const room = presentationRoom(this.root);
    const high = room === null ? undefined : Math.max(LEAST, room - AROUND - BELOW);
    this.scene = walkScene(this.header, this.stops, this.at, width, readTheme(this.root, colours), high);
    drawWalk(sizeCanvas(this.canvas, width, this.scene.height), this.scene);
    const { d, weights, norms } = this.stops[this.at];
    this.slider.value.textContent = formatGrouped(d);
    const [raw, scaled] = weights.map((row) => formatPercent(Math.max(...row), 0));
    const [one, other] = norms.map((norm) => formatFixed(norm, 3));
    const told = fill(words.heard, { d_k: d, raw, scaled, norm_raw: one, norm_scaled: other });
    setAttribute(this.range, "aria-valuetext", told);
    setAttribute(this.canvas, "aria-label", told);
    this.root.dataset.reached = String(d);
  }
}

export default viewComponent(ScoreWalk);
