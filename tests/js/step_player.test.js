import assert from "node:assert/strict";
import { test } from "node:test";
import { newRows, rowAt, playerLayout, soFar, stepOfRow } from "../../attnviz/canvas/step_player/step_player_scene.js";
import {
  headline,
  layerUnder,
  placeTape,
  sideScene,
  touchedOf,
} from "../../attnviz/canvas/step_player/step_player_side.js";
import { textWidth } from "../../attnviz/canvas/scene/text_width.js";

/** @type {(context: number, flops: [number, number], difference: number) => any} */
const step = (context, flops, difference) => ({ context, flops, seconds: [0.1, 0.2], difference });
const STEPS = [step(5, [50, 50], 1e-6), step(6, [10, 60], 3e-6), step(7, [10, 70], 2e-6)];

test("a step adds the rows after those of the step before, and a row belongs to the step of its token", () => {
  assert.deepEqual(newRows(STEPS, 0), [0, 5]);
  assert.deepEqual(newRows(STEPS, 2), [6, 7]);
  assert.deepEqual(
    [0, 4, 5, 6, 7].map((row) => stepOfRow(STEPS, row)),
    [0, 0, 1, 2, 2],
  );
});

test("the headline counts the tokens in the cache once the step is done, as the bytes beside it do", () => {
  const words = { prefill: "{new} processed", decode: "{token}: {cached} in the cache" };
  const header = /** @type {any} */ ({ labels: [..."abcdefgh"], steps: STEPS, total: 3, words });
  assert.deepEqual(
    STEPS.map((_step, at) => headline(header, at)),
    ["5 processed", "f: 6 in the cache", "g: 7 in the cache"],
  );
});

test("work adds up to the step on show, and the largest difference is kept", () => {
  const { flops, seconds, difference } = soFar(STEPS, 1);
  assert.deepEqual(flops, [60, 110]);
  assert.deepEqual(
    seconds.map((each) => Number(each.toFixed(6))),
    [0.2, 0.4],
  );
  assert.equal(difference, 3e-6);
});

for (const width of [200, 340, 700, 1100])
  for (const rows of [1, 12, 40, 160])
    test(`all parts stand side by side in ${width} pixels with ${rows} rows`, () => {
      const layout = playerLayout(width, rows);
      const ends = [
        layout.label,
        layout.marks[1] + layout.mark,
        layout.k.x + layout.k.w,
        layout.weights.x + layout.weights.w,
      ];
      const starts = [layout.marks[0], layout.k.x, layout.weights.x, layout.v.x];
      starts.forEach((start, n) => assert.ok(start >= ends[n], `${n}: ${start} after ${ends[n]}`));
      assert.ok(width === 200 || layout.v.x + layout.v.w <= width);
      assert.ok(layout.row >= 3);
      assert.equal(rowAt(layout, rows, layout.top + layout.row * (rows - 1) + 1), rows - 1);
      assert.equal(rowAt(layout, rows, layout.top - 1), null);
      assert.equal(rowAt(layout, rows, layout.height), null);
    });

/** @type {any} */
const RUN = {
  labels: ["The", "capital", " of", ".", " incomprehensibilities", "is"],
  prompt: 3,
  steps: [
    { ...step(5, [5e9, 5e10], 1e-6), tokens: [5, 5], alternatives: [["is", 0.9, true]], layer_bytes: [1024, 2048] },
  ],
  words: {
    ...{ choices: "Next", nothing: "none", work: "Work", cache: "with a cache", anew: "without", of: "{said}: {kept}" },
    ...{ tokens: "tokens that this one step has processed", flops: "FLOPs", time: "time", same: "{now} {all}" },
    ...{ bytes: "{bytes} in {layers}", layer: "layer {layer}: {bytes}" },
  },
};

for (const width of [200, 300, 1100])
  test(`in ${width} pixels every token has its own place to be touched, of 24 pixels at least`, () => {
    const { tokens } = placeTape(RUN, 0, width);
    assert.deepEqual(
      tokens.map(({ kind }) => kind),
      ["prompt", "prompt", "prompt", "written", "newest", "chosen"],
    );
    tokens.forEach((token, n) => {
      const { x, y, w, h } = touchedOf(token);
      assert.ok(w >= 24 && h >= 24);
      assert.ok(token.x + token.w <= width, token.text);
      if (n === 0) return;
      const before = touchedOf(tokens[n - 1]);
      assert.ok(before.y === y ? before.x + before.w <= x : before.y + before.h <= y);
    });
  });

for (const width of [250, 380])
  test(`in ${width} pixels a number of the work lies on no name and on no other number`, () => {
    const { work, memory, height } = sideScene(RUN, 0, width);
    assert.ok(work);
    for (const { named, numbers, weight } of work.lines) {
      const places = numbers.map((number, n) => {
        const end = work.ends[n];
        return [end - textWidth(number, 13, /** @type {400 | 600} */ (weight)), end];
      });
      assert.ok(Math.max(...named.map((line) => textWidth(line, 13))) < places[0][0]);
      assert.ok(places[0][1] < places[1][0]);
    }
    assert.equal(layerUnder(sideScene(RUN, 0, width), memory.w - 2, height - 10), "layer 1: 2 KiB");
    assert.equal(layerUnder(sideScene(RUN, 0, width), 5, memory.y), "");
    assert.equal(sideScene(RUN, 0, width, false).work, null);
  });
