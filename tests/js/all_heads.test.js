import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { AllHeads, bringAllHeads, packRawScores } from "../../attnviz/canvas/shared/raw_scores.js";
import { writeHeader } from "../../attnviz/canvas/shared/packing.js";
import { groupOf } from "../../attnviz/canvas/shared/group.js";

const { header, payload, heads } = JSON.parse(
  await readFile(new URL("cases/raw_scores.json", import.meta.url), "utf8"),
).plain;

const bytes = () => writeHeader({ doc: "d", heads: [1, 2], raw: header }, Buffer.from(payload, "base64"));
const binary = { "content-type": "application/octet-stream" };
/**
 * @param {Uint8Array<ArrayBuffer> | string} body
 * @param {ResponseInit} init
 */
const answering = (body = bytes(), init = { headers: binary }) => {
  const asked = [];
  const get = async (address) => {
    asked.push(address);
    return new Response(body, init);
  };
  return { asked, get };
};

function listeningGroup(name) {
  const group = groupOf(name);
  const heard = [];
  group.listeners.add((what) => heard.push(what));
  return { group, heard };
}

test("a head is found by its layer and its place in it", () => {
  const all = AllHeads.read(bytes(), "/here");
  assert.equal(all.head([0, 0]), all.heads[0]);
  assert.equal(all.head([1, 1]), all.heads[2]);
  assert.ok(Math.abs((all.head([1, 0])?.scores[3] ?? NaN) - heads[1].scores[3]) < 1e-4);
  /** @type {([number, number] | null)[]} */
  const missing = [null, [0, 1], [1, 2], [2, 0]];
  for (const wrong of missing) assert.equal(all.head(wrong), null);
});

test("heads that are packed again are the same heads", () => {
  const all = AllHeads.read(bytes());
  const { header: raw, payload: packed } = packRawScores(all.heads);
  const again = AllHeads.read(writeHeader({ doc: "d", heads: all.counts, raw }, packed));
  all.heads.forEach((head, i) => {
    const { scores, mask, scale, dHead, shape } = again.heads[i];
    assert.deepEqual({ scores, mask, scale, dHead, shape }, { ...pick(head) });
  });
});

/** @param {import("../../attnviz/canvas/shared/types.js").RawHead} head */
const pick = ({ scores, mask, scale, dHead, shape }) => ({ scores, mask, scale, dHead, shape });

test("all heads are fetched once, however often it is asked for", async () => {
  const { group, heard } = listeningGroup("once");
  const { asked, get } = answering();
  await Promise.all([bringAllHeads(group, "/a", get), bringAllHeads(group, "/a", get)]);
  await bringAllHeads(group, "/a", get);
  assert.deepEqual([asked, heard, group.all?.from], [["/a"], ["all"], "/a"]);
});

test("another sentence lets go of the heads before its own have come", async () => {
  const { group, heard } = listeningGroup("other");
  await bringAllHeads(group, "/a", answering().get);
  const coming = bringAllHeads(group, "/b", answering().get);
  assert.equal(group.all, null);
  await coming;
  assert.equal(group.all?.from, "/b");
  await bringAllHeads(group, null, answering().get);
  assert.equal(group.all, null);
  assert.deepEqual(heard, ["all", "all", "all", "all"]);
});

test("an answer that another sentence has overtaken is dropped", async () => {
  const { group } = listeningGroup("late");
  let answerLate = () => {};
  const late = new Promise((resolve) => {
    answerLate = () => resolve(new Response(bytes(), { headers: binary }));
  });
  const first = bringAllHeads(group, "/a", () => late);
  await bringAllHeads(group, "/b", answering().get);
  answerLate();
  await first;
  assert.equal(group.all?.from, "/b");
});
