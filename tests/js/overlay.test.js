import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { adoptOverlay, groupOf } from "../../attnviz/canvas/shared/group.js";
import { overlayColours, overlaidHeads } from "../../attnviz/canvas/head/overlay.js";

/** @type {{ chosen: number[], lead: number, count: number, shown: number[] }[]} */
const cases = JSON.parse(await readFile(new URL("cases/overlay.json", import.meta.url), "utf8"));

test("the browser draws the heads that a saved picture has, and no two of one colour", () => {
  for (const { chosen, lead, count, shown } of cases) {
    assert.deepEqual(overlaidHeads(chosen, lead, count), shown);
    assert.equal(new Set(overlayColours(shown).values()).size, shown.length);
  }
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
