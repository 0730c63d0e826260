import assert from "node:assert/strict";
import { test } from "node:test";
import { AllHeads, awaitArrivals } from "../../attnviz/canvas/shared/raw_scores.js";
import { NO_EDIT } from "../../attnviz/canvas/shared/edit.js";
import { bringEditedTiles, drawAtPace, editTilesInTasks, editTiles } from "../../attnviz/canvas/overview/tiles.js";
import { deflate } from "../../attnviz/canvas/shared/packing.js";
import { pause } from "../../attnviz/canvas/shared/surface.js";

Object.assign(globalThis, { window: globalThis });

const N = 6;
const HEADS = 5;

/** A group whose edit reaches all heads, their tiles, and these as they came. */
function edited() {
  const about = { shape: [N, N], exact: true, scale: 1, dHead: 1, mask: new Uint8Array(N * N).fill(1), padding: null };
  const heads = Array.from({ length: HEADS }, (_, i) => ({
    ...about,
    ...{ bias: null, softcap: null, sink: null },
    scores: Float32Array.from({ length: N * N }, (__, j) => Math.sin(j * (i + 1))),
  }));
  const edit = { ...NO_EDIT, mask: "window", window: 2, where: "all" };
  const tiles = heads.map((_, head) => ({ layer: 0, head }));
  const group = { all: new AllHeads(/** @type {any} */ (heads), [HEADS]), edit, selected: [0, 0], peeking: false };
  return /** @type {[any, any, Uint8Array]} */ ([group, tiles, new Uint8Array(HEADS * N * N)]);
}

/** @param {Uint8Array} codes */
async function answerOf(codes) {
  return new Response(new Uint8Array(await deflate(codes)), {
    headers: { "content-type": "application/octet-stream" },
  });
}

test("small pictures made in many tasks are those of one, and others may run in between", async () => {
  const [group, tiles, own] = edited();
  const wanted = editTiles(group, tiles, own);
  assert.ok(new Set(wanted).size > HEADS, "the edit changes them");
  let between = 0;
  const counting = setInterval(() => {
    between += 1;
  }, 0);
  const made = await editTilesInTasks(group, tiles, own, 0);
  clearInterval(counting);
  assert.deepEqual(made, wanted);
  assert.ok(between >= HEADS - 1, `${between} tasks in between`);
});

test("of many changes of a long sentence the last is drawn, one drawing at a time", async () => {
  let [change, drawing, most] = [1, 0, 0];
  /** @type {unknown[]} */
  const drawn = [];
  await new Promise((done) => {
    const follow = drawAtPace(
      () => drawn.push("in a frame"),
      async () => {
        const seen = change;
        drawing += 1;
        most = Math.max(most, drawing);
        if (seen === 1) for (change of [2, 3]) follow(200);
        await pause(100);
        drawing -= 1;
        drawn.push(seen);
        if (seen === 3) done(null);
      },
    );
    follow(200);
    void follow.ready().then(() => drawn.push("ready"));
  });
  await pause(0);
  assert.deepEqual([drawn, most], [[1, 3, "ready"], 1], "whoever saves waits for the last drawing");
});

test("what is saved waits for small pictures that the server was asked for", async () => {
  const [group] = edited();
  const codes = new Uint8Array([7, 8, 9]);
  Object.assign(group, { doc: 1, tiles: {}, listeners: [] });
  void bringEditedTiles(group, "/tiles", [0, 0], async () => {
    await pause(50);
    return answerOf(codes);
  });
  assert.equal(group.edited, undefined);
  await awaitArrivals(group);
  assert.deepEqual(group.edited.codes, codes);
});

test("small pictures under a change that come before the page has any of the heads are drawn with the first", async () => {
  const [group, tiles, own] = edited();
  Object.assign(group, { all: null, doc: "text", tiles: null, listeners: [] });
  const codes = own.slice().fill(9);
  await bringEditedTiles(group, "/tiles", [0, 0], async () => answerOf(codes));
  group.tiles = "first";
  assert.deepEqual(editTiles(group, tiles, own), codes);
  group.doc = "another text";
  assert.deepEqual(editTiles(group, tiles, own), own, "those of another text are not");
});
