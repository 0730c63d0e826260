// Where a scale stands on its slider: 0 at the left, the model's own in the middle, stretched around it.

import { clamp } from "./numbers.js";

/** @import { Edit, RawHead } from "./types.js" */

/** How much of either half is linear; the rest is quadratic, so that near the model's own a step is small. */
const LINEAR = { below: 0.5, above: 0.12 };
/** Marks hold a hand that comes nearer than this share of the slider. */
const SNAP = 0.008;

/** The largest factor on the slider, times the model's own scale: ten times, or no scaling if that is more. */
/** @param {Pick<RawHead, "scale">} head */
export function largestFactor({ scale }) {
  return Math.max(10, scale > 0 ? 1 / scale : 0);
}

/** @param {number} place 0 to 1 @param {number} most */
export function factorAt(place, most) {
  const u = 2 * clamp(place, 0, 1) - 1;
  if (u < 0) return 1 - bendScale(-u, LINEAR.below);
  return 1 + (most - 1) * bendScale(u, LINEAR.above);
}

/** @param {number} factor @param {number} most */
export function placeOf(factor, most) {
  if (factor < 1) return (1 - unbendScale(clamp(1 - factor, 0, 1), LINEAR.below)) / 2;
  return (1 + unbendScale(clamp((factor - 1) / (most - 1), 0, 1), LINEAR.above)) / 2;
}

/** @param {number} u @param {number} linear */
function bendScale(u, linear) {
  return linear * u + (1 - linear) * u * u;
}

/** @param {number} y @param {number} linear */
function unbendScale(y, linear) {
  return (Math.sqrt(linear * linear + 4 * (1 - linear) * y) - linear) / (2 * (1 - linear));
}

/** The marks: the model's own scale, no scaling, 1/d_k. Marks that coincide are one. */
/** @param {Pick<RawHead, "scale" | "dHead">} head @returns {{ scale: Edit["scale"], factor: number }[]} */
export function scaleMarks({ scale, dHead }) {
  /** @type {{ scale: Edit["scale"], factor: number }[]} */
  const marks = [{ scale: "model", factor: 1 }];
  const add = (/** @type {Edit["scale"]} */ name, /** @type {number} */ factor) => {
    if (Number.isFinite(factor) && marks.every((mark) => Math.abs(mark.factor - factor) > 1e-9)) {
      marks.push({ scale: name, factor });
    }
  };
  if (scale > 0) add("none", 1 / scale);
  if (scale > 0 && dHead > 0) add("inverse", 1 / dHead / scale);
  return marks;
}

/** The choice at a place of the slider: a mark if one is near, else a factor of three digits. */
/** @param {number} place @param {Pick<RawHead, "scale" | "dHead">} head @returns {Pick<Edit, "scale" | "factor">} */
export function scaleAt(place, head) {
  const most = largestFactor(head);
  const mark = scaleMarks(head).find(({ factor }) => Math.abs(placeOf(factor, most) - place) < SNAP);
  return mark ? { scale: mark.scale, factor: 1 } : { scale: "factor", factor: rounded(factorAt(place, most)) };
}

/**
 * The choice one step of a key away.
 * @param {number} factor @param {number} by @param {Pick<RawHead, "scale" | "dHead">} head
 * @returns {Pick<Edit, "scale" | "factor">}
 */
export function scaleAfterStep(factor, by, head) {
  const next = rounded(clamp(factor + by, 0, largestFactor(head)));
  const mark = scaleMarks(head).find((one) => Math.abs(one.factor - next) < 1e-6);
  return mark ? { scale: mark.scale, factor: 1 } : { scale: "factor", factor: next };
}

/** @param {number} factor */
function rounded(factor) {
  return Math.round(factor * 1000) / 1000;
}
