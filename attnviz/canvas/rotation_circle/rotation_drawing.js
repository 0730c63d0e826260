// RoPE's arithmetic on pairs of numbers, computed from nothing but positions, and two pictures of a turned pair: arrows on
// circles, and what the pair adds to q.k over the distance.

import { drawWith, strokeGrid, strokePath } from "../shared/surface.js";

/** @import { DrawingContext, Theme } from "../shared/types.js" */
/** @typedef {[number, number]} Pair */
/** @typedef {{ name: string, start: Pair, now: Pair, colour: string, angle: number }} Arrow */

/** Query and key as arrows from the middle; thin where they began, with the path of the last turn as an arc. */
/** @param {DrawingContext} ink @param {number} size @param {Arrow[]} arrows @param {Theme} theme */
export function drawCircle(ink, size, arrows, theme) {
  const middle = size / 2;
  const unit = unitPixels(arrows[0].start, arrows[1].start, size);
  drawWith(ink, { strokeStyle: theme.text, globalAlpha: 0.25, lineWidth: 1 });
  strokeGrid(ink, { x: 8, y: 8, w: size - 16, h: size - 16 }, [middle], [middle]);
  for (const { start, now, colour, angle, name } of arrows) {
    const radius = Math.hypot(...start) * unit;
    const from = Math.atan2(start[1], start[0]);
    drawWith(ink, { strokeStyle: colour, fillStyle: colour, globalAlpha: 0.35, lineWidth: 1.25 });
    ink.beginPath();
    ink.arc(middle, middle, radius, 0, 2 * Math.PI);
    ink.stroke();
    drawWith(ink, { globalAlpha: 0.6, lineWidth: 4 });
    ink.beginPath();
    // y grows downwards on a canvas: a positive angle is drawn against the clock
    const last = Math.abs(angle) >= 2 * Math.PI ? angle % (2 * Math.PI) : angle;
    ink.arc(middle, middle, radius, -from, -(from + last), last > 0);
    ink.stroke();
    ink.setLineDash([3, 4]);
    ink.lineWidth = 1.5;
    strokePath(ink, [middle, middle], [middle + start[0] * unit, middle - start[1] * unit]);
    ink.setLineDash([]);
    drawWith(ink, { globalAlpha: 1, lineWidth: 3 });
    const [x, y] = [middle + now[0] * unit, middle - now[1] * unit];
    strokePath(ink, [middle, middle], [x, y]);
    head(ink, middle, x, y);
    const long = Math.hypot(...now) || 1;
    drawWith(ink, { font: `bold 15px ${theme.font}`, textAlign: "center", textBaseline: "middle" });
    ink.fillText(name, x + (14 * now[0]) / long, y - (14 * now[1]) / long);
  }
}

/** The head of an arrow that ends at this point. */
/** @param {DrawingContext} ink @param {number} middle @param {number} x @param {number} y */
function head(ink, middle, x, y) {
  const angle = Math.atan2(y - middle, x - middle);
  ink.beginPath();
  ink.moveTo(x, y);
  for (const side of [2.6, -2.6]) ink.lineTo(x + 11 * Math.cos(angle + side), y + 11 * Math.sin(angle + side));
  ink.closePath();
  ink.fill();
}

/**
 * A curve over distances -reach to reach, with a dot at the distance on show.
 * @param {DrawingContext} ink @param {number} width @param {number} height
 * @param {(distance: number) => number} curve @param {number} reach @param {number} at @param {string} colour
 * @param {Theme} theme
 */
export function drawCurve(ink, width, height, curve, reach, at, colour, theme) {
  const [left, right, top, foot] = [6, 6, 8, 18];
  const steps = Math.max(2, Math.round(width - left - right));
  const values = Array.from({ length: steps + 1 }, (_, i) => curve(-reach + (2 * reach * i) / steps));
  const most = Math.max(...values.map(Math.abs), Math.abs(curve(at)), 1e-9);
  const x = (/** @type {number} */ distance) => left + ((distance + reach) / (2 * reach)) * (width - left - right);
  const y = (/** @type {number} */ value) => top + ((most - value) / (2 * most)) * (height - top - foot);
  drawWith(ink, { fillStyle: theme.text, globalAlpha: 0.25 });
  ink.fillRect(left, Math.round(y(0)), width - left - right, 1);
  ink.fillRect(Math.round(x(0)), top, 1, height - top - foot);
  drawWith(ink, { globalAlpha: 0.75, font: `11px ${theme.font}`, textBaseline: "bottom" });
  for (const [distance, align] of /** @type {[number, CanvasTextAlign][]} */ ([
    [-reach, "left"],
    [0, "center"],
    [reach, "right"],
  ])) {
    ink.textAlign = align;
    ink.fillText(String(distance).replace("-", "−"), x(distance), height);
  }
  drawWith(ink, { globalAlpha: 1, strokeStyle: colour, lineWidth: 2 });
  ink.beginPath();
  values.forEach((value, i) => ink.lineTo(left + (i / steps) * (width - left - right), y(value)));
  ink.stroke();
  ink.fillStyle = theme.primary;
  ink.beginPath();
  ink.arc(x(Math.max(-reach, Math.min(reach, at))), y(curve(at)), 5.5, 0, 2 * Math.PI);
  ink.fill();
}

/** A pair turned by an angle, as core/rope.py turns it. @param {Pair} pair @param {number} angle @returns {Pair} */
export function rotatePair([a, b], angle) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return [a * cos - b * sin, b * cos + a * sin];
}

/**
 * What one pair adds to q.k when the query stands at `qAt` and the key at `kAt`.
 * @param {Pair} q @param {Pair} k
 * @param {number} turns radians per position
 * @param {number} qAt @param {number} kAt
 */
export function pairProduct(q, k, turns, qAt, kAt) {
  const [one, other] = [rotatePair(q, qAt * turns), rotatePair(k, kAt * turns)];
  return one[0] * other[0] + one[1] * other[1];
}

/** q.k over all pairs. */
/** @param {Pair[]} q @param {Pair[]} k @param {number[]} turns @param {number} qAt @param {number} kAt */
export function rotatedScore(q, k, turns, qAt, kAt) {
  return turns.reduce((sum, speed, i) => sum + pairProduct(q[i], k[i], speed, qAt, kAt), 0);
}

/**
 * An angle in degrees, from 0 up to 360, and how many whole turns were made before it.
 * @param {number} angle in radians
 */
export function asDegrees(angle) {
  const whole = Math.floor(angle / (2 * Math.PI) + 1e-12);
  return { degrees: Math.max(0, (angle - whole * 2 * Math.PI) * (180 / Math.PI)), whole };
}

/** How many pixels one unit is, so that both arrows fit on a canvas of this size with room for the names. */
/** @param {Pair} q @param {Pair} k @param {number} size */
export function unitPixels(q, k, size) {
  const longest = Math.max(Math.hypot(...q), Math.hypot(...k), 1e-9);
  return (size / 2 - 26) / longest;
}

/** Positions moved by `step` together, kept between 0 and `last` without changing their distance. */
/** @param {number} qAt @param {number} kAt @param {number} step @param {number} last @returns {[number, number]} */
export function shiftBoth(qAt, kAt, step, last) {
  const kept = Math.max(-Math.min(qAt, kAt), Math.min(step, last - Math.max(qAt, kAt)));
  return [qAt + kept, kAt + kept];
}
