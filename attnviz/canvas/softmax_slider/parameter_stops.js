// A parameter's slider has 1,000 stops: even on a log scale above `low`, which is zero where zero is allowed; else linear.

/** @import { Parameter } from "../shared/types.js" */

export const STOPS = 1000;

/** @param {Parameter} parameter */
const lowest = ({ low, high }) => (low > 0 ? low : high / 1e4);

/**
 * @param {number} stop
 * @param {Parameter} parameter
 */
export function parameterAt(stop, parameter) {
  const { low, high, linear } = parameter;
  const t = stop / STOPS;
  if (linear) return low + t * (high - low);
  if (low <= 0 && stop <= 0) return low;
  return lowest(parameter) * Math.pow(high / lowest(parameter), t);
}

/**
 * @param {number} value
 * @param {Parameter} parameter
 */
export function stopOf(value, parameter) {
  const { low, high, linear } = parameter;
  if (linear) return Math.round(((value - low) / (high - low)) * STOPS);
  if (value < lowest(parameter)) return 0;
  return Math.round((Math.log(value / lowest(parameter)) / Math.log(high / lowest(parameter))) * STOPS);
}
