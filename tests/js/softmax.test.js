import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { KINDS, softmaxRow, rowStatistics } from "../../attnviz/canvas/softmax_slider/softmax.js";

const { coldest, rows, cases } = JSON.parse(await readFile(new URL("cases/softmax.json", import.meta.url), "utf8"));

function masked(row) {
  return { ...row, scores: row.scores.map((score, i) => (row.allowed[i] ? score : -Infinity)) };
}

for (const kind of KINDS) {
  test(`${kind} gives Python's weights at every width, scale and mask`, () => {
    const mine = cases.filter((one) => one.kind === kind);
    assert.ok(mine.length >= rows.length);
    for (const { row, parameter, weights } of mine) {
      const made = softmaxRow(kind, masked(rows[row]), parameter, coldest).weights;
      assert.equal(made.length, weights.length);
      weights.forEach((weight, i) => {
        const off = Math.abs(made[i] - weight);
        assert.ok(off < 1e-6, `row ${row}, parameter ${parameter}, key ${i}: ${made[i]} is not ${weight}`);
      });
    }
  });
}

test("a row without keys has no weight and no figure that is not a number", () => {
  const stats = rowStatistics(softmaxRow("sqrt", { d: 1, scores: [-Infinity, -Infinity] }, 1, coldest).weights);
  assert.deepEqual(stats, { largest: 0, total: 0, entropy: 0, effective: 1 });
});
