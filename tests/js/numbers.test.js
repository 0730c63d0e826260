import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { fill } from "../../attnviz/canvas/shared/dom.js";
import { formatFixed, formatFourDigits, formatPercent } from "../../attnviz/canvas/shared/numbers.js";
import { parameterAt, stopOf, STOPS } from "../../attnviz/canvas/softmax_slider/softmax.js";

const roundings = JSON.parse(await readFile(new URL("cases/rounding.json", import.meta.url), "utf8"));

test("a read-out has four digits, and says when that is too few", () => {
  const wanted = ["0.1235", "−0.5000", "0.0000", "< 0.0001", "> −0.0001", "123.46", "1234.6"];
  assert.deepEqual([0.12345, -0.5, 0, 0.00001, -0.00001, 123.456, 1234.56].map(formatFourDigits), wanted);
});

test("what lies between two numbers goes away from zero, as in Python", () => {
  for (const { value, ...wanted } of roundings) {
    for (const [spec, text] of Object.entries(wanted)) {
      const write = spec.endsWith("%") ? formatPercent : formatFixed;
      assert.equal(write(value, Number(spec[1])), text, `${value} as ${spec}`);
    }
  }
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
