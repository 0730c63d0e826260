import assert from "node:assert/strict";
import { test } from "node:test";
import {
  isWorthLighting,
  levelOf,
  LEVELS,
  lineHit,
  lineStrength,
  magnitudes,
  MOST_LINES,
  piecesOf,
  rowsOnShow,
  strongestLines,
} from "../../attnviz/canvas/lines/line_geometry.js";
import { MASKED_16, valueOf } from "../../attnviz/canvas/shared/packing.js";
import { EVERYTHING } from "../../attnviz/canvas/shared/zoom.js";

const PLOT = { x: 80, y: 20, w: 300, h: 240 };
const WEIGHTS = { top: 1, signed: false, scale: { top: 1, root: true } };
const SIGNED = { top: 2, signed: true, scale: { top: 2, root: false } };

const codeOf = (weight) => Math.round(Math.sqrt(weight) * 65534);

function drawn(codes, header, shape, zoom = EVERYTHING) {
  return strongestLines(codes, magnitudes(codes, header.signed), header, rowsOnShow(PLOT, zoom, shape));
}

test("lines are drawn weakest first, faint and masked ones not at all, nor those of a lit token", () => {
  const worth = [codeOf(0.5), codeOf(0.001), MASKED_16].map((code) => isWorthLighting(code, WEIGHTS));
  assert.deepEqual(worth, [true, false, false]);
  const codes = Uint16Array.from([codeOf(0.9), codeOf(0.0001), MASKED_16, codeOf(0.1)]);
  const { levels, drawn: n, total } = drawn(codes, WEIGHTS, [2, 2]);
  assert.deepEqual([n, total], [2, 3]);
  assert.deepEqual(levels.flat(), [1, 1, 0, 0]);
});

test("of very many lines the strongest are kept", () => {
  const n = 100;
  const codes = Uint16Array.from({ length: n * n }, (_, i) => codeOf(0.05 + (0.9 * ((i * 7919) % (n * n))) / (n * n)));
  const { levels, drawn: count, total } = drawn(codes, WEIGHTS, [n, n]);
  assert.equal(total, n * n);
  assert.ok(count <= MOST_LINES && count > MOST_LINES * 0.9);
  const kept = [];
  for (const level of levels) for (let i = 0; i < level.length; i += 2) kept.push(codes[level[i] * n + level[i + 1]]);
  const weakest = Math.min(...kept);
  assert.equal(codes.filter((code) => code > weakest).length < kept.length, true, "nothing stronger was left out");
});

test("lines are drawn in pieces: each of them once, the weakest of all heads first", () => {
  const level = (count) => Array.from({ length: 2 * count }, (_, i) => i);
  const heads = [level(900), level(1)].map((weakest) => [
    weakest,
    ...Array.from({ length: LEVELS - 1 }, () => level(2)),
  ]);
  const pieces = piecesOf(heads);
  assert.deepEqual(
    pieces.slice(0, 6).map(({ at, lines }) => [at, lines.length / 2]),
    [
      [0, 200],
      [0, 200],
      [0, 200],
      [0, 200],
      [0, 100],
      [1, 1],
    ],
  );
  assert.deepEqual(
    pieces.map((piece) => piece.level),
    pieces.map((piece) => piece.level).toSorted((a, b) => a - b),
  );
  for (const at of [0, 1]) {
    assert.deepEqual(
      pieces.filter((piece) => piece.at === at).flatMap(({ lines }) => lines),
      heads[at].flat(),
    );
  }
});

test("only what the window shows is drawn", () => {
  const codes = new Uint16Array(100).fill(codeOf(0.5));
  const { levels, total } = drawn(codes, WEIGHTS, [10, 10], { z: 2, q0: 5, k0: 0 });
  assert.equal(total, 25);
  const flat = levels.flat();
  for (let i = 0; i < flat.length; i += 2) assert.ok(flat[i] >= 5 && flat[i + 1] < 5);
});

test("a difference is as strong as its size, whatever its sign", () => {
  const [down, none, up] = [32767 - 16384, 32767, 32767 + 16384];
  assert.deepEqual([...magnitudes(Uint16Array.from([down, none, up, MASKED_16]), true)], [32768, 0, 32768, MASKED_16]);
  assert.equal(lineStrength(down, SIGNED), lineStrength(up, SIGNED));
  assert.ok(Math.abs(lineStrength(up, SIGNED) - valueOf(up, 2, true) / 2) < 1e-12);
  assert.equal(lineStrength(none, SIGNED), 0);
  assert.deepEqual([0, 0.5, 1].map(levelOf), [0, LEVELS / 2, LEVELS - 1]);
});

test("the nearer column is hit, between them neither", () => {
  const rows = rowsOnShow(PLOT, EVERYTHING, [12, 6]);
  assert.deepEqual(lineHit(10, 30, PLOT, rows), { axis: "q", i: 0 });
  assert.deepEqual(lineHit(100, 259, PLOT, rows), { axis: "q", i: 11 });
  assert.deepEqual(lineHit(370, 259, PLOT, rows), { axis: "k", i: 5 });
  assert.equal(lineHit(230, 100, PLOT, rows), null);
  assert.equal(lineHit(100, 10, PLOT, rows), null);
  assert.deepEqual(lineHit(10, 30, PLOT, rowsOnShow(PLOT, { z: 2, q0: 6, k0: 0 }, [12, 6])), { axis: "q", i: 6 });
});
