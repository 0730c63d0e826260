import assert from "node:assert/strict";
import { test } from "node:test";
import { maskFigure, maskFilm } from "../../attnviz/canvas/mask/mask_scene.js";
import { describeReach, litWords } from "../../attnviz/canvas/mask/mask_reach.js";
import { describeFlow, maskedHead, readScores, sweep } from "../../attnviz/canvas/mask/mask_weights.js";
import { fileTheme } from "../../attnviz/canvas/scene/figure.js";
import { unmarked } from "../../attnviz/canvas/shared/marked_text.js";
import { packCells } from "../../attnviz/canvas/shared/packing.js";

/** @import { Shape } from "../../attnviz/canvas/shared/types.js" */

const COLOURS = /** @type {any} */ ({ q: "#0072B2", k: "#D55E00", masked: "#9AA0A6", weights: [[0, "#000000"], [1, "#ffffff"]] }); // prettier-ignore
/** Every template says its name and its fields. @type {any} */
const WORDS = new Proxy(
  {},
  { get: (_own, name) => `<${String(name)} {token} {count} {taken} {key} {before} {after}>` },
);
const TOKENS = ["a", "b", "c", "b"];
const SHAPE = /** @type {Shape} */ ([4, 4]);
const SCORES = Float32Array.from([0, 1, 2, 3, 3, 1, 0, 1, 0, 2, 1, 0, 1, 1, 1, 1]);
const CAUSAL = Uint8Array.from({ length: 16 }, (_none, i) => Number(i % 4 <= Math.floor(i / 4)));

/** @param {Uint8Array} cells */
function payloadOf(cells) {
  return Uint8Array.from([...packCells(cells), ...new Uint8Array(SCORES.slice().buffer)]);
}
const HEADER = {
  q: TOKENS,
  k: null,
  shape: SHAPE,
  title: "",
  scale: 0.5,
  word: 2,
  layers: null,
  colours: COLOURS,
  words: WORDS,
};
const raw = /** @type {import("../../attnviz/canvas/shared/types.js").RawHead} */ (
  readScores(HEADER, payloadOf(CAUSAL))
);
const said = (/** @type {number} */ q, cells = CAUSAL) =>
  unmarked(describeFlow(maskedHead(TOKENS, raw, cells), q, WORDS));

test("a closed cell's weight flows to what is left of its row in proportion, and what is said is that", () => {
  const open = maskedHead(TOKENS, raw, sweep(CAUSAL, SHAPE, 0)).weights;
  const closed = maskedHead(TOKENS, raw, CAUSAL).weights;
  for (let q = 0; q < 4; q++) {
    const left = open.subarray(q * 4, q * 4 + q + 1).reduce((sum, share) => sum + share, 0);
    for (let k = 0; k < 4; k++) assert.ok(Math.abs(closed[q * 4 + k] - (k <= q ? open[q * 4 + k] / left : 0)) < 1e-6);
  }
  // softmax of 0, 1, ½, 0: the last has 1 / (1 + e + √e + 1) of it
  const [hidden, most] = [1, Math.E].map((part) => part / (2 + Math.E + Math.sqrt(Math.E)));
  const [taken, before, after] = [hidden, most, most / (1 - hidden)].map((share) => `${Math.round(100 * share)}%`);
  assert.equal(said(2), `<flows c 3 ${taken} b (1) ${before} ${after}>`);
});

test("rows without a key, with every key and with keys that gain alike are told apart", () => {
  assert.match(said(3), /^<open_row/);
  assert.match(said(1, new Uint8Array(16)), /^<empty_row b \(1\)/);
  const alike = CAUSAL.slice();
  alike[15] = 0;
  assert.match(said(3, alike), /^<flows_alike b \(3\) 3 25%/);
});

test("a mask sweeps in row by row, in its film as well, and a mask without scores has no weights", () => {
  assert.deepEqual([...sweep(CAUSAL, SHAPE, 1)], [1, 0, 0, 0, ...new Array(12).fill(1)]);
  assert.equal(readScores({ shape: SHAPE, scale: null }, packCells(CAUSAL)), null);
  const theme = fileTheme("white", COLOURS);
  const film = maskFilm(HEADER, payloadOf(CAUSAL));
  assert.match(film.figure(0, theme, true).title, /<open_row c/);
  assert.equal(film.figure(1, theme, true).title, maskFigure(HEADER, payloadOf(CAUSAL), theme, true).title);
});

test("what reaches a word in several layers is what powers of the mask with its diagonal say, and is told apart", () => {
  const n = 9;
  const random = Uint8Array.from({ length: n * n }, (_none, i) => Number((7 * i * i + 3 * i) % 11 < 2));
  const keeps = Array.from(random, (open, i) => Number(open || i % (n + 1) === 0));
  let power = Array.from({ length: n * n }, (_none, i) => Number(i % (n + 1) === 0));
  for (let layers = 1; layers < 5; layers++) {
    const before = power;
    power = before.map((_none, i) => {
      const [q, k] = [Math.floor(i / n), i % n];
      return keeps.slice(q * n, (q + 1) * n).reduce((sum, open, j) => sum + open * before[j * n + k], 0);
    });
    for (let word = 0; word < n; word++) {
      const row = power.slice(word * n, (word + 1) * n).map(Boolean);
      assert.deepEqual(litWords({ n, allowed: random }, word, layers)[0], row);
    }
  }
  const words = new Proxy({}, { get: (_own, name) => (name === "join_sentences" ? "{first} {next}" : `<${String(name)} {n} {count} {heard}>`) }); // prettier-ignore
  const told = (
    /** @type {number} */ word,
    /** @type {number} */ layers,
    /** @type {number} */ most,
    /** @type {(q: number, k: number) => boolean} */ sees,
  ) => {
    const allowed = Uint8Array.from({ length: n * n }, (_none, i) => Number(sees(Math.floor(i / n), i % n)));
    return describeReach(/** @type {any} */ ({ n, allowed, tokens: Array.from("abcdefghi") }), word, layers, most, /** @type {any} */ (words)); // prettier-ignore
  };
  const before = (/** @type {number} */ q, /** @type {number} */ k) => k <= q && q - k < 2;
  assert.equal(told(8, 3, 12, before), "<reached 3 4 {heard}> <reach_more 8 {count} 9>");
  assert.equal(told(8, 8, 12, before), "<reached 8 9 {heard}> <reach_all 8 {count} 9>");
  assert.equal(told(8, 2, 5, before), "<reached 2 3 {heard}> <reach_growing 5 {count} 6>");
  assert.equal(told(3, 3, 12, before), "<reached 3 4 {heard}> <reach_no_more 3 {count} 4>");
  assert.equal(
    told(3, 2, 12, () => false),
    "<reached 2 1 {heard}> <reach_no_more 0 {count} 1>",
  );
});
