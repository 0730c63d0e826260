import assert from "node:assert/strict";
import { test } from "node:test";
import { KnownSentences } from "../../attnviz/canvas/overview/known_sentences.js";

/**
 * @param {string} text
 * @param {string} besides
 */
const sentence = (text, besides = "a model") =>
  /** @type {any} */ ({ header: { asked: { label: "Sentence", text, besides } }, tiles: new Uint8Array(1) });
const asked = (/** @type {string} */ text, besides = "a model") => ({ label: "Sentence", text, besides });

test("a sentence that was read before is found by its text", () => {
  const known = new KnownSentences();
  const first = sentence("one");
  known.keep(first);
  known.keep(sentence("two"));
  assert.equal(known.find(asked("two"), "one"), first);
  assert.equal(known.find(asked("two"), "one "), null);
});

test("what another model made of it is not shown, nor what is on show already", () => {
  const known = new KnownSentences();
  known.keep(sentence("one", "another model"));
  assert.equal(known.find(asked("two"), "one"), null);
  assert.equal(known.find(asked("one", "another model"), "one"), null);
  assert.equal(known.find(null, "one"), null);
});

test("a page that does not say what it was asked for keeps nothing", () => {
  const known = new KnownSentences();
  known.keep(/** @type {any} */ ({ header: { asked: null }, tiles: new Uint8Array(1) }));
  assert.equal(known.kept.size, 0);
});

test("the ones that were read longest ago are let go", () => {
  const known = new KnownSentences();
  known.keep(sentence("kept"));
  for (let n = 0; n < 11; n++) known.keep(sentence(`n ${n}`));
  known.keep(sentence("kept"));
  known.keep(sentence("last"));
  assert.notEqual(known.find(asked("last"), "kept"), null);
  assert.equal(known.find(asked("last"), "n 0"), null);
});
