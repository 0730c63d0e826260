import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isWorthLighting,
  lineHit,
  magnitudes,
  visibleRows,
  strongestLines,
} from "../../attnviz/canvas/lines/lines_scene.js";
import { MASKED_16 } from "../../attnviz/canvas/shared/packing.js";
import { EVERYTHING } from "../../attnviz/canvas/shared/zoom.js";

const PLOT = { x: 80, y: 20, w: 300, h: 240 };
const WEIGHTS = { top: 1, signed: false, scale: { top: 1, root: true } };

const codeOf = (weight) => Math.round(Math.sqrt(weight) * 65534);

function drawn(codes, header, shape, zoom = EVERYTHING) {
  return strongestLines(codes, magnitudes(codes, header.signed), header, visibleRows(PLOT, zoom, shape));
}

test("lines are drawn weakest first, faint and masked ones not at all, nor those of a lit token", () => {
  const worth = [codeOf(0.5), codeOf(0.001), MASKED_16].map((code) => isWorthLighting(code, WEIGHTS));
  assert.deepEqual(worth, [true, false, false]);
  const codes = Uint16Array.from([codeOf(0.9), codeOf(0.0001), MASKED_16, codeOf(0.1)]);
  const { levels, drawn: n, total } = drawn(codes, WEIGHTS, [2, 2]);
  assert.deepEqual([n, total], [2, 3]);
  assert.deepEqual(levels.flat(), [1, 1, 0, 0]);
});

test("the nearer column is hit, between them neither", () => {
  const rows = visibleRows(PLOT, EVERYTHING, [12, 6]);
  assert.deepEqual(lineHit(10, 30, PLOT, rows), { axis: "q", i: 0 });
  assert.deepEqual(lineHit(100, 259, PLOT, rows), { axis: "q", i: 11 });
  assert.deepEqual(lineHit(370, 259, PLOT, rows), { axis: "k", i: 5 });
  assert.equal(lineHit(230, 100, PLOT, rows), null);
  assert.equal(lineHit(100, 10, PLOT, rows), null);
  assert.deepEqual(lineHit(10, 30, PLOT, visibleRows(PLOT, { z: 2, q0: 6, k0: 0 }, [12, 6])), { axis: "q", i: 6 });
});
