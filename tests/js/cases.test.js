// Small pieces of arithmetic against what Python computes: heads as they are packed, rotations, rows and heads that are told first.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { mostTellingRow } from "../../attnviz/canvas/head/head_readout.js";
import { countByChance, nearestHeads, pairsOf } from "../../attnviz/canvas/shared/nearest_heads.js";
import { encode16 } from "../../attnviz/canvas/shared/packing.js";
import { AllHeads, readRawScores } from "../../attnviz/canvas/shared/raw_scores.js";
import { pairProduct, rotatedScore } from "../../attnviz/canvas/word_dial/rotation.js";

/** @param {string} name */
const readCases = async (name) => JSON.parse(await readFile(new URL(`cases/${name}.json`, import.meta.url), "utf8"));

test("pairs are turned as Python turns them", async () => {
  const cases = await readCases("rotation");
  assert.ok(cases.length >= 4);
  for (const { turns, q, k, pair, q_at, k_at, product, score: whole } of cases) {
    const mine = pairProduct(q[pair], k[pair], turns[pair], q_at, k_at);
    // Python turns pairs in float64 too
    assert.ok(Math.abs(mine - product) < 1e-9, `${mine} is not ${product}`);
    assert.ok(Math.abs(rotatedScore(q, k, turns, q_at, k_at) - whole) < 1e-9);
  }
});

test("the browser tells first of the row that Python tells of, from exact values and from codes", async () => {
  for (const { shape, values, hidden, signed, row } of await readCases("telling_row")) {
    const codes = new Uint16Array(values.length);
    encode16(Float32Array.from(values), Uint8Array.from(hidden), 1, signed, codes);
    const header = { shape, top: 1, signed };
    /** @type {any} */
    const numbers = { header, codes, values: Float32Array.from(values) };
    assert.equal(mostTellingRow(numbers), row);
    assert.equal(mostTellingRow({ ...numbers, values: null }), row);
  }
});

const raw = await readCases("raw_scores");
const bytesOf = (text) => new Uint8Array(Buffer.from(text, "base64"));
const plain = (value) => (value instanceof Uint8Array || value instanceof Float32Array ? [...value] : value);

for (const [name, { header, payload, heads }] of Object.entries(raw)) {
  test(`heads that Python packed are read (${name})`, () => {
    const read = readRawScores(header, bytesOf(payload));
    assert.equal(read.length, heads.length);
    heads.forEach(({ scores, ...rest }, i) => {
      assert.deepEqual(read[i].shape, header.shape);
      for (const [field, value] of Object.entries(rest)) assert.deepEqual(plain(read[i][field]), value, field);
      assert.equal(read[i].scores.length, scores.length);
      scores.forEach((score, cell) => {
        const off = Math.abs(read[i].scores[cell] - score);
        assert.ok(
          off <= 2 ** -23 * Math.abs(score),
          `head ${i}, cell ${cell}: ${read[i].scores[cell]} is not ${score}`,
        );
      });
    });
  });
}

test("a payload that was cut short is refused", () => {
  const { header, payload } = raw.rich;
  assert.throws(() => readRawScores(header, bytesOf(payload).subarray(0, -1)), /bytes end before/);
});

/** Heads whose weights are these: what is not exact is not attended again. */
/** @param {number[][][]} tables by query, head and word */
function allHeads(tables) {
  const shape = [tables.length, tables[0][0].length];
  const heads = tables[0].map((_row, head) => ({
    ...{ shape, exact: false, mask: null, scores: Float32Array.from(tables.flatMap((query) => query[head])) },
  }));
  return new AllHeads(/** @type {any} */ (heads), [heads.length]);
}

test("the nearest heads are those that the library finds, and as many random rows come as near", async () => {
  for (const { heads, rows, nearest, chance } of await readCases("nearest")) {
    const pairs = pairsOf(allHeads(heads), Float32Array.from(rows.flat()));
    assert.equal(pairs.length, rows.length);
    const found = nearestHeads(pairs);
    assert.deepEqual(
      found.map(({ head }) => head),
      nearest.map(([head]) => head),
    );
    found.forEach(({ divergence }, i) => assert.ok(Math.abs(divergence - nearest[i][1]) < 1e-6));
    const counting = countByChance(pairs, found[0].divergence);
    let step = counting.next();
    while (!step.done) step = counting.next();
    const spread = Math.sqrt(1000 * (chance / 1000) * (1 - chance / 1000)) + 1;
    assert.ok(Math.abs(step.value - chance) < 4 * Math.SQRT2 * spread, `${step.value} is far from ${chance}`);
  }
});

test("rows of which nothing is asked are left out", () => {
  const pairs = pairsOf(allHeads([[[1, 0]], [[0.5, 0.5]]]), Float32Array.of(0, 0, 0, 3));
  assert.deepEqual([pairs.length, [...pairs[0].row], [...pairs[0].heads[0]]], [1, [0, 1], [0.5, 0.5]]);
});
