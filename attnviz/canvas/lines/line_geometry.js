// Which token lines are drawn, how strongly, and where the two columns of tokens are.

import { placeOnScale } from "../shared/colour.js";
import { MASKED_16, valueOf } from "../shared/packing.js";
import { spans } from "../shared/zoom.js";

/** @import { Pin, Rectangle, Scale, Shape, Zoom } from "../shared/types.js" */

export const MOST_LINES = 4000;
/** While a hand moves, the weakest lines wait once so many are drawn. */
const AT_ONCE = 80;
/** Lines that are drawn in one go: a thousand take longer than a frame. */
const PIECE = 200;
export const LEVELS = 24;
/** A line weaker than this share of the scale is not drawn. */
const WEAKEST = 0.006;

/** Heights of the tokens on both sides, and which are on show. */
/** @param {Rectangle} plot @param {Zoom} zoom @param {Shape} shape */
export function rowsOnShow(plot, zoom, shape) {
  const [nq, nk] = shape;
  const span = spans(zoom, shape);
  return { nq, nk, z: zoom.z, q0: zoom.q0, k0: zoom.k0, span, hq: plot.h / span.q, hk: plot.h / span.k };
}

/** How strong a code's line is, 0 to 1. */
/** @param {number} code @param {{ top: number, signed: boolean, scale: Scale }} header */
export function lineStrength(code, { top, signed, scale }) {
  return placeOnScale(Math.abs(valueOf(code, top, signed)), scale, false);
}

/** @param {number} strength */
export function levelOf(strength) {
  return Math.min(LEVELS - 1, Math.floor(strength * LEVELS));
}

/** Magnitudes of codes on one scale from 0 to 65,534; masked stays masked. */
/** @param {Uint16Array} codes @param {boolean} signed */
export function magnitudes(codes, signed) {
  if (!signed) return codes;
  return codes.map((code) => (code === MASKED_16 ? code : Math.min(65534, Math.abs(code - 32767) * 2)));
}

/**
 * The strongest lines among the cells on show, at most `most`, by level of strength, weakest level first.
 * Each level is the flat list q, k, q, k... of its lines; `total` counts all cells on show that are not masked.
 * @param {Uint16Array} codes
 * @param {Uint16Array} sizes what `magnitudes` makes of the codes
 * @param {{ top: number, signed: boolean, scale: Scale }} header @param {ReturnType<typeof rowsOnShow>} rows
 */
export function strongestLines(codes, sizes, header, rows, most = MOST_LINES) {
  const { nq, nk, q0, k0, span } = rows;
  const [qa, qb] = [Math.floor(q0), Math.min(nq, Math.ceil(q0 + span.q))];
  const [ka, kb] = [Math.floor(k0), Math.min(nk, Math.ceil(k0 + span.k))];
  const counts = new Uint32Array(65536);
  for (let q = qa; q < qb; q++) {
    for (let i = q * nk + ka, end = q * nk + kb; i < end; i++) counts[sizes[i]] += 1;
  }
  const total = (qb - qa) * (kb - ka) - counts[MASKED_16];
  const cut = Math.max(
    weakestKept(counts, most),
    Math.floor(65534 * Math.sqrt((WEAKEST * header.scale.top) / header.top)),
  );
  /** @type {number[][]} */
  const levels = Array.from({ length: LEVELS }, () => []);
  let drawn = 0;
  for (let q = qa; q < qb; q++) {
    for (let k = ka, i = q * nk + ka; k < kb; k++, i++) {
      if (sizes[i] <= cut || sizes[i] === MASKED_16) continue;
      levels[levelOf(lineStrength(codes[i], header))].push(q, k);
      drawn += 1;
    }
  }
  return { levels, drawn, total };
}

/**
 * The weakest level of those whose lines are drawn at once, so that AT_ONCE are not exceeded; 0 where all are.
 * @param {number[][][]} heads the levels of each head on show
 */
export function weakestAtOnce(heads) {
  let lines = 0;
  for (let level = LEVELS - 1; level >= 0; level--) {
    for (const levels of heads) lines += levels[level].length / 2;
    if (lines > AT_ONCE) return Math.min(level + 1, LEVELS - 1);
  }
  return 0;
}

/**
 * Lines that are drawn in one go, the weakest of all heads first.
 * @param {number[][][]} heads the levels of each head on show
 * @typedef {{ at: number, level: number, lines: number[] }} Piece of the head at this place among them
 * @returns {Piece[]}
 */
export function piecesOf(heads) {
  /** @type {Piece[]} */
  const pieces = [];
  for (let level = 0; level < LEVELS; level++) {
    heads.forEach((levels, at) => {
      const all = levels[level];
      for (let from = 0; from < all.length; from += 2 * PIECE) {
        pieces.push({ at, level, lines: all.slice(from, from + 2 * PIECE) });
      }
    });
  }
  return pieces;
}

/**
 * The size that a line must exceed for at most `most` to be kept.
 * @param {Uint32Array} counts how many lines have each size
 * @param {number} most
 */
function weakestKept(counts, most) {
  let cut = 65534;
  let kept = 0;
  while (cut > 0 && kept + counts[cut] <= most) kept += counts[cut--];
  return cut;
}

/** Whether a lit token's line is strong enough to be drawn. */
/** @param {number} code @param {{ top: number, signed: boolean, scale: Scale }} header */
export function isWorthLighting(code, header) {
  return code !== MASKED_16 && lineStrength(code, header) >= (header.scale.root ? 0.08 : WEAKEST);
}

/**
 * The token at a point of the stage: of the left column or the right one, or none between them.
 * @param {number} px @param {number} py @param {Rectangle} plot @param {ReturnType<typeof rowsOnShow>} rows
 * @returns {Pin | null}
 */
export function lineHit(px, py, plot, rows) {
  if (py < plot.y || py >= plot.y + plot.h) return null;
  const third = plot.w * 0.3;
  if (px < plot.x + third) return { axis: "q", i: Math.floor((py - plot.y) / rows.hq + rows.q0) };
  if (px > plot.x + plot.w - third) return { axis: "k", i: Math.floor((py - plot.y) / rows.hk + rows.k0) };
  return null;
}

/**
 * The lines of lit tokens, by level of strength; of a cell pointed at, only its query's.
 * @param {{ codes: Uint16Array, header: { top: number, signed: boolean, scale: Scale } }} layer
 * @param {ReturnType<typeof rowsOnShow>} rows @param {(Pin & { pin: boolean })[]} lit @param {boolean} onCell
 */
export function litLines({ codes, header }, rows, lit, onCell) {
  /** @type {number[][]} */
  const levels = Array.from({ length: LEVELS }, () => []);
  const add = (/** @type {number} */ q, /** @type {number} */ k) => {
    const code = codes[q * rows.nk + k];
    if (isWorthLighting(code, header)) levels[levelOf(lineStrength(code, header))].push(q, k);
  };
  for (const { axis, i, pin } of lit) {
    if (onCell && axis === "k" && !pin) continue;
    for (let j = 0; j < (axis === "q" ? rows.nk : rows.nq); j++) {
      if (axis === "q") add(i, j);
      else add(j, i);
    }
  }
  return levels;
}

/**
 * How far below its tokens' middle a head's lines stand, so that lines of several heads lie beside each other.
 * @param {number} at the head's place among those drawn
 * @param {number} count
 * @param {number} high pixels of a token
 */
export function asideOf(at, count, high) {
  return (at - (count - 1) / 2) * Math.min(2.5, high / (count + 2));
}
