// RoPE's rotation of one pair of numbers on a circle, as positions move. Python hears of it when the visitor lets go.

import { readTheme } from "../shared/colour.js";
import { viewComponent } from "../shared/component.js";
import { labelledSlider, stopSlider } from "../shared/controls.js";
import { createBox, el, joinTexts } from "../shared/dom.js";
import { MovedView } from "../shared/film_view.js";
import { film } from "../shared/motion.js";
import { offerPicture } from "../shared/offer.js";
import { ROLES } from "../shared/roles.js";
import { sizeCanvas } from "../shared/surface.js";
import { drawCircle, drawCurve, shiftBoth } from "./rotation_drawing.js";
import { CURVE, REACH, rotationFigure, rotationScene } from "./rotation_figure.js";

/** @import { LabelledSlider } from "../shared/controls.js" */
/** @import { Component, RotationHeader } from "../shared/types.js" */
/** @typedef {"pair" | "q_at" | "k_at"} What */
/** @typedef {{ pair: number, q_at: number, k_at: number }} Place */

/** Positions a second while both walk. */
const SPEED = 6;
/** Pixels of a side of the circle, at least where something stands beside it; what stands there takes so many. */
const [LARGEST, LEAST, BESIDE] = [380, 260, 354];
const WHATS = /** @type {What[]} */ (["pair", "q_at", "k_at"]);

/** @extends {MovedView<RotationHeader>} */
class RotationCircle extends MovedView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.fields = ["at", ...WHATS];
    /** @type {Place} */
    this.at = { pair: 0, q_at: 0, k_at: 0 };
    this.together = false;
    this.circle = el("canvas", "rc-circle", null, { role: "img" });
    this.curve = el("canvas", "rc-curve", null, { role: "img" });
    this.facts = el("div", "av-wrap rc-facts");
    this.said = el("div", "rc-said", null, { "aria-live": "polite" });
    this.spoken = [this.said];
    /** @type {Partial<Record<What, LabelledSlider>>} */
    this.sliders = {};
    this.row = el("div", "av-line rc-together");
    this.playButton(this.row, "▶", "walk", (button) => this.go(button)).classList.add("av-play", "rc-walk");
    offerPicture(
      root,
      () => [["rotation", { ...this.header, at: this.at, title: "" }, new Uint8Array()]],
      rotationFigure,
    );
  }

  /** @param {Component} component */
  show(component) {
    const { header, before } = this.receive(component);
    if (before?.layout !== header.layout) this.build();
    this.take(!before);
    this.at.pair = Math.min(this.at.pair, header.turns.length - 1);
    this.draw();
  }

  build() {
    const { words, turns, last, layout } = this.header;
    const sliders = el("div", "rc-sliders");
    for (const what of WHATS) {
      const move = (/** @type {number} */ stop) => this.moveTo(what, stop);
      const input = stopSlider(what === "pair" ? turns.length - 1 : last, move, () => this.letGo());
      const slider = labelledSlider(input, "rc", what, words[what]);
      this.sliders[what] = slider;
      sliders.append(slider.line);
    }
    const box = el("input", "", null, { type: "checkbox", id: `rc-together-${layout}` });
    box.checked = this.together;
    box.addEventListener("change", () => (this.together = box.checked));
    this.row.replaceChildren(this.players[0].button, box, el("label", "", words.together, { for: box.id }));
    sliders.append(this.row);
    const side = createBox("av-column rc-side", sliders, this.facts, el("div", "av-small", words.curve), this.curve);
    const both = createBox("av-wrap rc-both", this.circle, side);
    this.root.replaceChildren(both, this.said);
  }

  /** @param {What} what @param {number} value */
  moveTo(what, value) {
    this.grab();
    if (what !== "pair" && this.together) {
      const step = value - this.at[what];
      [this.at.q_at, this.at.k_at] = shiftBoth(this.at.q_at, this.at.k_at, step, this.header.last);
    } else {
      this.at[what] = value;
    }
    this.draw();
  }

  /** Both positions move on at once, from wherever they are, to the last position. @param {HTMLElement} button */
  go(button) {
    const { last } = this.header;
    const start = Math.max(this.at.q_at, this.at.k_at) >= last ? -Math.min(this.at.q_at, this.at.k_at) : 0;
    const [q, k] = [this.at.q_at + start, this.at.k_at + start];
    const way = last - Math.max(q, k);
    const frame = (/** @type {number} */ share) => {
      [this.at.q_at, this.at.k_at] = shiftBoth(q, k, share * way, last);
      this.draw();
    };
    this.plays(
      button,
      film(this.root, (1000 * way) / SPEED, frame, () => this.rest()),
    );
  }

  /** A walk that is stopped stands at whole positions, as far apart as before. */
  stop() {
    super.stop();
    const distance = Math.round(this.at.k_at - this.at.q_at);
    this.at.q_at = Math.round(this.at.q_at);
    this.at.k_at = this.at.q_at + distance;
  }

  draw() {
    if (!this.held || !this.root.clientWidth) return;
    const theme = readTheme(this.root, this.held.colours);
    const { arrows, facts, sentence, curve, distance } = rotationScene(this.held, this.at, theme);
    const side = circleSide(this.root.clientWidth);
    drawCircle(sizeCanvas(this.circle, side, side), side, arrows, theme);
    const wide = this.curve.parentElement?.clientWidth ?? 300;
    drawCurve(sizeCanvas(this.curve, wide, CURVE), wide, CURVE, curve, REACH, distance, ROLES.score, theme);
    this.write(facts, sentence);
  }

  /** @param {[whose: string, name: string, value: string][]} facts @param {string} sentence */
  write(facts, sentence) {
    const { words } = this.header;
    for (const what of WHATS) {
      const slider = this.sliders[what];
      if (!slider) continue;
      slider.input.value = slider.value.textContent = String(Math.round(this.at[what]));
    }
    this.facts.replaceChildren(
      ...facts.map(([whose, name, value]) => {
        return createBox(`av-fact rc-fact ${whose && `rc-of-${whose}`}`, el("b", "", value), el("span", "", name));
      }),
    );
    this.said.textContent = sentence;
    const numbers = facts.map(([, name, value]) => `${name} ${value}`);
    this.circle.setAttribute(
      "aria-label",
      joinTexts(words.join_sentences, [sentence, joinTexts(words.join_things, numbers)]),
    );
    this.curve.setAttribute("aria-label", words.curve);
  }
}

/**
 * How large the circle is: sliders and numbers stand beside it where they can, so that both are seen at once.
 * @param {number} width of both together
 */
function circleSide(width) {
  const beside = width - BESIDE;
  return Math.min(LARGEST, beside >= LEAST ? beside : width - 4);
}

export default viewComponent(RotationCircle);
