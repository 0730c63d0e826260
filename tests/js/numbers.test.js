import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fill, visibleToken } from "../../attnviz/canvas/shared/dom.js";
import {
  clamp,
  fixed,
  fourDigits,
  grouped,
  percent,
  significant,
  tickText,
} from "../../attnviz/canvas/shared/numbers.js";
import { parameterAt, stopOf, STOPS } from "../../attnviz/canvas/softmax_slider/softmax.js";

const roundings = JSON.parse(await readFile(new URL("cases/rounding.json", import.meta.url), "utf8"));

test("a read-out has four digits, and says when that is too few", () => {
  const wanted = ["0.1235", "−0.5000", "0.0000", "< 0.0001", "> −0.0001", "123.46", "1234.6"];
  assert.deepEqual([0.12345, -0.5, 0, 0.00001, -0.00001, 123.456, 1234.56].map(fourDigits), wanted);
});

test("what lies between two numbers goes away from zero, as in Python", () => {
  for (const { value, ...wanted } of roundings) {
    for (const [spec, text] of Object.entries(wanted)) {
      const write = spec.endsWith("%") ? percent : fixed;
      assert.equal(write(value, Number(spec[1])), text, `${value} as ${spec}`);
    }
  }
});

test("ticks are short", () => {
  assert.deepEqual([0, 0.25, 0.1234, 1500, -0.0001].map(tickText), ["0", "0.25", "0.12", "2e+3", "-1e-4"]);
});

test("percentages do not round to what they are not", () => {
  assert.deepEqual(
    [0, 0.0001, 0.1234, 0.9999, 1].map((share) => percent(share)),
    ["0.0%", "<0.1%", "12.3%", ">99.9%", "100.0%"],
  );
});

test("significant digits, without zeros at the end", () => {
  assert.deepEqual(
    [0, 1.5, 2.34567, 123456, 0.00012, NaN, -Infinity].map((v) => significant(v)),
    ["0", "1.5", "2.35", "1.2e+5", "1.2e-4", "NaN", "-Infinity"],
  );
  assert.deepEqual(
    [-1, 0.5, 3].map((v) => clamp(v, 0, 1)),
    [0, 0.5, 1],
  );
});

test("a parameter's slider reaches both ends, and every stop leads back to itself", () => {
  const kinds = [
    { name: "a", value: 1, low: 0.1, high: 64, linear: false },
    { name: "T", value: 1, low: 0, high: 100, linear: false },
    { name: "b", value: 0, low: -20, high: 20, linear: true },
  ];
  for (const parameter of kinds) {
    assert.ok(Math.abs(parameterAt(0, parameter) - parameter.low) < 1e-12);
    assert.ok(Math.abs(parameterAt(STOPS, parameter) - parameter.high) < 1e-9);
    for (let stop = 0; stop <= STOPS; stop += 7) assert.equal(stopOf(parameterAt(stop, parameter), parameter), stop);
  }
  assert.ok(Math.abs(parameterAt(500, kinds[0]) - Math.sqrt(0.1 * 64)) < 1e-9, "even on a log scale");
});

test("a sentence keeps a name that has no value, and takes values as they are", () => {
  assert.equal(fill("{a} and {b}", { a: "$& {b}" }), "$& {b} and {b}");
});

test("a counted noun is chosen by its number", () => {
  const said = [0, 1, 2, "1,001"].map((n) => fill("{n} {n:key|keys} of {m:head|heads}", { n }));
  assert.deepEqual(
    said,
    ["0 keys", "1 key", "2 keys", "1,001 keys"].map((count) => `${count} of {m:head|heads}`),
  );
});

test("blanks and line ends can be seen", () => {
  assert.deepEqual(["\n", "  ", "a\tb", "<b>", ""].map(visibleToken), ["↵", "␣␣", "a⇥b", "<b>", "␣"]);
});

test("what rounds to zero has no sign", () => {
  assert.deepEqual(
    [-0.004, -0, -0.0051, 0.25].map((value) => fixed(value, 2)),
    ["0.00", "0.00", "-0.01", "0.25"],
  );
});

test("thousands are apart as the browser's own numbers have them", () => {
  for (const value of [0, 7, 999, 1000, 12345.25, 100000, 999999.5, 1234567, 2 ** 53, -1000, -123456])
    assert.equal(grouped(value), value.toLocaleString("en-US"));
});
