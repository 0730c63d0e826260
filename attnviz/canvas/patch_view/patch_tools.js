// The tools beside the large picture: which row is on show, the brush that hides patches, a head's scale, silence.

import { wordedButton, el, fill } from "../shared/dom.js";
import { significant } from "../shared/numbers.js";
import { factorAt, placeOf } from "../shared/scale_slider.js";

/** @import { PatchView } from "./patch_view.js" */

const MOST = 10;
const STEPS = 1000;
export const SHOWS = /** @type {const} */ (["row", "mean", "layers", "rollout"]);

export class PatchTools {
  /** @param {PatchView} view */
  constructor(view) {
    this.view = view;
    this.box = el("div", "av-wrap pv-tools");
    this.painting = false;
    this.built = "";
  }

  /** Builds the tools anew where their words or abilities changed. */
  build() {
    const { labels, words, raw } = this.view.header;
    const name = JSON.stringify([labels, words === null, raw !== null]);
    if (name === this.built) return;
    this.built = name;
    const rows = el("div", "av-wrap pv-group", null, { role: "group", "aria-label": labels.shows });
    this.rows = SHOWS.filter((which) => which !== "rollout" || words === null).map((which) => {
      const show = () => this.view.change({ shows: which });
      const row = wordedButton(rows, labels[which], labels[`${which}_help`], show);
      row.dataset.shows = which;
      return row;
    });
    const tools = el("div", "av-wrap pv-group");
    this.brush = wordedButton(tools, labels.hide, labels.hide_help, () => this.paint(!this.painting));
    this.brush.dataset.testid = "hide";
    this.clear = wordedButton(tools, labels.show_all, labels.show_all_help, () => this.view.change({ hidden: [] }));
    this.silence = wordedButton(tools, labels.silence, labels.silence_help, () => this.view.toggleSilence());
    this.silence.dataset.testid = "silence";
    this.own = wordedButton(tools, labels.one_scale, labels.one_scale_help, () => this.view.toggleScale());
    const line = el("label", "av-line pv-scale", null, { title: labels.scale_help });
    this.slider = el("input", "pv-range", null, { type: "range", min: "0", max: String(STEPS), step: "1" });
    this.slider.setAttribute("aria-label", labels.scale);
    this.slider.dataset.testid = "scale";
    this.factor = el("output", "pv-factor");
    line.append(el("span", "", labels.scale), this.slider, this.factor);
    this.slider.addEventListener("input", () => this.slide());
    this.slider.addEventListener("change", () => this.view.tell());
    this.box.replaceChildren(rows, tools, line);
  }

  slide() {
    if (!this.slider) return;
    const factor = factorAt(Number(this.slider.value) / STEPS, MOST);
    this.view.change({ factor: Math.abs(factor - 1) < 0.04 ? 1 : Math.round(factor * 100) / 100 }, false);
  }

  /** @param {boolean} on */
  paint(on) {
    this.painting = on;
    this.view.large.toggleAttribute("data-painting", on); // else a finger on the picture scrolls the page
    this.update();
    if (on) this.view.say(this.view.header.labels.painting);
  }

  /** Sets every tool to what is chosen. */
  update() {
    const { state, header } = this.view;
    const { labels } = header;
    for (const button of this.rows ?? []) {
      button.setAttribute("aria-pressed", String(button.dataset.shows === state.shows));
    }
    const here = state.silenced.some(([layer, head]) => layer === state.layer && head === state.head);
    this.silence?.setAttribute("aria-pressed", String(here));
    this.brush?.setAttribute("aria-pressed", String(this.painting));
    this.own?.setAttribute("aria-pressed", String(this.view.oneScale));
    if (this.clear) {
      this.clear.hidden = state.hidden.length === 0;
      this.clear.textContent = fill(labels.show_all, { count: state.hidden.length });
    }
    if (this.slider && this.factor) {
      this.slider.value = String(Math.round(placeOf(state.factor, MOST) * STEPS));
      this.slider.disabled = header.raw === null || !this.view.exact;
      this.factor.textContent = `× ${significant(state.factor)}`;
    }
  }
}
