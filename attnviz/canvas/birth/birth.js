// A training run with a handle: its curves, and at the handle's step all heads on the visitor's words, computed here from the
// model's numbers. Those of the step on show come with the header, 16 bits each; those of all steps are fetched once.

import { drawColourBar } from "../shared/colour_bar.js";
import { themeOf } from "../shared/colour.js";
import { lastingComponent, View } from "../shared/component.js";
import { addButton, around, attribute, el, fill, joined, named, say } from "../shared/dom.js";
import { filmOfStops } from "../shared/motion.js";
import { measured, onceAFrame, watchSize } from "../shared/surface.js";
import { drawCurves, nearestStep, shareAt } from "./curves.js";
import { forward, lossOf, singles } from "./forward.js";
import { Heads } from "./heads.js";

/** @import { BirthHeader, Component } from "../shared/types.js" */

/** @extends {View<BirthHeader>} */
class Birth extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.at = 0;
    this.reached = 0;
    /** @type {Set<number>} heads whose output is 0, by their place among all */
    this.silenced = new Set();
    /** @type {Float32Array | null} the numbers of the step that Python chose */
    this.sent = null;
    /** @type {Uint16Array | null} those of all steps */
    this.all = null;
    this.holding = false;
    this.told = ""; // what Python knows
    /** @type {(() => void) | null} stops the film */
    this.film = null;
    this.redraw = onceAFrame(() => this.draw());
    this.bar = el("div", "av-line av-slider");
    this.play = addButton(this.bar, "▶", "", () => {
      const stand = (/** @type {number} */ place) => this.stand(place);
      const stop = () => {
        this.plays(null);
        this.commit();
      };
      const last = this.header.steps.length - 1;
      if (this.film) stop();
      else this.plays(filmOfStops(this.root, this.at, last, stand, stop));
    });
    this.range = el("input", "av-slider-range bi-range", null, { type: "range", min: "0", step: "1" });
    this.step = el("output", "av-strong bi-step");
    this.bar.append(this.range, this.step);
    this.curves = el("canvas", "bi-curves av-pan", null, { role: "img", style: "cursor: ew-resize" });
    this.heads = new Heads((head) => this.silence(head));
    this.said = el("div", "bi-said", null, { "aria-live": "polite" });
    this.scale = el("div", "av-bar-row");
    const left = around("av-column bi-left", this.bar, this.curves, this.said, this.heads.copies);
    const right = around("av-column bi-right", this.heads.grid, this.heads.pointed, this.scale);
    root.replaceChildren(around("av-wrap bi-both", left, right));
    const follow = (/** @type {PointerEvent} */ { offsetX }) =>
      this.grasp(nearestStep(this.header.steps, shareAt(offsetX, this.curves.clientWidth)));
    this.range.addEventListener("input", () => this.grasp(Number(this.range.value)));
    this.range.addEventListener("change", () => this.commit());
    this.curves.addEventListener("pointerdown", (event) => {
      this.curves.setPointerCapture(event.pointerId);
      follow(event);
    });
    this.curves.addEventListener("pointermove", (event) => this.holding && follow(event));
    for (const end of ["pointerup", "pointercancel"]) this.curves.addEventListener(end, () => this.commit());
    watchSize(root, () => this.draw());
  }

  /** @param {Component} component */
  show(component) {
    const { header, payload, before } = this.receive(component);
    if (before?.model !== header.model) {
      this.all = null;
      this.reached = 0;
      void this.fetch();
    }
    this.sent = singles(new Uint16Array(payload.slice().buffer));
    const { at, silenced } = header;
    const behind = this.gestures.isBehind(header.session, header.ack);
    if (!behind) this.told = JSON.stringify({ at, silenced });
    if (!behind && !this.holding && !this.film) {
      this.at = at;
      this.silenced = new Set(silenced);
    }
    this.range.max = String(header.steps.length - 1);
    attribute(this.range, "aria-label", header.words.step);
    named(this.play, this.film ? header.words.pause : header.words.play);
    if (before?.layout !== header.layout) this.heads.build(header);
    this.stand(this.at);
  }

  /** Brings the numbers of all steps, piece by piece; without them the picture stays at the step that was sent. */
  async fetch() {
    const { model, pieces, steps, size } = this.header;
    const parts = await Promise.all(pieces.map(async (each) => (await fetch(each)).arrayBuffer())).catch(() => []);
    const bytes = await new Blob(parts).arrayBuffer();
    if (this.header.model !== model || bytes.byteLength !== 2 * steps.length * size) return;
    this.all = new Uint16Array(bytes);
    this.root.dataset.fetched = model;
    this.redraw();
  }

  /** Silences a head, or lets it speak again. @param {number} head */
  silence(head) {
    if (!this.silenced.delete(head)) this.silenced.add(head);
    this.redraw();
    this.commit();
  }

  /** @param {number} place */
  grasp(place) {
    this.plays(null);
    this.holding = true;
    this.stand(place);
  }

  /** @param {number} place */
  stand(place) {
    this.at = Math.min(place, this.header.steps.length - 1);
    this.range.value = String(this.at);
    this.redraw();
  }

  /** A film is not read out on its way, only where it ends. @param {(() => void) | null} film */
  plays(film) {
    this.film?.();
    this.film = film;
    say(this.play, film ? "❚❚" : "▶");
    named(this.play, film ? this.header.words.pause : this.header.words.play);
    this.said.setAttribute("aria-live", film ? "off" : "polite");
  }

  /** The hand lets go, or the film ends: Python hears of it. */
  commit() {
    this.holding = false;
    const now = { at: this.at, silenced: [...this.silenced].sort((a, b) => a - b) };
    if (this.told === JSON.stringify(now)) return;
    this.told = JSON.stringify(now);
    this.tellPython("stood", now);
  }

  draw() {
    if (!this.held || !this.root.clientWidth) return;
    const began = performance.now();
    const { steps, words, colours, open, ids, sizes, size, at } = this.held;
    const theme = themeOf(this.root, colours);
    const step = steps[this.at];
    this.reached = open ? Infinity : Math.max(this.reached, step);
    const shown = step.toLocaleString("en-US");
    say(this.step, fill(words.at, { step: shown }));
    drawCurves(this.curves, this.held, theme, { step, reached: this.reached, silenced: this.silenced });
    const bar = { scale: { top: 1, root: false }, signed: false, unit: words.weight, colours };
    drawColourBar(this.scale, bar, theme.dark, sizes.causal ? words.hidden : null);
    const held = this.all?.subarray(this.at * size, (this.at + 1) * size);
    const numbers = held ? singles(held) : this.at === at ? this.sent : null;
    if (!numbers) return;
    const pass = forward(numbers, ids, sizes, this.silenced);
    const best = this.heads.draw(pass, this.held, theme, this.silenced);
    const half = ids.length / 2;
    const right = pass.right.slice(half).filter(Boolean).length;
    const said = fill(words.said, { step: shown, right, of: half - 1, loss: lossOf(pass.likely).toFixed(2) });
    say(this.said, said);
    attribute(this.range, "aria-valuetext", said);
    attribute(this.curves, "aria-label", joined(words.join_sentences, [words.picture, said, ...best]));
    this.root.dataset.step = String(step);
    measured("attnviz-birth", began);
  }
}

export default lastingComponent(Birth);
