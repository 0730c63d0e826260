// One head's numbers as they are on show: what Python sent as codes, or weights computed here from raw scores under the
// visitor's mask and scale, arranged: tokens joined into words, special tokens left out, weights times the length of values.
// Python's side is attnviz.analysis.head_matrix. Nothing of it draws.

import { attend } from "../shared/attend.js";
import { pixelTable } from "../shared/colour.js";
import { fill } from "../shared/dom.js";
import { scaleFactor, editedMask, NO_EDIT } from "../shared/edit.js";
import { encode16, toFloats, inflate, joinPlanes, MASKED_16, decodeValue } from "../shared/packing.js";
import { readRawScores } from "../shared/raw_scores.js";
import { tokenLabels } from "../shared/token_labels.js";

/** @import { Group } from "../shared/group.js" */
/** @import { TokenLabels } from "../shared/token_labels.js" */
/** @import { Edit, FullArrangement, HeadHeader, RawHead, Shape, Theme } from "../shared/types.js" */
/** @typedef {{ values: Float32Array, hidden: Uint8Array | null }} Arranged `hidden`: 1 where the mask hides, null = nowhere */

/** Every token stands for itself. */
export const PLAIN = Object.freeze({ rows: null, cols: null, merged: false, renormalise: false, norms: null });

/**
 * Joins the keys of an entry by adding them up, its queries by their mean; a cell is hidden where all it covers is.
 * @param {Float32Array} weights (Q, K)
 * @param {Uint8Array | null} mask @param {FullArrangement} how @returns {Arranged}
 */
export function arrange(weights, mask, how) {
  const { rows, cols, norms } = how;
  if (rows === null && cols === null) {
    const values = norms === null ? weights : weights.map((w, i) => w * norms[i % norms.length]);
    if (how.renormalise) rescaleRows(values, how.shape);
    return { values, hidden: mask === null ? null : mask.map((open) => 1 - open) };
  }
  const [nq, nk] = how.shape;
  const [groupsQ, groupsK] = [rows ?? singlePositions(nq), cols ?? singlePositions(nk)];
  const shape = /** @type {Shape} */ ([groupsQ.length, groupsK.length]);
  const values = new Float32Array(shape[0] * shape[1]);
  const hidden = mask === null ? null : new Uint8Array(values.length);
  let i = 0;
  for (const queries of groupsQ) {
    for (const keys of groupsK) {
      const [sum, seen] = joinEntries(queries, keys, nk, weights, mask, norms);
      values[i] = how.merged ? sum / queries.length : sum;
      if (hidden !== null) hidden[i] = seen ? 0 : 1;
      i += 1;
    }
  }
  if (how.renormalise) rescaleRows(values, shape);
  return { values, hidden };
}

/**
 * @param {number[]} queries @param {number[]} keys @param {number} nk @param {Float32Array} weights
 * @param {Uint8Array | null} mask @param {Float32Array | null} norms
 * @returns {[number, boolean]} the sum, and whether any of its cells may be seen
 */
function joinEntries(queries, keys, nk, weights, mask, norms) {
  let sum = 0;
  let seen = mask === null;
  for (const q of queries) {
    for (const k of keys) {
      const i = q * nk + k;
      sum += norms === null ? weights[i] : weights[i] * norms[k];
      seen ||= mask !== null && mask[i] === 1;
    }
  }
  return [sum, seen];
}

/** Every position by itself. @param {number} n */
export function singlePositions(n) {
  return Array.from({ length: n }, (_, i) => [i]);
}

/** Rows sum to 1 again; a row of nothing stays so. @param {Float32Array} values @param {Shape} shape */
function rescaleRows(values, [rows, cols]) {
  for (let r = 0; r < rows; r++) {
    let total = 0;
    for (let c = 0; c < cols; c++) total += values[r * cols + c];
    if (total === 0) continue;
    for (let c = 0; c < cols; c++) values[r * cols + c] /= total;
  }
}

/** @typedef {{ codes: Uint16Array } | { raw: RawHead, how: FullArrangement }} Source what a head's numbers come from */

/** What a head that was sent is drawn from. */
/** @param {HeadHeader} header @param {Uint8Array} payload @returns {Promise<Source>} */
export async function readSource(header, payload) {
  if (header.raw === null) return { codes: joinPlanes(await inflate(payload)) };
  const { scores, arranged } = header.raw;
  const norms = arranged.norms ? toFloats(payload.subarray(payload.length - 4 * scores.shape[1])) : null;
  return { raw: readRawScores(scores, payload)[0], how: { ...arranged, shape: scores.shape, norms } };
}

