// What a transformer does between its products, row by row and in place. Arrays in, arrays out.

/**
 * x / rms(x) * gain, each row. @param {Float32Array} x @param {Float32Array} gain @param {number} eps
 * @param {Float32Array} into
 */
export function rmsNorm(x, gain, eps, into) {
  const m = gain.length;
  for (let from = 0; from < x.length; from += m) {
    let squares = 0;
    for (let i = 0; i < m; i++) squares += x[from + i] ** 2;
    const scale = Math.fround(1 / Math.sqrt(squares / m + eps));
    for (let i = 0; i < m; i++) into[from + i] = gain[i] * Math.fround(x[from + i] * scale);
  }
}

/** (x - mean) / deviation * gain + bias, each row, in place. */
/** @param {Float32Array} x @param {Float32Array} gain @param {Float32Array} bias @param {number} eps */
export function layerNorm(x, gain, bias, eps) {
  const m = gain.length;
  for (let from = 0; from < x.length; from += m) {
    let [sum, squares] = [0, 0];
    for (let i = 0; i < m; i++) sum += x[from + i];
    const mean = sum / m;
    for (let i = 0; i < m; i++) squares += (x[from + i] - mean) ** 2;
    const scale = 1 / Math.sqrt(squares / m + eps);
    for (let i = 0; i < m; i++) x[from + i] = (x[from + i] - mean) * scale * gain[i] + bias[i];
  }
}

/** x + y, in place. @param {Float32Array} x @param {Float32Array} y one row of y is added to each of x */
export function add(x, y) {
  for (let i = 0, j = 0; i < x.length; i++, j = j + 1 === y.length ? 0 : j + 1) x[i] += y[j];
}

/** silu(gate) * up, in place of the gate. @param {Float32Array} gate @param {Float32Array} up */
export function swiglu(gate, up) {
  for (let i = 0; i < gate.length; i++) gate[i] = (gate[i] / (1 + Math.exp(-gate[i]))) * up[i];
}

/** x times the share of a normal distribution below it, in place. @param {Float32Array} x */
export function gelu(x) {
  for (let i = 0; i < x.length; i++) x[i] = 0.5 * x[i] * (1 + erf(x[i] * Math.SQRT1_2));
}

/** The error function, to 1.5e-7 (Abramowitz and Stegun 7.1.26). @param {number} x */
function erf(x) {
  const t = 1 / (1 + 0.3275911 * Math.abs(x));
  const series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  return Math.sign(x) * (1 - series * Math.exp(-x * x));
}

/**
 * Turn neighbouring pairs of each head's numbers by the angle of their position, in place: the order of GGUF, in which
 * products of queries and keys are those of halves that are turned.
 * @param {Float32Array} x (tokens, heads * d) @param {number} d @param {number} tokens @param {number} base
 */
export function rotate(x, d, tokens, base) {
  const width = x.length / tokens;
  for (let t = 0; t < tokens; t++) {
    for (let pair = 0; pair < d / 2; pair++) {
      const angle = Math.fround(t * Math.fround(1 / Math.fround(base ** ((2 * pair) / d))));
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
      for (let at = t * width + 2 * pair; at < (t + 1) * width; at += d) {
        const [a, b] = [x[at], x[at + 1]];
        x[at] = a * cos - b * sin;
        x[at + 1] = a * sin + b * cos;
      }
    }
  }
}
