// What stands beside the scene: the next token, the work, the memory of each layer.

import { around, el, visibleToken } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { isChosen, memoryOf, workOf } from "./step_player_texts.js";

/** @import { PlayerHeader } from "../shared/types.js" */

/** The next token: what was most probable, and what was chosen. @param {PlayerHeader} header @param {number} at the step */
export function choices(header, at) {
  const { words, steps } = header;
  const box = around("sp-box", el("div", "av-strong sp-head", words.choices));
  for (const [label, probability, chosen] of steps[at].alternatives) {
    const line = el("div", chosen ? "sp-choice sp-picked" : "sp-choice");
    const track = el("span", "sp-track");
    const bar = el("span", "sp-share");
    bar.style.width = `${100 * probability}%`;
    track.append(bar);
    line.append(el("span", "sp-label", visibleToken(label)), track, el("span", "sp-number", percent(probability)));
    if (chosen) line.append(el("span", "av-sr", words.chosen));
    box.append(line);
  }
  if (!isChosen(header, at)) box.append(el("div", "sp-note", words.nothing));
  return box;
}

/** What the step took with a cache and without. @param {PlayerHeader} header @param {number} at */
export function work(header, at) {
  const { rows, note } = workOf(header, at);
  const table = el("table", "sp-work");
  rows.forEach((cells, n) => {
    const line = el("tr");
    line.append(...cells.map((cell, i) => el(i && n ? "td" : "th", i ? "sp-number" : "", cell)));
    table.append(line);
  });
  return around("sp-box sp-costs", table, el("div", "sp-note", note));
}

/** The bytes of each layer's cache. @param {PlayerHeader} header @param {number} at */
export function memory(header, at) {
  const { title, layers } = memoryOf(header, at);
  const bars = el("div", "sp-layers");
  for (const { share, text } of layers) {
    const bar = el("span", "sp-layer", null, { title: text });
    bar.style.height = `${100 * share}%`;
    bars.append(bar);
  }
  return around("sp-box", el("div", "av-strong sp-head", title), bars);
}
