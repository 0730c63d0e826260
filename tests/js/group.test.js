import assert from "node:assert/strict";
import { test } from "node:test";
import { startGroup, groupOf, togglePin } from "../../attnviz/canvas/shared/group.js";
import { Sequence } from "../../attnviz/canvas/shared/component.js";

const pinned = (...tokens) => ({ tokens, cell: null });
const from = (more) => ({ doc: "d", session: "s", heard: 0, pins: null, start: "", ...more });

test("an answer is behind until it has heard the newest gesture; a session that begins anew is not waited for", () => {
  const sequence = new Sequence();
  assert.equal(sequence.isBehind("s", 0), false);
  const [first, second] = [sequence.next(), sequence.next()];
  assert.deepEqual(
    [0, first, second, second].map((heard) => sequence.isBehind("s", heard)),
    [true, true, false, false],
  );
  assert.equal(sequence.isBehind("another", 0), false);
  assert.equal(sequence.next(), 1);
  assert.equal(sequence.isBehind("another", 0), true);
  const anew = new Sequence();
  assert.equal(anew.isBehind("s", 41), false);
  assert.equal(anew.next(), 42, "it goes on counting where its session stands");
});

test("pins from Python replace those in the browser, except where it has not heard the newest", () => {
  const group = groupOf("pins");
  startGroup(group, from({ pins: pinned(["q", 1]), start: "a" }));
  assert.deepEqual(group.pins, [{ axis: "q", i: 1 }]);
  togglePin(group, "k", 2);
  const seq = group.pinnings.next();
  startGroup(group, from({ pins: pinned(["q", 7]), start: "late", heard: 0 }));
  assert.deepEqual(group.pins.at(-1), { axis: "k", i: 2 }, "computed before the gesture arrived");
  startGroup(group, from({ pins: pinned(["q", 7]), start: "b", heard: seq }));
  assert.deepEqual(group.pins, [{ axis: "q", i: 7 }]);
  togglePin(group, "q", 8);
  group.pinnings.next();
  startGroup(group, from({ pins: pinned(["q", 7]), start: "b", heard: seq + 1 }));
  assert.equal(group.pins.length, 2, "the same start says nothing new");
});

test("other tokens begin afresh, even in the middle of a gesture", () => {
  const group = groupOf("tokens");
  startGroup(group, from({}));
  togglePin(group, "q", 3);
  group.zoom = { z: 4, q0: 1, k0: 1 };
  group.pinnings.next();
  const heard = [];
  group.listeners.add((what) => heard.push(what));
  startGroup(group, from({ doc: "other", pins: pinned(["k", 0]), start: "c" }));
  assert.deepEqual([group.pins, group.zoom.z, group.hover], [[{ axis: "k", i: 0 }], 1, null]);
  assert.deepEqual(heard, ["pins", "document"]);
});
