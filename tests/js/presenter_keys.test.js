import assert from "node:assert/strict";
import { test } from "node:test";
import { gestureOfKey, stopAfter } from "../../attnviz/canvas/presenter/presenter_keys.js";

/**
 * What a key asks for, pressed inside of elements of these kinds.
 * @param {string} key
 * @param {{ kinds?: string[] } & Partial<import("../../attnviz/canvas/presenter/presenter_keys.js").Pressed>} [given]
 */
function gesture(key, { kinds = [], ...given } = {}) {
  const within = (/** @type {string} */ selector) => kinds.some((kind) => selector.includes(kind));
  return gestureOfKey({ key, taken: false, open: false, present: true, walks: false, within, ...given });
}

const WALKED = { present: false, walks: true };
const SLIDER = { kinds: ["[role=slider]"] };
const WHAT =
  "arrows walk a lesson, and what is presented; so does a remote control; p begins and ends it, Escape ends it";
test(`${WHAT}; what is typed, used or moved by a key, or open, has it first`, () => {
  /** @type {[string, Parameters<typeof gesture>[1], string | null][]} */
  const cases = [
    ["ArrowRight", {}, "next"],
    ["ArrowLeft", WALKED, "previous"],
    ["ArrowRight", { present: false }, null],
    ["PageDown", {}, "next"],
    ["p", {}, "toggle"],
    ["Escape", {}, "leave"],
    ["Escape", { present: false }, null],
    ["ArrowRight", SLIDER, null],
    ["PageDown", SLIDER, "next"],
    ["ArrowRight", { taken: true }, null],
  ];
  for (const [key, given, wanted] of cases) assert.equal(gesture(key, given), wanted, JSON.stringify([key, given]));
  const typed = { kinds: ["textarea"] };
  for (const key of ["p", "ArrowRight", "PageDown", "Escape"]) assert.equal(gesture(key, typed), null);
});

test("next goes to the nearest picture below, previous to the nearest above, and then leaves the section", () => {
  assert.equal(stopAfter([8, 700, 1400], 1, 2000), 700);
  assert.equal(stopAfter([-1400, -700, 8], -1, 2000), -700);
  assert.equal(stopAfter([-1400, -700, 8], 1, 2000), null);
  assert.equal(stopAfter([8, 700], -1, 2000), null);
  assert.equal(stopAfter([300], 1, 2000), null);
  assert.equal(stopAfter([8, 66, 700], 1, 2000), 700, "what stands beside the picture at the top is there as well");
  assert.equal(stopAfter([-45, 666], 1, 0), null, "the page's end keeps it below the window's top");
  assert.equal(stopAfter([-45, 666], 1, 60), 666);
});