/** What the header says of another head of the same stack, as far as it is known before that has come. */
/** @param {HeadHeader} header @param {[number, number]} tile @returns {HeadHeader} */
export function otherHeadHeader(header, tile) {
  const [layer, head] = tile;
  const title = fill(header.titles, { layer, head });
  return { ...header, tile, title, sentence: header.sentence && { ...header.sentence, row: null } };
}

/**
 * Numbers on show: codes to draw by, the `top` of their scale and of the colours' (`shownTop`), and values to read, null
 * where only codes were sent.
 * @typedef {ReturnType<RawNumbers["under"]> | ReturnType<typeof numbersFromCodes>} Numbers
 */

/** Computes a raw head's numbers again and again, as a hand moves, without asking for memory each time. */
export class RawNumbers {
  /** @param {RawHead} raw @param {FullArrangement} how @param {Pick<HeadHeader, "kind" | "fullRange" | "fixedTop" | "look">} header */
  constructor(raw, how, header) {
    this.raw = raw;
    this.how = how;
    this.header = header;
    /** @type {Arranged | null} under the model's own mask and scale */
    this.own = null;
    this.weights = new Float32Array(raw.shape[0] * raw.shape[1]);
    this.mask = new Uint8Array(this.weights.length);
    this.codes = new Uint16Array(0);
  }

  /** Weights under an edit, arranged. */
  /** @param {Edit} edit @param {boolean} keep whether the result outlives the next call @returns {Arranged} */
  arranged(edit, keep = false) {
    const { raw } = this;
    if (!raw.exact) return arrange(raw.scores, null, this.how);
    const mask = editedMask(edit, raw, keep ? undefined : this.mask);
    const weights = attend(raw, mask, scaleFactor(edit, raw), keep ? undefined : this.weights);
    return arrange(weights, mask, this.how);
  }

  /** @returns {Arranged} */
  before() {
    this.own ??= this.arranged(NO_EDIT, true);
    return this.own;
  }

  /** @param {Edit} edit @param {Edit["seen"]} seen */
  under(edit, seen) {
    const after = seen === "before" ? this.before() : this.arranged(edit);
    const shown = seen === "difference" ? subtractHeads(after, this.before()) : after;
    const signed = seen === "difference";
    const { fullRange, fixedTop, kind } = this.header;
    const largest = largestMagnitude(shown);
    const fixed = kind === "weights";
    const top = Math.max(largest, fixed ? 1 : 0) || 1;
    const shownTop = (fixed && fullRange ? 1 : fixedTop || largest) || 1;
    if (this.codes.length !== shown.values.length) this.codes = new Uint16Array(shown.values.length);
    const hasMasked = encode16(shown.values, shown.hidden, top, signed, this.codes);
    return { codes: this.codes, values: shown.values, signed, top, shownTop, hasMasked };
  }
}

/** The matrix on show as plain numbers, null where masked. @param {Pick<Drawn, "header" | "codes" | "values">} drawn */
export function toMatrix({ header: { shape, top, signed }, codes, values }) {
  const [nq, nk] = shape;
  return Array.from({ length: nq }, (_row, q) =>
    Array.from({ length: nk }, (_col, k) => {
      const i = q * nk + k;
      if (codes[i] === MASKED_16) return null;
      return values === null ? decodeValue(codes[i], top, signed) : values[i];
    }),
  );
}

/** The difference of two matrices; hidden only where both are. */
/** @param {Arranged} after @param {Arranged} before @returns {Arranged} */
export function subtractHeads(after, before) {
  const values = after.values.map((value, i) => isVisible(after, value, i) - isVisible(before, before.values[i], i));
  const both = after.hidden !== null && before.hidden !== null;
  const hidden = both ? after.hidden?.map((gone, i) => gone & (before.hidden?.[i] ?? 0)) : null;
  return { values, hidden: hidden ?? null };
}

/** @param {Arranged} one @param {number} value @param {number} i */
function isVisible(one, value, i) {
  return one.hidden !== null && one.hidden[i] === 1 ? 0 : value;
}

/** @param {Arranged} shown */
export function largestMagnitude({ values, hidden }) {
  let top = 0;
  for (let i = 0; i < values.length; i++) {
    const size = Math.abs(values[i]);
    if (size > top && hidden?.[i] !== 1) top = size;
  }
  return top;
}

