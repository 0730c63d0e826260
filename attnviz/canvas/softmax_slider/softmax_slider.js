// Bars of softmax weights that follow their sliders without asking Python: raw, scaled and an alternative.
// The blob's payload is the raw scores, float32, one row for each d_k of the grid; then, for qk-norm, the cosines.

import { barAt, drawPanel, countNameLines, panelScene } from "./panel.js";
import { Glide, interpolateNumberArray } from "../scene/glide.js";
import { viewComponent } from "../shared/component.js";
import { labelledSlider, stopSlider } from "../shared/controls.js";
import { createBox, setAttribute, el, fill, joinTexts } from "../shared/dom.js";
import { FilmView } from "../shared/film_view.js";
import { clamp, formatFixed, formatPercent, formatSignificant } from "../shared/numbers.js";
import { offerPicture } from "../shared/offer.js";
import { toFloats } from "../shared/packing.js";
import { parameterAt, softmaxRow, stopOf, STOPS } from "./softmax.js";
import { softmaxFigure, softmaxFilm } from "./softmax_figure.js";
import { sizeCanvas } from "../shared/surface.js";
import { pictureHeight, placeOn } from "../shared/window.js";

/** @import { PanelScene } from "./panel.js" */
/** @import { LabelledSlider } from "../shared/controls.js" */
/** @import { Component, ScoreRow, SliderParameter, SoftmaxHeader } from "../shared/types.js" */

/** @typedef {{ box: HTMLElement, canvas: HTMLCanvasElement }} Panel */

/** Pixels of the bars, in a wide window and in a narrow one, and of all that stands below and above them. */
const [TALL, LOW, NARROW, BELOW] = [150, 110, 640, 250];

/** Bars of all panels become others. @param {Float64Array[]} from @param {Float64Array[]} to */
function barsBetween(from, to) {
  const ways = to.map((weights, n) => interpolateNumberArray(from[n] ?? new Float64Array(0), weights));
  return (/** @type {number} */ share) => ways.map((way) => way(share));
}

