// What a view of a picture has in memory: the heads' scores or maps; and rows of weights over patches, from raw scores, under
// what a visitor hides and scales. It draws nothing.

import { placeOfHead, readRawScores } from "../shared/raw_scores.js";
import { tileOrder } from "../overview/mosaic_geometry.js";
import { attend } from "../shared/attend.js";

/** @import { PatchChoices, PatchHeader, RawHead } from "../shared/types.js" */

export class PatchNumbers {
  /** @param {PatchHeader} header @param {Uint8Array} payload without the picture */
  constructor(header, payload) {
    const { parts, grid, heads } = header;
    this.header = header;
    this.tokens = grid.first + grid.rows * grid.columns;
    this.count = heads.reduce((sum, n) => sum + n, 0);
    this.order = headsInOrder(header);
    /** Of every head: the mean of its rows, then the usual row; bytes on a square-root scale, 254 = 1. */
    this.maps = payload.subarray(0, parts.maps);
    const ends = [parts.maps + parts.layers, parts.maps + parts.layers + parts.rolled];
    /** Rows of all layers, under what Python was told of last; nothing where every head's scores are here. */
    this.layers = decodeSquareRoots(payload.subarray(parts.maps, ends[0]));
    this.rolled = decodeSquareRoots(payload.subarray(ends[0], ends[1]));
    /** Of each layer what it mixes of what, and what was hidden and scaled then. */
    this.mixes = { of: "", each: /** @type {Float32Array[][]} */ ([]) };
    const raw = payload.subarray(ends[1], ends[1] + parts.raw);
    this.raw = header.raw ? readRawScores(header.raw.header, raw) : [];
  }

  /** The scores of a head; null where they are not here. @param {number} layer @param {number} head */
  rawOf(layer, head) {
    const { raw, heads, state } = this.header;
    if (!raw) return null;
    if (raw.all) return this.raw[placeOfHead(heads, layer, head)];
    return layer === state.layer && head === state.head ? this.raw[0] : null;
  }

  /** Whether every head follows what is pointed at. */
  get follows() {
    return this.header.raw !== null && this.header.raw.all;
  }

  /**
   * What lies over a picture of a head: a row of weights (K).
   * @param {number} layer @param {number} head
   * @param {number} token the token that looks
   * @param {PatchChoices} state
   */
  row(layer, head, token, state) {
    const raw = this.rawOf(layer, head);
    const first = this.header.words === null ? this.header.grid.first : 0;
    if (raw === null) return this.map(layer, head, state.shows === "mean" ? 0 : 1);
    const seen = visibleKeys(state.hidden, this.header.grid);
    const factor = factorFor(state, layer, head);
    return state.shows === "mean" ? meanOfHeads(raw, first, seen, factor) : headRow(raw, token, seen, factor);
  }

  /** @param {number} layer @param {number} head @param {0 | 1} which */
  map(layer, head, which) {
    const from = (which * this.count + placeOfHead(this.header.heads, layer, head)) * this.tokens;
    return Float32Array.from(this.maps.subarray(from, from + this.tokens), (code) => (code / 254) ** 2);
  }

  /**
   * What lies over the large picture: the row of the head on show, or of what is of several layers: their mean, or what
   * a token is made of after those up to the one on show.
   * @param {number} token @param {PatchChoices} state
   */
  shown(token, state) {
    const { shows, layer, head } = state;
    if (shows === "row" || shows === "mean") return this.row(layer, head, token, state);
    if (this.follows) {
      if (shows === "layers") return this.meanRow(token, state, this.order);
      return followToken(this.mixesUnder(state).slice(0, layer + 1), token);
    }
    const held = shows === "layers" ? this.layers : this.rolled;
    return held.subarray(token * this.tokens, (token + 1) * this.tokens);
  }

  /** The mean of a token's rows in these heads. */
  /** @param {number} token @param {PatchChoices} state @param {readonly [number, number][]} heads */
  meanRow(token, state, heads) {
    const one = { ...state, shows: /** @type {const} */ ("row") };
    const rows = heads.map(([layer, head]) => this.row(layer, head, token, one));
    return meanOfRows(rows, this.tokens);
  }

  /** Every layer with what is hidden and scaled, as `followToken` takes it; made anew only where that changed. */
  /** @param {PatchChoices} state */
  mixesUnder(state) {
    const { hidden, factor, layer, head } = state;
    const of = JSON.stringify([hidden, factor === 1 ? null : [factor, layer, head]]);
    if (of !== this.mixes.of) {
      const tokens = Array.from({ length: this.tokens }, (_, token) => token);
      const each = this.header.heads.map((_, at) => {
        const heads = this.order.filter(([l]) => l === at);
        return mixWithResidual(tokens.map((token) => this.meanRow(token, state, heads)));
      });
      this.mixes = { of, each };
    }
    return this.mixes.each;
  }
}

