// Where a row of steps stands so that the chosen one is seen whole.

import { clamp } from "../shared/numbers.js";

/**
 * How far a row is scrolled to have `chip` in its middle; a row that fits is not scrolled.
 * @param {{ left: number, width: number }} chip measured from the row's own beginning
 * @param {number} seen how much of the row is seen
 * @param {number} whole how long it is
 */
export function scrolledTo(chip, seen, whole) {
  return clamp(chip.left - (seen - chip.width) / 2, 0, Math.max(0, whole - seen));
}
