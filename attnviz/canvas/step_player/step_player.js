// A decoder's steps as a film that the browser plays: transport, the tokens, the scene, the choice, the work.
// The blob's payload is float32: q (T, D), k (T, D), v (T, Dv), output (T, Dv), weights (T, T).

import { themeOf } from "../shared/colour.js";
import { lastingComponent, View } from "../shared/component.js";
import { addButton, around, attribute, button, el, fill, joined, say, visibleToken } from "../shared/dom.js";
import { clamp, percent } from "../shared/numbers.js";
import { floats } from "../shared/packing.js";
import { newRows, playerLayout, rowAt, stepOfRow } from "./step_player_geometry.js";
import { drawStep, filmOf } from "./step_player_scene.js";
import { drawSide, layerUnder, sideSaid, sideScene } from "./step_player_side.js";
import { drawTape, placeTape, touchedOf } from "./step_player_tape.js";
import { headline } from "./step_player_texts.js";
import { layOver, onceAFrame, sized, watchSize } from "../shared/surface.js";
import { placeOn } from "../shared/window.js";

/** @import { Component, PlayerHeader, Theme } from "../shared/types.js" */
/** @import { Film } from "./step_player_scene.js" */

/** How long a step stands while the film plays, in milliseconds. */
const STAND = 900;

