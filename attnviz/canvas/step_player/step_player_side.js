// What stands above the scene in a sentence, and beside it: the next token, the work, the memory of each layer.
// All of it is as it is once the step is done.

import { around, el, fill, visibleToken } from "../shared/dom.js";
import { binary, duration, flop, percent } from "../shared/numbers.js";
import { soFar } from "./step_player_geometry.js";

/** @import { PlayerHeader } from "../shared/types.js" */

/** The step in a sentence. @param {PlayerHeader} header @param {number} at */
export function headline({ labels, steps, total, words }, at) {
  const { context } = steps[at];
  const values = { step: at + 1, total, new: context, token: visibleToken(labels[context - 1]), cached: context };
  return fill(at ? words.decode : words.prefill, values);
}

/** The next token: what was most probable, and what was chosen. @param {PlayerHeader} header @param {number} at the step */
export function choices({ words, steps }, at) {
  const box = around("sp-box", el("div", "av-strong sp-head", words.choices));
  const { alternatives } = steps[at];
  for (const [label, probability, chosen] of alternatives) {
    const line = el("div", chosen ? "sp-choice sp-picked" : "sp-choice");
    const track = el("span", "sp-track");
    const bar = el("span", "sp-share");
    bar.style.width = `${100 * probability}%`;
    track.append(bar);
    line.append(el("span", "sp-label", visibleToken(label)), track, el("span", "sp-number", percent(probability)));
    if (chosen) line.append(el("span", "av-sr", words.chosen));
    box.append(line);
  }
  if (!alternatives.some(([, , chosen]) => chosen)) box.append(el("div", "sp-note", words.nothing));
  return box;
}

/** What the step took with a cache and without. @param {PlayerHeader} header @param {number} at */
export function work({ words, steps }, at) {
  const { flops, seconds, difference } = soFar(steps, at);
  const { tokens, difference: now } = steps[at];
  const box = el("div", "sp-box sp-costs");
  const table = el("table", "sp-work");
  const row = (/** @type {string[]} */ cells, /** @type {"th" | "td"} */ kind) => {
    const line = el("tr");
    line.append(...cells.map((cell, i) => el(i ? kind : "th", i ? "sp-number" : "", cell)));
    table.append(line);
  };
  row([words.work, words.cache, words.anew], "th");
  row([words.tokens, ...tokens.map(String)], "td");
  row([words.flops, ...flops.map(flop)], "td");
  row([words.time, ...seconds.map(duration)], "td");
  box.append(table, el("div", "sp-note", fill(words.same, { now: tiny(now), all: tiny(difference) })));
  return box;
}

/** The bytes of each layer's cache. @param {PlayerHeader} header @param {number} at */
export function memory({ words, steps }, at) {
  const held = steps[at].layer_bytes;
  const total = held.reduce((sum, each) => sum + each, 0);
  const most = Math.max(1, ...steps[steps.length - 1].layer_bytes);
  const box = around(
    "sp-box",
    el("div", "av-strong sp-head", fill(words.bytes, { bytes: binary(total), layers: held.length })),
  );
  const bars = el("div", "sp-layers");
  held.forEach((each, layer) => {
    const bar = el("span", "sp-layer", null, { title: fill(words.layer, { layer, bytes: binary(each) }) });
    bar.style.height = `${(100 * each) / most}%`;
    bars.append(bar);
  });
  box.append(bars);
  return box;
}

/** @param {number} value */
function tiny(value) {
  return value === 0 ? "0" : value.toExponential(1);
}
