// Numbers as a person reads them; bytes, FLOPs and seconds as base/units.py writes them.

/** Four digits, as a read-out says a value; what is too small for them says so. @param {number} value */
export function fourDigits(value) {
  if (value !== 0 && Math.abs(value) < 0.00005) return value < 0 ? "> −0.0001" : "< 0.0001";
  const size = Math.abs(value);
  return value.toFixed(size >= 1000 ? 1 : size >= 100 ? 2 : 4).replace("-", "−");
}

/** A tick of a colour bar: two digits at most. @param {number} value */
export function tickText(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000 || size < 0.001) return value.toExponential(0);
  return String(+value.toPrecision(2));
}

/** A number with `digits` significant digits, without zeros at its end; very small and very large ones by exponent. */
/** @param {number} value */
export function significant(value, digits = 3) {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 100000)) return value.toExponential(1);
  return String(Number(value.toPrecision(digits)));
}

/** A share as a percentage; what rounds to 0 or 100 but is neither says so. @param {number} share */
export function percent(share) {
  if (share > 0.9995 && share < 1) return ">99.9%";
  if (share > 0 && share < 0.0005) return "<0.1%";
  return `${(100 * share).toFixed(1)}%`;
}

/** @param {number} value @param {number} low @param {number} high */
export function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const FLOP = ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP", "ZFLOP"];

/** Four significant digits, thousands apart. @param {number} value */
function four(value) {
  return Number(value.toPrecision(4)).toLocaleString("en-US", { maximumFractionDigits: 6 });
}

/** @param {number} value @param {number} step @param {string[]} names */
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
  const power = ["s", "ms", "µs"].findIndex((_, thousands) => seconds * 1000 ** thousands >= 1);
  if (power < 0) return `${Number((seconds * 1e9).toPrecision(3))} ns`;
  const number = Number((seconds * 1000 ** power).toPrecision(3));
  return `${number.toLocaleString("en-US")} ${["s", "ms", "µs"][power]}`;
}
