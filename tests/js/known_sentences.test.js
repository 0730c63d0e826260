import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";
import { findSentence, keepSentence, unpackTiles } from "../../attnviz/canvas/overview/known_sentences.js";
import { Latest } from "../../attnviz/canvas/shared/component.js";
import { MOST_SENTENCES } from "../../attnviz/canvas/shared/group.js";

/**
 * @param {string} text
 * @param {string} besides
 */
const sentence = (text, besides = "a model") =>
  /** @type {any} */ ({ header: { asked: { label: "Sentence", text, besides } }, tiles: new Uint8Array(1) });
const asked = (/** @type {string} */ text, besides = "a model") => ({ label: "Sentence", text, besides });

test("a sentence that was read before is found by its text, unless it is on show or another model's", () => {
  const known = new Latest(MOST_SENTENCES);
  const first = sentence("one");
  for (const read of [first, sentence("two"), sentence("three", "another model")]) keepSentence(known, read);
  assert.equal(findSentence(known, asked("two"), "one"), first);
  assert.equal(findSentence(known, asked("two"), "one "), null);
  assert.equal(findSentence(known, asked("two"), "three"), null);
  assert.equal(findSentence(known, asked("three", "another model"), "three"), null);
  assert.equal(findSentence(known, null, "one"), null);
});

const packed = (...bytes) => new Uint8Array(deflateSync(Uint8Array.from(bytes)));

test("tiles that were unpacked before are there at once, and the same", async () => {
  const first = unpackTiles("a", packed(1, 2, 3));
  assert.ok(first instanceof Promise);
  const tiles = await first;
  assert.deepEqual([...tiles], [1, 2, 3]);
  assert.equal(unpackTiles("a", packed(9)), tiles);
});
