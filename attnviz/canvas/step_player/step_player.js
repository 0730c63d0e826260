// A decoder's steps as a film that the browser plays: transport, the tokens, the scene, the choice, the work.
// The blob's payload is float32: q (T, D), k (T, D), v (T, Dv), output (T, Dv), weights (T, T).

import { readTheme } from "../shared/colour.js";
import { viewComponent } from "../shared/component.js";
import { createBox, setAttribute, createButton, el, fill, joinTexts, setText, visibleToken } from "../shared/dom.js";
import { FilmView } from "../shared/film_view.js";
import { clamp, formatPercent } from "../shared/numbers.js";
import { toFloats } from "../shared/packing.js";
import { stepFigure, stepFilm } from "./step_player_figure.js";
import { drawStep, filmOf, newRows, playerLayout, rowAt, stepOfRow } from "./step_player_scene.js";
import {
  drawSide,
  drawTape,
  stepSentence,
  layerUnder,
  placeTape,
  sideText,
  sideScene,
  touchedToken,
} from "./step_player_side.js";
import { layOver, oncePerFrame, sizeCanvas } from "../shared/surface.js";
import { placeOn } from "../shared/window.js";

/** @import { Answer, Component, PlayedRun, Theme } from "../shared/types.js" */
/** @import { Film } from "./step_player_scene.js" */

/** How long a step stands while the film plays, in milliseconds. */
const STAND = 900;

