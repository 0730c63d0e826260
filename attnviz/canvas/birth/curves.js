// The curves of a training run over its steps, one below the other on one axis: loss, and each head's scores.

import { clamp, formatFixed, formatGrouped } from "../shared/numbers.js";
import { fill } from "../shared/dom.js";
import { drawWith, strokeGrid, strokePath } from "../shared/surface.js";

/** @import { BirthHeader, DrawingContext, Rectangle, Theme } from "../shared/types.js" */
/** @typedef {Pick<BirthHeader, "curves" | "colours" | "words" | "names" | "moment">} Told */

const [LEFT, RIGHT, FOOT, GAP] = [34, 30, 34, 28];
/** Pixels of all curves, and where a presented page has less room. */
export const [HEIGHT, LEAST] = [316, 220];
const TICKS = [0, 10, 30, 100, 300, 1000, 3000, 10000];
/** Up to here steps stand about as far apart as without a logarithm, so that step 0 has a place. */
const BEND = 15;

/** Where a step stands on the axis, from 0 to 1. @param {number} step @param {number} last */
export function shareOf(step, last) {
  return Math.log1p(step / BEND) / Math.log1p(last / BEND);
}

/** The place, among steps, of the one that stands nearest to a share of the axis. */
/** @param {number[]} steps @param {number} share */
export function nearestStep(steps, share) {
  const far = steps.map((step) => Math.abs(shareOf(step, steps[steps.length - 1]) - share));
  return far.indexOf(Math.min(...far));
}

/** The share of the axis below a point of the canvas. @param {number} x @param {number} width */
export function shareAt(x, width) {
  return (x - LEFT) / (width - LEFT - RIGHT);
}

/** How much longer a film stays where all of a curve's way is made at one step. */
const SLOW = 16;

/** When a film reaches each step, from 0 to 1: it slows down where loss and best scores change. */
/** @param {Pick<BirthHeader, "curves" | "steps">} header */
export function stepTimes({ curves, steps }) {
  const { at, loss_at, losses, previous, induction } = curves;
  const lossAt = (/** @type {number} */ step) => losses[loss_at.findLastIndex((each) => each <= step)] / losses[0];
  const best = (/** @type {number[][]} */ heads, /** @type {number} */ step) =>
    Math.max(...heads.map((scores) => scores[at.indexOf(step)]));
  const seen = steps.map((step) => [lossAt(step), best(previous, step), best(induction, step)]);
  let time = 0;
  const times = seen.map((now, i) => {
    const change = now.reduce((sum, value, j) => sum + Math.abs(value - seen[Math.max(0, i - 1)][j]), 0);
    time += i && 1 + SLOW * change;
    return time;
  });
  return times.map((each) => each / (time || 1));
}

/**
 * Draws all curves up to the step `reached`, and the handle.
 * @param {DrawingContext} ink @param {{ width: number, high: number }} size @param {Told} header @param {Theme} theme
 * @param {{ step: number, reached: number, silenced: ReadonlySet<number> }} now
 */
export function drawCurves(ink, { width, high: height }, { curves, colours, words, names, moment }, theme, now) {
  const { step, reached, silenced } = now;
  const last = curves.at[curves.at.length - 1];
  const wide = width - LEFT - RIGHT;
  const xOf = (/** @type {number} */ at) => LEFT + wide * shareOf(at, last);
  const ticks = TICKS.filter((tick) => tick <= last);
  const high = (height - FOOT - 3 * GAP) / 3.4;
  const ceiling = Math.max(...curves.losses) * 1.05;
  let foot = 0;
  const box = (/** @type {string} */ title, /** @type {number} */ share, /** @type {string} */ top) => {
    const made = { x: LEFT, y: foot + GAP, w: wide, h: high * share };
    foot = made.y + made.h;
    drawWith(ink, { strokeStyle: theme.border, fillStyle: theme.text, lineWidth: 1, textAlign: "left" });
    strokeGrid(ink, made, [made.y, foot], ticks.map(xOf));
    ink.fillText(title, made.x, made.y - 9);
    ink.textAlign = "right";
    ink.fillText(top, made.x - 5, made.y + 4);
    ink.fillText("0", made.x - 5, foot - 3);
    drawWith(ink, { strokeStyle: theme.primary, lineWidth: 2 });
    strokePath(ink, [xOf(step), made.y], [xOf(step), foot]);
    return made;
  };
  const trace = (/** @type {Rectangle} */ { y, h }, /** @type {number[]} */ at, /** @type {number[]} */ values) => {
    const seen = at.filter((each) => each <= reached);
    const points = seen.map((each, i) => /** @type {[number, number]} */ ([xOf(each), y + h * (1 - values[i])]));
    strokePath(ink, ...points);
    return points[points.length - 1][1];
  };
  const scaled = (/** @type {number[]} */ losses) => losses.map((loss) => Math.min(1, loss / ceiling));
  drawWith(ink, { font: `12px ${theme.font}`, textBaseline: "middle" });
  const losses = box(curves.without.length ? words.losses : words.loss, 1.4, formatFixed(ceiling, 1));
  drawWith(ink, { strokeStyle: theme.text, lineWidth: 1.5 });
  trace(losses, curves.loss_at, scaled(curves.losses));
  if (curves.without.length) {
    ink.setLineDash([5, 4]);
    drawWith(ink, { strokeStyle: theme.primary, lineWidth: 2 });
    trace(losses, curves.without_at, scaled(curves.without));
    ink.setLineDash([]);
  }
  for (const what of /** @type {const} */ (["previous", "induction"])) {
    const place = box(words[what], 1, "1");
    const named = /** @type {number[]} */ ([]);
    curves[what].forEach((values, head) => {
      const colour = colours.heads[head % colours.heads.length][Number(theme.dark)];
      drawWith(ink, { strokeStyle: colour, fillStyle: colour, lineWidth: 2, textAlign: "left" });
      ink.globalAlpha = silenced.has(head) ? 0.25 : 1;
      const y = trace(place, curves.at, values);
      ink.globalAlpha = 1;
      if (reached < last || values[values.length - 1] < 0.3 || named.some((other) => Math.abs(other - y) < 12)) return;
      named.push(y);
      ink.fillText(names[head], LEFT + wide + 4, y);
    });
  }
  drawWith(ink, { fillStyle: theme.text, textAlign: "center" });
  if (moment !== null && moment <= reached) {
    const x = Math.round(xOf(moment)) + 0.5;
    drawWith(ink, { strokeStyle: theme.text, lineWidth: 1 });
    ink.setLineDash([2, 3]);
    strokePath(ink, [x, losses.y], [x, foot]);
    ink.setLineDash([]);
    ink.fillText(fill(words.at, { step: formatGrouped(moment) }), clamp(x, LEFT + 40, width - 40), losses.y - 9);
  }
  for (const tick of ticks) ink.fillText(String(tick), xOf(tick), foot + 10);
  ink.fillText(words.axis, LEFT + wide / 2, foot + 25);
  ink.fillStyle = theme.primary;
  ink.beginPath();
  ink.arc(xOf(step), losses.y, 7, 0, 2 * Math.PI);
  ink.fill();
}
