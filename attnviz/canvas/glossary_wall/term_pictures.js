// Of each word of the glossary the smallest true picture: a few marks, in a box of 120 by 84. Numbers in them are computed here
// or come from Python, as those of the sentences do.

import { mark, textMark } from "../scene/marks.js";
import { textWidth } from "../scene/text_width.js";
import { readableColour } from "../shared/colour.js";
import { clamp } from "../shared/numbers.js";
import { ROLES } from "../shared/roles.js";

/** @import { Theme } from "../shared/types.js" */
/** @import { Mark } from "../scene/marks.js" */
/** @typedef {(pen: ReturnType<typeof makePen>, numbers: Record<string, number>) => Part[]} TermPicture */
/** @typedef {(Mark | Part)[] | Mark} Part a mark, or several */

export const [WIDE, HIGH] = [120, 84];
const { query: Q, key: K, value: V, score: S, weight: W, hidden: N } = ROLES;

/** A token’s own vector, as TENSORS in figures/theme.py has it. */
const X = "#5F7FA8";

/** @param {number[]} scores */
function softmax(scores) {
  const powers = scores.map(Math.exp);
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
}

/** @param {number} n */
const range = (n) => Array.from({ length: n }, (_, i) => i);
/** A vector as long as asked, whose numbers look like any. @param {number} n @param {number} seed */
const vector = (n, seed) => range(n).map((i) => Math.sin(2.4 * i + 1.7 * seed + 0.6));

/** What pictures are drawn with, in the colours of this theme. @param {Theme} theme */
function makePen(theme) {
  const ink = theme.text;
  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  const box = (x, y, w, h, colour = ink, alpha = 1) => mark("", "box", { x, y, w, h, colour, alpha });
  const line = (/** @type {number[]} */ [x, y, toX, toY], colour = ink, size = 1.5, alpha = 1) =>
    mark("", "line", { x, y, w: toX - x, h: toY - y, colour, size, alpha });
  const path = (/** @type {number[][]} */ points, colour = ink, size = 2) =>
    points.slice(1).map((to, i) => line([...points[i], ...to], colour, size));
  const dot = (/** @type {number} */ x, /** @type {number} */ y, colour = ink, size = 4, alpha = 1) =>
    mark("", "disc", { x, y, colour, size, alpha });
  /** @param {string} written @param {number} x @param {number} y */
  const text = (written, x, y, colour = ink, size = 13) =>
    textMark("", written, {
      ...{ x: x - textWidth(written, size, 600) / 2, y, size, weight: 600 },
      colour: colour === ink ? ink : readableColour(colour, theme.background),
    });
  /** @param {number[]} values @param {number} x @param {number} y @param {number} w @param {number} h */
  const strip = (values, x, y, w, h, colour = N) =>
    mark("", "strip", { x, y, w, h, values: Float32Array.from(values), tint: [N, colour] });
  const arrow = (/** @type {number[]} */ [x, y, toX, toY], colour = ink) => {
    const [dx, dy] = [toX - x, toY - y];
    const by = 5 / Math.hypot(dx, dy);
    const [bx, bh] = [toX - by * dx, toY - by * dy];
    const head = [
      [bx - by * dy * 0.7, bh + by * dx * 0.7],
      [toX, toY],
      [bx + by * dy * 0.7, bh - by * dx * 0.7],
    ];
    return [line([x, y, toX, toY], colour), ...path(head, colour, 1.5)];
  };
  /** Bars over a line. */
  const bars = (/** @type {number[]} */ values, colour = W, x = 20, w = 80, low = 70, tall = 58) =>
    values.map((value, i) => {
      const h = tall * Math.abs(value);
      return box(
        x + (i * w) / values.length,
        value < 0 ? low : low - h,
        (0.78 * w) / values.length,
        Math.max(1, h),
        colour,
      );
    });
  /** A matrix; what is masked is hatched. */
  /** @param {number} rows @param {number} columns @param {(q: number, k: number) => number | null} at */
  const matrix = (rows, columns, at, [x, y, w, h] = [24, 6, 72, 72], colour = W) =>
    range(rows).flatMap((q) => {
      const row = range(columns).map((k) => at(q, k));
      const place = { y: y + (q * h) / rows, h: h / rows - 1 };
      const cell = w / columns;
      const masked = row.flatMap((value, k) =>
        value === null ? [mark("", "hatch", { ...place, x: x + k * cell, w: cell - 1, colour: N })] : [],
      );
      const open = row.flatMap((value, k) =>
        value === null ? [] : [strip([value], x + k * cell, place.y, cell - 1, place.h, colour)],
      );
      return [...masked, ...open];
    });
  /** Query heads above, the heads of keys and values that they share below. */
  const heads = (/** @type {number} */ kv) => [
    range(8).map((i) =>
      line([15 + 13 * i, 22, 15 + 13 * ((Math.floor((i * kv) / 8) + 0.5) * (8 / kv) - 0.5), 60], ink, 1, 0.5),
    ),
    range(8).map((i) => dot(15 + 13 * i, 20, Q, 5)),
    range(kv).map((i) => {
      const x = 15 + 13 * ((i + 0.5) * (8 / kv) - 0.5);
      return [dot(x, 59, K, 5), dot(x, 69, V, 5)];
    }),
  ];
  /** A query, three keys, three values; what is not meant is pale. */
  const roles = (/** @type {string} */ meant) => [
    strip(vector(4, 1), 8, 36, 30, 12, meant === Q ? Q : N),
    range(3).map((i) => [
      strip(vector(4, i + 2), 48, 14 + 22 * i, 30, 12, meant === K ? K : N),
      strip(vector(4, i + 6), 84, 14 + 22 * i, 30, 12, meant === V ? V : N),
    ]),
  ];
  /** Words in boxes as wide as they are long. */
  const chips = (/** @type {string[]} */ words, y = 42) => {
    const ends = words.map(
      (_word, n) => 8 + (104 * (words.slice(0, n).join("-").length + (n ? 1 : 0))) / (words.join("-").length + 1),
    );
    return words.map((word, n) => {
      const w = (ends[n + 1] ?? 112) - ends[n] - 4;
      return [box(ends[n], y - 12, w, 24, ink, 0.1), text(word, ends[n] + w / 2, y, ink, 12)];
    });
  };
  /** Layers over each other. */
  const tower = (/** @type {number} */ x, lit = -1) => [
    line([x, 78, x, 6], ink, 1.5, 0.5),
    range(4).map((i) => box(x - 12, 62 - 17 * i, 24, 11, i === lit ? W : N)),
  ];
  return { ink, box, line, path, dot, text, strip, arrow, bars, matrix, heads, roles, chips, tower };
}

