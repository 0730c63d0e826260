import assert from "node:assert/strict";
import { test } from "node:test";
import {
  colourAt,
  contrast,
  cssGradient,
  css,
  inkOn,
  isDark,
  mixed,
  pixelOf,
  pixelTable,
  placeOnScale,
  ramp,
  rgb,
  rgbOf,
} from "../../attnviz/canvas/shared/colour.js";
import { MASKED_16 } from "../../attnviz/canvas/shared/packing.js";
import { tint } from "../../attnviz/canvas/tensor_board/tensor_tint.js";

/** @import { Rgb, Stops, TensorColours } from "../../attnviz/canvas/shared/types.js" */

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

test("colours are read as themes write them", () => {
  for (const blue of ["#0072B2", "#0072B280"]) assert.deepEqual(rgb(blue), [0, 114, 178]);
  for (const written of ["rgb(1, 2, 3)", "rgba(1 2 3 / 50%)"]) assert.deepEqual(rgb(written), [1, 2, 3]);
  assert.deepEqual(rgb(" #fff "), [255, 255, 255]);
  assert.equal(css(rgb("#0072b2")), "rgb(0,114,178)");
});

test("stops are met exactly and mixed between", () => {
  const found = [0, 0.25, 0.125, 0.625, 2].map((place) => colourAt(STOPS, place).join(" "));
  assert.deepEqual(found, ["0 0 0", "255 0 0", "128 0 0", "255 128 128", "255 255 255"]);
  assert.deepEqual(mixed([0, 0, 0], [10, 20, 30], 0.5), [5, 10, 15]);
});

test("a ramp has 256 opaque pixels, blue in the higher byte", () => {
  const steps = ramp(STOPS);
  assert.equal(steps.length, 256);
  assert.equal(steps[0], 0xff000000);
  assert.equal(steps[255], 0xffffffff);
  assert.equal(pixelOf([1, 2, 3]), 0xff030201);
  assert.deepEqual(rgbOf(pixelOf([1, 2, 3])), [1, 2, 3]);
});

test("a place on the scale: zero at its end or in its middle, the largest at 1, on a root scale early", () => {
  const plain = (/** @type {number} */ value) => placeOnScale(value, { top: 4, root: false }, false);
  const signed = (/** @type {number} */ value) => placeOnScale(value, { top: 4, root: false }, true);
  assert.deepEqual([0, 1, 9, -1].map(plain), [0, 0.25, 1, 0]);
  assert.deepEqual([0, -4].map(signed), [0.5, 0]);
  assert.equal(placeOnScale(1, { top: 4, root: true }, false), 0.5);
  assert.equal(placeOnScale(-1, { top: 4, root: true }, true), 0.25);
});

test("every code has its pixel, and a masked one is transparent", () => {
  const colours = { weights: STOPS, scores: /** @type {[Stops, Stops]} */ ([SIGNED, SIGNED_ON_DARK]) };
  const weights = pixelTable({ signed: false, top: 1, scale: { top: 1, root: false }, colours }, true);
  assert.equal(weights[0], pixelOf([0, 0, 0]));
  assert.equal(weights[65534], pixelOf([255, 255, 255]));
  assert.equal(weights[32767], ramp(STOPS)[64]);
  assert.equal(weights[MASKED_16], 0);
  const signed = { signed: true, top: 1, scale: { top: 1, root: true }, colours };
  const scores = pixelTable(signed, false);
  assert.equal(scores[0], pixelOf([0, 0, 255]));
  assert.equal(scores[65534], pixelOf([255, 0, 0]));
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

test("ink is dark on bright cells, a theme is dark by its background, and a gradient names every stop", () => {
  assert.equal(inkOn(rgbOf(pixelOf([255, 255, 0]))), "#000000");
  assert.equal(inkOn(rgbOf(pixelOf([0, 0, 255]))), "#ffffff");
  assert.deepEqual(["#14161C", "rgb(250, 250, 250)"].map(isDark), [true, false]);
  assert.equal(cssGradient(STOPS), "linear-gradient(to right, #000000 0%, #ff0000 25%, #ffffff 100%)");
});

test("a tensor's number is tinted by its role and sign, and by its size", () => {
  const roles = { q: ["#000000", "#0000ff"], plain: ["#111111", "#222222"] };
  const colours = /** @type {TensorColours} */ (/** @type {unknown} */ ({ weights: STOPS, roles }));
  const at = (role, share) => tint(role, share, colours, [255, 255, 255]);
  assert.equal(at("q", 1).fill, `rgb(${mixed([255, 255, 255], [0, 0, 255], 0.7).join(",")})`);
  assert.equal(at("q", -1).fill, `rgb(${mixed([255, 255, 255], [0, 0, 0], 0.7).join(",")})`);
  assert.equal(at("q", 0).ink, "#000000");
  assert.equal(at("q", -1).ink, "#ffffff");
  assert.equal(at("unheard of", 1).fill, at("plain", 1).fill);
  assert.equal(at("weights", 0.25).fill, "rgb(255,0,0)");
  assert.equal(at("weights", 7).fill, "rgb(255,255,255)");
});