/** @extends {FilmView<Answer & PlayedRun & { name: string }>} */
class StepPlayer extends FilmView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    /** @type {Film | null} the head's numbers */
    this.numbers = null;
    /** @type {number | null} */
    this.pointed = null;
    this.draw = oncePerFrame(() => this.picture());
    this.bar = el("div", "av-line sp-bar");
    this.addStepButton(this.bar, "«", "first", -Infinity);
    this.addStepButton(this.bar, "‹", "back", -1);
    this.starter = this.addPlayButton(this.bar, "▶", "play", Infinity);
    this.addStepButton(this.bar, "›", "next", 1);
    this.addStepButton(this.bar, "»", "last", Infinity);
    this.starter.classList.add("av-strong", "sp-play");
    this.range.classList.add("sp-range");
    this.bar.append(this.range);
    this.said = el("div", "av-strong sp-said", null, { "aria-live": "polite" });
    this.spoken = [this.said];
    this.tape = el("canvas");
    this.tokens = el("div", "sp-tokens");
    this.touched = ""; // the places of the tokens that can be touched
    this.canvas = el("canvas", "sp-canvas av-pan", null, { tabindex: "0", role: "application" });
    this.readout = el("div", "sp-readout", null, { "aria-live": "polite" });
    this.side = el("canvas", "", null, { role: "img" });
    this.build();
    this.offer("steps", stepFigure, (header, payload) => (header.steps.length > 1 ? stepFilm(header, payload) : null));
  }

  build() {
    const left = createBox("av-column sp-left", this.canvas, this.readout);
    const stage = createBox("av-wrap sp-stage", left, createBox("av-column sp-side", this.side));
    this.root.replaceChildren(this.bar, this.said, createBox("sp-tape", this.tape, this.tokens), stage);
    this.root.addEventListener("keydown", (event) => this.stepKeys(event));
    for (const kind of /** @type {const} */ (["pointermove", "pointerdown"])) {
      this.canvas.addEventListener(kind, (event) => this.point(event.offsetY));
    }
    for (const away of ["pointerleave", "blur"]) this.canvas.addEventListener(away, () => this.pointAt(null));
    this.canvas.addEventListener("keydown", (event) => this.rowKey(event));
    this.side.addEventListener("pointermove", (event) => {
      this.side.title = layerUnder(this.sideScene(), ...placeOn(this.side, event));
    });
  }

  /** @param {Component} component */
  show(component) {
    const { header, payload, before } = this.receive(component);
    this.numbers = filmOf(header, toFloats(payload));
    const grows = before !== null && header.steps.length > before.steps.length && header.labels[0] === before.labels[0];
    const newest = grows && this.at === before.steps.length - 1;
    this.arrive(header.total - 1, before?.name !== header.name && !grows);
    if (newest && !this.film && this.gestures.isBehind(header.session, header.ack)) this.stand(Infinity);
  }

  /** Up and down go through the rows of the cache, from the newest token's own. @param {KeyboardEvent} event */
  rowKey(event) {
    const newest = newRows(this.header.steps, this.at)[1] - 1;
    const at = this.pointed;
    if (event.key === "ArrowUp") this.pointAt(at === null ? newest : Math.max(0, at - 1));
    else if (event.key === "ArrowDown") this.pointAt(at === null ? 0 : Math.min(newest, at + 1));
    else if (event.key === "Escape" && at !== null) this.pointAt(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {number} stops */
  pace(stops) {
    return STAND * stops;
  }

  /** The film plays on where steps still come. */
  ended() {
    const { steps, total } = this.header;
    if (steps.length < total && this.root.isConnected) this.play(this.starter, Infinity);
    else super.ended();
  }

  /** @param {number} step */
  stand(step) {
    this.pointed = null;
    super.stand(clamp(step, 0, this.header.steps.length - 1));
  }

  /** @param {number} y */
  point(y) {
    if (this.held) this.pointAt(rowAt(playerLayout(this.width(), this.held.rows), this.held.rows, y));
  }

  /** @param {number | null} row */
  pointAt(row) {
    if (row === this.pointed) return;
    this.pointed = row;
    this.draw();
  }

  width() {
    return Math.max(200, this.canvas.parentElement?.clientWidth ?? 0);
  }

  picture() {
    if (!this.held || !this.numbers) return;
    const { steps, words } = this.header;
    const [, end] = newRows(steps, this.at);
    const said = stepSentence(this.header, this.at);
    this.range.setAttribute("aria-valuetext", said);
    setText(this.said, said);
    const { header, numbers: film, at, pointed } = this;
    const width = this.width();
    const layout = playerLayout(width, header.rows);
    const theme = readTheme(this.root, header.colours);
    drawStep(sizeCanvas(this.canvas, width, layout.height), { header, film, at, theme, layout, pointed });
    this.canvas.setAttribute("aria-label", joinTexts(words.join_heard, [words.scene, said, ...this.largest(end)]));
    this.read(end);
    this.drawTape(theme);
    const side = this.sideScene();
    drawSide(sizeCanvas(this.side, side.width, side.height), side, theme);
    setAttribute(this.side, "aria-label", sideText(side));
    this.root.dataset.step = String(at);
  }

  sideScene() {
    const width = Math.max(200, this.side.parentElement?.clientWidth ?? 0);
    const costs = getComputedStyle(this.root).getPropertyValue("--sp-costs").trim() !== "none";
    return sideScene(this.header, this.at, width, costs);
  }

  /** The three rows of the cache that the newest token looks at most, for those who hear the picture. */
  /** @param {number} end */
  largest(end) {
    return Array.from({ length: end }, (_none, row) => row)
      .sort((a, b) => this.weightOf(end, b) - this.weightOf(end, a))
      .slice(0, 3)
      .map((row) => this.rowSaid(end, row));
  }

  /** @param {number} end @param {number} row */
  weightOf(end, row) {
    return this.numbers?.weights[(end - 1) * this.header.rows + row] ?? 0;
  }

  /** @param {number} end @param {number} row */
  rowSaid(end, row) {
    const { labels, words } = this.header;
    const [token, other] = [labels[end - 1], labels[row]].map(visibleToken);
    return fill(words.row, { token, other, weight: formatPercent(this.weightOf(end, row)) });
  }

  /** The tokens, and over each a button that goes to its step. @param {Theme} theme */
  drawTape(theme) {
    const tape = placeTape(this.header, this.at, Math.max(200, this.tokens.parentElement?.clientWidth ?? 0));
    drawTape(sizeCanvas(this.tape, tape.width, tape.height), tape, theme);
    const places = JSON.stringify(tape);
    if (places === this.touched) return;
    this.touched = places;
    const buttons = tape.tokens.map((token, i) => {
      const go = () => this.goTo(stepOfRow(this.header.steps, i));
      return layOver(
        createButton("sp-token", null, go, { tabindex: "-1", "aria-label": token.text }),
        touchedToken(token),
      );
    });
    this.tokens.replaceChildren(...buttons);
  }

  /** @param {number} end */
  read(end) {
    const { labels, words } = this.header;
    const row = this.pointed;
    if (row === null) setText(this.readout, fill(words.rest, { token: visibleToken(labels[end - 1]) }));
    else if (row >= end) setText(this.readout, fill(words.after, { other: visibleToken(labels[row]) }));
    else setText(this.readout, this.rowSaid(end, row));
  }
}

export default viewComponent(StepPlayer);