/** The numbers of a head that came as codes. */
/** @param {HeadHeader} header @param {Uint16Array} codes */
export function numbersFromCodes({ signed, top, scale }, codes) {
  return { codes, values: null, signed, top, shownTop: scale.top, hasMasked: codes.includes(MASKED_16) };
}

/**
 * @param {Numbers} numbers @param {Shape} shape
 * @returns {{ rows: Float32Array, cols: Float32Array } | null} what each row gives and each column gets in all
 */
function sumColumns({ values, codes, signed }, [nq, nk]) {
  if (values === null || signed) return null;
  const [rows, cols] = [new Float32Array(nq), new Float32Array(nk)];
  for (let q = 0, i = 0; q < nq; q++) {
    for (let k = 0; k < nk; k++, i++) {
      if (codes[i] === MASKED_16) continue;
      rows[q] += values[i];
      cols[k] += values[i];
    }
  }
  return { rows, cols };
}

const NOTHING = new Uint16Array(0);

/** What its tokens say, which is the same when they are joined into words. @param {HeadHeader} header */
function tokenTextKey({ q, k, raw, doc }) {
  return raw ? [q, k ?? []].map((side) => side.join("").replace(/[^\p{L}\p{N}]/gu, "")).join("|") : doc;
}

/** All that a drawing of a head needs; its numbers are there once they are computed. */
export class Drawn {
  /** @type {Uint16Array} */
  codes = NOTHING;
  /** @type {Float32Array | null} what the codes stand for, exactly; null where only codes came */
  values = null;
  /** @type {ReturnType<typeof sumColumns>} */
  sums = null;
  /** a name for these numbers */
  picture = "";
  hasMasked = false;

  /** @param {HeadHeader} header @param {Source} source @param {Group} group @param {Theme} theme @param {Readonly<Drawn> | null} before */
  constructor(header, source, group, theme, before) {
    const same = before !== null && before.header.doc === header.doc;
    const labels = same ? [before.labelsQ, before.labelsK] : tokenLabels(header);
    /** as Python sent it, but with the scale of what is on show */
    this.header = header;
    this.source = source;
    this.group = group;
    this.theme = theme;
    this.words = header.words;
    /** @type {RawNumbers | null} computes the numbers, where the head came as raw scores; kept as long as the head is */
    this.maker = makeNumbers(header, source, before);
    /** @type {string} the text, however its tokens are joined, and the positions in it of each row and column */
    this.about = same ? before.about : tokenTextKey(header);
    const { rows = null, cols = null } = header.raw?.arranged ?? {};
    this.keys = [rows, cols].map((keys, side) => keys ?? singlePositions(header.shape[side]));
    /** @type {TokenLabels} */
    this.labelsQ = labels[0];
    /** @type {TokenLabels} */
    this.labelsK = labels[1];
    /** @type {Uint32Array} pixels of all codes, and what they were made for */
    this.table = before?.table ?? new Uint32Array(0);
    /** @type {string} */
    this.tableKey = before?.tableKey ?? "";
  }

  /**
   * Computes the numbers on show.
   * @param {Edit["seen"]} seen @param {number} count how often that was done: others are another picture @param {Edit} edit
   */
  compute(seen, count, edit) {
    const { header, source, maker, theme } = this;
    const own = "codes" in source ? source.codes : NOTHING;
    const numbers = maker ? maker.under(edit, seen) : numbersFromCodes(header, own);
    const { codes, values, signed, top, hasMasked } = numbers;
    const shown = { ...header, signed, top, scale: { ...header.scale, top: numbers.shownTop } };
    const sums = header.edit === null || header.compact ? null : sumColumns(numbers, header.shape);
    const picture = maker ? `${header.data}|${count}` : header.data;
    const tableKey = JSON.stringify([signed, top, shown.scale, theme.dark]);
    if (this.tableKey !== tableKey) Object.assign(this, { table: pixelTable(shown, theme.dark), tableKey });
    Object.assign(this, { header: shown, codes, values, hasMasked, sums, picture });
  }
}

/** @param {HeadHeader} header @param {Source} source @param {Readonly<Drawn> | null} before @returns {RawNumbers | null} */
function makeNumbers(header, source, before) {
  if (!("raw" in source)) return null;
  const kept = before?.maker;
  const same = kept?.raw === source.raw && kept.how === source.how && before?.header.look === header.look;
  return same ? kept : new RawNumbers(source.raw, source.how, header);
}
