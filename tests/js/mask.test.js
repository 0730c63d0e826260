import assert from "node:assert/strict";
import { test } from "node:test";
import { maskFigure, maskFilm } from "../../attnviz/canvas/mask/mask_scene.js";
import { describeFlow, maskedHead, readScores, sweep } from "../../attnviz/canvas/mask/mask_weights.js";
import { fileTheme } from "../../attnviz/canvas/scene/figure.js";
import { unmarked } from "../../attnviz/canvas/shared/marked_text.js";
import { packCells } from "../../attnviz/canvas/shared/packing.js";

/** @import { Shape } from "../../attnviz/canvas/shared/types.js" */

const COLOURS = /** @type {any} */ ({ q: "#0072B2", k: "#D55E00", masked: "#9AA0A6", weights: [[0, "#000000"], [1, "#ffffff"]] }); // prettier-ignore
/** Every template says its name and its fields. @type {any} */
const WORDS = new Proxy({}, { get: (_own, name) => `<${String(name)} {token} {count} {taken} {key} {gain}>` });
const TOKENS = ["a", "b", "c", "b"];
const SHAPE = /** @type {Shape} */ ([4, 4]);
const SCORES = Float32Array.from([0, 1, 2, 3, 3, 1, 0, 1, 0, 2, 1, 0, 1, 1, 1, 1]);
const CAUSAL = Uint8Array.from({ length: 16 }, (_none, i) => Number(i % 4 <= Math.floor(i / 4)));

/** @param {Uint8Array} cells */
function payloadOf(cells) {
  return Uint8Array.from([...packCells(cells), ...new Uint8Array(SCORES.slice().buffer)]);
}
const HEADER = { q: TOKENS, k: null, shape: SHAPE, title: "", scale: 0.5, word: 2, colours: COLOURS, words: WORDS };
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
  const [taken, gain] = [1, Math.E].map((part) => part / (2 + Math.E + Math.sqrt(Math.E)));
  assert.equal(
    said(2),
    `<flows c 3 ${Math.round(100 * taken)}% b (1) +${Math.round(100 * (gain / (1 - taken) - gain))}%>`.replace("+", ""),
  );
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
