// One slider for the layers, under the large picture: from layer to layer the same discs grow and shrink, by hand or played.

import { stopSlider } from "../shared/controls.js";
import { createBox, createButton, el, setAttribute, setName, setText } from "../shared/dom.js";
import { film, prefersReducedMotion } from "../shared/motion.js";

/** @import { PatchView } from "./patch_view.js" */

/** Milliseconds that each layer is on show in a film, and that all of them are at most. */
const [PACE, LONGEST] = [900, 7000];

export class PatchLayers {
  /** @param {PatchView} view */
  constructor(view) {
    this.view = view;
    /** @type {number | null} the layer that a film shows just now */
    this.at = null;
    this.stop = () => {};
    this.player = createButton("av-button av-play", "▶", () => this.press());
    this.name = el("span");
    this.range = stopSlider(
      0,
      (layer) => view.shown.numbers.follows && this.take(layer, false), // else its scores come as the hand lets go
      () => this.take(Number(this.range.value)),
    );
    this.range.dataset.testid = "layer";
    this.value = el("output", "av-strong");
    this.box = createBox("av-player pv-layers", this.player, this.name, this.range, this.value);
  }

  get last() {
    return this.view.header.heads.length - 1;
  }

  /** @param {number} layer @param {boolean} [ends] whether the hand has let go */
  take(layer, ends = true) {
    const { state, header } = this.view;
    const shows = state.shows === "layers" ? "row" : state.shows; // the mean of all layers is that of no layer
    this.view.change({ layer, shows, head: Math.min(state.head, header.heads[layer] - 1), factor: 1 }, ends);
  }

  /** Plays on to the last layer, which is the one on show from now on; or stays where the film is. */
  press() {
    if (this.at !== null) {
      this.take(this.at);
      return;
    }
    const { layer } = this.view.state;
    const from = layer < this.last ? layer : 0;
    this.take(this.last);
    this.play(from);
  }

  /** As it is first seen, plays once up to the layer on show. */
  arrive() {
    const { layer, shows } = this.view.state;
    if (layer && shows !== "layers" && this.view.shown.numbers.follows && !prefersReducedMotion()) this.play(0);
  }

  /** Shows the layers from this one up to the chosen one. @param {number} from */
  play(from) {
    const to = this.view.shown.state.layer;
    const draw = (/** @type {number} */ share) => this.show(from + Math.floor(share * (to - from)));
    this.show(from);
    this.stop = film(this.view.root, Math.min(PACE * (to - from), LONGEST), draw, () => this.rest());
  }

  /** @param {number | null} layer that a film shows; null: it has ended */
  show(layer) {
    if (layer === this.at) return;
    this.at = layer;
    this.view.draw();
  }

  /** Ends the film, if there is one: the chosen layer is on show. */
  rest() {
    this.stop();
    this.show(null);
  }

  update() {
    const { layer } = this.view.state;
    const { labels } = this.view.header;
    const plays = this.at !== null;
    this.box.hidden = this.last === 0;
    this.box.toggleAttribute("data-gliding", plays);
    this.player.hidden = !this.view.shown.numbers.follows;
    setText(this.player, plays ? "❚❚" : "▶");
    setName(this.player, plays ? labels.pause : labels.play_layers);
    setText(this.name, labels.layer);
    this.range.max = String(this.last);
    this.range.value = String(layer);
    setAttribute(this.range, "aria-label", labels.layer);
    setText(this.value, String(layer));
    setAttribute(this.view.read, "aria-live", plays ? "off" : "polite");
  }
}
