// Streamlit's theme, read from its CSS variables.

import { hex, isDark, mixed, rgb } from "./colour.js";

/** @import { Colours, Theme } from "./types.js" */

/**
 * The theme around a component, with Q's and K's colours as text and thin lines need them on this background.
 * @param {HTMLElement} root
 * @param {Colours} colours
 * @returns {Theme}
 */
export function themeOf(root, colours) {
  const style = getComputedStyle(root);
  const read = (/** @type {string} */ name, /** @type {string} */ other) =>
    style.getPropertyValue(`--st-${name}`).trim() || other;
  const background = read("background-color", "#ffffff");
  const dark = isDark(background);
  const readable = (/** @type {string} */ colour) => (dark ? hex(mixed(rgb(colour), [255, 255, 255], 0.35)) : colour);
  const theme = {
    text: read("text-color", "#1f2328"),
    background,
    border: read("border-color", "#d0d0d8"),
    primary: read("primary-color", "#7a2382"),
    font: read("font", "sans-serif"),
    dark,
    q: readable(colours.q),
    k: readable(colours.k),
  };
  for (const axis of /** @type {const} */ (["q", "k"])) {
    const name = `--av-${axis}`;
    if (root.style.getPropertyValue(name) !== theme[axis]) root.style.setProperty(name, theme[axis]);
  }
  return theme;
}
