// What is pinned as the app's links hold it: {"t": [["q", 3, "it"], …], "c": [3, 1, "it", "The"]}, tokens and a cell, each by
// its place and its label.

/** @import { Group } from "../../canvas/shared/group.js" */
/** @import { Axis, HeadHeader } from "../../canvas/shared/types.js" */
/** @typedef {{ t?: any[], c?: any[] | null }} LinkedPins */

/** What a link says of what is pinned. @param {Group} group @param {string[]} labels @returns {LinkedPins | null} */
export function linkedPins({ pins, cell }, labels) {
  const t = pins.map(({ axis, i }) => [axis, i, labels[i]]);
  if (cell) return { t, c: [...cell, ...cell.map((i) => labels[i])] };
  return t.length ? { t } : null;
}

/**
 * What a link pins of these tokens, and what it names that is not among them. A TypeError where it says something else.
 * @param {LinkedPins} linked @param {string[]} labels
 * @returns {{ pins: NonNullable<HeadHeader["pins"]>, lost: string[] }}
 */
export function pinsOf(linked, labels) {
  if (linked.constructor !== Object) throw new TypeError(String(linked));
  const { t = [], c = null } = linked;
  const tokens = t.map(([side, at, label]) => {
    if (side !== "q" && side !== "k") throw new TypeError(side);
    return /** @type {[Axis, number]} */ ([side, placeOf(at, label, labels)]);
  });
  const cell = c && /** @type {[number, number]} */ ([placeOf(c[0], c[2], labels), placeOf(c[1], c[3], labels)]);
  const there = cell !== null && !cell.includes(-1);
  const lost = t.filter((_pin, i) => tokens[i][1] < 0).concat(c && !there ? [c] : []);
  return {
    pins: { tokens: tokens.filter(([, at]) => at >= 0), cell: there ? cell : null },
    lost: lost.map((each) => each.join(" ")),
  };
}

/**
 * Where a token of a link stands: the nearest one of its label, if it has one; -1 is the last one. Answers -1 for nowhere.
 * @param {unknown} at @param {unknown} label @param {string[]} labels
 */
function placeOf(at, label, labels) {
  if (!Number.isInteger(at) || Number(at) < -1 || (label !== undefined && typeof label !== "string")) {
    throw new TypeError(String(at));
  }
  const place = at === -1 ? labels.length - 1 : Number(at);
  if (label === undefined || at === -1) return place < labels.length ? place : -1;
  const same = [...labels.keys()].filter((i) => labels[i] === label);
  return same.toSorted((a, b) => Math.abs(a - place) - Math.abs(b - place))[0] ?? -1;
}
