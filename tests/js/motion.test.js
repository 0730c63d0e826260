// Films: frame after frame, or a few stills where less motion is asked for.

import assert from "node:assert/strict";
import { test } from "node:test";

import { film } from "../../attnviz/canvas/shared/motion.js";

/**
 * A browser whose visitor asked for less motion, or did not; a frame comes every 5 milliseconds of its own clock, however
 * late this machine is.
 * @param {boolean} less
 */
function browser(less) {
  let clock = 0;
  Object.assign(globalThis, {
    performance: { now: () => clock },
    window: globalThis,
    matchMedia: () => ({ matches: less }),
    requestAnimationFrame: (/** @type {() => void} */ draw) => {
      clock += 5;
      return setTimeout(draw, 0);
    },
    cancelAnimationFrame: clearTimeout,
  });
}

/**
 * What a film of 120 milliseconds shows.
 * @param {(share: number) => boolean} goesOn
 * @returns {Promise<number[]>}
 */
function played(goesOn = () => true) {
  return new Promise((done) => {
    /** @type {number[]} */
    const shares = [];
    const picture = { isConnected: true };
    const draw = (/** @type {number} */ share) => {
      shares.push(share);
      picture.isConnected = goesOn(share);
    };
    film(picture, 120, draw, () => done(shares));
  });
}

test("a film goes through many places, in order, and ends at its end", async () => {
  browser(false);
  const shares = await played();
  assert.ok(shares.length > 6, String(shares.length));
  assert.deepEqual(shares, shares.toSorted());
  assert.equal(shares.at(-1), 1);
});

test("a film for who asked for less motion is six stills", async () => {
  browser(true);
  assert.deepEqual(
    await played(),
    [1, 2, 3, 4, 5, 6].map((still) => still / 6),
  );
});
