// A file of a picture is composed of title, picture, caption and credit.

import assert from "node:assert/strict";
import { test } from "node:test";
import { figureDocument, fileTheme } from "../../attnviz/canvas/scene/figure.js";

const COLOURS = { q: "#0072B2", k: "#D55E00" };
const THEME = fileTheme("white", COLOURS);
const LOOK = /** @type {const} */ ({ background: "white", title: "", caption: "", credit: "", bar: true, fonts: "" });

/** @param {string} svg */
const heightOf = (svg) => Number(/height="(\d+)"/.exec(svg)?.[1]);

test("title, caption and credit each take lines of their own, and none where they are empty", () => {
  const figure = { width: 400, height: 10, title: "", draw: () => {} };
  const made = (/** @type {Record<string, string>} */ more) => figureDocument([figure], THEME, { ...LOOK, ...more });
  const bare = heightOf(made({}));
  for (const part of ["title", "caption", "credit"]) {
    const svg = made({ [part]: "said <here>" });
    assert.ok(heightOf(svg) > bare, part);
    assert.ok(svg.includes("said &lt;here&gt;</text>"), part);
  }
  assert.ok(made({ title: "T", caption: "C" }).includes("<title>T</title><desc>C</desc>"), "alternative text");
  const told = figureDocument([{ ...figure, said: "S" }], THEME, { ...LOOK, caption: "C" });
  assert.ok(told.includes("<desc>S\nC</desc>") && told.includes(">S</text>"), "what a picture computes of itself");
});
