// The handles on the ribbons: scale, mask, direction, and what unfolds them.

import { createBox, createButton, el, fill, setAttribute, setProperty, setText } from "../shared/dom.js";
import { toSignificant } from "../shared/numbers.js";
import { factorAt, placeOf } from "../shared/scale_slider.js";

/** @import { Head } from "./ribbons_numbers.js" */
/** @import { Edit, RawHead, Words } from "../shared/types.js" */
/**
 * @typedef {{ edit: Edit, raw: RawHead, unfolded: boolean, touched: { word: number, axis: "q" | "k" }, header: { q: string[], words: Words },
 *   setEdit(edit: Edit, ended: boolean, follows?: boolean): void, toggleMatrix(): void, change(to: { axis: "q" | "k", pinned: null }): void }} Handled
 */

/** Stops of the slider; the model's own scale holds a hand that comes so near. */
const [STOPS, SNAP] = [1000, 0.01];

/** How many times the model's own scale no scaling is. @param {RawHead} raw */
const unscaledFactor = ({ scale }) => Math.max(2, scale > 0 ? 1 / scale : 0);

export class RibbonsControls {
  /** @param {Handled} view */
  constructor(view) {
    this.view = view;
    this.range = el("input", "av-slider-range", null, {
      type: "range",
      min: "0",
      max: String(STOPS),
      step: "1",
      "data-testid": "scale",
    });
    this.range.addEventListener("input", () => this.scale(Number(this.range.value) / STOPS, false));
    this.range.addEventListener("change", () => this.scale(Number(this.range.value) / STOPS, true));
    const end = (/** @type {number} */ place) => createButton("rb-end", "", () => this.scale(place, true, false));
    this.ends = [end(0), end(0.5), end(1)];
    this.scaleBox = createBox("rb-scale", this.range, createBox("rb-ends", ...this.ends));
    this.mask = createButton("rb-switch", "", () => this.toggleMask(), { role: "switch", "data-testid": "mask" });
    this.turn = createButton("av-link", "", () => this.turnRound(), { "data-testid": "direction" });
    this.unfold = createButton("av-link", "", () => view.toggleMatrix(), { "data-testid": "unfold" });
    this.box = createBox("av-wrap rb-controls", this.scaleBox, this.mask, this.turn, this.unfold);
    /** @type {Edit["mask"]} the mask that the switch brings back */
    this.masked = "model";
  }

  /** @param {Words} words */
  name(words) {
    setAttribute(this.range, "aria-label", words.scale);
    [words.all_alike, words.own_scale, words.unscaled].forEach((text, i) => setText(this.ends[i], text));
  }

  /** @param {Head} head */
  draw({ factor, raw }) {
    const { edit, unfolded, touched, header } = this.view;
    const { words, q } = header;
    const times = raw.scale ? factor / raw.scale : 1;
    const stop = String(Math.round(STOPS * placeOf(times, unscaledFactor(raw))));
    setProperty(this.range, "value", stop);
    setAttribute(this.range, "aria-valuetext", fill(words.scale_is, { factor: toSignificant(factor, 3) }));
    this.scaleBox.hidden = !raw.exact;
    this.mask.hidden = !raw.exact;
    if (edit.mask !== "none") this.masked = edit.mask;
    setAttribute(this.mask, "aria-checked", String(edit.mask !== "none"));
    setText(this.mask, edit.mask === "none" ? words.mask_off : words.mask_on);
    const token = q[touched.word].trim();
    setText(this.turn, fill(touched.axis === "q" ? words.turn_k : words.turn_q, { token }));
    setText(this.unfold, unfolded ? words.fold : words.unfold);
    setAttribute(this.unfold, "aria-expanded", String(unfolded));
  }

  /** From all alike over the model's own to no scaling. @param {number} place @param {boolean} ended @param {boolean} [follows] */
  scale(place, ended, follows = true) {
    const { view } = this;
    const factor = toSignificant(factorAt(place, unscaledFactor(view.raw)), 3);
    /** @type {Pick<Edit, "scale" | "factor">} */
    const to = { scale: place >= 1 ? "none" : Math.abs(place - 0.5) < SNAP ? "model" : "factor", factor: 1 };
    view.setEdit({ ...view.edit, ...to, ...(to.scale === "factor" ? { factor } : {}) }, ended, follows);
  }

  /** Where the slider stands, 0 to 1. */
  get place() {
    return Number(this.range.value) / STOPS;
  }

  toggleMask() {
    const { view } = this;
    view.setEdit({ ...view.edit, mask: view.edit.mask === "none" ? this.masked : "none" }, true);
  }

  turnRound() {
    const { view } = this;
    view.change({ axis: view.touched.axis === "q" ? "k" : "q", pinned: null });
  }
}
