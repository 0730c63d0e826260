import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import {
  toFloats,
  inflate,
  joinPlanes,
  MASKED_16,
  packBits,
  readHeader,
  strongestCells,
  strongestOfBlocks,
  unpackBits,
  decodeValue,
} from "../../attnviz/canvas/shared/packing.js";

const cases = JSON.parse(await readFile(new URL("cases/packing.json", import.meta.url), "utf8"));

for (const name of ["weights", "differences"]) {
  test(`${name} that Python packed are read with its header`, async () => {
    const { blob, header, values } = cases[name];
    const bytes = new Uint8Array(Buffer.from(blob, "base64"));
    const [read, payload] = readHeader(bytes);
    assert.deepEqual(readHeader(bytes.with(3, 0)), [read, payload], "as it was before versions were written");
    assert.throws(() => readHeader(bytes.with(3, 9)), /version 9/);
    assert.deepEqual(read, header);
    const codes = joinPlanes(await inflate(payload));
    assert.equal(codes.length, values.length);
    values.forEach((value, i) => {
      if (value === null) assert.equal(codes[i], MASKED_16);
      else assert.ok(Math.abs(decodeValue(codes[i], header.top, header.signed) - value) < 1e-9);
    });
  });
}

test("a blob is read wherever it lies in a larger buffer", () => {
  const bytes = Buffer.from(cases.weights.blob, "base64");
  const larger = new Uint8Array(bytes.length + 3);
  larger.set(bytes, 3);
  assert.deepEqual(readHeader(larger.subarray(3))[0], cases.weights.header);
});

test("floats are read from an address that no float can begin at", () => {
  const numbers = Float32Array.from([1.5, -2.25]);
  const larger = new Uint8Array(9);
  larger.set(new Uint8Array(numbers.buffer), 1);
  assert.deepEqual([...toFloats(larger.subarray(1))], [1.5, -2.25]);
});

test("bits are Python's, there and back", () => {
  const { base64, cells } = cases.bits;
  assert.equal(packBits(Uint8Array.from(cells)), base64);
  assert.deepEqual([...unpackBits(new Uint8Array(Buffer.from(base64, "base64")), cells.length)], cells);
});

test("the strongest cells come first and masked ones never", () => {
  const codes = Uint16Array.from([10, MASKED_16, 500, 20, 499]);
  assert.deepEqual(strongestCells(codes, false, 3), [2, 4, 3]);
  assert.deepEqual(strongestCells(codes, false, 9), [2, 4, 3, 0]);
  const signed = Uint16Array.from([32767, 32767 - 900, 32767 + 800, MASKED_16]);
  assert.deepEqual(strongestCells(signed, true, 2), [1, 2]);
});

test("a smaller picture never loses a bright cell, and is masked only where all it covers is", () => {
  const codes = Uint16Array.from([1, 2, 3, 4, 9, MASKED_16, 5, 6, MASKED_16, MASKED_16, 7, 8]);
  const small = strongestOfBlocks(codes, [3, 4], 2, false);
  assert.deepEqual([small.rows, small.columns], [2, 2]);
  assert.deepEqual([...small.codes], [9, 6, MASKED_16, 8]);
  assert.equal(strongestOfBlocks(codes, [3, 4], 1, false).codes, codes);
});
