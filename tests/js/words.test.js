import assert from "node:assert/strict";
import { test } from "node:test";
import { fill, isRightToLeft } from "../../attnviz/canvas/shared/dom.js";
import { cellText, changeText, fillNumbers, strongestText } from "../../attnviz/canvas/head/head_readout.js";
import { MASKED_16 } from "../../attnviz/canvas/shared/packing.js";

const codeOf = (weight) => Math.round(Math.sqrt(weight) * 65534);
const words = {
  gives: "{query} > {key}: {value}",
  masked: "{query} may not look at {key}",
  share: "{token} {value}",
  most: "{token} looks at {keys}",
  mostby: "{token} is seen by {queries}",
  most_changed: "{token} changes at {keys}",
  mostby_changed: "{token} changes from {queries}",
  summary: "strongest: {pairs}",
  join_things: "{first}, {next}",
  join_clauses: "{first}; {next}",
};
const numbers = /** @type {Parameters<typeof cellText>[0]} */ (
  /** @type {unknown} */ ({
    header: { shape: [2, 3], top: 1, signed: false, q: ["a", "b"], k: ["x", "\n", "<z>"], words },
    codes: Uint16Array.from([codeOf(0.25), MASKED_16, codeOf(0.75), codeOf(0.5), codeOf(0.3), codeOf(0.2)]),
  })
);

test("a cell is read with its tokens, masked ones as such, and what is no cell as nothing", () => {
  assert.equal(cellText(numbers, 0, 2), "a (0) > <z> (2): 0.7500");
  assert.equal(cellText(numbers, 0, 1), "a (0) may not look at ⏎ (1)");
  assert.equal(cellText(numbers, 2, 0), "");
});

test("a token is read by its strongest partners on the other side", () => {
  assert.equal(strongestText(numbers, "q", 0), "a (0) looks at <z> 0.7500, x 0.2500");
  assert.equal(strongestText(numbers, "k", 0), "x (0) is seen by b 0.5000, a 0.2500");
  assert.equal(strongestText(numbers, "k", 3), "");
});

test("differences are told as such, each with its sign, and none of a zero", () => {
  const values = Float32Array.from([0.46, -0.22, -0.001, 0, 0.3, -0.00001]);
  const codes = Uint16Array.from(values, (value) =>
    Math.round(32767 + 32767 * Math.sign(value) * Math.sqrt(Math.abs(value))),
  );
  const signed = { ...numbers, header: { ...numbers.header, signed: true }, codes, values };
  assert.equal(strongestText(signed, "q", 0), "a (0) changes at x +0.4600, ⏎ −0.2200, <z> −0.0010");
  assert.equal(strongestText(signed, "k", 1), "⏎ (1) changes from b +0.3000, a −0.2200");
  assert.equal(cellText(signed, 0, 0), "a (0) > x (0): +0.4600");
  assert.equal(cellText({ ...signed, header: { ...signed.header, coarse: true } }, 1, 2), "b (1) > <z> (2): 0.000");
});

test("of a difference the largest change is told, its direction in words, and so is that there is none", () => {
  const told = { gives_more: "{query} +{value} {key}", gives_less: "{query} -{value} {key}", no_change: "none" };
  const header = { ...numbers.header, signed: true, words: { ...words, ...told } };
  const changed = (/** @type {number[]} */ ...changes) => {
    const codes = Uint16Array.from(changes, (change) =>
      Math.round(32767 + 32767 * Math.sign(change) * Math.sqrt(Math.abs(change))),
    );
    return changeText(/** @type {typeof numbers} */ ({ header, codes, values: Float32Array.from(changes) }));
  };
  assert.equal(changed(0, 0.25, 0, -0.1, 0, 0), "a +0.25 ⏎");
  assert.equal(changed(0, 0.25, 0, 0, 0, -0.5), "b -0.50 <z>");
  assert.equal(changed(0, 0.004, 0, 0, -0.003, 0), "none");
  assert.equal(changeText({ ...numbers, header, codes: new Uint16Array(6).fill(MASKED_16) }), "none");
});

test("a sentence is laid out from the right where most of its letters are written so", () => {
  const fromRight = [["ה", "חתול", " ישב", "."], ["القط", " جلس"]]; // prettier-ignore
  const fromLeft = [["The", " cat", " said", " שלום"], ["猫", "が", "いる"], ["12", "?!"], []]; // prettier-ignore
  for (const tokens of fromRight) assert.equal(isRightToLeft(tokens), true);
  for (const tokens of fromLeft) assert.equal(isRightToLeft(tokens), false);
});

test("a token from the right leaves the numbers of its sentence where they belong", () => {
  const parts = { token: "س (3)", key: "mat", share: 0.31 };
  assert.equal(fillNumbers("“{token}” gives {share:.0%} to “{key}”", parts), "“\u2068س (3)\u2069” gives 31% to “mat”");
  const said = fill("{token} gives 0.31", { token: "س" });
  assert.equal(said, "\u2068س\u2069 gives 0.31");
  assert.equal(fill("{first}, {next}", { first: said, next: "all" }), `${said}, all`); // marked once
});
