import assert from "node:assert/strict";
import { test } from "node:test";
import { apart, gestureOf, stopAfter } from "../../attnviz/canvas/presenter/presenter_keys.js";

/**
 * What a key asks for, pressed inside of elements of these kinds.
 * @param {string} key
 * @param {{ kinds?: string[] } & Partial<import("../../attnviz/canvas/presenter/presenter_keys.js").Pressed>} [given]
 */
function gesture(key, { kinds = [], ...given } = {}) {
  const within = (/** @type {string} */ selector) => kinds.some((kind) => selector.includes(kind));
  return gestureOf({ key, taken: false, open: false, present: true, walks: false, within, ...given });
}

test("arrows walk a lesson, and every page while it is presented", () => {
  assert.equal(gesture("ArrowRight"), "next");
  assert.equal(gesture("ArrowLeft", { present: false, walks: true }), "previous");
  assert.equal(gesture("ArrowRight", { present: false }), null);
});

test("a remote control's keys walk only while something is presented", () => {
  assert.equal(gesture("PageDown"), "next");
  assert.equal(gesture("PageUp"), "previous");
  assert.equal(gesture("PageDown", { present: false, walks: true }), null);
});

test("p begins and ends it, Escape only ends it", () => {
  assert.equal(gesture("p"), "toggle");
  assert.equal(gesture("p", { present: false }), "toggle");
  assert.equal(gesture("Escape"), "leave");
  assert.equal(gesture("Escape", { present: false }), null);
});

test("what is typed stays where it is typed", () => {
  for (const key of ["p", "ArrowRight", "PageDown", "Escape"])
    assert.equal(gesture(key, { kinds: ["textarea"] }), null);
});

test("arrows belong to what moves by them, and a remote control is heard all the same", () => {
  assert.equal(gesture("ArrowRight", { kinds: ["[role=slider]"] }), null);
  assert.equal(gesture("PageDown", { kinds: ["[role=slider]"] }), "next");
});

test("a key that something has used, or that the browser means, is left alone", () => {
  assert.equal(gesture("ArrowRight", { taken: true }), null);
  assert.equal(gesture("p", { taken: true }), null);
});

test("Escape closes what is open above the page first", () => {
  assert.equal(gesture("Escape", { open: true }), null);
});

test("next goes to the nearest picture below, previous to the nearest above, and then leaves the section", () => {
  assert.equal(stopAfter([8, 700, 1400], 1, 2000), 700);
  assert.equal(stopAfter([-1400, -700, 8], -1, 2000), -700);
  assert.equal(stopAfter([-1400, -700, 8], 1, 2000), null);
  assert.equal(stopAfter([8, 700], -1, 2000), null);
  assert.equal(stopAfter([300], 1, 2000), null);
});

test("a picture that the page's end keeps below the window's top does not hold next back", () => {
  assert.equal(stopAfter([-45, 666], 1, 0), null);
  assert.equal(stopAfter([-45, 666], 1, 60), 666);
});

test("of pictures side by side the first is stopped at, though one stands lower", () => {
  const spans = [
    { top: 17, bottom: 647 },
    { top: 71, bottom: 701 },
    { top: 782, bottom: 1412 },
  ];
  assert.deepEqual(apart(spans), [spans[0], spans[2]]);
});
