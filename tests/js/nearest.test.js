import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { AllHeads } from "../../attnviz/canvas/shared/raw_scores.js";
import { countByChance, nearestHeads, pairsOf } from "../../attnviz/canvas/shared/nearest_heads.js";

/** @type {{ heads: number[][][], rows: number[][], nearest: [number, number][], chance: number }[]} */
const cases = JSON.parse(await readFile(new URL("cases/nearest.json", import.meta.url), "utf8"));

/** Heads whose weights are these: what is not exact is not attended again. */
/** @param {number[][][]} tables by query, head and word */
function allHeads(tables) {
  const shape = [tables.length, tables[0][0].length];
  const heads = tables[0].map((_row, head) => ({
    ...{ shape, exact: false, mask: null, scores: Float32Array.from(tables.flatMap((query) => query[head])) },
  }));
  return new AllHeads(/** @type {any} */ (heads), [heads.length]);
}

test("the nearest heads are those that the library finds, and as many random rows come as near", () => {
  for (const { heads, rows, nearest, chance } of cases) {
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
