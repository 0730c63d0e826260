import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { raceMarks, raceSentence, stepsToArrive } from "../../attnviz/canvas/signal_race/race_scene.js";

const cases = JSON.parse(await readFile(new URL("cases/race.json", import.meta.url), "utf8"));
const machine = { name: "", about: "", count: "{n} steps", colour: "#008000" };
const THEME = /** @type {any} */ ({ text: "#000000", background: "#ffffff", primary: "#7a2382", font: "sans-serif" });
const LOOK = {
  ...{ width: 960, height: 470, theme: THEME },
  header: {
    most: 24,
    machines: { recurrence: machine, convolution: machine, attention: machine },
    words: { goal: "", start: "" },
  },
};

test("each machine needs as many steps as Python counts", () => {
  assert.ok(cases.length >= 40);
  for (const { steps, ...race } of cases) {
    for (const name of /** @type {const} */ (["recurrence", "convolution", "attention"])) {
      assert.equal(stepsToArrive(name, race), steps[name], JSON.stringify(race));
    }
  }
});

/** Words that can be reached along the lines that are drawn, layer by layer. @param {{ key: string }[]} marks @param {string} name */
function reachedAlongLines(marks, name) {
  const joins = marks.flatMap(({ key }) => {
    const [, layer, from, to] = new RegExp(`^${name}-join-(\\d+)-(\\d+)-(\\d+)$`).exec(key)?.map(Number) ?? [];
    return layer === undefined ? [] : [{ layer, from, to }];
  });
  const layers = [new Set([0])];
  for (let layer = 0; joins.some((join) => join.layer === layer); layer++) {
    layers.push(
      new Set(joins.flatMap((join) => (join.layer === layer && layers[layer].has(join.from) ? [join.to] : []))),
    );
  }
  return layers;
}

test("the last layer drawn is the first that the drawn lines lead to the goal, and the signal stands there", () => {
  for (const { steps, ...race } of cases) {
    const marks = raceMarks(race, race.distance, LOOK);
    for (const name of /** @type {const} */ (["convolution", "attention"])) {
      const reached = reachedAlongLines(marks, name);
      assert.equal(
        reached.findIndex((words) => words.has(race.distance)),
        reached.length - 1,
        JSON.stringify(race),
      );
      assert.equal(reached.length - 1, steps[name]);
    }
    const [goal, ...signals] = ["goal", "recurrence-signal", "convolution-signal", "attention-signal"].map((key) =>
      marks.find((mark) => mark.key === key),
    );
    for (const signal of signals) assert.ok(Math.abs((signal?.x ?? NaN) - (goal?.x ?? NaN)) < 1e-9);
  }
});

test("the sentence counts pairs of the words between, both ends included", () => {
  const words = { arrived: "{recurrence} {convolution} {attention} {pairs}", dilated: "" };
  assert.equal(raceSentence({ distance: 1, kernel: 3, dilated: false }, words), "1 1 1 4");
  assert.equal(raceSentence({ distance: 20, kernel: 3, dilated: false }, words), "20 10 1 441");
});
