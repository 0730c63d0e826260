import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { adoptOverlay, groupOf } from "../../attnviz/canvas/shared/group.js";
import {
  describedCell,
  overlayColours,
  MOST_HEADS,
  overlaidHeads,
  toggleOverlay,
} from "../../attnviz/canvas/head/overlay.js";

/** @type {{ chosen: number[], lead: number, count: number, shown: number[] }[]} */
const cases = JSON.parse(await readFile(new URL("cases/overlay.json", import.meta.url), "utf8"));

test("the browser draws the heads that a saved picture has, and no two of one colour", () => {
  for (const { chosen, lead, count, shown } of cases) {
    assert.deepEqual(overlaidHeads(chosen, lead, count), shown);
    assert.equal(new Set(overlayColours(shown).values()).size, shown.length);
  }
});

test("a head is laid over and taken away; the one on show stays, and eight are the most", () => {
  assert.deepEqual(toggleOverlay([], 3, 1, 12), [3]);
  assert.deepEqual(toggleOverlay([3], 5, 1, 12), [3, 5]);
  assert.deepEqual(toggleOverlay([3, 5], 3, 1, 12), [5]);
  assert.deepEqual(toggleOverlay([3], 1, 1, 12), [3]);
  assert.deepEqual(toggleOverlay([3], 12, 1, 12), [3]);
  const full = [1, 2, 3, 4, 5, 6, 7];
  assert.equal(overlaidHeads(full, 0, 12).length, MOST_HEADS);
  assert.deepEqual(toggleOverlay(full, 9, 0, 12), full);
  assert.deepEqual(toggleOverlay(full, 4, 0, 12), [1, 2, 3, 5, 6, 7]);
});

test("heads laid over others keep their colours when another head is on show", () => {
  const before = overlayColours(overlaidHeads([3, 11, 5], 8, 12));
  const after = overlayColours(overlaidHeads([3, 11, 5], 0, 12));
  for (const head of [3, 11, 5]) assert.equal(after.get(head), before.get(head));
});

test("the legend is about the cell pointed at, else the token, else the row that is told of", () => {
  const token = /** @type {const} */ ({ axis: "k", i: 2 });
  const cell = /** @type {const} */ ({ axis: "cell", q: 1, k: 0 });
  assert.deepEqual(describedCell(cell, [3, 3], token, 0), cell);
  assert.deepEqual(describedCell(null, [3, 2], token, 0), { axis: "cell", q: 3, k: 2 });
  assert.deepEqual(describedCell(token, [3, 2], token, 0), token);
  assert.deepEqual(describedCell(null, null, null, 4), { axis: "q", i: 4 });
});

test("Python's heads are taken over, but not while it has not heard of newer ones", () => {
  const group = groupOf("overlay test");
  const told = [];
  group.listeners.add((what) => told.push(what));
  adoptOverlay(group, { over: [3], session: "s", overs: 0 });
  assert.deepEqual([group.over, told], [[3], ["over"]]);
  group.over = [3, 5];
  const seq = group.overs.next();
  adoptOverlay(group, { over: [], session: "s", overs: 0 });
  assert.deepEqual(group.over, [3, 5]);
  adoptOverlay(group, { over: [3, 5], session: "s", overs: seq });
  adoptOverlay(group, { over: null, session: "s", overs: seq });
  assert.deepEqual(group.over, [3, 5]);
});
