// Caches that grow side by side: a slider for the number of tokens, and a bar of bytes for each way of sharing.
// Every number is Python's; the browser only chooses the place and draws it.

import { lastingComponent, View } from "../shared/component.js";
import { addButton, around, el, fill, joined, named } from "../shared/dom.js";
import { filmOfStops } from "../shared/motion.js";
import { binary, clamp } from "../shared/numbers.js";

/** @import { Component, GrowthHeader } from "../shared/types.js" */

/** @extends {View<GrowthHeader>} */
class CacheGrowth extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.at = 0;
    this.told = -1;
    /** @type {(() => void) | null} stops the film */
    this.film = null;
    this.holding = false;
    this.bar = el("div", "av-wrap cg-bar");
    this.said = el("output", "av-strong cg-said");
    this.groups = el("div", "av-wrap cg-groups");
    this.range = el("input", "av-slider-range cg-range", null, { type: "range", min: "0", step: "1" });
    this.play = addButton(this.bar, "▶", "", () => (this.film ? this.stop() : this.start()));
    this.bar.append(this.range, this.said);
    /** @type {{ name: string, share: HTMLElement, value: HTMLElement, bytes: number[], most: number }[]} */
    this.bars = [];
    this.range.addEventListener("input", () => {
      this.holding = true;
      this.stand(Number(this.range.value));
    });
    this.range.addEventListener("change", () => {
      this.holding = false;
      this.commit();
    });
    root.replaceChildren(this.bar, this.groups);
  }

  /** @param {Component} component */
  show(component) {
    const { header } = this.receive(component);
    this.build();
    const behind = this.gestures.isBehind(header.session, header.ack);
    if (!behind && !this.holding && !this.film) this.at = this.told = header.at;
    this.stand(this.at);
  }

  build() {
    const { groups, tokens, words } = this.header;
    this.range.max = String(tokens.length - 1);
    this.range.setAttribute("aria-label", words.tokens);
    named(this.play, words.play);
    this.bars = [];
    this.groups.replaceChildren(...groups.map((group) => this.group(group)));
  }

  /** @param {GrowthHeader["groups"][number]} group */
  group({ name, bars }) {
    const box = around("av-column cg-group", el("div", "av-strong cg-model", name));
    const most = Math.max(1, ...bars.map(({ bytes }) => bytes[bytes.length - 1]));
    for (const { name: scheme, about, colour, bytes } of bars) {
      const label = around("av-strong cg-name", scheme, el("span", "av-small cg-about", about));
      const share = el("div", "cg-share");
      share.style.background = colour;
      const value = el("div", "cg-value");
      box.append(around("cg-line", label, around("cg-track", share), value));
      this.bars.push({ name: scheme, share, value, bytes, most });
    }
    return box;
  }

  /** @param {number} place */
  stand(place) {
    const { tokens, words } = this.header;
    this.at = clamp(place, 0, tokens.length - 1);
    this.range.value = String(this.at);
    const held = tokens[this.at];
    const said = fill(held === 1 ? words.one : words.many, { n: held.toLocaleString("en-US") });
    this.said.textContent = said;
    const kept = this.bars.map(({ name, bytes }) => `${name} ${binary(bytes[this.at])}`);
    this.range.setAttribute("aria-valuetext", fill(words.kept, { said, kept: joined(words.join_things, kept) }));
    for (const { share, value, bytes, most } of this.bars) {
      share.style.width = `${(100 * bytes[this.at]) / most}%`;
      value.textContent = binary(bytes[this.at]);
    }
    this.root.dataset.tokens = String(tokens[this.at]);
  }

  start() {
    const draw = (/** @type {number} */ place) => this.stand(place);
    this.plays(filmOfStops(this.root, this.at, this.header.tokens.length - 1, draw, () => this.stop()));
  }

  /** A film is not read out on its way, only where it ends. @param {(() => void) | null} playing */
  plays(playing) {
    this.film = playing;
    this.play.textContent = playing ? "❚❚" : "▶";
    named(this.play, playing ? this.header.words.pause : this.header.words.play);
    this.said.setAttribute("aria-live", playing ? "off" : "polite");
  }

  stop() {
    this.film?.();
    this.plays(null);
    this.stand(this.at);
    this.commit();
  }

  commit() {
    if (this.at === this.told) return;
    this.told = this.at;
    this.tellPython("stood", { at: this.at });
  }
}

export default lastingComponent(CacheGrowth);
