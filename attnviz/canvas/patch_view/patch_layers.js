// One row through several heads: their mean, and what a token is made of after some layers. It draws nothing.

/**
 * The mean of rows that are as long.
 * @param {readonly Float32Array[]} rows
 * @param {number} length
 */
export function meanOfRows(rows, length) {
  const mean = new Float32Array(length);
  for (const row of rows) for (let k = 0; k < length; k++) mean[k] += row[k] / rows.length;
  return mean;
}

/**
 * A layer as one matrix with the residual stream, which has the same share as attention: rows of the mean of its heads,
 * each half kept where it is, and then scaled to sum to 1. Python's side is `layer_mix` in attnviz/core/measures.py.
 * @param {readonly Float32Array[]} mean one row for each token
 */
export function mixed(mean) {
  return mean.map((row, token) => {
    const mix = row.map((weight) => weight / 2);
    mix[token] += 0.5;
    const total = mix.reduce((sum, share) => sum + share, 0);
    return mix.map((share) => share / total);
  });
}

/**
 * What a token is made of after these layers, the first of them first (Abnar and Zuidema 2020).
 * @param {readonly Float32Array[][]} mixes
 * @param {number} token
 */
export function followed(mixes, token) {
  let row = mixes[mixes.length - 1][token];
  for (let layer = mixes.length - 2; layer >= 0; layer--) {
    const next = new Float32Array(row.length);
    mixes[layer].forEach((mix, from) => {
      const share = row[from];
      if (share > 0) for (let k = 0; k < next.length; k++) next[k] += share * mix[k];
    });
    row = next;
  }
  return row;
}
