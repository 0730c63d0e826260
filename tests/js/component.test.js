import assert from "node:assert/strict";
import { test } from "node:test";
import { viewComponent } from "../../attnviz/canvas/shared/component.js";

class Root {
  isConnected = true;
}
class Observer {
  observe() {}
  disconnect() {}
}
Object.assign(globalThis, { HTMLElement: Root, ResizeObserver: Observer });

function shown() {
  /** @type {unknown[]} */
  const told = [];
  class View {
    constructor() {
      told.push("made");
    }
    /** @param {{ data: unknown }} component */
    async show({ data }) {
      told.push(data);
    }
    leave() {
      told.push("left");
    }
  }
  const root = new Root();
  const draw = /** @type {(component: object) => () => void} */ (viewComponent(View));
  return {
    root,
    told,
    call: (/** @type {string} */ data) => draw({ data, parentElement: { querySelector: () => root } }),
  };
}

test("a call that newer data overtook leaves the view as it is when it is ended, early or late", () => {
  const { told, call } = shown();
  call("first")();
  const endSecond = call("second");
  call("third");
  endSecond();
  assert.deepEqual(told, ["made", "first", "second", "third"]);
});

test("a view is left when its root is gone from the page", () => {
  const { root, told, call } = shown();
  const end = call("first");
  root.isConnected = false;
  end();
  assert.deepEqual(told, ["made", "first", "left"]);
});
