// What is pinned as the app's links hold it: {"t": [["q", 3, "it"], …], "c": [3, 1, "it", "The"]}, tokens and a cell, each by
// its place and its label.

/** @import { Group } from "../../canvas/shared/group.js" */
/** @import { Axis, HeadHeader } from "../../canvas/shared/types.js" */
/** @typedef {{ t?: any[], c?: any[] | null }} LinkedPins */

/** What a link says of what is pinned. @param {Group} group @param {string[]} labels @returns {LinkedPins | null} */
export function linkedPins({ pins, cell }, labels) {
  if (!pins.length && !cell) return null;
  const t = pins.map(({ axis, i }) => [axis, i, labels[i]]);
  return cell ? { t, c: [...cell, ...cell.map((i) => labels[i])] } : { t };
}

/**
 * What a link pins of these tokens, and what it names that is not among them. A TypeError where it says something else.
 * @param {LinkedPins} linked @param {string[]} labels
 * @returns {{ pins: NonNullable<HeadHeader["pins"]>, lost: string[] }}
 */
export function pinsOf(linked, labels) {
  if (linked.constructor !== Object) throw new TypeError(String(linked));
  const { t = [], c = null } = linked;
  const places = t.map(([side, at, label]) => {
    if (side !== "q" && side !== "k") throw new TypeError(side);
    return /** @type {[Axis, number | null]} */ ([side, placeOf(at, label, labels)]);
  });
  const cell = c && [0, 1].map((side) => placeOf(c[side], c[side + 2], labels));
  const lost = t.filter((_pin, number) => places[number][1] === null);
  if (cell?.includes(null)) lost.push(c);
  const tokens = /** @type {[Axis, number][]} */ (places.filter(([, at]) => at !== null));
  return {
    pins: { tokens, cell: cell?.includes(null) ? null : /** @type {[number, number] | null} */ (cell) },
    lost: lost.map((each) => each.join(" ")),
  };
}

/**
 * Where a token of a link stands: the nearest one of its label, if it has one; -1 is the last one; null: nowhere.
 * @param {unknown} at @param {unknown} label @param {string[]} labels
 */
function placeOf(at, label, labels) {
  if (!Number.isInteger(at) || Number(at) < -1 || (label !== undefined && typeof label !== "string")) {
    throw new TypeError(String(at));
  }
  const place = at === -1 ? labels.length - 1 : Number(at);
  if (label === undefined || at === -1) return place < labels.length ? place : null;
  const same = [...labels.keys()].filter((i) => labels[i] === label);
  return same.toSorted((a, b) => Math.abs(a - place) - Math.abs(b - place))[0] ?? null;
}
