import assert from "node:assert/strict";
import { test } from "node:test";
import { fetchAround } from "../../attnviz/canvas/head/head_supply.js";

/** @param {(asked: string[], group: { pointed: [number, number] | null }) => void} then what happens after each fetch, and after the rest */
async function fetched(then) {
  const asked = [];
  /** @type {{ pointed: [number, number] | null, counts: number[] }} */
  const group = { pointed: [1, 1], counts: [3, 3, 3] };
  const get = async (tile) => {
    asked.push(String(tile));
    then(asked, group);
  };
  const rest = async () => then([...asked, "rest"], group);
  await fetchAround(group, get, rest);
  return asked;
}

test("the head that is pointed at comes first, and its neighbours only while the hand stays", async () => {
  assert.deepEqual(await fetched(() => {}), ["1,1", "1,2", "1,0", "2,1", "0,1"]);
  const goes = (asked, group) => {
    if (asked.length === 3 && !asked.includes("rest")) group.pointed = null;
  };
  assert.deepEqual(await fetched(goes), ["1,1", "1,2", "1,0"]);
});

test("a hand that only passes by has one head fetched", async () => {
  const passes = (asked, group) => {
    if (asked.includes("rest")) group.pointed = [0, 0];
  };
  assert.deepEqual(await fetched(passes), ["1,1"]);
});
