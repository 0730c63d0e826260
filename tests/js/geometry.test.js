import assert from "node:assert/strict";
import { test } from "node:test";
import { brickScene, stepUnder, tokensComputed } from "../../attnviz/canvas/cache_growth/brick_scene.js";
import { headMarks, sharingScene } from "../../attnviz/canvas/sharing_columns/columns_scene.js";
import { alongAxis, clearAround } from "../../attnviz/canvas/shared/token_labels.js";
import { mosaicLayout, tileOrder, listTiles } from "../../attnviz/canvas/overview/mosaic_geometry.js";
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

const HEADER = { heads: [9, 9, 9, 9], kv: [3, 3, 3, 3], shape: [20, 20], order: "layer", measure: null };

/** @param {any} header @param {number} width @param {number | null} [high] */
function laidOut(header, width, high = null) {
  const tiles = listTiles(header);
  const sorted = tileOrder(tiles.length, header);
  return { tiles, mosaic: mosaicLayout(header, tiles, sorted, width, high) };
}

test("a wall is as high as it may be, whichever way its layers run", () => {
  const layers = (n, heads, kv = heads) => ({ ...HEADER, heads: Array(n).fill(heads), kv: Array(n).fill(kv) });
  for (const [header, across] of /** @type {const} */ ([
    [layers(30, 9, 3), false],
    [layers(6, 12), true],
    [layers(12, 12), false],
  ])) {
    for (const high of [460, 560, 800]) {
      const { mosaic } = laidOut(header, 272, high);
      assert.ok(mosaic.height <= high, `${mosaic.height} of ${high}`);
      assert.ok(mosaic.width <= 276, `${mosaic.width} wide`);
      assert.equal(mosaic.across, across, `${header.heads.length} layers`);
    }
  }
});

for (const [width, height, prompt, total] of [
  [900, 400, 12, 8],
  [340, 330, 12, 8],
  [900, 300, 100, 48],
  [700, 440, 1, 1],
])
  test(`${total} steps after ${prompt} tokens are bricks within ${width} × ${height} pixels: as many as were computed`, () => {
    const contexts = Array.from({ length: total }, (_none, step) => prompt + step);
    const rows = prompt + total - 1;
    const words = { cached_about: "{n}", anew_about: "{again}" };
    const colours = { k: "#d55e00", v: "#009e73", masked: "#999999" };
    const kept = contexts.map((n) => 100 * n);
    const header = /** @type {any} */ ({ labels: contexts.map(String), rows, contexts, kept, total, colours, words });
    const theme = /** @type {any} */ ({ text: "#000000", background: "#ffffff" });
    for (const at of [0, total - 1]) {
      const { marks } = brickScene(header, at, { width, height }, theme);
      const boxes = marks.filter(({ kind, alpha }) => kind === "box" && alpha > 0);
      const of = (/** @type {string} */ key) => boxes.filter((box) => box.key.startsWith(key));
      assert.equal(of("cached-k-").length, contexts[at]);
      assert.equal(of("anew-v-").length, contexts[at]);
      const pitch = (width - of("cached-k-0")[0].x) / rows;
      const again = of("old-").reduce((sum, { w }) => sum + w / pitch, 0);
      assert.ok(Math.abs(again - (tokensComputed(contexts, at)[1] - contexts[at])) < 1e-6);
      for (const { key, x, y, w, h } of boxes)
        assert.ok(x >= 0 && y >= 0 && x + w <= width + 1e-6 && y + h <= height, key);
      const bottom = of("cached-v-0")[0].y + of("cached-v-0")[0].h;
      assert.ok(Math.min(...of("anew-k-").map(({ y }) => y)) > bottom, "no lane on the other");
    }
    for (const context of contexts) {
      const x = width - ((rows - context + 0.5) * (width - (width < 640 ? 0 : 168))) / rows;
      assert.equal(contexts[stepUnder(header, width, x)], context);
    }
  });
