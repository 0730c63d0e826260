import assert from "node:assert/strict";
import { test } from "node:test";
import { inOtherWords } from "../../attnviz/canvas/presenter/streamlits_words.js";

const words = { Search: "搜索", " per file": " 每个文件", "Help for ": "帮助：", "Skip to main content": "跳到正文" };

test("a text that is one of the words is said otherwise, with the spaces around it", () => {
  assert.equal(inOtherWords("Search", words), "搜索");
  assert.equal(inOtherWords(" Search\n", words), " 搜索\n");
});

test("a beginning is said otherwise and the rest is kept", () => {
  assert.equal(inOtherWords("Help for 句子 $1", words), "帮助：句子 $1");
  assert.equal(inOtherWords("5MB per file", words), "5MB 每个文件");
});

test("what only holds one of the words is left alone", () => {
  for (const text of ["Search me", "search", "", "constructor", "Helps for x"]) {
    assert.equal(inOtherWords(text, words), text);
  }
});
