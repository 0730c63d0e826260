// Caches that grow side by side: a slider for the number of tokens, and a bar of bytes for each way of sharing.
// Every number is Python's; the browser only chooses the place and draws it.

import { readTheme } from "../shared/colour.js";
import { viewComponent } from "../shared/component.js";
import { setAttribute, el, fill, joinTexts } from "../shared/dom.js";
import { FilmView } from "../shared/film_view.js";
import { formatGrouped } from "../shared/numbers.js";
import { Glide, marksBetween } from "../scene/glide.js";
import { offerPicture } from "../shared/offer.js";
import { sizeCanvas } from "../shared/surface.js";
import { cacheBars, drawGrowth, growthFigure, growthScene } from "./cache_growth_scene.js";

/** @import { GrowthScene } from "./cache_growth_scene.js" */
/** @import { Answer, Component, GrowthRun } from "../shared/types.js" */

/** @extends {FilmView<Answer & GrowthRun>} */
class CacheGrowth extends FilmView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.bar = el("div", "av-wrap cg-bar");
    this.said = el("output", "av-strong cg-said");
    this.bars = el("canvas", "cg-bars", null, { role: "img" });
    this.player(this.bar, "▶", "play", Infinity);
    this.range.classList.add("cg-range");
    this.bar.append(this.range, this.said);
    this.spoken = [this.said];
    /** @type {GrowthScene | null} */
    this.scene = null;
    const draw = (/** @type {ReturnType<typeof cacheBars>} */ bars) => {
      if (this.scene) drawGrowth(sizeCanvas(this.bars, this.scene.width, this.scene.height), this.scene, bars);
    };
    this.glide = new Glide(this.bars, draw, marksBetween);
    root.replaceChildren(this.bar, this.bars);
    offerPicture(root, () => [["growth", { ...this.header, at: this.at, title: "" }, new Uint8Array()]], growthFigure);
  }

  /** @param {Component} component */
  show(component) {
    const { header, before } = this.receive(component);
    this.arrive(header.tokens.length - 1, !before);
  }

  draw() {
    if (!this.held || !this.root.clientWidth) return;
    const { tokens, words, colours } = this.held;
    const held = tokens[this.at];
    const said = fill(held === 1 ? words.one : words.many, { n: formatGrouped(held) });
    this.said.textContent = said;
    const scene = growthScene(this.held, this.at, this.root.clientWidth, readTheme(this.root, colours));
    this.scene = scene;
    if (this.isMoving) this.glide.show(cacheBars(scene));
    else this.glide.to(cacheBars(scene));
    const kept = scene.groups.map(({ rows }) => rows.map((row) => `${row.said} ${row.text}`));
    const keptIn = (/** @type {string} */ what, /** @type {string[]} */ bars) =>
      fill(words.kept, { said: what, kept: joinTexts(words.join_things, bars) });
    this.range.setAttribute("aria-valuetext", keptIn(said, kept.flat()));
    const groups = scene.groups.map(({ name }, n) => keptIn(name, kept[n]));
    setAttribute(this.bars, "aria-label", joinTexts(words.join_clauses, groups));
    this.root.dataset.tokens = String(held);
  }
}

export default viewComponent(CacheGrowth);
