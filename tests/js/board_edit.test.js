import assert from "node:assert/strict";
import { test } from "node:test";
import { editBoard } from "../../attnviz/canvas/tensor_board/board_edit.js";

/** @param {string} name @param {string[][]} text */
function makeSheet(name, text) {
  const [rows, cols] = [text.map((_row, r) => `r${r}`), text[0].map((_cell, c) => `c${c}`)];
  const plain = { shape: "", label: "", role: "plain", roles: [], lines: [], rows, cols };
  return { ...plain, name, text, fill: text.map((row) => row.map(() => 0)) };
}

/** Two words by two numbers, times a matrix, plus a bias. */
const LEFT = [
  [0.8, -0.1],
  [0.5, 2],
];
const RIGHT = [
  [-0.3, 0.7],
  [0.1, 0.2],
];
const BIAS = [0.4, -0.6];
const write = (/** @type {number} */ value) => (value < 0 ? `(−${-value})` : String(value));
const product = (/** @type {number[][]} */ right, /** @type {number} */ r, /** @type {number} */ c) =>
  LEFT[r][0] * right[0][c] + LEFT[r][1] * right[1][c] + BIAS[c];
const BOARD = /** @type {any} */ ({
  sheets: [
    makeSheet(
      "X",
      LEFT.map((row) => row.map(String)),
    ),
    makeSheet(
      "W_Q",
      RIGHT.map((row) => row.map((value) => value.toFixed(1).replace("-", "−"))),
    ),
    makeSheet("b_Q", [BIAS.map(String)]),
    makeSheet(
      "Q",
      [0, 1].map((r) => [0, 1].map((c) => product(RIGHT, r, c).toFixed(2).replace("-", "−"))),
    ),
  ],
  signs: ["×", "+", "="],
  cells: [0, 1].map((r) =>
    [0, 1].map((c) => ({
      a: [
        [0, r, r + 1, 0, 2],
        [1, 0, 2, c, c + 1],
        [2, 0, 1, c, c + 1],
      ],
      t: [
        ...[`0${write(LEFT[r][0])}`, "o×", `1${write(RIGHT[0][c])}`, "o+"],
        ...[`0${write(LEFT[r][1])}`, "o×", `1${write(RIGHT[1][c])}`, "o+", `2${write(BIAS[c])}`],
      ],
      e: "=",
      v: String(product(RIGHT, r, c)),
    })),
  ),
});

test("a weight in a hand changes its column of products and their sums, and nothing else", () => {
  const now = editBoard(BOARD, [1, 1, 1], -2.5);
  const right = [RIGHT[0], [0.1, -2.5]];
  assert.equal(now.sheets[1].text[1][1], "−2.5");
  for (const r of [0, 1]) {
    assert.equal(now.sheets[3].text[r][1], product(right, r, 1).toFixed(2).replace("-", "−"));
    assert.equal(Number(now.cells[r][1].v?.replace("−", "-")).toFixed(4), product(right, r, 1).toFixed(4));
    assert.equal(now.cells[r][1].t[6], "1(−2.5)");
    assert.equal(now.cells[r][0], BOARD.cells[r][0]);
    assert.equal(now.sheets[3].text[r][0], BOARD.sheets[3].text[r][0]);
  }
  assert.equal(BOARD.sheets[1].text[1][1], "0.2", "the board that came is left as it was");
});
