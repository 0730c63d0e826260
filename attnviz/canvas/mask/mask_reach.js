// How far words reach in several layers under a mask: light that climbs from layer to layer up to one word. Each layer brings a
// word something of those that it may look at, and keeps what was there. No page.

import { wordName } from "../ribbons/ribbons_numbers.js";
import { HIDDEN } from "../ribbons/ribbons_scene.js";
import { mark, textMark } from "../scene/marks.js";
import { fill, joinTexts } from "../shared/dom.js";
import { markToken } from "../shared/marked_text.js";
import { clamp } from "../shared/numbers.js";

/** @import { Head } from "../ribbons/ribbons_numbers.js" */
/** @import { Text } from "../ribbons/ribbons_marks.js" */
/** @import { Scene } from "../ribbons/ribbons_scene.js" */
/** @import { Theme, Words } from "../shared/types.js" */

/** Which words of each layer, the lowest first, reach a word in so many layers. @param {Pick<Head, "n" | "allowed">} head @param {number} word @param {number} layers */
export function litWords({ n, allowed }, word, layers) {
  const words = Array.from({ length: n }, (_none, i) => i);
  const lit = [words.map((i) => i === word)];
  for (let layer = 0; layer < layers; layer++) {
    const above = lit[0];
    lit.unshift(words.map((k) => above[k] || words.some((q) => above[q] && (!allowed || allowed[q * n + k] === 1))));
  }
  return lit;
}

/** @param {Head} head @param {number} word @param {number} layers @param {number} most @param {Words} words */
export function describeReach(head, word, layers, most, words) {
  const { tokens, n: total } = head;
  const reached = litWords(head, word, most).toReversed().map((lit) => lit.filter(Boolean).length); // prettier-ignore
  const [count, final] = [reached[layers], reached[most]];
  const needed = reached.indexOf(final);
  const first = fill(words.reached, { n: layers, count, total, token: markToken("q", wordName(tokens, word)) });
  const isGrowing = needed === most && final < total;
  const next = isGrowing ? words.reach_growing : count < final ? words.reach_more : final === total ? words.reach_all : words.reach_no_more; // prettier-ignore
  return joinTexts(words.join_sentences, [first, fill(next, { n: needed, heard: final })]);
}

/** The words alone, pale where they do not reach: above them light climbs. @param {Scene} scene @param {boolean[]} lit @param {number} word @param {Theme} theme @returns {Scene} */
export function wordsAlone(scene, lit, word, { q, text }) {
  const { count, line, top, words: places } = scene.layout;
  const words = /** @type {Text[]} */ (
    scene.marks.filter((each) => each.kind === "text" && each.key.startsWith("word"))
  );
  const less = count > 1 ? top(1) - top(0) - 1.3 * line : 0; // no ribbons between lines
  const height = scene.height - (count - 1) * less;
  return { ...scene, height, marks: words.map((each, i) => ({ ...each, y: each.y - places[i].line * less, bold: Number(lit[i]), alpha: lit[i] ? 1 : HIDDEN, colour: i === word ? q : text })) }; // prettier-ignore
}

/**
 * Light that has climbed so many layers; a word that was there before goes straight up.
 * @param {Pick<Head, "n" | "allowed">} head @param {number} word @param {boolean[][]} lit @param {Scene} scene
 * @param {number} climbed layers, 0 and up @param {Theme} theme
 */
export function lightMarks({ n, allowed }, word, lit, { layout, width }, climbed, theme) {
  const layers = lit.length - 1;
  const base = layout.top(0) - 14;
  const step = (layout.rise + layout.pill - 24) / layers;
  const x = (/** @type {number} */ i) => (layout.count === 1 ? layout.words[i].x : ((i + 0.5) * width) / n);
  const y = (/** @type {number} */ layer) => base - layer * step;
  const marks = [];
  for (let layer = 0; layer <= layers; layer++) {
    const share = clamp(climbed - layer, 0, 1);
    if (layer) marks.push(textMark(`layer ${layer}`, String(layer), { x: width - 10, y: y(layer), size: 12, alpha: 0.75, colour: theme.text })); // prettier-ignore
    for (let k = 0; k < n; k++) {
      const isLit = lit[layer][k] && climbed >= layer;
      const ways = layer < layers && isLit ? lit[layer + 1].flatMap((isAbove, q) => (isAbove ? [q] : [])) : [];
      for (const q of ways) {
        if (lit[layer + 1][k] ? q !== k : allowed && !allowed[q * n + k]) continue;
        marks.push(mark(`light ${layer} ${k} ${q}`, "line", { x: x(k), y: y(layer), w: share * (x(q) - x(k)), h: -share * step, colour: theme.k, size: q === k ? 1 : 2, alpha: q === k ? 0.4 : 0.65 })); // prettier-ignore
      }
      const size = clamp(0.2 * step, 2, isLit ? 6 : 3);
      const colour = !isLit ? theme.text : k === word && layer === layers ? theme.q : theme.k;
      marks.push(mark(`word ${layer} ${k}`, "disc", { x: x(k), y: y(layer), size, colour, alpha: isLit ? 1 : 0.25 }));
    }
  }
  return marks;
}
