import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { mostTellingRow } from "../../attnviz/canvas/head/head_readout.js";
import { encode16 } from "../../attnviz/canvas/shared/packing.js";

/** @type {{ shape: [number, number], values: number[], hidden: number[], signed: boolean, row: number }[]} */
const cases = JSON.parse(await readFile(new URL("cases/telling_row.json", import.meta.url), "utf8"));

test("the browser tells first of the row that Python tells of, from exact values and from codes", () => {
  for (const { shape, values, hidden, signed, row } of cases) {
    const codes = new Uint16Array(values.length);
    encode16(Float32Array.from(values), Uint8Array.from(hidden), 1, signed, codes);
    const header = { shape, top: 1, signed };
    /** @type {any} */
    const numbers = { header, codes, values: Float32Array.from(values) };
    assert.equal(mostTellingRow(numbers), row);
    assert.equal(mostTellingRow({ ...numbers, values: null }), row);
  }
});
