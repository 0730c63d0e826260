// The tools beside the large picture: which row is on show, the brush that hides patches, a head's scale, silence.

import { wordedButton, el, fill } from "../shared/dom.js";
import { isSilenced } from "./patch_numbers.js";
import { formatSignificant } from "../shared/numbers.js";
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
    /** @type {{ button: HTMLElement, isOn: () => boolean }[]} */
    this.toggles = [];
    this.penBox = el("div", "av-wrap pv-group");
    this.clear = el("button");
    this.wipe = el("button");
    this.slider = el("input", "pv-range", null, { type: "range", min: "0", max: String(STEPS), step: "1" });
    this.slider.dataset.testid = "scale";
    this.slider.addEventListener("input", () => this.slide());
    this.slider.addEventListener("change", () => this.view.tell());
    this.factor = el("output", "pv-factor");
  }

  /** Builds the tools anew where their words or abilities changed. */
  build() {
    const { view } = this;
    const { labels, words, raw, pads } = view.header;
    const name = JSON.stringify([labels, words === null, raw !== null, pads]);
    if (name === this.built) return;
    this.built = name;
    this.toggles = [];
    this.penBox.replaceChildren();
    if (pads) {
      const draws = () => view.state.drawings !== null;
      const draw = () => view.change({ drawings: draws() ? null : Array(pads).fill(""), hidden: [], pins: [] });
      this.toggle(this.penBox, "draw", draws, draw).dataset.testid = "draw";
      this.wipe = wordedButton(this.penBox, labels.clear, labels.clear, () => view.pen.clear());
    }
    const rows = el("div", "av-wrap pv-group", null, { role: "group", "aria-label": labels.shows });
    for (const which of SHOWS.filter((each) => each !== "rollout" || words === null)) {
      const isOn = () => view.state.shows === which;
      this.toggle(rows, which, isOn, () => view.change({ shows: which })).dataset.shows = which;
    }
    const tools = el("div", "av-wrap pv-group");
    const paint = () => this.paint(!this.painting);
    this.toggle(tools, "hide", () => this.painting, paint).dataset.testid = "hide";
    this.clear = wordedButton(tools, labels.show_all, labels.show_all_help, () => view.change({ hidden: [] }));
    const silenced = () => isSilenced(view.state, view.state.layer, view.state.head);
    this.toggle(tools, "silence", silenced, () => view.toggleSilence()).dataset.testid = "silence";
    this.toggle(
      tools,
      "one_scale",
      () => view.oneScale,
      () => view.toggleScale(),
    );
    const line = el("label", "av-line pv-scale", null, { title: labels.scale_help });
    this.slider.setAttribute("aria-label", labels.scale);
    line.append(el("span", "", labels.scale), this.slider, this.factor);
    this.box.replaceChildren(rows, tools, line);
  }

  /** @param {Element} host @param {string} name of its label @param {() => boolean} isOn @param {() => void} act */
  toggle(host, name, isOn, act) {
    const { labels } = this.view.header;
    const button = wordedButton(host, labels[name], labels[`${name}_help`], act);
    this.toggles.push({ button, isOn });
    return button;
  }

  slide() {
    const factor = factorAt(Number(this.slider.value) / STEPS, MOST);
    this.view.change({ factor: Math.abs(factor - 1) < 0.04 ? 1 : Math.round(factor * 100) / 100 }, false);
  }

  /** @param {boolean} on */
  paint(on) {
    this.painting = on;
    this.update();
    if (on) this.view.say(this.view.header.labels.painting);
  }

  /** Sets every tool to what is chosen. */
  update() {
    const { state, header, exact } = this.view;
    for (const { button, isOn } of this.toggles) button.setAttribute("aria-pressed", String(isOn()));
    this.wipe.hidden = !state.drawings?.some(Boolean);
    this.view.large.toggleAttribute("data-painting", this.painting || state.drawings !== null); // else a finger scrolls the page
    this.clear.hidden = state.hidden.length === 0;
    this.clear.textContent = fill(header.labels.show_all, { count: state.hidden.length });
    this.slider.value = String(Math.round(placeOf(state.factor, MOST) * STEPS));
    this.slider.disabled = header.raw === null || !exact;
    this.factor.textContent = `× ${formatSignificant(state.factor)}`;
  }
}
