import assert from "node:assert/strict";
import { test } from "node:test";
import { EVERYTHING, zoomTo, largestZoom, visibleSpans, zoomAt } from "../../attnviz/canvas/shared/zoom.js";

/** @import { Shape } from "../../attnviz/canvas/shared/types.js" */

const SHAPE = /** @type {Shape} */ ([60, 120]);

test("at most, six tokens of a long axis are on show; a short matrix does not zoom", () => {
  assert.equal(largestZoom([60, 60]), 10);
  assert.equal(largestZoom([6, 6]), 1);
  assert.equal(largestZoom([1, 48]), 4);
});

test("zooming keeps the point under the hand where it is", () => {
  const before = { z: 2, q0: 10, k0: 30 };
  const [q, k] = [22, 50];
  const after = zoomAt(before, 1.7, q, k, SHAPE);
  const share = (zoom) => [(q - zoom.q0) / visibleSpans(zoom, SHAPE).q, (k - zoom.k0) / visibleSpans(zoom, SHAPE).k];
  share(before).forEach((s, i) => assert.ok(Math.abs(s - share(after)[i]) < 1e-12));
  assert.deepEqual(zoomAt(before, 0.001, q, k, SHAPE), EVERYTHING);
});

test("the window follows a cell by as little as needed", () => {
  const zoom = { z: 6, q0: 10, k0: 40 }; // queries 10 to 20, keys 40 to 60
  assert.deepEqual(zoomTo(zoom, 15, 50, SHAPE), zoom);
  assert.deepEqual(zoomTo(zoom, 20, 39, SHAPE), { z: 6, q0: 11, k0: 39 });
  assert.deepEqual(zoomTo(zoom, 0, 119, SHAPE), { z: 6, q0: 0, k0: 100 });
});
