// Tokens that are no patches, or the words that look: to point at, to pin, and to be shown one after the other.

import { createButton, el, setName } from "../shared/dom.js";

/** @import { PatchView } from "./patch_view.js" */

/** Milliseconds that each word stays while all are read one after the other. */
const PACE = 1100;

export class PatchChips {
  /** @param {PatchView} view */
  constructor(view) {
    this.view = view;
    this.box = el("div", "av-wrap pv-chips");
    this.walk = 0;
    this.built = "";
  }

  /** Builds the chips anew where their words changed: one that has the keyboard keeps it. */
  build() {
    const { special, words, labels } = this.view.header;
    const name = JSON.stringify([special, words, labels.play]);
    if (name === this.built) return;
    this.built = name;
    this.box.replaceChildren(...(words ?? special).map((word, token) => this.chip(word, token)));
    if (words === null || words.length < 2) return;
    const play = createButton("av-button pv-play", "▶", () => (this.walk ? this.stand() : this.go()));
    this.box.prepend(setName(play, labels.play));
  }

  /** @param {string} word @param {number} token */
  chip(word, token) {
    const { view } = this;
    const chip = createButton("av-button pv-chip", word, () => view.pin(token), { "data-token": String(token) });
    chip.addEventListener("pointerenter", (e) => e.pointerType === "mouse" && view.point(token));
    chip.addEventListener("focus", () => view.point(token));
    for (const away of ["pointerleave", "blur"]) chip.addEventListener(away, () => view.point(null));
    return chip;
  }

  /** Shows word after word, as they were written. */
  go() {
    const { root, header } = this.view;
    const { words } = header;
    let at = 0;
    const step = () => {
      if (!words || at >= words.length || !root.isConnected) this.stand();
      else {
        this.view.point(at);
        at += 1;
        this.walk = window.setTimeout(step, PACE);
      }
    };
    root.dataset.walking = "true";
    step();
  }

  stand() {
    this.stop();
    delete this.view.root.dataset.walking;
    this.view.point(null);
  }

  stop() {
    clearTimeout(this.walk);
    this.walk = 0;
  }

  /** Marks what is pinned, and what looks just now. */
  update() {
    const { state, query } = this.view;
    for (const chip of this.box.querySelectorAll(".pv-chip")) {
      const token = Number(/** @type {HTMLElement} */ (chip).dataset.token);
      chip.setAttribute("aria-pressed", String(state.pins.includes(token)));
      chip.toggleAttribute("data-lit", token === query && state.shows !== "mean");
    }
  }
}