/**
 * One row of a head: what token `row` gives to each token.
 * @param {RawHead} head @param {number} row
 * @param {Uint8Array | null} seen one a key, 1 = may be looked at; null = all
 * @param {number} factor times the model's own scale
 * @param {Float32Array} [into]
 */
export function headRow(head, row, seen, factor, into = new Float32Array(head.shape[1])) {
  const { softcap, sink, shape } = head;
  const nk = shape[1];
  const [from, to] = [row * nk, (row + 1) * nk];
  if (!head.exact) {
    into.set(head.scores.subarray(from, to));
    return into;
  }
  const own = head.mask.subarray(from, to);
  const mask = seen === null ? own : Uint8Array.from(own, (may, k) => may & seen[k]);
  const bias = head.bias === null ? null : head.bias.subarray(from, to);
  const scores = head.scores.subarray(from, to);
  return attend({ softcap, sink, shape: [1, nk], scores, bias }, mask, head.scale * factor, into);
}

/** The mean of some rows. */
/** @param {RawHead} head @param {number} first the first row @param {Uint8Array | null} seen @param {number} factor */
export function meanOfHeads(head, first, seen, factor) {
  const [nq, nk] = head.shape;
  const sum = new Float32Array(nk);
  const row = new Float32Array(nk);
  for (let q = first; q < nq; q++) {
    headRow(head, q, seen, factor, row);
    for (let k = 0; k < nk; k++) sum[k] += row[k];
  }
  return sum.map((total) => total / (nq - first));
}

/** Which keys may be looked at; null where nothing is hidden. */
/** @param {readonly number[]} hidden @param {PatchHeader["grid"]} grid */
export function visibleKeys(hidden, { rows, columns, first }) {
  if (hidden.length === 0) return null;
  const seen = new Uint8Array(first + rows * columns).fill(1);
  for (const patch of hidden) seen[first + patch] = 0;
  return seen;
}

/** The factor that a head is shown with: the visitor's, for the head that it was chosen for. */
/** @param {PatchChoices} state @param {number} layer @param {number} head */
export function factorFor(state, layer, head) {
  return layer === state.layer && head === state.head ? state.factor : 1;
}

/** Whether a head hands on nothing. @param {PatchChoices} state @param {number} layer @param {number} head */
export function isSilenced({ silenced }, layer, head) {
  return silenced.some(([l, h]) => l === layer && h === head);
}

/** The largest weight of a patch. @param {Float32Array} row @param {number} first */
export function largestPatchWeight(row, first) {
  return row.subarray(first).reduce((top, weight) => Math.max(top, weight), 0);
}

/** The strongest tokens of a row, strongest first. @param {Float32Array} row @param {number} most */
export function strongestTokens(row, most) {
  return Array.from(row.keys())
    .sort((a, b) => row[b] - row[a])
    .slice(0, most);
}

/** Weights that came as 16 bits of their square roots. @param {Uint8Array} bytes */
export function decodeSquareRoots(bytes) {
  return Float32Array.from(new Uint16Array(bytes.slice().buffer), (root) => (root / 65535) ** 2);
}

/** The heads as [layer, head], in the order in which they are shown. */
/** @param {Pick<PatchHeader, "heads" | "measure">} header @returns {[number, number][]} */
export function headsInOrder({ heads, measure }) {
  const all = heads.flatMap((count, layer) =>
    Array.from({ length: count }, (_, head) => /** @type {[number, number]} */ ([layer, head])),
  );
  return tileOrder(all.length, { order: measure ? "measure" : "place", measure }).map((i) => all[i]);
}

/** The mean of rows that are as long. @param {readonly Float32Array[]} rows @param {number} length */
export function meanOfRows(rows, length) {
  const mean = new Float32Array(length);
  for (const row of rows) for (let k = 0; k < length; k++) mean[k] += row[k] / rows.length;
  return mean;
}

/**
 * A layer as one matrix with the residual stream, which has the same share as attention: rows of the mean of its heads,
 * each half kept where it is, and then scaled to sum to 1. Python's side is `layer_mix` in attnviz/core/measures.py.
 * @param {readonly Float32Array[]} mean one row for each token
 */
export function mixWithResidual(mean) {
  return mean.map((row, token) => {
    const mix = row.map((weight) => weight / 2);
    mix[token] += 0.5;
    const total = mix.reduce((sum, share) => sum + share, 0);
    return mix.map((share) => share / total);
  });
}

/** What a token is made of after these layers, the first of them first (Abnar and Zuidema 2020). */
/** @param {readonly Float32Array[][]} mixes @param {number} token */
export function followToken(mixes, token) {
  let row = mixes[mixes.length - 1][token];
  for (let layer = mixes.length - 2; layer >= 0; layer--) {
    const next = new Float32Array(row.length);
    mixes[layer].forEach((mix, from) => {
      const share = row[from];
      if (share > 0) for (let k = 0; k < next.length; k++) next[k] += share * mix[k];
    });
    row = next;
  }
  return row;
}
