import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { raceSentence, stepsToArrive } from "../../attnviz/canvas/signal_race/race_scene.js";

const cases = JSON.parse(await readFile(new URL("cases/race.json", import.meta.url), "utf8"));

test("each machine needs as many steps as Python counts", () => {
  assert.ok(cases.length >= 40);
  for (const { steps, ...race } of cases) {
    for (const name of /** @type {const} */ (["recurrence", "convolution", "attention"])) {
      assert.equal(stepsToArrive(name, race), steps[name], JSON.stringify(race));
    }
  }
});

test("the sentence counts pairs of the words between, both ends included", () => {
  const words = { arrived: "{recurrence} {convolution} {attention} {pairs}", dilated: "" };
  assert.equal(raceSentence({ distance: 1, kernel: 3, dilated: false }, words), "1 1 1 4");
  assert.equal(raceSentence({ distance: 20, kernel: 3, dilated: false }, words), "20 10 1 441");
});
