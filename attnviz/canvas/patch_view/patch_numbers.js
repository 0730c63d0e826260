// What a view of a picture has in memory: the heads' scores or maps, and the row of any head under what is chosen.

import {
  factorFor,
  followed,
  headsInOrder,
  meanOf,
  meanOfRows,
  mixed,
  rowOf,
  seenKeys,
  squares,
} from "./patch_rows.js";
import { placeOfHead, readRawScores } from "../shared/raw_scores.js";

/** @import { PatchChoices, PatchHeader, RawHead } from "../shared/types.js" */

export class PatchNumbers {
  /**
   * @param {PatchHeader} header
   * @param {Uint8Array} payload without the picture
   */
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
    this.layers = squares(payload.subarray(parts.maps, ends[0]));
    this.rolled = squares(payload.subarray(ends[0], ends[1]));
    /** Of each layer what it mixes of what, and what was hidden and scaled then. */
    this.mixes = { of: "", each: /** @type {Float32Array[][]} */ ([]) };
    const raw = payload.subarray(ends[1], ends[1] + parts.raw);
    /** @type {RawHead[]} */
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
    const seen = seenKeys(state.hidden, this.header.grid);
    const factor = factorFor(state, layer, head);
    return state.shows === "mean" ? meanOf(raw, first, seen, factor) : rowOf(raw, token, seen, factor);
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
      return followed(this.mixesUnder(state).slice(0, layer + 1), token);
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

  /** Every layer with what is hidden and scaled, as `followed` takes it; made anew only where that changed. */
  /** @param {PatchChoices} state */
  mixesUnder(state) {
    const { hidden, factor, layer, head } = state;
    const of = JSON.stringify([hidden, factor === 1 ? null : [factor, layer, head]]);
    if (of !== this.mixes.of) {
      const tokens = Array.from({ length: this.tokens }, (_, token) => token);
      const each = this.header.heads.map((_, at) => {
        const heads = this.order.filter(([l]) => l === at);
        return mixed(tokens.map((token) => this.meanRow(token, state, heads)));
      });
      this.mixes = { of, each };
    }
    return this.mixes.each;
  }
}
