import assert from "node:assert/strict";
import { test } from "node:test";
import { findSentence, keepSentence } from "../../attnviz/canvas/overview/known_sentences.js";
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
