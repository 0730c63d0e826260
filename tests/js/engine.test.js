import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import wabt from "wabt";
import { editOf } from "../../attnviz/site/engine/attention.js";
import { createMemory, rowBytes, unpack } from "../../attnviz/canvas/shared/matmul.js";

const text = await readFile(new URL("../../attnviz/canvas/shared/kernel.wat", import.meta.url), "utf8");
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
        const place = createMemory(size, program);
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

test("a later edit overrides an earlier one, and reaches the heads it names", () => {
  const edits = [{ scale: 1 }, { layer: 2, silence: true }, { layer: 2, head: 3, scale: 0.5 }];
  assert.deepEqual(editOf(edits, 0, 0), { scale: 1 });
  assert.deepEqual(editOf(edits, 2, 0), { scale: 1, silence: true });
  assert.deepEqual(editOf(edits, 2, 3), { scale: 0.5, silence: true });
});
