// A training run with a handle: its curves, and at the handle's step all heads on the visitor's words, computed here from the
// model's numbers. Those of the step on show come with the header, 16 bits each; those of all steps are fetched once.

import { drawColourBar } from "../shared/colour_bar.js";
import { themeOf } from "../shared/colour.js";
import { lastingComponent } from "../shared/component.js";
import { around, attribute, el, fill, joined, say } from "../shared/dom.js";
import { FilmView } from "../shared/film_view.js";
import { grouped } from "../shared/numbers.js";
import { onceAFrame, sized, watchSize } from "../shared/surface.js";
import { passSentence } from "./birth_scene.js";
import { drawCurves, HEIGHT, nearestStep, shareAt } from "./curves.js";
import { forward, passesOf, singles } from "./forward.js";
import { Heads } from "./heads.js";

/** @import { BirthHeader, Component } from "../shared/types.js" */

/** @extends {FilmView<BirthHeader>} */
class Birth extends FilmView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.fields = ["at", "silenced"];
    /** @type {number[]} heads whose output is 0, by their place among all */
    this.silenced = [];
    this.reached = 0;
    /** @type {Float32Array | null} the numbers of the step that Python chose */
    this.sent = null;
    /** @type {Uint16Array | null} those of all steps */
    this.all = null;
    /** @type {Map<number, import("./forward.js").Pass> | null} what a file has in their place, with the heads on show silenced */
    this.passes = null;
    this.draw = onceAFrame(() => this.picture());
    const bar = el("div", "av-line av-slider");
    this.player(bar, "▶", "play", Infinity);
    this.step = el("span", "av-strong bi-step"); // the slider says it, too
    bar.append(this.range, this.step);
    this.curves = el("canvas", "bi-curves av-pan", null, { role: "img", style: "cursor: ew-resize" });
    this.heads = new Heads((head) => this.silence(head));
    this.said = el("div", "bi-said", null, { "aria-live": "polite" });
    this.spoken = [this.said];
    this.scale = el("div", "av-bar-row");
    const left = around("av-column bi-left", bar, this.curves, this.said, this.heads.copies);
    const right = around("av-column bi-right", this.heads.grid, this.heads.pointed, this.scale);
    root.replaceChildren(around("av-wrap bi-both", left, right));
    this.dragged(this.curves, ({ offsetX }) =>
      nearestStep(this.header.steps, shareAt(offsetX, this.curves.clientWidth)),
    );
    watchSize(root, () => {
      this.heads.label();
      this.draw();
    });
  }

  /** @param {Component} component */
  show(component) {
    const { header, payload, before } = this.receive(component);
    const other = before?.model !== header.model;
    if (other) {
      this.all = null;
      this.reached = 0;
      if (header.address) void this.fetch();
      else this.passes = passesOf(header, payload);
    }
    this.sent = singles(new Uint16Array(payload.slice(0, 2 * header.size).buffer));
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

  picture() {
    if (!this.held || !this.root.clientWidth) return;
    const { steps, words, colours, open, ids, sizes, size, at } = this.held;
    const theme = themeOf(this.root, colours);
    const step = steps[this.at];
    this.reached = open ? Infinity : Math.max(this.reached, step);
    say(this.step, fill(words.at, { step: grouped(step) }));
    const silenced = new Set(this.passes && this.at !== at ? this.held.silenced : this.silenced);
    const width = Math.max(240, this.curves.parentElement?.clientWidth ?? 0);
    const now = { step, reached: this.reached, silenced };
    drawCurves(sized(this.curves, width, HEIGHT), width, this.held, theme, now);
    const bar = { scale: { top: 1, root: false }, signed: false, unit: words.weight, colours };
    drawColourBar(this.scale, bar, theme.dark, sizes.causal ? words.hidden : null);
    const held = this.all?.subarray(this.at * size, (this.at + 1) * size);
    const numbers = held ? singles(held) : this.at === at ? this.sent : null;
    const pass = numbers ? forward(numbers, ids, sizes, silenced) : this.passes?.get(this.at);
    if (!pass) return;
    const best = this.heads.draw(pass, this.held, theme, silenced);
    const said = passSentence(pass, step, words);
    say(this.said, said);
    attribute(this.range, "aria-valuetext", said);
    attribute(
      this.curves,
      "aria-label",
      joined(words.join_heard, [words.picture, joined(words.join_sentences, [said, ...best])]),
    );
    this.root.dataset.step = String(step);
  }
}

export default lastingComponent(Birth);
