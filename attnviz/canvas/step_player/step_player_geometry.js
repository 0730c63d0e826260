// Where the parts of the step player stand, and what each step has done so far.

/** @import { PlayedStep } from "../shared/types.js" */

const HEAD = 46;
const FOOT = 6;
const MARK = 13;
const GAP = 12;
const EDGE = 3;

/** The parts of the scene side by side: labels, two columns of marks, keys, attention, values. In CSS pixels. */
/** @param {number} width @param {number} rows */
export function playerLayout(width, rows) {
  const row = Math.max(3, Math.min(17, Math.floor(430 / Math.max(1, rows))));
  const label = Math.min(110, Math.round(width * 0.2));
  const marks = label + 4;
  const left = marks + 2 * MARK + GAP;
  const room = Math.max(60, width - left - 2 * GAP - EDGE);
  const block = Math.floor(room * 0.36);
  const bars = room - 2 * block;
  return {
    top: HEAD,
    row,
    height: HEAD + row * rows + FOOT,
    label,
    marks: [marks, marks + MARK],
    mark: MARK,
    k: { x: left, w: block },
    weights: { x: left + block + GAP, w: bars },
    v: { x: left + block + bars + 2 * GAP, w: block },
  };
}

/** The row at a height of the scene, null above and below the rows. */
/** @param {{ top: number, row: number }} scene @param {number} rows @param {number} y */
export function rowAt(scene, rows, y) {
  const at = Math.floor((y - scene.top) / scene.row);
  return at >= 0 && at < rows ? at : null;
}

/** The first of the rows that a step adds, and the first that it does not. */
/** @param {PlayedStep[]} steps @param {number} at @returns {[number, number]} */
export function newRows(steps, at) {
  return [at ? steps[at - 1].context : 0, steps[at].context];
}

/** The step that processed the token of a row. @param {PlayedStep[]} steps @param {number} row */
export function stepOfRow(steps, row) {
  const found = steps.findIndex((step) => row < step.context);
  return found < 0 ? steps.length - 1 : found;
}

/** FLOPs and seconds up to a step, [with a cache, without], and the largest difference of logits. */
/** @param {PlayedStep[]} steps @param {number} at */
export function soFar(steps, at) {
  const done = steps.slice(0, at + 1);
  const sum = (/** @type {(step: PlayedStep) => number} */ of) => done.reduce((total, step) => total + of(step), 0);
  return {
    flops: [sum((step) => step.flops[0]), sum((step) => step.flops[1])],
    seconds: [sum((step) => step.seconds[0]), sum((step) => step.seconds[1])],
    difference: Math.max(...done.map((step) => step.difference)),
  };
}
