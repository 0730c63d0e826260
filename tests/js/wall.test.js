import assert from "node:assert/strict";
import { test } from "node:test";
import { PICTURES, termMarks, WIDE, HIGH } from "../../attnviz/canvas/glossary_wall/term_pictures.js";
import { wallLayout } from "../../attnviz/canvas/glossary_wall/wall_scene.js";

const THEME = /** @type {any} */ ({ text: "#000000", background: "#ffffff", secondary: "#eeeeee", font: "sans-serif" });
const NUMBERS = {
  ...{ low: 0.09, middle: 0.245, high: 0.665, scale: 0.125, choices: 8, even: Math.log(8), effective: 8 },
  ...{ bits: 1 / Math.log(2), words: 10, window: 4 },
};
const marksOf = (/** @type {string} */ id) => termMarks(id, NUMBERS, THEME);

test("every picture has marks of its own, few enough to be seen, inside its box, with numbers for places", () => {
  for (const id of Object.keys(PICTURES)) {
    const marks = marksOf(id);
    assert.ok(marks.length > 1 && marks.length <= 140, `${id}: ${marks.length}`);
    assert.equal(new Set(marks.map(({ key }) => key)).size, marks.length);
    for (const { x, y, w, h, kind, size } of marks) {
      for (const number of [x, y, w, h, size]) assert.ok(Number.isFinite(number), id);
      const [right, low] = kind === "text" || kind === "disc" ? [x, y] : [x + w, y + h];
      for (const at of [x, right]) assert.ok(at >= -1 && at <= WIDE + 1, `${id}: ${at} across`);
      for (const at of [y, low]) assert.ok(at >= -1 && at <= HIGH + 1, `${id}: ${at} down`);
    }
  }
});

test("masks are what they are called: as many open cells as the sentence of each says", () => {
  const open = (/** @type {string} */ id) => marksOf(id).filter(({ kind }) => kind === "strip").length;
  assert.equal(open("causal_mask"), 55);
  assert.equal(open("window"), 10 * 4 - (3 + 2 + 1));
});

test("bars of softmax are as high as their shares, and shared heads as few as they are", () => {
  const bars = marksOf("softmax").filter(({ kind }) => kind === "box");
  assert.ok(Math.abs(bars[2].h / bars[1].h - Math.E) < 0.03);
  const kv = (/** @type {string} */ id) => marksOf(id).filter(({ kind, y }) => kind === "disc" && y > 65).length;
  assert.deepEqual(["mha", "gqa", "mqa"].map(kv), [8, 2, 1]);
});

for (const width of [300, 346, 700, 1123])
  test(`tiles stand beside each other in ${width} pixels, and none on another`, () => {
    const terms = Object.keys(PICTURES).map((id) => ({ id, name: id, first: "", rest: "", place: 0 }));
    const { tiles, height, columns } = wallLayout({ terms, found: 5, asked: "", guess: "", among: 6 }, width);
    assert.ok(columns >= 2);
    tiles.forEach((tile, n) => {
      assert.ok(tile.x + tile.w <= width + 0.01 && tile.y + tile.h <= height);
      if (n % columns) assert.ok(tiles[n - 1].x + tiles[n - 1].w < tile.x);
    });
  });
