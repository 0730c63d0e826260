// Bytes, FLOPs and seconds in readable units, as base/units.py writes them.

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const FLOP = ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP", "ZFLOP"];

/**
 * Four significant digits, thousands apart.
 * @param {number} value
 */
function four(value) {
  return Number(value.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 6 });
}

/**
 * @param {number} value
 * @param {number} step
 * @param {string[]} names
 */
function scaled(value, step, names) {
  let power = 0;
  while (Math.abs(value) >= step && power + 1 < names.length) {
    value /= step;
    power += 1;
  }
  return power ? `${four(value)} ${names[power]}` : `${Math.round(value).toLocaleString("en-US")} ${names[0]}`;
}

/** @param {number} count */
export function binary(count) {
  return scaled(count, 1024, BINARY);
}

/** @param {number} count */
export function flop(count) {
  return scaled(count, 1000, FLOP);
}

/** @param {number} seconds */
export function duration(seconds) {
  for (const [factor, unit] of /** @type {[number, string][]} */ ([
    [1, "s"],
    [1e3, "ms"],
    [1e6, "µs"],
  ])) {
    if (seconds * factor >= 1) return `${Number((seconds * factor).toPrecision(3)).toLocaleString("en-US")} ${unit}`;
  }
  return `${Number((seconds * 1e9).toPrecision(3))} ns`;
}
