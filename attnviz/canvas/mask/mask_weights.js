// What a mask does to attention: the weights that are left, row by row under a mask that falls over them, and what is said of a
// word whose weight flows from what is closed to what is left. No page.

import { wordName } from "../ribbons/ribbons_numbers.js";
import { drawRibbons, ribbonsScene } from "../ribbons/ribbons_scene.js";
import { drawMarks } from "../scene/marks.js";
import { attend } from "../shared/attend.js";
import { fill } from "../shared/dom.js";
import { ALIKE, leadOver } from "../shared/guess.js";
import { markToken } from "../shared/marked_text.js";
import { formatPercent } from "../shared/numbers.js";
import { toFloats } from "../shared/packing.js";
import { describeReach, lightMarks, litWords, wordsAlone } from "./mask_reach.js";

/** @import { Head } from "../ribbons/ribbons_numbers.js" */
/** @import { Look, Scene } from "../ribbons/ribbons_scene.js" */
/** @import { Mark } from "../scene/marks.js" */
/** @import { DrawingContext, MaskFigureHeader, RawHead, Shape, Words } from "../shared/types.js" */
/** @typedef {Scene & { light: Mark[] }} BesideScene */

/** Cells of which the mask has reached so many rows: all others are open. @param {Uint8Array} cells @param {Shape} shape @param {number} rows */
export function sweep(cells, [nq, nk], rows) {
  return rows >= nq ? cells : cells.map((open, i) => (i < rows * nk ? open : 1));
}

/** The scores that follow the bits; null where only a mask was sent. @param {Pick<MaskFigureHeader, "shape" | "scale">} header @param {Uint8Array} payload @returns {RawHead | null} */
export function readScores({ shape, scale }, payload) {
  if (scale === null) return null;
  const scores = toFloats(payload.subarray(Math.ceil((shape[0] * shape[1]) / 8)));
  const nothing = { padding: null, bias: null, softcap: null, sink: null };
  return { shape, exact: true, scores, scale, dHead: 0, mask: new Uint8Array(scores.length).fill(1), ...nothing };
}

/** A head under a mask. @param {string[]} tokens @param {RawHead} raw @param {Uint8Array} allowed @returns {Head} */
export function maskedHead(tokens, raw, allowed) {
  const weights = attend(raw, allowed, raw.scale);
  return { n: tokens.length, tokens, glued: [], weights, allowed, raw, factor: raw.scale };
}

/** @param {Pick<MaskFigureHeader, "shape" | "scale" | "q">} header @param {Uint8Array} payload @param {Uint8Array} cells */
export function readWeights(header, payload, cells) {
  const raw = readScores(header, payload);
  return raw && maskedHead(header.q, raw, cells);
}

/** What stands beside a mask: ribbons of a word, one of them lit; of several layers the light that has climbed so many of them. */
/** @param {Head} head @param {number} word @param {number} layers @param {number | null} lit @param {number} width @param {Look} look @returns {BesideScene} */
export function besideScene(head, word, layers, lit, width, look, climbed = Infinity) {
  const first = layers < 2 ? word : 0; // light climbs above all lines of words
  const scene = ribbonsScene(
    head,
    { word: first, axis: "q", pinned: null, unfolded: false, lit, grown: 1 },
    width,
    look,
  );
  if (layers < 2) return { ...scene, light: [] };
  const reach = litWords(head, word, layers);
  return {
    ...wordsAlone(scene, reach[0], word, look.theme),
    light: lightMarks(head, word, reach, scene, climbed, look.theme),
  };
}

/** @param {DrawingContext} context @param {BesideScene} scene @param {Look} look */
export function drawBeside(context, scene, look) {
  drawRibbons(context, scene, look);
  drawMarks(context, scene.light, look.theme);
}

/** The sentence below it. @param {Pick<MaskFigureHeader, "layers" | "words">} header @param {Head} head @param {number} word */
export function describeBeside({ layers, words }, head, word) {
  return layers && layers[0] > 1 ? describeReach(head, word, ...layers, words) : describeFlow(head, word, words);
}

/** What the mask takes from a word and where it flows. @param {Head} head @param {number} q @param {Words} words */
export function describeFlow({ tokens, raw, weights, allowed, n }, q, words) {
  const open = Array.from({ length: n }, (_none, k) => !allowed || allowed[q * n + k] === 1);
  const [token, count] = [markToken("q", wordName(tokens, q)), open.filter(Boolean).length];
  if (!count) return fill(words.empty_row, { token });
  if (count === n) return fill(words.open_row, { token, total: n });
  const free = attend(raw, null, raw.scale).subarray(q * n, (q + 1) * n);
  const taken = free.reduce((sum, share, k) => sum + (open[k] ? 0 : share), 0);
  const row = weights.subarray(q * n, (q + 1) * n);
  const key = row.indexOf(Math.max(...row)); // all that are left grow in proportion
  const [hidden, before, after] = [taken, free[key], row[key]].map((share) => formatPercent(share, 0));
  const about = { token, count, total: n, taken: hidden, before, after, key: markToken("k", wordName(tokens, key)) };
  return fill(leadOver(row, key) >= ALIKE ? words.flows : words.flows_alike, about);
}
