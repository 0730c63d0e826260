import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { readRawScores } from "../../attnviz/canvas/shared/raw_scores.js";

const cases = JSON.parse(await readFile(new URL("cases/raw_scores.json", import.meta.url), "utf8"));
const bytesOf = (text) => new Uint8Array(Buffer.from(text, "base64"));
const plain = (value) => (value instanceof Uint8Array || value instanceof Float32Array ? [...value] : value);

for (const [name, { header, payload, heads }] of Object.entries(cases)) {
  test(`heads that Python packed are read (${name})`, () => {
    const read = readRawScores(header, bytesOf(payload));
    assert.equal(read.length, heads.length);
    heads.forEach(({ scores, ...rest }, i) => {
      assert.deepEqual(read[i].shape, header.shape);
      for (const [field, value] of Object.entries(rest)) assert.deepEqual(plain(read[i][field]), value, field);
      assert.equal(read[i].scores.length, scores.length);
      scores.forEach((score, cell) => {
        const off = Math.abs(read[i].scores[cell] - score);
        assert.ok(
          off <= 2 ** -23 * Math.abs(score),
          `head ${i}, cell ${cell}: ${read[i].scores[cell]} is not ${score}`,
        );
      });
    });
  });
}

test("heads in any order are the same heads, and scores are unpacked once", () => {
  const { header, payload, heads } = cases.far;
  const read = readRawScores(header, bytesOf(payload));
  const last = read[heads.length - 1].scores;
  assert.ok(Math.abs(last[0] - heads[heads.length - 1].scores[0]) < 1e-3);
  assert.equal(read[heads.length - 1].scores, last);
});

test("a payload that was cut short is refused", () => {
  const { header, payload } = cases.rich;
  assert.throws(() => readRawScores(header, bytesOf(payload).subarray(0, -1)), /bytes end before/);
});
