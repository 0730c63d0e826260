// Colours of small tensors' numbers: by what they are (Q, K, V, scores, weights), readable in both themes.

import { colourAt, css, inkOn, mixed, rgb } from "../shared/colour.js";

/** @import { Rgb, TensorColours } from "../shared/types.js" */

/** The fill of a number and the ink that is readable on it. Weights run from 0 to 1, everything else from -1 to 1. */
/** @param {string} role @param {number} share @param {TensorColours} colours @param {Rgb} background */
export function tint(role, share, colours, background) {
  const [negative, positive] = colours.roles[role] ?? colours.roles.plain;
  const tinted = mixed(background, rgb(share < 0 ? negative : positive), 0.06 + 0.64 * Math.min(Math.abs(share), 1));
  const colour = role === "weights" ? colourAt(colours.weights, share) : tinted;
  return { fill: css(colour), ink: inkOn(colour) };
}

/** The page's background, which small numbers fade into. @param {Element} root */
export function backgroundOf(root) {
  return rgb(getComputedStyle(root).getPropertyValue("--st-background-color") || "#ffffff");
}
