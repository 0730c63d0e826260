import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clampZoom,
  EVERYTHING,
  follow,
  mostZoom,
  spans,
  wheelFactor,
  zoomAt,
  zoomToBox,
} from "../../attnviz/canvas/shared/zoom.js";

/** @import { Shape } from "../../attnviz/canvas/shared/types.js" */

const SHAPE = /** @type {Shape} */ ([60, 120]);

test("at most, six tokens of a long axis are on show; a short matrix does not zoom", () => {
  assert.equal(mostZoom([60, 60]), 10);
  assert.equal(mostZoom([6, 6]), 1);
  assert.equal(mostZoom([1, 48]), 4);
});

test("a window stays inside the matrix", () => {
  assert.deepEqual(clampZoom({ z: 0.2, q0: -3, k0: 500 }, SHAPE), EVERYTHING);
  assert.deepEqual(clampZoom({ z: 2, q0: -3, k0: 500 }, SHAPE), { z: 2, q0: 0, k0: 60 });
  assert.equal(clampZoom({ z: 99, q0: 0, k0: 0 }, SHAPE).z, mostZoom(SHAPE));
});

test("zooming keeps the point under the hand where it is", () => {
  const before = { z: 2, q0: 10, k0: 30 };
  const [q, k] = [22, 50];
  const after = zoomAt(before, 1.7, q, k, SHAPE);
  const share = (zoom) => [(q - zoom.q0) / spans(zoom, SHAPE).q, (k - zoom.k0) / spans(zoom, SHAPE).k];
  share(before).forEach((s, i) => assert.ok(Math.abs(s - share(after)[i]) < 1e-12));
  assert.deepEqual(zoomAt(before, 0.001, q, k, SHAPE), EVERYTHING);
});

test("the window follows a cell by as little as needed", () => {
  const zoom = { z: 6, q0: 10, k0: 40 }; // queries 10 to 20, keys 40 to 60
  assert.deepEqual(follow(zoom, 15, 50, SHAPE), zoom);
  assert.deepEqual(follow(zoom, 20, 39, SHAPE), { z: 6, q0: 11, k0: 39 });
  assert.deepEqual(follow(zoom, 0, 119, SHAPE), { z: 6, q0: 0, k0: 100 });
});

test("a box that is drawn fills the plot, its longer side whole", () => {
  const plot = { x: 100, y: 50, w: 240, h: 120 }; // 2 pixels a cell
  const zoom = zoomToBox([140, 70, 164, 82], plot, EVERYTHING, SHAPE); // keys 20 to 32, queries 10 to 16
  assert.deepEqual(zoom, { z: 10, q0: 10, k0: 20 });
  assert.equal(zoomToBox([140, 70, 140.5, 82], plot, EVERYTHING, SHAPE), null);
});

test("a wheel that counts lines zooms like one that counts pixels, and never by a leap", () => {
  assert.equal(wheelFactor({ deltaMode: 1, deltaY: -2 }), wheelFactor({ deltaMode: 0, deltaY: -32 }));
  assert.ok(wheelFactor({ deltaMode: 0, deltaY: -30 }) > 1);
  assert.ok(wheelFactor({ deltaMode: 0, deltaY: -90000 }) < 2);
});
