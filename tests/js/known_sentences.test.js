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

test("a sentence that was read before is found by its text", () => {
  const known = new Latest(MOST_SENTENCES);
  const first = sentence("one");
  keepSentence(known, first);
  keepSentence(known, sentence("two"));
  assert.equal(findSentence(known, asked("two"), "one"), first);
  assert.equal(findSentence(known, asked("two"), "one "), null);
});

test("what another model made of it is not shown, nor what is on show already", () => {
  const known = new Latest(MOST_SENTENCES);
  keepSentence(known, sentence("one", "another model"));
  assert.equal(findSentence(known, asked("two"), "one"), null);
  assert.equal(findSentence(known, asked("one", "another model"), "one"), null);
  assert.equal(findSentence(known, null, "one"), null);
});

test("a page that does not say what it was asked for keeps nothing", () => {
  const known = new Latest(MOST_SENTENCES);
  keepSentence(known, /** @type {any} */ ({ header: { asked: null }, tiles: new Uint8Array(1) }));
  assert.equal(known.size, 0);
});

test("the ones that were read longest ago are let go", () => {
  const known = new Latest(MOST_SENTENCES);
  keepSentence(known, sentence("kept"));
  for (let n = 0; n < 11; n++) keepSentence(known, sentence(`n ${n}`));
  keepSentence(known, sentence("kept"));
  keepSentence(known, sentence("last"));
  assert.notEqual(findSentence(known, asked("last"), "kept"), null);
  assert.equal(findSentence(known, asked("last"), "n 0"), null);
});
