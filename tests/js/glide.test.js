// What is on show glides to what is to be shown next: marks by their keys, a matrix by the positions of its rows and columns.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Glide, marksBetween } from "../../attnviz/canvas/scene/glide.js";

/** @typedef {{ key: string, alpha: number, x: number }} Mark */

const LONG = 250;

/** A browser whose clock moves when a test says so. */
function browser() {
  let clock = 1000;
  /** @type {((time: number) => void) | null} */
  let asked = null;
  const page = {
    performance: { now: () => clock },
    document: { hidden: false },
    matchMedia: () => ({ matches: false }),
    requestAnimationFrame: (/** @type {(time: number) => void} */ draw) => {
      asked = draw;
      return 1;
    },
    cancelAnimationFrame: () => (asked = null),
    IntersectionObserver: class {
      /** @param {(entries: { isIntersecting: boolean }[]) => void} tell */
      constructor(tell) {
        // a busy page is told of several changes at once, the newest last
        this.observe = () => tell([{ isIntersecting: false }, { isIntersecting: true }]);
      }
    },
  };
  Object.assign(globalThis, page);
  const picture = /** @type {HTMLElement} */ (/** @type {unknown} */ ({ dataset: {}, isConnected: true }));
  /** @type {Mark[][]} */
  const drawn = [];
  /** @type {Glide<Mark[]>} */
  const glide = new Glide(picture, (marks) => drawn.push(marks), marksBetween);
  const wait = (/** @type {number} */ long) => {
    clock += long;
    const draw = asked;
    asked = null;
    draw?.(clock);
  };
  return { glide, drawn, picture, wait, isAsked: () => asked !== null };
}

/** @param {Record<string, number>} places @returns {Mark[]} */
const marks = (places) => Object.entries(places).map(([key, x]) => ({ key, alpha: 1, x }));

/** @param {Mark[]} all */
const byKey = (all) => Object.fromEntries(all.map(({ key, alpha, x }) => [key, [x, alpha]]));

test("a mark moves, one that leaves fades where it is, one that enters appears where it will be", () => {
  const { glide, drawn, picture, wait, isAsked } = browser();
  glide.to(marks({ stays: 0, leaves: 5 }));
  assert.deepEqual([drawn.length, isAsked()], [1, false], "where nothing was, nothing glides");
  glide.to(marks({ stays: 100, enters: 7 }));
  wait(100);
  const { stays, leaves, enters } = byKey(drawn.at(-1) ?? []);
  assert.ok(stays[0] > 0 && stays[0] < 100 && stays[1] === 1, String(stays));
  assert.ok(leaves[0] === 5 && leaves[1] > 0 && leaves[1] < 1, String(leaves));
  assert.ok(enters[0] === 7 && enters[1] > 0 && enters[1] < 1, String(enters));
  assert.ok("gliding" in picture.dataset, "tests wait for it");
  wait(LONG);
  assert.deepEqual(byKey(drawn.at(-1) ?? []), { stays: [100, 1], enters: [7, 1] });
  assert.ok(!isAsked() && !("gliding" in picture.dataset), "it has ended");
});

test("another change begins from what is on show, a hand is followed at once, the same goal goes on", () => {
  const { glide, drawn, wait, isAsked } = browser();
  glide.show(marks({ a: 0 }));
  glide.to(marks({ a: 100 }));
  wait(50);
  const [{ x }] = drawn.at(-1) ?? [];
  const frames = drawn.length;
  glide.to(marks({ a: 100 }));
  assert.equal(drawn.length, frames, "it is on its way there");
  glide.to(marks({ a: -100 }));
  const [{ x: next }] = drawn.at(-1) ?? [];
  assert.ok(next < x && next > x - 60, `${x} to ${next}`);
  glide.show(marks({ a: 30 }));
  assert.deepEqual(byKey(drawn.at(-1) ?? []), { a: [30, 1] });
  assert.ok(!isAsked());
  wait(LONG);
  assert.deepEqual(byKey(drawn.at(-1) ?? []), { a: [30, 1] }, "nothing comes after the hand");
});
