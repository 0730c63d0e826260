import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, inkOn, toPixel, pixelTable, ramp, rgb } from "../../attnviz/canvas/shared/colour.js";
import { MASKED_16 } from "../../attnviz/canvas/shared/packing.js";

/** @import { Rgb, Stops } from "../../attnviz/canvas/shared/types.js" */

/** @type {Stops} */
const STOPS = [
  [0, "#000000"],
  [0.25, "#ff0000"],
  [1, "#ffffff"],
];
/** @type {Stops} */
const SIGNED = [
  [0, "#0000ff"],
  [0.5, "#ffffff"],
  [1, "#ff0000"],
];
/** @type {Stops} */
const SIGNED_ON_DARK = [
  [0, "#8080ff"],
  [0.5, "#000000"],
  [1, "#ff8080"],
];

test("every code has its pixel, and a masked one is transparent", () => {
  const colours = { weights: STOPS, scores: /** @type {[Stops, Stops]} */ ([SIGNED, SIGNED_ON_DARK]) };
  const weights = pixelTable({ signed: false, top: 1, scale: { top: 1, root: false }, colours }, true);
  assert.equal(weights[0], toPixel([0, 0, 0]));
  assert.equal(weights[65534], toPixel([255, 255, 255]));
  assert.equal(weights[32767], ramp(STOPS)[64]);
  assert.equal(weights[MASKED_16], 0);
  const signed = { signed: true, top: 1, scale: { top: 1, root: true }, colours };
  const scores = pixelTable(signed, false);
  assert.equal(scores[0], toPixel([0, 0, 255]));
  assert.equal(scores[65534], toPixel([255, 0, 0]));
  assert.equal(scores[MASKED_16], 0);
  assert.equal(scores[32767], ramp(SIGNED)[128]);
  assert.equal(pixelTable(signed, true)[32767], ramp(SIGNED_ON_DARK)[128], "nought does not light up a dark page");
});

test("contrast is what the guidelines say, and ink has enough of it on every colour", () => {
  assert.equal(contrast([255, 255, 255], [0, 0, 0]), 21);
  assert.equal(contrast([119, 119, 119], [255, 255, 255]).toFixed(2), "4.48"); // the grey that famously just fails
  for (let step = 0; step < 4096; step++) {
    const colour = /** @type {Rgb} */ ([step >> 8, (step >> 4) & 15, step & 15].map((v) => v * 17));
    assert.ok(contrast(colour, rgb(inkOn(colour))) >= 4.5, colour.join());
  }
});
