// The slider of the scale beside a head, with its marks and the scale in words.

import { labelled } from "../shared/controls.js";
import { attribute, button, el, fill, say } from "../shared/dom.js";
import { factorOf } from "../shared/edit.js";
import { significant } from "../shared/numbers.js";
import { choiceAt, largestFactor, marksOf, placeOf, stepFrom } from "../shared/scale_slider.js";
import { textWidth } from "../scene/text_width.js";

/** @import { HeadControls } from "./head_controls.js" */
/** @import { Edit, RawHead } from "../shared/types.js" */

const STEPS = 1000;
/** @type {Record<string, number>} */
const KEYS = { ArrowRight: 0.05, ArrowUp: 0.05, ArrowLeft: -0.05, ArrowDown: -0.05, PageUp: 0.5, PageDown: -0.5 };

export class ScaleControl {
  /** @param {HeadControls} controls @param {HTMLElement} host @param {RawHead | null} raw */
  constructor(controls, host, raw) {
    this.controls = controls;
    const { words } = this.controls.view.drawn;
    const box = el("span", "av-scale");
    const attributes = { type: "range", min: "0", max: String(STEPS), step: "1", "data-testid": "scale" };
    this.input = el("input", "av-range", null, attributes);
    const marks = el("span", "av-marks", null, { "aria-hidden": "true" });
    this.value = el("span", "av-number", null, { "data-testid": "scale-value" });
    for (const mark of raw ? marksOf(raw) : []) this.mark(marks, mark, raw);
    box.append(this.input, marks);
    labelled(host, words.scale, this.input, box);
    host.append(this.value);
    this.value.style.minWidth = `min(${this.widest()}px, 100%)`;
    this.input.addEventListener("input", () => {
      if (controls.raw) controls.move(choiceAt(Number(this.input.value) / STEPS, controls.raw));
    });
    this.input.addEventListener("change", () => controls.emit());
    this.input.addEventListener("pointerup", () => controls.emitSoon()); // a hand that comes back to where it began changes nothing
    this.input.addEventListener("keydown", (e) => this.key(e));
  }

  /** Room for any usual scale: its words change as the hand moves, and the slider must not change its length below it. */
  widest() {
    const { words } = this.controls.view.drawn;
    const longest = fill(words.scale_short, { factor: "0.000", number: "0.0000", temperature: "0.000" });
    return Math.ceil(textWidth(longest, 12));
  }

  /** @param {HTMLElement} host @param {{ scale: Edit["scale"], factor: number }} mark @param {RawHead | null} raw */
  mark(host, { scale, factor }, raw) {
    if (!raw) return;
    const { words } = this.controls.view.drawn;
    const names = { model: words.mark_own, none: words.mark_none, inverse: words.mark_inverse, factor: "" };
    const press = () => this.controls.set({ scale, factor: 1 });
    const node = button("av-mark", names[scale], press, { tabindex: "-1", "data-mark": scale });
    node.style.left = `${placeOf(factor, largestFactor(raw)) * 100}%`;
    host.append(node);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { raw, group } = this.controls;
    if (!raw || event.altKey || event.ctrlKey || event.metaKey) return;
    const factor = factorOf(group.edit, raw) / raw.scale;
    const by = event.key in KEYS ? KEYS[event.key] * (event.shiftKey ? 10 : 1) : { Home: -1e9, End: 1e9 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.controls.move(stepFrom(factor, by, raw));
    this.controls.emitSoon();
  }

  /** Sets slider and words to the edit. @param {Edit} edit @param {RawHead | null} raw */
  update(edit, raw) {
    const { input, value } = this;
    if (!raw) {
      say(value, "");
      return;
    }
    const { words } = this.controls.view.drawn;
    const number = factorOf(edit, raw);
    const factor = number / raw.scale;
    const fields = {
      factor: significant(factor),
      number: significant(number),
      temperature: factor === 0 ? "∞" : significant(1 / factor),
    };
    if (document.activeElement !== input || edit.scale !== "factor") {
      input.value = String(Math.round(placeOf(factor, largestFactor(raw)) * STEPS));
    }
    attribute(input, "aria-valuetext", fill(words.scale_value, fields));
    attribute(input, "title", fill(words.scale_value, fields));
    say(value, fill(words.scale_short, fields));
  }
}
