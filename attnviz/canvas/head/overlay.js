// Several heads of one layer in one picture of lines: which, in which colours, and what each says of a token. No drawing.

import { MASKED_16 } from "../shared/codes.js";
import { valueAt } from "./head_readout.js";

/** @import { Numbers } from "./head_readout.js" */
/** @import { Axis, Hover } from "../shared/types.js" */

/** Heads in one picture at most: as many colours can be told apart. */
export const MOST_HEADS = 8;

/**
 * The heads in the picture, the one on show first; one alone is the picture as it always is.
 * @param {readonly number[]} chosen heads that a visitor laid over it, in the order in which they were
 * @param {number} lead the head on show
 * @param {number} count heads of the layer
 */
export function overlaid(chosen, lead, count) {
  const others = [...new Set(chosen)].filter((head) => head !== lead && head >= 0 && head < count);
  return [lead, ...others].slice(0, MOST_HEADS);
}

/**
 * The chosen heads with one more, or one less. The head on show stays, and nothing comes on top of the most.
 * @param {readonly number[]} chosen
 * @param {number} head
 * @param {number} lead
 * @param {number} count
 */
export function toggled(chosen, head, lead, count) {
  if (head === lead || head < 0 || head >= count) return [...chosen];
  const shown = overlaid(chosen, lead, count);
  if (shown.includes(head)) return chosen.filter((other) => other !== head);
  return shown.length >= MOST_HEADS ? [...chosen] : [...shown.slice(1), head];
}

/**
 * The colour of each head, by its place among the eight: the head's own where no other has it, else the next free one.
 * Those laid over keep theirs when another head is on show. Python's side is figures/svg_head.py.
 * @param {readonly number[]} shown what `overlaid` answers
 * @returns {Map<number, number>}
 */
export function coloursOf(shown) {
  /** @type {Map<number, number>} */
  const places = new Map();
  for (const head of [...shown.slice(1), shown[0]]) {
    const taken = new Set(places.values());
    let place = head % MOST_HEADS;
    while (taken.has(place)) place = (place + 1) % MOST_HEADS;
    places.set(head, place);
  }
  return places;
}

/**
 * What is pointed at or told of: a cell, or a token of one side.
 * @param {Hover | null} hover
 * @param {[number, number] | null} cell
 * @param {{ axis: Axis, i: number } | null} lead
 * @param {number} row
 * @returns {Hover}
 */
export function aboutWhat(hover, cell, lead, row) {
  if (hover?.axis === "cell") return hover;
  if (!hover && cell) return { axis: "cell", q: cell[0], k: cell[1] };
  return lead ?? { axis: "q", i: row };
}

/**
 * The strongest others of a token in one head, or its one cell: the largest magnitude first.
 * @param {Numbers} numbers
 * @param {Hover} about
 * @param {number} most
 * @returns {{ axis: Axis, i: number, value: number }[]}
 */
export function strongestOf(numbers, about, most) {
  const [nq, nk] = numbers.header.shape;
  if (about.axis === "cell") {
    const { q, k } = about;
    if (q >= nq || k >= nk || numbers.codes[q * nk + k] === MASKED_16) return [];
    return [{ axis: "k", i: k, value: valueAt(numbers, q, k) }];
  }
  const { axis, i } = about;
  if (i >= (axis === "q" ? nq : nk)) return [];
  /** @type {{ axis: Axis, i: number, value: number }[]} */
  const seen = [];
  for (let j = 0; j < (axis === "q" ? nk : nq); j++) {
    const [q, k] = axis === "q" ? [i, j] : [j, i];
    if (numbers.codes[q * nk + k] === MASKED_16) continue;
    seen.push({ axis: axis === "q" ? "k" : "q", i: j, value: valueAt(numbers, q, k) });
  }
  return seen.sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, most);
}
