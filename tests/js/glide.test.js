// What is on show glides to what is to be shown next: marks by their keys, a matrix by the positions of its rows and columns.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Glide, marksBetween } from "../../attnviz/canvas/scene/glide.js";
import { matrixBetween, matrixOf, pixelsOf } from "../../attnviz/canvas/scene/glide_matrix.js";
import { mixedPixel } from "../../attnviz/canvas/shared/colour.js";

/** @typedef {{ key: string, alpha: number, x: number }} Mark */

const LONG = 250;

/**
 * A browser whose clock moves when a test says so.
 * @param {{ less?: boolean, inWindow?: boolean }} [how]
 */
function browser({ less = false, inWindow = true } = {}) {
  let clock = 1000;
  /** @type {(() => void) | null} */
  let asked = null;
  const page = {
    performance: { now: () => clock },
    document: { hidden: false },
    matchMedia: () => ({ matches: less }),
    requestAnimationFrame: (/** @type {() => void} */ draw) => {
      asked = draw;
      return 1;
    },
    cancelAnimationFrame: () => (asked = null),
    IntersectionObserver: class {
      /** @param {(entries: { isIntersecting: boolean }[]) => void} tell */
      constructor(tell) {
        this.observe = () => tell([{ isIntersecting: inWindow }]);
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
    draw?.();
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

test("the first picture of a glide has moved, and each goes on in one direction", () => {
  const { glide, drawn, wait } = browser();
  glide.show(marks({ a: 0 }));
  glide.to(marks({ a: 1 }));
  for (let frame = 0; frame < 20; frame++) wait(16);
  const xs = drawn.map(([{ x }]) => x);
  assert.ok(xs[1] > 0, "no frame is lost");
  assert.deepEqual(
    xs,
    xs.toSorted((a, b) => a - b),
  );
  assert.equal(xs.at(-1), 1);
});

for (const how of [{ less: true }, { inWindow: false }]) {
  test(`nothing glides where ${JSON.stringify(how)}`, () => {
    const { glide, drawn, isAsked } = browser(how);
    glide.to(marks({ a: 0 }));
    glide.to(marks({ a: 100 }));
    assert.deepEqual(drawn.map(byKey), [{ a: [0, 1] }, { a: [100, 1] }]);
    assert.ok(!isAsked());
  });
}

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

const [BLACK, WHITE] = [0xff000000, 0xffffffff];

test("a matrix of the same rows and columns changes its colours, and what is hidden keeps that of the other end", () => {
  const keys = [[[0], [1]], [[0]]];
  const from = matrixOf("text", Uint32Array.of(BLACK, 0), keys);
  const way = matrixBetween(from, matrixOf("text", Uint32Array.of(WHITE, WHITE), keys));
  const { pixels, sides } = way?.(0.5) ?? from;
  assert.deepEqual([...pixels], [mixedPixel(BLACK, WHITE, 128), mixedPixel(0x00ffffff, WHITE, 128)]);
  assert.ok(sides.every(({ edges }) => edges === null));
  assert.equal(matrixBetween(from, matrixOf("other", Uint32Array.of(1, 2), keys)), null, "of another text");
});

test("tokens that are joined into a word glide together, and the word apart", () => {
  const tokens = matrixOf(
    "text",
    Uint32Array.of(10, 11, 12, 13).map((code) => code | BLACK),
    [[[0], [1], [2], [3]], [[0]]],
  );
  const words = matrixOf(
    "text",
    Uint32Array.of(20, 21).map((code) => code | BLACK),
    [[[0], [1, 2, 3]], [[0]]],
  );
  for (const [from, to] of [
    [tokens, words],
    [words, tokens],
  ]) {
    const way = matrixBetween(from, to);
    assert.ok(way);
    const [first, last] = [0, 1].map((share) => pixelsOf(way(share), 1, 24).pixels);
    assert.deepEqual(first, pixelsOf(stretched(from), 1, 24).pixels, "it begins as what is on show");
    assert.deepEqual(last, pixelsOf(stretched(to), 1, 24).pixels, "and ends as what will be");
    const [rows] = way(0.5).sides;
    assert.deepEqual(
      [...(rows.edges ?? [])].map((edge) => Math.round(1000 * edge)),
      [0, 375, 583, 792, 1000],
    );
  }
});

test("a token that is left out closes up, and a glide on its way is begun from", () => {
  const all = matrixOf("text", Uint32Array.of(1, 2, 3), [[[0], [1], [2]], [[0]]]);
  const without = matrixOf("text", Uint32Array.of(1, 3), [[[0], [2]], [[0]]]);
  const way = matrixBetween(all, without);
  const halfway = way?.(0.5) ?? all;
  assert.deepEqual(
    [...(halfway.sides[0].edges ?? [])].map((edge) => Math.round(1000 * edge)),
    [0, 417, 583, 1000],
  );
  const back = matrixBetween(halfway, all)?.(0) ?? all;
  assert.deepEqual(
    [...(back.sides[0].edges ?? [])].map((edge) => Math.round(1000 * edge)),
    [0, 417, 583, 1000],
  );
});

/** A matrix whose rows have edges, so that it is drawn as one on its way. @param {ReturnType<typeof matrixOf>} matrix */
function stretched({ sides, ...rest }) {
  const edged = sides.map(({ keys }) => ({
    keys,
    edges: Array.from({ length: keys.length + 1 }, (_, i) => i / keys.length),
  }));
  return { ...rest, sides: edged };
}
