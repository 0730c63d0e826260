import assert from "node:assert/strict";
import { test } from "node:test";
import { headMarks, sharingScene } from "../../attnviz/canvas/sharing_columns/columns_scene.js";
import { alongAxis, clearAround } from "../../attnviz/canvas/shared/token_labels.js";
import { letterSize, sizeWithin, textWidth } from "../../attnviz/canvas/scene/text_width.js";

test("no label that is still written lies under that of a lit token, at any size of cells", () => {
  const [font, need] = [12, 13];
  for (const cell of [3, 5, 8.4, 13, 17, 40]) {
    const axis = { n: 60, first: 0, span: 60, cell, from: 20 };
    for (let lit = 0; lit < 60; lit++) {
      /** @type {Map<number, number>} */
      const written = new Map();
      alongAxis(axis, need, (i, at) => written.set(i, at));
      clearAround(axis, need, lit, font + 2, (i) => written.delete(i));
      written.delete(lit);
      const pill = 20 + (lit + 0.5) * cell;
      for (const at of written.values())
        assert.ok(Math.abs(at - pill) >= (font + 6 + 0.75 * font) / 2, `${cell}, ${lit}`);
    }
  }
});

for (const [heads, ...counts] of [
  [32, 32, 8, 1],
  [71, 71, 1],
  [9, 3],
  [1, 1],
])
  for (const kvHeads of counts)
    test(`columns of ${kvHeads} K/V heads take the share of the cache that ${heads} query heads leave, each read by as many`, () => {
      const marks = headMarks({ heads, kv_heads: kvHeads });
      const read = [...new Set(marks.map(({ reads }) => reads))];
      assert.equal(read.length, kvHeads);
      for (const head of read) assert.equal(marks.filter(({ reads }) => reads === head).length, heads / kvHeads);
      // a state that is kept with any number of heads: 100 bytes, and 10 for each K/V head
      const share = (/** @type {number} */ n) => (100 + 10 * n) / (100 + 10 * heads);
      const columns = [heads, 1].map((n) => ({ heads, kv_heads: n, share: share(n) }));
      const header = /** @type {any} */ ({ columns, words: {}, colours: {} });
      const { wall, state } = sharingScene(header, 0, { width: 900, height: 400 }, /** @type {any} */ ({}));
      const drawn = (state + ((wall.h - state) * kvHeads) / heads) / wall.h;
      if (heads > 1) assert.ok(Math.abs(drawn - share(kvHeads)) < 1e-9);
    });

test("presented, small letters are larger, as wide as they are measured, and no larger than their room", () => {
  assert.deepEqual([9, 11, 40].map(letterSize), [9, 11, 40]);
  assert.equal(sizeWithin(11, 9), 9);
  const before = textWidth("75%", 11);
  const documentElement = { hasAttribute: () => true };
  Object.assign(globalThis, { innerWidth: 1280 });
  Object.defineProperty(globalThis, "document", { value: { documentElement }, configurable: true });
  try {
    assert.deepEqual([8, 11, 40].map(letterSize), [13.6, 17, 40]);
    assert.equal(textWidth("75%", 11) / before, 17 / 11);
    for (const room of [8, 12, 15, 30]) assert.ok(letterSize(sizeWithin(11, room)) <= room + 1e-9, String(room));
    assert.equal(letterSize(sizeWithin(11, 12)), 12, "all of the room");
    Object.assign(globalThis, { innerWidth: 390 });
    assert.equal(letterSize(11), 11, "in a hand it is near enough");
  } finally {
    Reflect.deleteProperty(globalThis, "document");
  }
});
