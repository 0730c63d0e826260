// Attention weights from raw scores, stage by stage in the order of Python's attnviz.core.attention.attend: scale, bias,
// soft-cap, mask, softmax with a sink. It knows no page; tests/js/cases/attend.json holds the two together.

/** @import { RawHead } from "./types.js" */

/**
 * The weights of one head, row by row; every step is rounded to 32 bits, as Python's are. A row that may see no key is 0.
 * @param {Pick<RawHead, "shape" | "scores" | "bias" | "softcap" | "sink">} head
 * @param {Uint8Array | null} mask one a cell, 1 = may attend; null = every cell may
 * @param {number} factor what multiplies the scores
 * @param {Float32Array} [weights] where they are written
 */
export function attend(head, mask, factor, weights = new Float32Array(head.shape[0] * head.shape[1])) {
  const [nq, nk] = head.shape;
  for (let q = 0; q < nq; q++) {
    const top = writeLogits(head, mask, factor, weights, q * nk, nk);
    if (Number.isNaN(top)) weights.fill(0, q * nk, (q + 1) * nk);
    else normalise(weights, q * nk, nk, top, head.sink);
  }
  return weights;
}

/**
 * Writes a row's logits, -Infinity where a key is hidden; answers the largest, NaN where no key may be seen.
 * @param {Pick<RawHead, "scores" | "bias" | "softcap" | "sink">} head @param {Uint8Array | null} mask
 * @param {number} factor @param {Float32Array} row @param {number} from @param {number} nk
 */
export function writeLogits({ scores, bias, softcap, sink }, mask, factor, row, from, nk) {
  const times = Math.fround(factor);
  const cap = softcap === null ? 0 : Math.fround(softcap);
  let top = sink === null ? -Infinity : Math.fround(sink);
  let seen = 0;
  for (let i = from; i < from + nk; i++) {
    if ((mask !== null && mask[i] === 0) || (bias !== null && bias[i] === -Infinity)) {
      row[i] = -Infinity;
      continue;
    }
    let x = factor === 1 ? scores[i] : Math.fround(scores[i] * times);
    if (bias !== null) x = Math.fround(x + bias[i]);
    if (softcap !== null) x = Math.fround(cap * Math.fround(Math.tanh(Math.fround(x / cap))));
    row[i] = x;
    seen += 1;
    if (x > top) top = x;
  }
  return seen === 0 ? NaN : top;
}

/** exp(x) / sum, in place; a sink has its share of the sum. */
/** @param {Float32Array} row @param {number} from @param {number} nk @param {number} top @param {number | null} sink */
function normalise(row, from, nk, top, sink) {
  let sum = sink === null ? 0 : Math.exp(Math.fround(Math.fround(sink) - top));
  for (let i = from; i < from + nk; i++) {
    if (row[i] === -Infinity) {
      row[i] = 0;
      continue;
    }
    row[i] = Math.exp(Math.fround(row[i] - top));
    sum += row[i];
  }
  const total = Math.fround(sum);
  for (let i = from; i < from + nk; i++) row[i] = row[i] / total;
}

/** exp(z) / sum of one row, the sum with a sink's own logit in it. @param {Float64Array} logits @param {number} sink */
export function softmax(logits, sink = -Infinity) {
  const top = logits.reduce((most, z) => Math.max(most, z), sink);
  if (top === -Infinity) return new Float64Array(logits.length);
  const weights = logits.map((z) => Math.exp(z - top));
  const sum = weights.reduce((total, w) => total + w, Math.exp(sink - top));
  return weights.map((w) => w / sum);
}
