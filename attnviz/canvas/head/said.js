// The sentence about one row: which keys get most. Python's side is Matrix.said_of in runs/head_matrix.py.

import { isolated } from "../shared/dom.js";
import { strongestOf, valueAt } from "./head_readout.js";
import { fixed, percent } from "../shared/numbers.js";
import { MASKED_16 } from "../shared/packing.js";

/** @import { Numbers } from "./head_readout.js" */
/** @import { RowSentence } from "../shared/types.js" */

/** @param {Numbers} numbers @param {RowSentence} about @param {number} row */
export function saidOf(numbers, about, row) {
  const { header } = numbers;
  const [rows, cols] = [header.q, header.k ?? header.q];
  const token = named(rows, about.places[0], row);
  const seen = strongestOf(numbers, { axis: "q", i: row }, 3);
  const [, , , masked, faint] = about.templates;
  if (!seen.length) return fillNumbers(masked, { token });
  const worth = seen.filter(({ value }) => value >= about.least);
  if (!worth.length) return fillNumbers(faint, { token });
  /** @type {Record<string, string | number>} */
  const fields = { token };
  worth.forEach(({ value, i: k }, place) => {
    fields[`key${place + 1}`] = named(cols, about.places[1], k);
    fields[`share${place + 1}`] = value;
  });
  return fillNumbers(about.templates[worth.length - 1], fields);
}

const ALIKE = 0.999; // of the largest: numbers as near as this may be one number, sent as a code

/**
 * The row that tells most: the one with the largest, farthest weight; the last where none is. The first token, on which
 * heads rest their attention, is left out. Python's side is Matrix.telling_row in runs/head_matrix.py.
 */
/** @param {Numbers} numbers */
export function tellingRow(numbers) {
  const [nq, nk] = numbers.header.shape;
  const far = Float64Array.from({ length: Math.max(nq, nk) }, (_, distance) => Math.log1p(distance));
  const rows = Array.from({ length: nq }, (_, q) => {
    let most = 0;
    for (let k = 1; k < nk; k++) {
      if (numbers.codes[q * nk + k] === MASKED_16) continue;
      most = Math.max(most, valueAt(numbers, q, k) * far[Math.abs(q - k)]);
    }
    return most;
  });
  const most = Math.max(0, ...rows);
  return most > 0 ? rows.findIndex((tells) => tells >= ALIKE * most) : nq - 1;
}

/** A token, with its position where the same occurs more than once. */
/** @param {string[]} labels @param {number[]} places @param {number} i */
function named(labels, places, i) {
  const label = labels[i];
  return labels.indexOf(label) === labels.lastIndexOf(label) ? label : `${label} (${places[i]})`;
}

/** A Python template filled in: {name}, {name:.0%} and {name:.2f}. */
/** @param {string} template @param {Record<string, string | number>} fields */
export function fillNumbers(template, fields) {
  return template.replace(/\{(\w+)(?::\.(\d)([%f]))?\}/g, (whole, name, digits, kind) => {
    if (!(name in fields)) return whole;
    if (kind === undefined) return isolated(fields[name]);
    return (kind === "%" ? percent : fixed)(Number(fields[name]), Number(digits));
  });
}
