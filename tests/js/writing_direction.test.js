import assert from "node:assert/strict";
import { test } from "node:test";
import { fill, isRightToLeft } from "../../attnviz/canvas/shared/dom.js";
import { fillNumbers } from "../../attnviz/canvas/head/said.js";

test("a sentence is laid out from the right where most of its letters are written so", () => {
  assert.equal(isRightToLeft(["ה", "חתול", " ישב", "."]), true);
  assert.equal(isRightToLeft(["القط", " جلس"]), true);
  assert.equal(isRightToLeft(["The", " cat", " said", " שלום"]), false);
  assert.equal(isRightToLeft(["猫", "が", "いる"]), false);
  assert.equal(isRightToLeft(["12", "?!"]), false);
  assert.equal(isRightToLeft([]), false);
});

test("a token from the right leaves the numbers of its sentence where they belong", () => {
  const parts = { token: "س (3)", key: "mat", share: 0.31 };
  assert.equal(fillNumbers("“{token}” gives {share:.0%} to “{key}”", parts), "“\u2068س (3)\u2069” gives 31% to “mat”");
  const said = fill("{token} gives 0.31", { token: "س" });
  assert.equal(said, "\u2068س\u2069 gives 0.31");
  assert.equal(fill("{first}, {next}", { first: said, next: "all" }), `${said}, all`); // marked once
});
