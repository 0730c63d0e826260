// What a hand does on a plot, told from the events of its fingers.

import assert from "node:assert/strict";
import { test } from "node:test";
import { listenToGestures } from "../../attnviz/canvas/shared/plot_gestures.js";

/** A stage, a way to send it events, and what was heard. @param {object} gesture what each begins */
function heardOn(gesture = {}) {
  /** @type {any[]} */
  const heard = [];
  const stage = /** @type {any} */ (Object.assign(new EventTarget(), { setPointerCapture: () => heard.push("held") }));
  listenToGestures(stage, {
    begin: () => ({
      move: (_event, by) => heard.push(["move", ...by]),
      press: () => heard.push("press"),
      end: (cancelled) => heard.push(cancelled ? "cancelled" : "end"),
      ...gesture,
    }),
    point: (event) => heard.push(event ? "point" : "gone"),
    zoom: (factor, { clientX, clientY }) => heard.push(["zoom", factor, clientX, clientY]),
    takesWheel: (event) => event.deltaY < 0,
  });
  const send = (/** @type {string} */ name, /** @type {number} */ x = 0, y = 0, more = {}) => {
    const about = { clientX: x, clientY: y, pointerId: 1, pointerType: "mouse", button: 0, ...more };
    stage.dispatchEvent(Object.assign(new Event(name, { cancelable: true }), about));
  };
  return { heard, send };
}

test("a press may slip by a few pixels, a drag goes on from where it began", () => {
  const { heard, send } = heardOn();
  send("pointermove", 4, 4);
  send("pointerdown", 10, 10);
  send("pointermove", 13, 10);
  send("pointerup", 13, 10);
  assert.deepEqual(heard.splice(0), ["point", "point", "end", "press"]);
  send("pointerdown", 10, 10);
  send("pointermove", 30, 4);
  send("pointermove", 12, 10);
  send("pointerup", 12, 10);
  assert.deepEqual(heard.splice(0), ["held", ["move", 20, -6], ["move", 2, 0], "end"]);
  send("pointerdown", 10, 10, { button: 2 });
  send("pointerup", 10, 10);
  assert.deepEqual(heard, []);
});

test("a stroke moves at once, and one that the page takes over is cancelled", () => {
  const { heard, send } = heardOn({ atOnce: true });
  const touch = { pointerType: "touch" };
  send("pointerdown", 1, 1, touch);
  send("pointermove", 2, 1, touch);
  send("pointercancel", 2, 1, touch);
  assert.deepEqual(heard, ["held", ["move", 1, 0], "gone", "cancelled"]);
});

test("two fingers zoom around their middle, and press nothing", () => {
  const { heard, send } = heardOn();
  const [first, second] = [1, 2].map((pointerId) => ({ pointerId, pointerType: "touch" }));
  send("pointerdown", 0, 0, first);
  send("pointerdown", 40, 0, second);
  send("pointermove", 80, 0, second);
  send("pointerup", 80, 0, second);
  send("pointermove", 5, 0, first);
  send("pointerup", 5, 0, first);
  assert.deepEqual(heard, ["cancelled", ["zoom", 2, 40, 0], "gone"]);
});

test("the wheel zooms where the plot takes it, else the page scrolls", () => {
  const { heard, send } = heardOn();
  send("wheel", 7, 8, { deltaY: 30, deltaMode: 0 });
  send("wheel", 7, 8, { deltaY: -30, deltaMode: 0 });
  assert.deepEqual(heard, [["zoom", Math.exp(0.1), 7, 8]]);
});
