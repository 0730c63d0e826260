// A picture's words stand beside it only where it loses nothing by that.

import assert from "node:assert/strict";
import { test } from "node:test";

import { besideWords, fitted } from "../../attnviz/canvas/patch_view/patch_geometry.js";

const SQUARE = { width: 8, height: 8 };
const LINE = { width: 24, height: 8 };

test("a wide window has a larger picture with its words beside it", () => {
  const size = besideWords(SQUARE, 830, 580, fitted(SQUARE, 830, 400));
  assert.deepEqual(size, { width: 540, height: 540 });
});

test("a picture that would shrink keeps its words below it", () => {
  assert.equal(besideWords(SQUARE, 580, 580, fitted(SQUARE, 580, 400)), null);
  assert.equal(besideWords(LINE, 830, 580, fitted(LINE, 830, 400)), null);
  assert.equal(besideWords(SQUARE, 280, 580, fitted(SQUARE, 280, 280)), null);
});

test("a picture is never higher than the window leaves it", () => {
  assert.deepEqual(besideWords(SQUARE, 1600, 500, fitted(SQUARE, 1600, 400)), { width: 500, height: 500 });
});