/** @extends {View<PlayerHeader>} */
class StepPlayer extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    /** @type {Film | null} */
    this.film = null;
    this.at = 0;
    this.told = -1;
    this.timer = 0;
    /** @type {number | null} */
    this.pointed = null;
    this.redraw = onceAFrame(() => this.draw());
    this.bar = el("div", "av-line sp-bar");
    this.play = el("button");
    this.range = el("input", "av-slider-range sp-range", null, { type: "range", min: "0", step: "1" });
    this.said = el("div", "av-strong sp-said", null, { "aria-live": "polite" });
    this.tape = el("canvas");
    this.tokens = el("div", "sp-tokens");
    this.touched = ""; // the places of the tokens that can be touched
    this.canvas = el("canvas", "sp-canvas av-pan", null, { tabindex: "0", role: "application" });
    this.readout = el("div", "sp-readout", null, { "aria-live": "polite" });
    this.side = el("canvas", "", null, { role: "img" });
    this.build();
    watchSize(root, () => this.redraw());
  }

  build() {
    const left = around("av-column sp-left", this.canvas, this.readout);
    const stage = around("av-wrap sp-stage", left, around("av-column sp-side", this.side));
    this.root.replaceChildren(this.bar, this.said, around("sp-tape", this.tape, this.tokens), stage);
    this.range.addEventListener("input", () => this.stand(Number(this.range.value)));
    this.range.addEventListener("change", () => this.commit());
    this.root.addEventListener("keydown", (event) => this.key(event));
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
    const other = before?.name !== header.name;
    this.film = filmOf(header, floats(payload));
    if (before?.words.first !== header.words.first) this.transport();
    const behind = this.gestures.isBehind(header.session, header.ack);
    const grows = before !== null && header.steps.length > before.steps.length && header.labels[0] === before.labels[0];
    if (grows && this.at === before.steps.length - 1) this.at = behind ? header.steps.length - 1 : header.at;
    else if ((other && !grows) || (!behind && !this.timer)) this.at = header.at;
    this.at = clamp(this.at, 0, header.steps.length - 1);
    if (!behind) this.told = header.at;
    this.range.max = String(header.total - 1);
    this.draw();
  }

  /** The buttons and the slider's name, in the language of the words that came. */
  transport() {
    const { words } = this.header;
    if (this.timer) this.pause();
    this.bar.replaceChildren();
    const go = (/** @type {number} */ by) => () => this.goTo(this.at + by);
    addButton(this.bar, "«", words.first, go(-Infinity));
    addButton(this.bar, "‹", words.back, go(-1));
    this.play = addButton(this.bar, "▶", words.play, () => this.toggle());
    addButton(this.bar, "›", words.next, go(1));
    addButton(this.bar, "»", words.last, go(Infinity));
    this.play.classList.add("av-strong", "sp-play");
    this.range.setAttribute("aria-label", words.step);
    this.bar.append(this.range);
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
    };
    if (!(event.key in acts)) return;
    event.preventDefault();
    acts[event.key]();
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

  toggle() {
    if (this.timer) {
      this.pause();
      this.commit();
      return;
    }
    if (this.at === this.header.steps.length - 1) this.stand(0);
    this.play.replaceChildren("❚❚");
    this.play.setAttribute("aria-label", this.header.words.pause);
    this.said.setAttribute("aria-live", "off"); // a film is read out where it ends
    this.timer = window.setInterval(() => this.tick(), STAND);
  }

  tick() {
    const { steps, total } = this.header;
    if (!this.root.isConnected) {
      this.pause();
    } else if (this.at < steps.length - 1) {
      this.stand(this.at + 1);
    } else if (steps.length === total) {
      this.pause();
      this.commit();
    }
  }

  pause() {
    window.clearInterval(this.timer);
    this.timer = 0;
    this.said.setAttribute("aria-live", "polite");
    this.play.replaceChildren("▶");
    this.play.setAttribute("aria-label", this.header.words.play);
  }

  /** A step chosen by hand: the film pauses, and Python hears of it. @param {number} step */
  goTo(step) {
    if (this.timer) this.pause();
    this.stand(step);
    this.commit();
  }

  /** @param {number} step */
  stand(step) {
    this.at = clamp(step, 0, this.header.steps.length - 1);
    this.pointed = null;
    this.redraw();
  }

  commit() {
    if (this.at === this.told) return;
    this.told = this.at;
    this.tellPython("stood", { step: this.at });
  }

  /** @param {number} y */
  point(y) {
    if (this.held) this.pointAt(rowAt(playerLayout(this.width(), this.held.rows), this.held.rows, y));
  }

  /** @param {number | null} row */
  pointAt(row) {
    if (row === this.pointed) return;
    this.pointed = row;
    this.redraw();
  }

  width() {
    return Math.max(200, this.canvas.parentElement?.clientWidth ?? 0);
  }

  draw() {
    if (!this.held || !this.film) return;
    const { steps, words } = this.header;
    const [, end] = newRows(steps, this.at);
    this.range.value = String(this.at);
    const said = headline(this.header, this.at);
    this.range.setAttribute("aria-valuetext", said);
    say(this.said, said);
    const { header, film, at, pointed } = this;
    const width = this.width();
    const layout = playerLayout(width, header.rows);
    const theme = themeOf(this.root, header.colours);
    drawStep(sized(this.canvas, width, layout.height), { header, film, at, theme, layout, pointed });
    this.canvas.setAttribute("aria-label", joined(words.join_heard, [words.scene, said, ...this.largest(end)]));
    this.read(end);
    this.drawTape(theme);
    const side = this.sideScene();
    drawSide(sized(this.side, side.width, side.height), side, theme);
    attribute(this.side, "aria-label", sideSaid(side));
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
    return this.film?.weights[(end - 1) * this.header.rows + row] ?? 0;
  }

  /** @param {number} end @param {number} row */
  rowSaid(end, row) {
    const { labels, words } = this.header;
    const [token, other] = [labels[end - 1], labels[row]].map(visibleToken);
    return fill(words.row, { token, other, weight: percent(this.weightOf(end, row)) });
  }

  /** The tokens, and over each a button that goes to its step. @param {Theme} theme */
  drawTape(theme) {
    const tape = placeTape(this.header, this.at, Math.max(200, this.tokens.parentElement?.clientWidth ?? 0));
    drawTape(sized(this.tape, tape.width, tape.height), tape, theme);
    const places = JSON.stringify(tape);
    if (places === this.touched) return;
    this.touched = places;
    const buttons = tape.tokens.map((token, i) => {
      const go = () => this.goTo(stepOfRow(this.header.steps, i));
      return layOver(button("", null, go, { tabindex: "-1", "aria-label": token.text }), touchedOf(token));
    });
    this.tokens.replaceChildren(...buttons);
  }

  /** @param {number} end */
  read(end) {
    const { labels, words } = this.header;
    const row = this.pointed;
    if (row === null) say(this.readout, fill(words.rest, { token: visibleToken(labels[end - 1]) }));
    else if (row >= end) say(this.readout, fill(words.after, { other: visibleToken(labels[row]) }));
    else say(this.readout, this.rowSaid(end, row));
  }
}

export default lastingComponent(StepPlayer);
