// Colours of small tensors' numbers: by what they are (Q, K, V, scores, weights), readable in both themes.

import { colourAt, css, inkOn, mixColours, rgb } from "../shared/colour.js";

/** @import { Rgb, Sheet, TensorColours } from "../shared/types.js" */

/** How much of its own colour the name of a role has; the text's colour is the rest. */
const OWN = { q: 0.7, k: 0.82, v: 0.72 };

/** The fill of a number and the ink that is readable on it. Weights run from 0 to 1, everything else from -1 to 1. */
/** @param {string} role @param {number} share @param {TensorColours} colours @param {Rgb} background */
export function tensorColour(role, share, colours, background) {
  const [negative, positive] = colours.roles[role] ?? colours.roles.plain;
  const tinted = mixColours(
    background,
    rgb(share < 0 ? negative : positive),
    0.06 + 0.64 * Math.min(Math.abs(share), 1),
  );
  const colour = role === "weights" ? colourAt(colours.weights, share) : tinted;
  return { fill: css(colour), ink: inkOn(colour) };
}

/** What the numbers of a column are: columns differ in it where Q, K and V are packed. */
/** @param {Pick<Sheet, "role" | "roles">} sheet @param {number} c */
export function columnRole({ role, roles }, c) {
  return roles.length ? roles[c] : role;
}

/** The colour in which a role is named: Q, K and V in their own, all else in the text's. */
/** @param {string | undefined} role @param {TensorColours} colours @param {string} text */
export function nameColour(role, colours, text) {
  if (role !== "q" && role !== "k" && role !== "v") return text;
  return css(mixColours(rgb(text), rgb(colours[role]), OWN[role]));
}
