// Numbers as a person reads them, rounded as base/rounding.py does; bytes, FLOPs and seconds as base/units.py writes them.

/** The power of ten of a number's first digit. @param {number} value */
const firstDigit = (value) => (value ? Number(value.toExponential().split("e")[1]) : 0);

/** `value` with so many decimal places; a half goes away from zero. @param {number} value @param {number} places */
function roundHalfUp(value, places) {
  const [digits, power] = Math.abs(value).toExponential().split("e");
  const whole = Math.round(Number(`${digits}e${Number(power) + places}`));
  return whole < 2 ** 53 ? Math.sign(value) * Number(`${whole}e${-places}`) : value;
}

/** `value` rounded to `places`. The last bits of a sum decide no half: seven digits of a float32 are sure, and of */
/** larger numbers three more than are shown. @param {number} value @param {number} places */
function rounded(value, places) {
  if (!Number.isFinite(value)) return value;
  return roundHalfUp(roundHalfUp(value, Math.max(6 - firstDigit(value), places + 3)), places) || 0;
}

/** `value` with `digits` digits after the point. @param {number} value @param {number} digits */
export function formatFixed(value, digits) {
  return rounded(value, digits).toFixed(digits);
}

/** The same with a minus as formulas write it. @param {number} value */
export function formatTypeset(value, digits = 2) {
  return formatFixed(value, digits).replace("-", "−");
}

/** The same with its sign, + too; what rounds to 0 has none. @param {number} value @param {number} digits */
export function formatSigned(value, digits) {
  const text = formatFixed(Math.abs(value), digits);
  return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
}

/** `value` rounded to so many significant digits, as a number. @param {number} value @param {number} digits */
export function toSignificant(value, digits) {
  return rounded(value, digits - 1 - firstDigit(value));
}

/** Four digits, as a read-out says a value; what is too small for them says so. @param {number} value */
export function formatFourDigits(value) {
  if (value !== 0 && Math.abs(value) < 0.00005) return value < 0 ? "> −0.0001" : "< 0.0001";
  const size = Math.abs(value);
  return formatTypeset(value, size >= 1000 ? 1 : size >= 100 ? 2 : 4);
}

/** A tick of a colour bar: two digits at most. @param {number} value */
export function tickText(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1000 || size < 0.001) return value.toExponential(0);
  return String(toSignificant(value, 2));
}

/** A number with `digits` significant digits, without zeros at its end; very small and very large ones by exponent. */
/** @param {number} value */
export function formatSignificant(value, digits = 3) {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 100000)) return value.toExponential(1);
  return String(toSignificant(value, digits));
}

/** A share as a percentage; 0% and 100% are said only of 0 and 1. @param {number} share */
export function formatPercent(share, digits = 1) {
  const value = rounded(share, digits + 2);
  const said = (/** @type {number} */ percentage) => `${formatFixed(percentage, digits)}%`;
  if (!value && share) return share > 0 ? `<${said(10 ** -digits)}` : `>-${said(10 ** -digits)}`;
  if (Math.abs(value) === 1 && 1 - Math.abs(share) > 1e-9) {
    return share > 0 ? `>${said(100 - 10 ** -digits)}` : `<-${said(100 - 10 ** -digits)}`;
  }
  return said(100 * value);
}

/** @param {number} value @param {number} low @param {number} high */
export function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const FLOP = ["FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP", "ZFLOP"];

/** A number with its thousands apart. @param {number} value */
export function formatGrouped(value) {
  const [whole, part] = String(value).split(".");
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return part === undefined ? apart : `${apart}.${part}`;
}

/** @param {number} value @param {number} step @param {string[]} names */
function scaled(value, step, names) {
  let power = 0;
  while (Math.abs(value) >= step && power + 1 < names.length) {
    value /= step;
    power += 1;
  }
  return `${formatGrouped(power ? toSignificant(value, 4) : rounded(value, 0))} ${names[power]}`;
}

/** @param {number} count */
export function formatBytes(count) {
  return scaled(count, 1024, BINARY);
}

/** @param {number} count */
export function formatFlop(count) {
  return scaled(count, 1000, FLOP);
}

/** @param {number} seconds */
export function formatDuration(seconds) {
  const power = ["s", "ms", "µs"].findIndex((_, thousands) => seconds * 1000 ** thousands >= 1);
  if (power < 0) return `${toSignificant(seconds * 1e9, 3)} ns`;
  return `${formatGrouped(toSignificant(seconds * 1000 ** power, 3))} ${["s", "ms", "µs"][power]}`;
}
