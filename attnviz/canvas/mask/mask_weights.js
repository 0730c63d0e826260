// What a mask does to attention: the weights that are left, row by row under a mask that falls over them, and what is said of a
// word whose weight flows from what is closed to what is left. No page.

import { wordName } from "../ribbons/ribbons_numbers.js";
import { attend } from "../shared/attend.js";
import { fill } from "../shared/dom.js";
import { ALIKE } from "../shared/guess.js";
import { markToken } from "../shared/marked_text.js";
import { formatPercent } from "../shared/numbers.js";
import { toFloats } from "../shared/packing.js";

/** @import { Head } from "../ribbons/ribbons_numbers.js" */
/** @import { RibbonsView } from "../ribbons/ribbons_scene.js" */
/** @import { MaskFigureHeader, RawHead, Shape, Words } from "../shared/types.js" */

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

/** A word's ribbons, of which one may be lit. @param {number} word @param {number | null} [lit] @returns {RibbonsView} */
export function wordView(word, lit = null) {
  return { word, axis: "q", pinned: null, unfolded: false, lit, grown: 1 };
}

/** What the mask takes from a word and where it flows. @param {Head} head @param {number} q @param {Words} words */
export function describeFlow({ tokens, raw, weights, allowed, n }, q, words) {
  const open = Array.from({ length: n }, (_none, k) => !allowed || allowed[q * n + k] === 1);
  const seen = open.flatMap((isOpen, k) => (isOpen ? [k] : []));
  const [token, count] = [markToken("q", wordName(tokens, q)), seen.length];
  if (!count) return fill(words.empty_row, { token });
  if (count === n) return fill(words.open_row, { token, total: n });
  const free = attend(raw, null, raw.scale).subarray(q * n, (q + 1) * n);
  const taken = free.reduce((sum, share, k) => sum + (open[k] ? 0 : share), 0);
  const gains = seen.map((k) => weights[q * n + k] - free[k]);
  const most = Math.max(...gains);
  const key = seen[gains.indexOf(most)];
  const isAlone = gains.filter((gain) => most - gain < ALIKE).length === 1;
  const about = { token, count, total: n, taken: formatPercent(taken, 0), gain: formatPercent(most, 0) };
  return fill(isAlone ? words.flows : words.flows_alike, { ...about, key: markToken("k", wordName(tokens, key)) });
}
