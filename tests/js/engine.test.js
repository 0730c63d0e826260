import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import wabt from "wabt";
import { editOf } from "../../attnviz/site/engine/attention.js";
import { layerNorm, rmsNorm, rotate } from "../../attnviz/site/engine/layers.js";
import { room, rowBytes, unpack } from "../../attnviz/site/engine/matmul.js";
import { tokenLabel } from "../../attnviz/site/page/tokens.js";

const text = await readFile(new URL("../../attnviz/site/engine/kernel.wat", import.meta.url), "utf8");
const kernel = /** @type {any} */ ((await wabt()).parseWat("kernel.wat", text, { simd: true }).toBinary({}).buffer);

/** Numbers between -1 and 1, the same each time. */
function noise(seed) {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return state / 2 ** 30 - 1;
  };
}

const SHAPES = [
  [1, 1, 32],
  [3, 4, 64],
  [5, 7, 96],
  [8, 6, 32],
  [13, 9, 128],
];

for (const kind of /** @type {const} */ (["F32", "Q8_0", "Q4_1"])) {
  test(`${kind}: the kernel and plain JavaScript make the product that the unpacked rows make`, () => {
    for (const [t, n, k] of SHAPES) {
      const size = n * rowBytes({ at: 0, kind, shape: [n, k] });
      const made = [kernel, null].map((program) => {
        const place = room(size, program);
        place.rewind(4 * (t + 4) * k + t * n + 2 * k);
        const again = noise(7);
        const bytes = new Uint8Array(place.buffer, 0, size);
        if (kind === "F32") new Float32Array(place.buffer, 0, n * k).forEach((_, i, all) => (all[i] = again()));
        else bytes.forEach((_, i) => (bytes[i] = 128 + 127 * again()));
        halves(bytes, kind);
        const [x, y] = [place.take((t + 3) * k), place.take(t * n)];
        const given = noise(3);
        place.floats(x, t * k).forEach((_, i, all) => (all[i] = given()));
        const weight = { at: 0, kind, shape: [n, k] };
        place.multiply(weight, x, y, t);
        return { place, weight, x: place.floats(x, t * k), y: place.floats(y, t * n) };
      });
      const { place, weight, x } = made[0];
      const row = new Float32Array(k);
      for (let i = 0; i < n; i++) {
        unpack(place.buffer, weight, i, row);
        for (let at = 0; at < t; at++) {
          const wanted = row.reduce((sum, value, j) => sum + value * x[at * k + j], 0);
          const most = 1e-6 * row.reduce((sum, value, j) => sum + Math.abs(value * x[at * k + j]), 1);
          for (const { y } of made) assert.ok(Math.abs(y[at * n + i] - wanted) < most, `${kind} ${[t, n, k, at, i]}`);
        }
      }
    }
  });
}

/** Scales that are numbers: 1.5, 2 ** -20 (which 16 bits hold without a leading one), 0, and one below it. */
function halves(bytes, kind) {
  if (kind === "F32") return;
  const size = kind === "Q8_0" ? 34 : 20;
  const scales = [0x3e00, 0x0010, 0x0000, 0xb800];
  for (let at = 0, i = 0; at < bytes.length; at += size, i++) {
    for (const place of kind === "Q4_1" ? [0, 2] : [0]) {
      bytes[at + place] = scales[(i + place) % 4] & 255;
      bytes[at + place + 1] = scales[(i + place) % 4] >> 8;
    }
  }
}

test("blocks are unpacked as their format says", () => {
  const { buffer } = new Uint8Array(64);
  new DataView(buffer).setUint16(0, 0x3e00, true); // 1.5
  new Int8Array(buffer, 2, 32).set(Array.from({ length: 32 }, (_, i) => i - 16));
  const row = new Float32Array(32);
  unpack(buffer, { at: 0, kind: "Q8_0", shape: [1, 32] }, 0, row);
  assert.deepEqual(
    [...row],
    Array.from({ length: 32 }, (_, i) => 1.5 * (i - 16)),
  );
  new DataView(buffer).setUint16(2, 0xb800, true); // -0.5
  new Uint8Array(buffer, 4, 16).set(Array.from({ length: 16 }, (_, i) => i | ((15 - i) << 4)));
  unpack(buffer, { at: 0, kind: "Q4_1", shape: [1, 32] }, 0, row);
  assert.deepEqual(
    [...row],
    Array.from({ length: 32 }, (_, i) => 1.5 * (i < 16 ? i : 31 - i) - 0.5),
  );
});

test("norms leave rows of the length that they promise, and positions turn pairs without changing their length", () => {
  const x = Float32Array.from({ length: 16 }, noise(5));
  const one = new Float32Array(8).fill(1);
  const made = new Float32Array(16);
  rmsNorm(x, one, 0, made);
  for (const row of [made.subarray(0, 8), made.subarray(8)]) {
    assert.ok(Math.abs(row.reduce((sum, value) => sum + value ** 2, 0) - 8) < 1e-5);
  }
  layerNorm(made, one, new Float32Array(8), 0);
  for (const row of [made.subarray(0, 8), made.subarray(8)]) {
    assert.ok(Math.abs(row.reduce((sum, value) => sum + value, 0)) < 1e-5);
  }
  const turned = x.slice();
  rotate(turned, 4, 2, 100);
  assert.deepEqual([...turned.subarray(0, 8)], [...x.subarray(0, 8)], "position 0 turns nothing");
  for (let i = 8; i < 16; i += 2) {
    assert.ok(Math.abs(Math.hypot(turned[i], turned[i + 1]) - Math.hypot(x[i], x[i + 1])) < 1e-6);
  }
  assert.ok(Math.abs(turned[8] - (x[8] * Math.cos(1) - x[9] * Math.sin(1))) < 1e-6);
});

test("a later edit overrides an earlier one, and reaches the heads it names", () => {
  const edits = [{ scale: 1 }, { layer: 2, silence: true }, { layer: 2, head: 3, scale: 0.5 }];
  assert.deepEqual(editOf(edits, 0, 0), { scale: 1 });
  assert.deepEqual(editOf(edits, 2, 0), { scale: 1, silence: true });
  assert.deepEqual(editOf(edits, 2, 3), { scale: 0.5, silence: true });
});

test("what cannot be seen in a token's label is written", () => {
  const pairs = {
    " cat": "cat",
    " ": "␣",
    "\n\n": "⏎⏎",
    "": "∅",
    "\u200b": "U+200B",
    "\u0301": "◌\u0301",
    "a\u202eb": "aU+202Eb",
  };
  for (const [given, wanted] of Object.entries(pairs)) assert.equal(tokenLabel(given), wanted);
});
