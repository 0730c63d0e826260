// Caches that grow side by side: a slider for the number of tokens, and a bar of bytes for each way of sharing.
// Every number is Python's; the browser only chooses the place and draws it.

import { lastingComponent } from "../shared/component.js";
import { around, el, fill, joined } from "../shared/dom.js";
import { FilmView } from "../shared/film_view.js";
import { grouped } from "../shared/numbers.js";
import { barsOf } from "./cache_growth_bars.js";

/** @import { Component, GrowthHeader } from "../shared/types.js" */

/** @extends {FilmView<GrowthHeader>} */
class CacheGrowth extends FilmView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.bar = el("div", "av-wrap cg-bar");
    this.said = el("output", "av-strong cg-said");
    this.groups = el("div", "av-wrap cg-groups");
    this.player(this.bar, "▶", "play", Infinity);
    this.range.classList.add("cg-range");
    this.bar.append(this.range, this.said);
    this.spoken = [this.said];
    /** @type {{ share: HTMLElement, value: HTMLElement }[]} */
    this.bars = [];
    root.replaceChildren(this.bar, this.groups);
  }

  /** @param {Component} component */
  show(component) {
    const { header, before } = this.receive(component);
    this.build();
    this.arrive(header.tokens.length - 1, !before);
  }

  build() {
    this.bars = [];
    this.groups.replaceChildren(...this.header.groups.map((group) => this.group(group)));
  }

  /** @param {GrowthHeader["groups"][number]} group */
  group({ name, bars }) {
    const box = around("av-column cg-group", el("div", "av-strong cg-model", name));
    for (const { name: scheme, about, colour } of bars) {
      const label = around("av-strong cg-name", scheme, el("span", "av-small cg-about", about));
      const share = el("div", "cg-share");
      share.style.background = colour;
      const value = el("div", "cg-value");
      box.append(around("cg-line", label, around("cg-track", share), value));
      this.bars.push({ share, value });
    }
    return box;
  }

  draw() {
    const { tokens, words } = this.header;
    const held = tokens[this.at];
    const said = fill(held === 1 ? words.one : words.many, { n: grouped(held) });
    this.said.textContent = said;
    const bars = barsOf(this.header, this.at).flatMap((group) => group.bars);
    const kept = bars.map(({ name, text }) => `${name} ${text}`);
    this.range.setAttribute("aria-valuetext", fill(words.kept, { said, kept: joined(words.join_things, kept) }));
    bars.forEach(({ share, text }, n) => {
      this.bars[n].share.style.width = `${100 * share}%`;
      this.bars[n].value.textContent = text;
    });
    this.root.dataset.tokens = String(tokens[this.at]);
  }
}

export default lastingComponent(CacheGrowth);
