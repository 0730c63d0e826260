// A slider with its name and value before it. It moves the picture at once; Python hears of it on release.

import { el } from "./dom.js";

/** @typedef {{ line: HTMLElement, input: HTMLInputElement, value: HTMLOutputElement }} LabelledSlider */

/**
 * @param {object} slider
 * @param {string} slider.prefix of the component's own class names
 * @param {string} slider.what it sets
 * @param {string} slider.name for people
 * @param {string} [slider.between] name and value
 * @param {number} slider.last stop, the first being 0
 * @param {(stop: number, held: boolean) => void} moved `held`: the hand may still move on
 * @returns {LabelledSlider}
 */
export function labelledSlider({ prefix, what, name, between = " ", last }, moved) {
  const line = el("div", `av-slider ${prefix}-slider ${prefix}-${what}`);
  const label = el("label", `av-slider-name ${prefix}-label`);
  const value = el("output", `av-slider-value ${prefix}-value`);
  const attributes = { type: "range", min: "0", max: String(last), step: "1", "aria-label": name, "data-what": what };
  const input = el("input", `av-slider-range ${prefix}-range`, null, attributes);
  label.append(el("span", "", name + between), value);
  line.append(label, input);
  input.addEventListener("input", () => moved(Number(input.value), true));
  input.addEventListener("change", () => moved(Number(input.value), false));
  return { line, input, value };
}
