import assert from "node:assert/strict";
import { test } from "node:test";
import { fetchAround, neighbours } from "../../attnviz/ui/canvas/src/ahead.js";

test("neighbours are those that exist, of the same layer first", () => {
  const around = [
    [1, 2],
    [1, 0],
    [2, 1],
    [0, 1],
  ];
  assert.deepEqual(neighbours([1, 1], [3, 3, 3]), around);
  assert.deepEqual(neighbours([0, 0], [1]), []);
  assert.deepEqual(neighbours([0, 3], [4, 2]), [[0, 2]]);
});

test("the head that is pointed at comes first, and its neighbours only while the hand stays", async () => {
  const asked = [];
  let stays = true;
  const get = async (tile) => {
    asked.push(String(tile));
    if (asked.length === 3) stays = false;
  };
  await fetchAround(
    [1, 1],
    [3, 3, 3],
    get,
    () => stays,
    async () => {},
  );
  assert.deepEqual(asked, ["1,1", "1,2", "1,0"]);
});

test("a hand that only passes by has one head fetched", async () => {
  const asked = [];
  let stays = true;
  const get = async (tile) => asked.push(String(tile));
  const rest = async () => {
    stays = false;
  };
  await fetchAround([1, 1], [3, 3, 3], get, () => stays, rest);
  assert.deepEqual(asked, ["1,1"]);
});
