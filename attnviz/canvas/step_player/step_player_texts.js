// What the step player says of a step: its headline, the tokens so far, the work and the bytes. All of it is as it is once the
// step is done.

import { fill, visibleToken } from "../shared/dom.js";
import { binary, duration, flop } from "../shared/numbers.js";
import { newRows, soFar } from "./step_player_geometry.js";

/** @import { PlayedRun } from "../shared/types.js" */

/** The step in a sentence. @param {PlayedRun} header @param {number} at */
export function headline({ labels, steps, total, words }, at) {
  const { context } = steps[at];
  const values = { step: at + 1, total, new: context, token: visibleToken(labels[context - 1]), cached: context };
  return fill(at ? words.decode : words.prefill, values);
}

/** The tokens so far, and the one that was chosen. @param {PlayedRun} header @param {number} at */
export function tapeOf(header, at) {
  const { labels, prompt, steps } = header;
  const [, end] = newRows(steps, at);
  return labels.slice(0, end + Number(isChosen(header, at))).map((label, i) => {
    const kind = i === end ? "chosen" : i === end - 1 ? "newest" : i < prompt ? "prompt" : "written";
    return { text: visibleToken(label), kind };
  });
}

/** Whether a token was chosen at this step. @param {PlayedRun} header @param {number} at */
export function isChosen({ steps }, at) {
  return steps[at].alternatives.some(([, , chosen]) => chosen);
}

/** What the step took with a cache and without, as a table below its heads, and a note. */
/** @param {PlayedRun} header @param {number} at */
export function workOf({ words, steps }, at) {
  const { flops, seconds, difference } = soFar(steps, at);
  const { tokens, difference: now } = steps[at];
  const rows = [
    [words.work, words.cache, words.anew],
    [words.tokens, ...tokens.map(String)],
    [words.flops, ...flops.map(flop)],
    [words.time, ...seconds.map(duration)],
  ];
  return { rows, note: fill(words.same, { now: tiny(now), all: tiny(difference) }) };
}

/** The bytes of each layer's cache: in all, and each with its share of the most that any layer comes to hold. */
/** @param {PlayedRun} header @param {number} at */
export function memoryOf({ words, steps }, at) {
  const held = steps[at].layer_bytes;
  const most = Math.max(1, ...steps[steps.length - 1].layer_bytes);
  const total = held.reduce((sum, bytes) => sum + bytes, 0);
  const layers = held.map((bytes, layer) => ({
    share: bytes / most,
    text: fill(words.layer, { layer, bytes: binary(bytes) }),
  }));
  return { title: fill(words.bytes, { bytes: binary(total), layers: held.length }), layers };
}

/** @param {number} value */
function tiny(value) {
  return value === 0 ? "0" : value.toExponential(1);
}
