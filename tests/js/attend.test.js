import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { attend } from "../../attnviz/canvas/shared/attend.js";
import { arrange } from "../../attnviz/canvas/head/head_numbers.js";
import * as edits from "../../attnviz/canvas/shared/edit.js";
import { thumbnail } from "../../attnviz/canvas/overview/tiles.js";

const { isEdited: changes, editFor, scaleFactor: factorOf, isUnmasked, editedMask: maskOf, NO_EDIT } = edits;

async function read(name) {
  return JSON.parse(await readFile(new URL(`cases/${name}.json`, import.meta.url), "utf8"));
}

function close(made, wanted, about, most = 1e-6) {
  assert.equal(made.length, wanted.length, about);
  wanted.forEach((value, i) => {
    assert.ok(Math.abs(made[i] - value) < most, `${about}, cell ${i}: ${made[i]} is not ${value}`);
  });
}

const heads = await read("attend");
const { layers } = await read("edits");

function headOf(given) {
  const bias = given.bias ? Float32Array.from(given.bias, (b) => (b === null ? -Infinity : b)) : null;
  const flags = (name) => (given[name] ? Uint8Array.from(given[name]) : null);
  return { ...given, bias, scores: Float32Array.from(given.scores), mask: flags("mask"), padding: flags("padding") };
}

heads.forEach((given, n) => {
  const what = ["mask", "bias", "softcap", "sink"].filter((name) => given[name] !== null).join(", ") || "nothing else";
  test(`head ${n} with ${what}, times ${given.factor}, gives Python's weights`, () => {
    const mask = given.mask ? Uint8Array.from(given.mask) : null;
    close(attend(headOf(given), mask, given.factor), given.weights, `head ${n}`);
  });
});

layers.forEach((layer, n) => {
  test(`layer ${n} under each edit has Python's mask, weights, words, values and small picture`, () => {
    const head = headOf(layer);
    const [rows, cols] = layer.groups;
    const norms = Float32Array.from(layer.norms);
    layer.edits.forEach((given, e) => {
      const edit = { ...NO_EDIT, ...given, painted: Uint8Array.from(layer.painted) };
      const about = `layer ${n}, edit ${e} (${given.mask}, ${given.scale})`;
      const mask = maskOf(edit, head);
      assert.deepEqual([...(mask ?? new Uint8Array(given.may.length).fill(1))], given.may, about);
      const weights = attend(head, mask, factorOf(edit, head));
      close(weights, given.weights, about);
      const how = { shape: layer.shape, rows, cols, merged: true, renormalise: true, norms: null };
      const words = arrange(weights, mask, how);
      close(words.values, given.words, `${about}, words`);
      assert.deepEqual([...(words.hidden ?? new Uint8Array(given.unseen.length))], given.unseen, about);
      close(
        arrange(weights, mask, { ...how, renormalise: false, norms }).values,
        given.values,
        `${about}, values`,
        4e-6,
      );
      assert.deepEqual([...thumbnail(weights, mask, layer.shape, 4)], given.tile, about);
    });
  });
});

test("an edit reaches this head, its layer, or all heads", () => {
  const at = (where, place) => editFor({ ...NO_EDIT, mask: "none", where }, place, [2, 3]).mask;
  assert.deepEqual([at("head", [2, 3]), at("head", [2, 4]), at("head", [1, 3])], ["none", "model", "model"]);
  assert.deepEqual([at("layer", [2, 3]), at("layer", [2, 4]), at("layer", [1, 3])], ["none", "none", "model"]);
  assert.equal(at("all", [0, 0]), "none");
});

test("what changes nothing says so, and a head's mask is off only where it was taken away and is on show so", () => {
  const edit = (more) => ({ ...NO_EDIT, ...more });
  const still = [{}, { scale: "factor", factor: 1, window: 9, where: "all" }];
  const moved = [{ mask: "causal" }, { hidden: [1] }, { scale: "none" }, { scale: "factor", factor: 0 }];
  assert.deepEqual([...still, ...moved].map((more) => changes(edit(more))), [false, false, true, true, true, true]); // prettier-ignore
  const off = edit({ mask: "none" });
  assert.deepEqual(["after", "before", "difference"].map((seen) => isUnmasked(off, seen)), [true, false, false]); // prettier-ignore
  assert.equal(isUnmasked(edit({ mask: "none", hidden: [2] }), "after"), false);
  assert.equal(isUnmasked(NO_EDIT, "after"), false);
});