const causal = (/** @type {number} */ q, /** @type {number} */ k) => (k <= q ? 0.75 : null);
const inWindow = (/** @type {number} */ of) => (/** @type {number} */ q, /** @type {number} */ k) =>
  k <= q && q - k < of ? 0.75 : null;
const grid = (/** @type {number} */ q, /** @type {number} */ k) => 0.2 + 0.7 * Math.abs(Math.sin(3.1 * q + 1.3 * k));

/** By the words' ids. @type {Record<string, TermPicture>} */
export const PICTURES = {
  token: (p) => p.chips(["un", "believ", "able"]),
  embedding: (p) => [p.text("cat", 60, 16), p.arrow([60, 26, 60, 44]), p.strip(vector(8, 1), 20, 52, 80, 16, X)],
  attention: (p, n) => [
    [n.low, n.middle, n.high].map((share, i) => [p.line([24 + 36 * i, 20, 60, 66], W, 12 * share), p.dot(24 + 36 * i, 18, V, 6)]),
    p.dot(60, 68, V, 8),
  ],
  query: (p) => p.roles(Q),
  key: (p) => p.roles(K),
  value: (p) => p.roles(V),
  score: (p) => {
    const [q, k] = [[1, -0.5, 0.8], [0.9, -0.4, 0.6]];
    const product = q.reduce((sum, value, i) => sum + value * k[i], 0);
    return [p.strip(q, 12, 18, 42, 14, Q), p.text("·", 60, 25), p.strip(k, 66, 18, 42, 14, K), p.text(product.toFixed(2), 60, 58, S, 20)];
  },
  d_k: (p) => [p.strip(vector(8, 2), 16, 24, 88, 18, Q), p.path([[16, 50], [16, 56], [104, 56], [104, 50]]), p.text("d_k", 60, 70)],
  scaling: (p, n) => {
    const raw = [1, -0.55, 0.7];
    return [p.bars(raw, S, 8, 40, 48, 38), p.arrow([52, 48, 68, 48]), p.bars(raw.map((v) => v * n.scale), S, 74, 40, 48, 38)];
  },
  softmax: (p, n) => {
    const shares = [n.low, n.middle, n.high];
    return [p.bars(shares, W, 15, 92, 66, 60), shares.map((_share, i) => p.text(String(i), 27 + 30.7 * i, 76, S, 12))];
  },
  weight: (p, n) => {
    const ends = [0, n.low, n.low + n.middle, 1];
    return [range(3).map((i) => p.box(8 + 104 * ends[i], 30, 104 * (ends[i + 1] - ends[i]) - 2, 24, W, 0.35 + 0.32 * i)), p.text("= 1", 60, 68)];
  },
  saturation: (p) => p.bars(softmax([9, 2, 1, 0])),
  temperature: (p) => [p.bars(softmax([0, 1, 2]), W, 6, 48, 66, 60), p.bars(softmax([0, 0.5, 1]), W, 66, 48, 66, 60), p.text("1", 28, 76, p.ink, 12), p.text("2", 88, 76, p.ink, 12)],
  entropy: (p, n) => [p.bars([1, 0, 0, 0], W, 8, 44, 62, 50), p.bars(range(n.choices).map(() => 1 / n.choices), W, 64, 48, 62, 50), p.text("0", 28, 74, p.ink, 12), p.text(n.even.toFixed(2), 88, 74, p.ink, 12)],
  nat: (p, n) => [p.box(14, 18, 92, 16, W), p.box(14, 46, 92 / n.bits, 16, N), p.line([14 + 92 / n.bits, 46, 14 + 92 / n.bits, 62]), p.box(16 + 92 / n.bits, 46, 90 - 92 / n.bits, 16, N, 0.5), p.text(n.bits.toFixed(2), 60, 74, p.ink, 12)],
  effective_keys: (p, n) => [p.bars(range(n.choices).map(() => 1 / n.choices), W, 12, 96, 46, 200), p.text(`= ${Math.round(n.effective)}`, 60, 66, p.ink, 18)],
  head: (p) => [[Q, K, V].map((colour, i) => p.strip(vector(4, i), 8, 18 + 18 * i, 36, 12, colour)), p.matrix(4, 4, (q, k) => (k <= q ? grid(q, k) : null), [58, 14, 54, 54])],
  multi_head: (p) => range(4).map((i) => p.matrix(3, 3, (q, k) => grid(q + 2 * i, k + i), [10 + 52 * (i % 2), 4 + 40 * Math.floor(i / 2), 46, 36])),
  layer: (p) => [p.arrow([24, 80, 24, 4]), [[52, W], [14, N]].map(([y, colour]) => [p.path([[24, Number(y) + 18], [52, Number(y) + 9], [24, Number(y) - 4]], p.ink, 1.5), p.box(52, Number(y), 54, 18, String(colour))])],
  w_o: (p) => [range(3).map((i) => [p.strip(vector(3, i), 8, 14 + 22 * i, 30, 12, V), p.line([40, 20 + 22 * i, 62, 42], p.ink, 1.5, 0.6)]), p.strip(vector(6, 5), 64, 35, 50, 14, V)],
  logit: (p) => [p.line([60, 8, 60, 76], p.ink, 1, 0.5), [0.9, 0.5, -0.35].map((v, i) => p.box(v < 0 ? 60 + 48 * v : 60, 14 + 22 * i, 48 * Math.abs(v), 14, S))],
  residual: (p) => [p.arrow([6, 62, 114, 62]), [30, 74].map((x, i) => [p.path([[x - 14, 62], [x, 34], [x + 14, 62]], p.ink, 1.5), p.box(x - 12, 18, 24, 18, i ? N : W), p.dot(x + 14, 62, p.ink, 5)])],
  mlp: (p) => {
    const [a, b] = [range(3).map((i) => 24 + 18 * i), range(6).map((i) => 10 + 13 * i)];
    const joins = a.flatMap((y) => b.map((to) => [p.line([16, y, 60, to], p.ink, 0.7, 0.35), p.line([60, to, 104, y], p.ink, 0.7, 0.35)]));
    return [joins, a.map((y) => [p.dot(16, y, X, 5), p.dot(104, y, X, 5)]), b.map((y) => p.dot(60, y, N, 4))];
  },
  attribution: (p) => {
    const parts = [0.5, 0.35, -0.25, 0.2];
    const sums = parts.map((_part, i) => parts.slice(0, i).reduce((a, b) => a + b, 0));
    return [parts.map((part, i) => p.box(10 + 20 * i, 72 - 62 * Math.max(sums[i], sums[i] + part), 16, 62 * Math.abs(part), part < 0 ? N : S)), p.box(94, 72 - 62 * 0.8, 16, 62 * 0.8, S), p.line([6, 72, 114, 72], p.ink, 1)];
  },
  lens: (p) => [p.tower(32, 2), p.arrow([48, 33, 74, 33]), p.text("cat?", 94, 33)],
  patching: (p) => [p.tower(28, 2), p.tower(92), p.arrow([44, 33, 76, 33], W), p.box(80, 28, 24, 11, W)],
  circuit: (p) => [p.path([[24, 66], [48, 42], [96, 18]], W, 2.5), range(4).map((x) => range(3).map((y) => p.dot(24 + 24 * x, 18 + 24 * y, (x === 0 && y === 2) || (x === 1 && y === 1) || (x === 3 && y === 0) ? W : N, 5)))],
  next_token: (p, n) => [p.chips(["the", "cat", "?"], 22), p.bars([n.high, n.middle, n.low], W, 78, 34, 76, 40)],
  mask: (p) => p.matrix(4, 4, (q, k) => ((q * 5 + k * 3) % 7 < 3 ? null : 0.75)),
  causal_mask: (p, n) => p.matrix(n.words, n.words, causal),
  padding: (p) => p.matrix(5, 5, (_q, k) => (k > 2 ? null : 0.75)),
  window: (p, n) => p.matrix(n.words, n.words, inWindow(n.window)),
  sink: (p) => p.matrix(6, 6, (q, k) => (k > q ? null : k ? 0.12 : 1)),
  induction: (p) => [p.chips(["A", "B", "…", "A"], 58), p.path([[99, 44], [80, 20], [54, 20]], W), p.arrow([54, 20, 47, 42], W)],
  previous_token_head: (p) => p.matrix(6, 6, (q, k) => (k > q ? null : k === Math.max(0, q - 1) ? 1 : 0.08)),
  knock_out: (p) => [range(3).map((i) => p.matrix(3, 3, (q, k) => grid(q + i, k), [6 + 38 * i, 26, 32, 32], i === 1 ? N : W)), p.line([44, 22, 76, 62], p.ink, 2.5), p.line([76, 22, 44, 62], p.ink, 2.5)],
  training_step: (p) => {
    const at = (/** @type {number} */ i) => [12 + 16 * i, 14 + 58 * (1 - Math.exp(-0.55 * i))];
    return [p.path(range(7).map(at), p.ink, 1.5), range(7).map((i) => p.dot(at(i)[0], at(i)[1], W, 4))];
  },
  self_attention: (p) => [p.matrix(4, 4, grid, [34, 18, 60, 60]), range(4).map((i) => [p.dot(24, 25 + 15 * i, Q, 4), p.dot(41 + 15 * i, 9, Q, 4)])],
  cross_attention: (p) => [p.matrix(3, 5, grid, [34, 24, 76, 46]), range(3).map((i) => p.dot(24, 31 + 15.4 * i, Q, 4)), range(5).map((i) => p.dot(41 + 15.2 * i, 14, K, 4))],
  position: (p) => [p.chips(["the", "cat", "sat"], 30), range(3).map((i) => p.text(String(i), 23 + 34.7 * i, 62, W, 16))],
  sinusoidal: (p) => [1, 2, 4].map((times, n) => p.path(range(41).map((i) => [10 + 2.5 * i, 18 + 24 * n - 9 * Math.sin((times * i * Math.PI) / 20)]), n ? N : W, 1.5)),
  rope: (p) => [p.path(range(37).map((i) => [60 + 34 * Math.cos((i * Math.PI) / 18), 42 + 34 * Math.sin((i * Math.PI) / 18)]), N, 1.5), [[0.4, K], [1.4, Q]].map(([turn, colour]) => p.arrow([60, 42, 60 + 33 * Math.cos(Number(turn)), 42 - 33 * Math.sin(Number(turn))], String(colour)))],
  alibi: (p) => p.matrix(6, 6, (q, k) => (k > q ? null : 1 - (q - k) / 6), undefined, S),
  kv_cache: (p) => range(4).map((i) => [p.strip(vector(4, i), 14, 10 + 17 * i, 42, 12, K), p.strip(vector(4, i + 5), 64, 10 + 17 * i, 42, 12, V)]),
  prefill: (p) => range(4).map((i) => [p.arrow([20 + 26 * i, 76, 20 + 26 * i, 46], Q), p.box(11 + 26 * i, 22, 20, 20, W)]),
  decode: (p) => [range(4).map((i) => p.box(11 + 26 * i, 22, 20, 20, i === 3 ? W : N, i === 3 ? 1 : 0.5)), p.arrow([98, 76, 98, 46], Q)],
  mha: (p) => p.heads(8),
  gqa: (p) => p.heads(2),
  mqa: (p) => p.heads(1),
  mla: (p) => [range(8).map((i) => [p.line([15 + 13 * i, 20, 60, 62], p.ink, 1, 0.5), p.dot(15 + 13 * i, 20, Q, 5)]), p.strip(vector(5, 3), 38, 56, 44, 14, ROLES.MLA)],
  flop: (p) => [p.text("2 × 3 + 1", 60, 32, p.ink, 18), p.dot(46, 56, W, 5), p.dot(79, 56, W, 5)],
  fused: (p) => [p.matrix(4, 4, (q, k) => (q === 1 && k === 2 ? 0.9 : 0)), p.arrow([112, 33, 82, 33])],
  tile: (p) => p.matrix(6, 6, (q, k) => (q >= 2 && q < 4 && k >= 2 && k < 4 ? 0.9 : 0.1)),
  online_softmax: (p) => [[0.4, 0.7, 0.3, 0.9, 0.5, 0.6].map((v, i) => p.box(12 + 16 * i + 4 * Math.floor(i / 2), 74 - 62 * v, 12, 62 * v, S)), p.path([[12, 30.6], [44, 30.6], [46, 18.2], [116, 18.2]], W)],
  roofline: (p) => [p.path([[14, 8], [14, 76], [112, 76]], p.ink, 1), p.path([[14, 74], [60, 24], [110, 24]], W, 3)],
  paged_cache: (p) => [range(3).map((i) => [p.box(8, 14 + 22 * i, 22, 14, K), p.line([32, 21 + 22 * i, 70, 13 + 18 * [2, 0, 3][i]], p.ink, 1.5)]), range(4).map((i) => p.box(72, 6 + 18 * i, 40, 13, i === 1 ? N : K, i === 1 ? 0.3 : 1))],
  linear_attention: (p) => [p.strip(vector(3, 1), 8, 36, 36, 12, Q), p.text("·", 54, 42, p.ink, 18), p.matrix(3, 3, (q, k) => Math.abs(Math.sin(q + 2 * k)), [64, 20, 46, 46], V)],
}; // prettier-ignore

/** A mark on its way: bars rise, strokes are drawn, cells and words come. @param {Mark} whole @param {number} share */
function drawnSoFar(whole, share) {
  const { kind, y, w, h, size, alpha } = whole;
  if (kind === "line") return { ...whole, w: w * share, h: h * share };
  if (kind === "disc") return { ...whole, size: size * share };
  if (kind !== "box") return { ...whole, alpha: alpha * share };
  return h > w ? { ...whole, y: y + h * (1 - share), h: h * share } : { ...whole, w: w * share };
}

/**
 * Marks of a word's picture, drawn one after the other up to this share.
 * @param {string} id @param {Record<string, number>} numbers @param {Theme} theme @param {number} [share] @returns {Mark[]}
 */
export function termMarks(id, numbers, theme, share = 1) {
  const parts = /** @type {any[]} */ (PICTURES[id]?.(makePen(theme), numbers) ?? []);
  return parts.flat(5).map((each, n, { length }) => {
    const whole = { ...each, key: `${id}-${n}` };
    return share < 1 ? drawnSoFar(whole, clamp(2 * share - n / length, 0, 1)) : whole;
  });
}
