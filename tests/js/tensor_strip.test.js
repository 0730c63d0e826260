// The strip of steps scrolls so that the chosen step is seen whole.

import assert from "node:assert/strict";
import { test } from "node:test";
import { scrolledTo } from "../../attnviz/canvas/shared/motion.js";

test("a row that fits is not scrolled", () => {
  assert.equal(scrolledTo({ left: 700, width: 80 }, 900, 800), 0);
});

test("every step of a long row is seen whole", () => {
  const [seen, width] = [300, 72];
  for (let left = 0; left + width <= 936; left += 78) {
    const scrolled = scrolledTo({ left, width }, seen, 936);
    assert.ok(left >= scrolled && left + width <= scrolled + seen, `a step at ${left} is cut`);
    assert.ok(scrolled >= 0 && scrolled <= 936 - seen, "nothing is seen beyond the row's ends");
  }
});
