import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { textWidth } from "../../attnviz/canvas/scene/text_width.js";
import { countNameLines, panelScene } from "../../attnviz/canvas/softmax_slider/panel.js";
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

for (const width of [220, 260, 900])
  test(`a panel of ${width} pixels holds its name, its formula and its numbers`, () => {
    const words = /** @type {any} */ ({ facts: ["largest weight of all", "entropy, in nats", "effective keys"] });
    const panels = ["q·k", "γ · cos(q, k), with a scale that is learnt"].map((formula, n) => {
      return { kind: "raw", title: n ? "qk-norm" : "raw", formula, colour: "#000000" };
    });
    const lines = countNameLines(panels, width);
    const weights = Float64Array.of(0.25, 0.75);
    for (const panel of panels) {
      const scene = panelScene(panel, weights, words, { width, tall: 150, lines });
      for (const line of scene.formula.lines) assert.ok(scene.formula.x + textWidth(line, 13) <= width);
      assert.ok(scene.formula.y + 21 * scene.formula.lines.length - 10.5 <= scene.top);
      const ends = scene.facts.map(({ x, names }) => x + Math.max(...names.map((name) => textWidth(name, 12))));
      ends.forEach((end, n) => assert.ok(end < (scene.facts[n + 1]?.x ?? width + 1)));
    }
    assert.equal(lines === 1, width === 900);
  });
