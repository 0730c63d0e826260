// Which tokens of a head are lit: what is pinned and what is pointed at.

import { isPinned } from "../shared/group.js";

/** @import { Group } from "../shared/group.js" */
/** @import { Hover, Pin, Shape } from "../shared/types.js" */

/**
 * Tokens to light: pins, then what is pointed at; a cell lights its query and its key.
 * @param {Group} group
 * @param {Shape} shape
 */
export function litTokens(group, [nq, nk]) {
  const found = group.pins.map((pin) => ({ ...pin, pin: true }));
  for (const { axis, i } of tokensOf(group.hover)) {
    if (!isPinned(group, axis, i)) found.push({ axis, i, pin: false });
  }
  return found.filter(({ axis, i }) => i < (axis === "q" ? nq : nk));
}

/**
 * The token whose weights tint the sentence: the one pointed at, else the last one pinned.
 * @param {Group} group
 * @returns {Pin | null}
 */
export function leadToken({ hover, pins }) {
  if (hover) return hover.axis === "cell" ? { axis: "q", i: hover.q } : hover;
  return pins[pins.length - 1] ?? null;
}

/**
 * The query that the sentence below is about: of the cell, else the last one pinned, else `otherwise`.
 * @param {Group} group
 * @param {Shape} shape
 * @param {number} otherwise
 */
export function toldRow({ pins, cell }, [nq], otherwise) {
  const pinned = pins.filter(({ axis, i }) => axis === "q" && i < nq).map(({ i }) => i);
  return Math.min(cell ? cell[0] : (pinned[pinned.length - 1] ?? otherwise), nq - 1);
}

/**
 * @param {Hover | null} hover
 * @returns {Pin[]}
 */
function tokensOf(hover) {
  if (hover === null) return [];
  if (hover.axis !== "cell") return [hover];
  return [
    { axis: "q", i: hover.q },
    { axis: "k", i: hover.k },
  ];
}
