import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { unpackedTiles } from "../../attnviz/canvas/overview/known_sentences.js";

const packed = (...bytes) => new Uint8Array(deflateSync(Uint8Array.from(bytes)));

test("tiles that were unpacked before are there at once, and the same", async () => {
  const first = unpackedTiles("a", packed(1, 2, 3));
  assert.ok(first instanceof Promise);
  const tiles = await first;
  assert.deepEqual([...tiles], [1, 2, 3]);
  assert.equal(unpackedTiles("a", packed(9)), tiles);
});

test("those that were not read for long are let go", async () => {
  await unpackedTiles("old", packed(1));
  await unpackedTiles("used", packed(2));
  for (let n = 0; n < 11; n++) {
    await unpackedTiles(`new ${n}`, packed(3));
    unpackedTiles("used", packed(2));
  }
  assert.ok(unpackedTiles("used", packed(2)) instanceof Uint8Array);
  assert.ok(unpackedTiles("old", packed(1)) instanceof Promise);
});