/** @extends {FilmView<SoftmaxHeader>} */
class SoftmaxSlider extends FilmView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.fields = ["at", "value", "about"];
    /** Of the parameter. */
    this.value = 1;
    /** What it belongs to. */
    this.about = "";
    this.said = el("div", "ss-said", null, { "aria-live": "polite" });
    /** @type {ArrayLike<number>} */
    this.scores = [];
    /** @type {Float32Array | null} */
    this.cosines = null;
    /** @type {Panel[]} */
    this.panels = [];
    /** @type {PanelScene[]} what they show */
    this.scenes = [];
    /** @type {ArrayLike<number>[]} the logits of each */
    this.logits = [];
    /** @type {LabelledSlider | null} */
    this.width = null;
    /** @type {LabelledSlider | null} */
    this.parameterSlider = null;
    this.starter = this.addPlayButton(el("div"), "▶", "play", Infinity);
    this.starter.classList.add("av-play", "ss-play");
    /** @type {number | null} */
    this.pointed = null;
    this.glide = new Glide(root, (/** @type {Float64Array[]} */ weights) => this.drawBars(weights), barsBetween);
    offerPicture(
      root,
      () => [this.part(this.row())],
      softmaxFigure,
      () => {
        const { scores, cosines, header } = this;
        const [, told, payload] = this.part({ d: header.d_k[header.at], scores, cosines });
        return header.d_k.length > 1 ? softmaxFilm({ ...told, d_k: header.d_k }, payload) : null;
      },
    );
  }

  /** @param {Component} component */
  show(component) {
    const { header, payload, before } = this.receive(component);
    const numbers = toFloats(payload);
    const size = header.n * header.d_k.length;
    this.scores = header.scores ?? numbers.subarray(0, size);
    const cosines = header.scores ? numbers : numbers.subarray(size);
    this.cosines = cosines.length ? cosines : null;
    if (before?.layout !== header.layout) this.build();
    this.arrive(header.d_k.length - 1, !before);
  }

  build() {
    const { panels, d_k, parameter, words } = this.header;
    this.panels = panels.map((_panel, n) => this.panel(n));
    const row = el("div", "av-wrap ss-row", null, {
      tabindex: "0",
      role: "application",
      "aria-label": words.bars,
    });
    row.append(...this.panels.map((panel) => panel.box));
    row.addEventListener("keydown", (event) => this.key(event));
    row.addEventListener("blur", () => this.point(null));
    const sliders = el("div", "av-wrap ss-sliders");
    this.width = d_k.length > 1 ? labelledSlider(this.range, "ss", "d_k", words.step, " = ") : null;
    this.range.before(this.starter);
    const move = (/** @type {number} */ stop) => this.change(stop);
    this.parameterSlider =
      parameter &&
      labelledSlider(
        stopSlider(STOPS, move, () => this.letGo()),
        "ss",
        "parameter",
        parameter.name,
        " = ",
      );
    sliders.append(...[this.width, this.parameterSlider].flatMap((slider) => (slider ? [slider.line] : [])));
    this.root.replaceChildren(row, sliders, this.said);
  }

  /** Arrow keys go from bar to bar, and what stands below says its numbers. @param {KeyboardEvent} event */
  key(event) {
    const last = this.header.n - 1;
    const at = this.pointed;
    /** @type {Record<string, number | null>} */
    const to = {
      ArrowRight: at === null ? 0 : at + 1,
      ArrowLeft: at === null ? last : at - 1,
      Home: 0,
      End: last,
      Escape: null,
    };
    if (!(event.key in to) || (event.key === "Escape" && at === null)) return;
    event.preventDefault();
    const there = to[event.key];
    this.point(there === null ? null : clamp(there, 0, last));
  }

  /** @param {number} n */
  panel(n) {
    const canvas = el("canvas", "ss-canvas av-pan", null, { role: "img" });
    canvas.addEventListener("pointermove", (event) => {
      const [x, y] = placeOn(canvas, event);
      const { top, tall, width } = this.scenes[n];
      this.point(y < top || y > top + tall ? null : barAt(x, width, this.header.n));
    });
    canvas.addEventListener("pointerleave", () => this.point(null));
    return { box: createBox("av-column ss-panel", canvas), canvas };
  }

  /** The parameter becomes another one. @param {number} stop of its slider */
  change(stop) {
    const { parameter } = this.header;
    this.holding = true;
    if (parameter) this.value = valueAt(stop, parameter);
    this.draw();
  }

  /** @returns {ScoreRow} */
  row() {
    const { n, d_k } = this.header;
    const cut = (/** @type {ArrayLike<number>} */ all) =>
      Array.prototype.slice.call(all, this.at * n, (this.at + 1) * n);
    return { d: d_k[this.at], scores: cut(this.scores), cosines: this.cosines && cut(this.cosines) };
  }

  /** Bars of these scores as a part of a figure, the parameter as its slider stands. */
  /** @param {ScoreRow} row @returns {[string, any, Uint8Array]} */
  part({ d: at, scores, cosines }) {
    const { n, panels, parameter, coldest, words, colours, scores: typed } = this.header;
    const set = parameter && { ...parameter, value: this.value };
    const numbers = Float64Array.from([...Array.from(scores), ...Array.from(cosines ?? [])]);
    const header = { n, at, panels, parameter: set, coldest, words, title: "", typed: typed !== null, colours };
    return ["bars", header, new Uint8Array(numbers.buffer)];
  }

  /** Pixels of the bars: a page may give them the window, up to `--bars-most`. */
  get tall() {
    const most = Number(getComputedStyle(this.root).getPropertyValue("--bars-most"));
    if (innerWidth <= NARROW) return most ? TALL : LOW;
    return most ? pictureHeight(this.root, { least: TALL, most, below: BELOW }) : TALL;
  }

  draw() {
    if (!this.held) return;
    const row = this.row();
    const { words, panels, coldest, parameter } = this.header;
    const results = panels.map(({ kind }) => softmaxRow(kind, row, this.value, coldest));
    this.logits = results.map(({ logits }) => logits);
    const width = this.panels[0].box.clientWidth;
    if (!width) return;
    const size = { width, tall: this.tall, lines: countNameLines(panels, width) };
    this.scenes = panels.map((panel, n) => panelScene(panel, results[n].weights, words, size));
    const weights = results.map((result) => result.weights);
    if (this.isMoving) this.glide.show(weights);
    else this.glide.to(weights);
    this.scenes.forEach((scene, n) => {
      const { canvas } = this.panels[n];
      const numbers = words.facts.map((name, i) => `${name} ${scene.facts[i].value}`);
      const fact = joinTexts(words.join_things, numbers);
      setAttribute(canvas, "aria-label", fill(words.fact_of, { panel: scene.title, fact }));
    });
    const [largest] = words.facts;
    const each = this.scenes.map(({ title, facts }) =>
      fill(words.fact_of, { panel: title, fact: `${largest} ${facts[0].value}` }),
    );
    const heard = (/** @type {string} */ said) =>
      joinTexts(words.join_heard, [said, joinTexts(words.join_things, each)]);
    const told = (/** @type {LabelledSlider} */ { input, value }, /** @type {string} */ text) => {
      value.textContent = text;
      input.setAttribute("aria-valuetext", heard(text));
    };
    if (this.width) told(this.width, String(row.d));
    if (this.parameterSlider && parameter) {
      const { input } = this.parameterSlider;
      if (valueAt(Number(input.value), parameter) !== this.value) input.value = String(stopOf(this.value, parameter));
      told(this.parameterSlider, formatSignificant(this.value));
    }
    this.say();
  }

  /** The panels with these bars, which may be on their way to others. @param {Float64Array[]} all */
  drawBars(all) {
    const { color: text, fontFamily: font } = getComputedStyle(this.root);
    this.scenes.forEach((scene, n) => {
      const { canvas } = this.panels[n];
      const context = sizeCanvas(canvas, scene.width, scene.height);
      drawPanel(context, { ...scene, weights: all[n] }, { text, font }, this.pointed);
    });
  }

  /** @param {number | null} pointed */
  point(pointed) {
    if (this.pointed === pointed) return;
    this.pointed = pointed;
    this.draw();
  }

  /** The sentence under the bars: what a bar is, or the numbers of the one pointed at. */
  say() {
    const { words, n } = this.header;
    const { pointed } = this;
    if (pointed === null || pointed >= n) {
      const legend = fill(words.legend, { n, even: formatPercent(1 / n) });
      this.said.textContent = joinTexts(words.join_sentences, [legend, words.rest]);
      return;
    }
    const parts = this.scenes.map(({ title, weights }, i) =>
      fill(words.point, {
        panel: title,
        logit: formatSignificant(this.logits[i][pointed]),
        weight: formatFixed(weights[pointed], 6),
      }),
    );
    this.said.textContent = joinTexts(words.join_sentences, [fill(words.key, { key: pointed + 1 }), parts.join(" · ")]);
  }
}

/** What a slider sets a parameter to: three digits of what stands there. @param {number} stop @param {SliderParameter} parameter */
function valueAt(stop, parameter) {
  return Number(parameterAt(stop, parameter).toPrecision(3));
}

export default viewComponent(SoftmaxSlider);
