import assert from "node:assert/strict";
import { test } from "node:test";

import { roomFor } from "../../attnviz/canvas/head/room.js";

test("a short sentence has what is left of the window", () => {
  assert.deepEqual(roomFor(13, 240, 660, 250, 34), { high: 240, many: false });
});

test("where little is left, a head has a window of its own with its controls", () => {
  assert.deepEqual(roomFor(13, 150, 660, 250, 34), { high: 410, many: false });
  assert.deepEqual(roomFor(80, 240, 660, 250, 34), { high: 410, many: false });
});

test("many tokens have the whole window", () => {
  assert.deepEqual(roomFor(180, 240, 660, 250, 34), { high: 626, many: true });
});

test("a window that is too low for controls and picture bounds no few rows", () => {
  assert.deepEqual(roomFor(13, -100, 400, 250, 34), { high: null, many: false });
});
