// The bars of caches at one number of tokens: all of a group on one scale, the largest at the end fills it.

import { binary } from "../shared/numbers.js";

/** @import { GrowthRun } from "../shared/types.js" */

/** @param {GrowthRun} header @param {number} at */
export function barsOf({ groups }, at) {
  return groups.map(({ name, bars }) => {
    const most = Math.max(1, ...bars.map(({ bytes }) => bytes[bytes.length - 1]));
    return { name, bars: bars.map((bar) => ({ ...bar, share: bar.bytes[at] / most, text: binary(bar.bytes[at]) })) };
  });
}
