// Controls that are held down, and controls with their name beside them.

import { el } from "../shared/dom.js";

/** A press that is shorter is a click; a longer one only lasts as long as it is held. */
const SHORT = 300;

/**
 * Lets a button be held by mouse, touch and keys.
 * @param {HTMLButtonElement} button
 * @param {(on: boolean) => void} hold as it begins and ends
 * @param {() => void} click after a short press
 */
export function holdable(button, hold, click) {
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
  button.addEventListener("pointerdown", (e) => {
    button.setPointerCapture(e.pointerId);
    begin();
  });
  button.addEventListener("pointerup", () => end(true));
  button.addEventListener("pointercancel", () => end(false));
  button.addEventListener("blur", () => end(false));
  button.addEventListener("contextmenu", (e) => e.preventDefault());
  button.addEventListener("keydown", (e) => {
    if (e.key !== " " && e.key !== "Enter") return;
    e.preventDefault();
    begin();
  });
  button.addEventListener("keyup", (e) => {
    if (e.key === " " || e.key === "Enter") end(true);
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
export function labelled(host, name, control, box = control) {
  control.setAttribute("aria-label", name);
  host.append(el("span", "av-controls-name", name), box);
  return control;
}
