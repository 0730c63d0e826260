import assert from "node:assert/strict";
import { test } from "node:test";
import { isRightToLeft } from "../../attnviz/ui/canvas/src/writing_direction.js";

test("a sentence is laid out from the right where most of its letters are written so", () => {
  assert.equal(isRightToLeft(["ה", "חתול", " ישב", "."]), true);
  assert.equal(isRightToLeft(["القط", " جلس"]), true);
  assert.equal(isRightToLeft(["The", " cat", " said", " שלום"]), false);
  assert.equal(isRightToLeft(["猫", "が", "いる"]), false);
  assert.equal(isRightToLeft(["12", "?!"]), false);
  assert.equal(isRightToLeft([]), false);
});
