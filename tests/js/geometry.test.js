import assert from "node:assert/strict";
import { test } from "node:test";
import { brickScene, stepUnder, tokensComputed } from "../../attnviz/canvas/cache_growth/brick_scene.js";
import { headMarks, sharingScene } from "../../attnviz/canvas/sharing_columns/columns_scene.js";
import { alongAxis, clearAround } from "../../attnviz/canvas/shared/token_labels.js";
import { visibleCells, hitHeatmap, heatmapLayout } from "../../attnviz/canvas/heatmap/heatmap_scene.js";
import { maskHit, maskLayout, nearestCell } from "../../attnviz/canvas/mask/mask_scene.js";
import {
  mosaicLayout,
  neighbouringTile,
  tileAt,
  tileOrder,
  listTiles,
} from "../../attnviz/canvas/overview/mosaic_geometry.js";
import { letterSize, sizeWithin, textWidth } from "../../attnviz/canvas/scene/text_width.js";
import { cellsBetween, EVERYTHING } from "../../attnviz/canvas/shared/zoom.js";

/** @import { Shape } from "../../attnviz/canvas/shared/types.js" */

const SIZES = /** @type {Shape[]} */ ([[1, 1], [14, 14], [200, 200], [12, 7], [3, 400], [1024, 1024]]); // prettier-ignore

test("a heatmap fits its width, and a square one has square cells", () => {
  for (const shape of SIZES) {
    for (const width of [280, 390, 900, 1400]) {
      const laid = heatmapLayout({ shape, width, compact: false, font: 12, labelsQ: 60, labelsK: 60 });
      assert.ok(laid.width <= width + 1, `${shape} in ${width}`);
      assert.ok(laid.plot.h <= 620.001);
      if (shape[0] === shape[1]) assert.ok(Math.abs(laid.plot.w - laid.plot.h) < 1e-9);
    }
  }
});

test("the middle of every cell is hit, at any zoom, and so are the labels beside it", () => {
  const shape = /** @type {Shape} */ ([9, 13]);
  const { plot } = heatmapLayout({ shape, width: 500, compact: false, font: 12, labelsQ: 50, labelsK: 50 });
  for (const zoom of [EVERYTHING, { z: 1.5, q0: 2, k0: 3.5 }]) {
    const c = visibleCells(plot, zoom, shape);
    for (let q = Math.ceil(c.q0); q + 1 <= c.q0 + c.span.q; q++) {
      for (let k = Math.ceil(c.k0); k + 1 <= c.k0 + c.span.k; k++) {
        const [x, y] = [plot.x + (k + 0.5 - c.k0) * c.w, plot.y + (q + 0.5 - c.q0) * c.h];
        const hit = hitHeatmap(x, y, plot, zoom, shape);
        assert.ok(hit?.axis === "cell");
        assert.deepEqual([hit.q, hit.k], [q, k]);
        assert.deepEqual(hitHeatmap(plot.x - 5, y, plot, zoom, shape), { axis: "q", i: q });
        assert.deepEqual(hitHeatmap(x, plot.y - 5, plot, zoom, shape), { axis: "k", i: k });
      }
    }
  }
  assert.equal(hitHeatmap(plot.x - 5, plot.y - 5, plot, EVERYTHING, shape), null);
  assert.equal(hitHeatmap(plot.x + plot.w + 1, plot.y + 5, plot, EVERYTHING, shape), null);
});

test("a mask's cells and labels are hit, its rim is nothing, and a stroke that leaves stays on the rim", () => {
  const shape = /** @type {Shape} */ ([5, 8]);
  const { plot, cell } = maskLayout({ shape, width: 400, font: 12, labelsQ: 40, labelsK: 40 });
  for (let q = 0; q < 5; q++) {
    for (let k = 0; k < 8; k++) {
      const at = /** @type {[number, number]} */ ([plot.x + (k + 0.5) * cell, plot.y + (q + 0.5) * cell]);
      assert.deepEqual(maskHit(...at, plot, shape), [q, k]);
      assert.deepEqual(nearestCell(...at, plot, shape), [q, k]);
    }
  }
  assert.deepEqual(maskHit(plot.x - 3, plot.y + cell / 2, plot, shape), [0, -1]);
  assert.deepEqual(maskHit(plot.x + cell / 2, plot.y - 3, plot, shape), [-1, 0]);
  assert.equal(maskHit(plot.x - 3, plot.y - 3, plot, shape), null);
  assert.equal(maskHit(plot.x + plot.w + 1, plot.y + 1, plot, shape), null);
  assert.deepEqual(nearestCell(-999, 9999, plot, shape), [4, 0]);
});

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

test("a fast stroke leaves no gap", () => {
  const ends = /** @type {[number, number][]} */ ([[0, 9], [7, 2], [3, 3], [0, 0]]); // prettier-ignore
  for (const to of ends) {
    const way = cellsBetween([0, 0], to);
    assert.deepEqual(way[0], [0, 0]);
    assert.deepEqual(way[way.length - 1], to);
    for (let s = 1; s < way.length; s++) {
      const step = Math.max(Math.abs(way[s][0] - way[s - 1][0]), Math.abs(way[s][1] - way[s - 1][1]));
      assert.ok(step <= 1);
    }
  }
});

const HEADER = { heads: [9, 9, 9, 9], kv: [3, 3, 3, 3], shape: [20, 20], order: "layer", measure: null };

/** @param {any} header @param {number} width @param {number | null} [high] */
function laidOut(header, width, high = null) {
  const tiles = listTiles(header);
  const sorted = tileOrder(tiles.length, header);
  return { tiles, sorted, heads: header.heads, mosaic: mosaicLayout(header, tiles, sorted, width, high) };
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

test("no two tiles overlap, each is hit in its middle, and all fit the width", () => {
  const deep = { ...HEADER, heads: Array(30).fill(9), kv: Array(30).fill(3) };
  const uneven = { ...HEADER, heads: [2, 12, 5], kv: [1, 12, 5], shape: [10, 40] };
  const ranked = { ...HEADER, order: "measure", measure: Array.from({ length: 36 }, (_, i) => (i * 7) % 36) };
  for (const header of [HEADER, deep, uneven, ranked]) {
    for (const width of [360, 900, 1400]) {
      const { mosaic, tiles } = laidOut(header, width);
      assert.ok(mosaic.width <= width + 4, `${mosaic.width} in ${width}`);
      mosaic.places.forEach(([x, y], i) => assert.equal(tileAt(x + mosaic.tw / 2, y + mosaic.th / 2, mosaic), i));
      assert.equal(mosaic.places.length, tiles.length);
    }
  }
  assert.equal(tileAt(1, 1, laidOut(HEADER, 900).mosaic), null);
});

test("arrow keys walk layers and heads, and stop at the rim", () => {
  const deep = { ...HEADER, heads: Array(12).fill(9), kv: Array(12).fill(9) };
  const across = laidOut(deep, 900);
  assert.equal(across.mosaic.across, true);
  assert.equal(neighbouringTile(0, 1, 0, across), 9, "to the right: the next layer");
  assert.equal(neighbouringTile(0, 0, 1, across), 1, "down: the next head");
  assert.equal(neighbouringTile(0, -1, -1, across), 0);
  const down = laidOut(HEADER, 900);
  assert.equal(down.mosaic.across, false);
  assert.equal(neighbouringTile(0, 1, 0, down), 1, "to the right: the next head");
  assert.equal(neighbouringTile(0, 0, 1, down), 9, "down: the next layer");
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
