// The bar under a picture: colours, ticks where the values lie, what is hatched.

import { cssGradient, placeOnScale, stopsOf } from "./colour.js";
import { el } from "./dom.js";
import { tickText } from "./numbers.js";

/** @import { Colours, Scale } from "./types.js" */

/**
 * @param {HTMLElement} host @param {{ scale: Scale, signed: boolean, unit: string, colours: Colours }} header
 * @param {boolean} dark
 * @param {string | null} hatched what the hatch stands for, null where there is none
 */
export function drawColourBar(host, { scale, signed, unit, colours }, dark, hatched) {
  const how = JSON.stringify([scale, signed, unit, colours, dark, hatched]);
  if (host.dataset.bar === how) return;
  host.dataset.bar = how;
  const bar = el("div", "av-bar");
  const strip = el("div", "av-bar-strip");
  strip.style.background = cssGradient(stopsOf({ signed, colours }, dark));
  bar.append(strip);
  for (const share of tickShares(signed, scale.root)) {
    const tick = el("span", "av-bar-tick", tickText(share * scale.top));
    tick.style.left = `${placeOnScale(share * scale.top, scale, signed) * 100}%`;
    bar.append(tick);
  }
  host.replaceChildren(el("span", "av-bar-name", unit), bar);
  if (hatched !== null) host.append(el("span", "av-bar-hatch"), el("span", "av-bar-name", hatched));
}

/** @param {boolean} signed @param {boolean} root */
function tickShares(signed, root) {
  if (signed) return [-1, -0.5, 0, 0.5, 1];
  return root ? [0, 0.01, 0.1, 0.25, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
}
