// Controls: walking by arrow keys, buttons of which one is taken, sliders with their names, buttons that are held down.

import { el } from "./dom.js";

/** What arrow keys mean in a row. @type {Record<string, number>} */
export const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
/** What they and two others mean on a slider. @type {Record<string, number>} */
export const SLIDER_STEPS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -Infinity, End: Infinity };
/** What they mean among rows and columns. @type {Record<string, [number, number]>} */
export const ARROWS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };

/** @param {KeyboardEvent} event */
export function isPress({ key }) {
  return key === "Enter" || key === " ";
}

/**
 * The button of a row that arrow keys, Home and End lead to from the one that has the keyboard; null where there is none.
 * @param {KeyboardEvent} event @param {HTMLButtonElement[]} buttons
 */
export function nextButton(event, buttons) {
  const from = buttons.findIndex((each) => each === event.target);
  const step = STEPS[event.key];
  const to = step ? from + step : { Home: 0, End: buttons.length - 1 }[event.key];
  if (from < 0 || to === undefined || !buttons[to]) return null;
  event.preventDefault();
  return to;
}

/** Shows which of a radio group's buttons is taken, and makes it the stop of Tab. */
/** @param {ParentNode} group @param {number} current */
export function focusedButton(group, current) {
  group.querySelectorAll("[role=radio]").forEach((each, i) => {
    each.setAttribute("aria-checked", String(i === current));
    if (each instanceof HTMLElement) each.tabIndex = i === current ? 0 : -1;
  });
}

/** Makes a radio group of buttons: one stop of Tab for all, and arrow keys take the next, round and round. */
/** @param {HTMLElement} group @param {HTMLButtonElement[]} buttons @param {number} current */
export function radioGroup(group, buttons, current) {
  for (const each of buttons) each.setAttribute("role", "radio");
  group.setAttribute("role", "radiogroup");
  group.append(...buttons);
  focusedButton(group, current);
  group.addEventListener("keydown", (event) => {
    const at = buttons.findIndex((each) => each === event.target);
    if (at < 0 || !(event.key in STEPS)) return;
    event.preventDefault();
    event.stopPropagation();
    const next = buttons[(at + STEPS[event.key] + buttons.length) % buttons.length];
    next.focus();
    next.click();
  });
}

/** @typedef {{ line: HTMLElement, input: HTMLInputElement, value: HTMLOutputElement }} LabelledSlider */

/** A slider of stops, the first being 0. It moves the picture at once; Python hears of it on release. */
/** @param {number} last @param {(stop: number) => void} move @param {() => void} release */
export function stopSlider(last, move, release) {
  const input = el("input", "av-slider-range", null, { type: "range", min: "0", max: String(last), step: "1" });
  input.addEventListener("input", () => move(Number(input.value)));
  input.addEventListener("change", release);
  return input;
}

/**
 * A slider with its name and value before it.
 * @param {HTMLInputElement} input
 * @param {string} prefix of the component's own class names
 * @param {string} what it sets @param {string} name for people @param {string} [between] name and value
 * @returns {LabelledSlider}
 */
export function labelledSlider(input, prefix, what, name, between = " ") {
  const line = el("div", `av-line av-column av-slider ${prefix}-slider ${prefix}-${what}`);
  const label = el("label", `av-slider-name ${prefix}-label`);
  const value = el("output", `av-strong ${prefix}-value`);
  input.classList.add(`${prefix}-range`);
  input.dataset.what = what;
  input.setAttribute("aria-label", name);
  label.append(el("span", "", name + between), value);
  line.append(label, input);
  return { line, input, value };
}

/** A press that is shorter is a click; a longer one only lasts as long as it is held. */
const SHORT = 300;

/**
 * Lets a button be held by mouse, touch and keys.
 * @param {HTMLButtonElement} control
 * @param {(on: boolean) => void} hold as it begins and ends
 * @param {() => void} click after a short press
 */
export function makeHoldable(control, hold, click) {
  let began = 0;
  let held = false;
  const begin = () => {
    if (held) return;
    began = performance.now();
    held = true;
    hold(true);
  };
  const end = (/** @type {boolean} */ meant) => {
    if (!held) return;
    held = false;
    hold(false);
    if (meant && performance.now() - began < SHORT) click();
  };
  control.addEventListener("pointerdown", (e) => {
    control.setPointerCapture(e.pointerId);
    begin();
  });
  control.addEventListener("pointerup", () => end(true));
  for (const away of ["pointercancel", "blur"]) control.addEventListener(away, () => end(false));
  control.addEventListener("contextmenu", (e) => e.preventDefault());
  control.addEventListener("keydown", (e) => {
    if (!isPress(e)) return;
    e.preventDefault();
    begin();
  });
  control.addEventListener("keyup", (e) => {
    if (isPress(e)) end(true);
  });
}

/**
 * Appends a control with its name before it.
 * @template {HTMLElement} T
 * @param {HTMLElement} host
 * @param {string} name
 * @param {T} control
 * @param {HTMLElement} [box] what is appended, where it is more than the control
 */
export function appendLabelled(host, name, control, box = control) {
  control.setAttribute("aria-label", name);
  host.append(el("span", "av-strong av-controls-name", name), box);
  return control;
}
