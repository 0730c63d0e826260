// Streamlit's theme, read from its CSS variables.

import { contrast, hex, isDark, mixed, rgb } from "./colour.js";

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
  const theme = {
    text: read("text-color", "#1f2328"),
    background,
    border: read("border-color", "#d0d0d8"),
    primary: read("primary-color", "#7a2382"),
    font: read("font", "sans-serif"),
    dark,
    q: readable(colours.q, background),
    k: readable(colours.k, background),
  };
  for (const axis of /** @type {const} */ (["q", "k"])) {
    const name = `--av-${axis}`;
    if (root.style.getPropertyValue(name) !== theme[axis]) root.style.setProperty(name, theme[axis]);
  }
  return theme;
}

/**
 * A colour as text in it can be read: lighter on a dark page, and no darker than it has to be on a light one.
 * @param {string} css
 * @param {string} background
 */
export function readable(css, background) {
  const colour = rgb(css);
  if (isDark(background)) return hex(mixed(colour, [255, 255, 255], 0.35));
  const enough = Array.from({ length: 20 }, (_, i) => mixed(colour, [0, 0, 0], i / 20));
  return hex(enough.find((each) => contrast(each, rgb(background)) >= 4.5) ?? [0, 0, 0]);
}
