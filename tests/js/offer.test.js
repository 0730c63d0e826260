// A picture offers itself as parts of a figure, and a file of it is composed of title, picture, caption and credit.

import assert from "node:assert/strict";
import { test } from "node:test";
import { figureDocument, fileTheme } from "../../attnviz/canvas/scene/figure.js";
import { offerPicture } from "../../attnviz/canvas/shared/offer.js";

/** @import { Picture } from "../../attnviz/canvas/shared/types.js" */

const COLOURS = { q: "#0072B2", k: "#D55E00" };
const THEME = fileTheme("white", COLOURS);
const LOOK = /** @type {const} */ ({ background: "white", title: "", caption: "", credit: "", bar: true, fonts: "" });

/** @param {{ name: string, wide: number }[]} shown */
function offered(shown) {
  const root = /** @type {Element & { picture: Picture }} */ ({});
  offerPicture(
    root,
    () => shown.map(({ name, wide }) => ["mask", { title: name, colours: COLOURS, wide }, new Uint8Array()]),
    ({ title, wide }) => ({ width: wide, height: 10, title, draw: (context) => context.fillRect(0, 0, wide, 10) }),
  );
  return root.picture;
}

/** @param {string} svg */
const heightOf = (svg) => Number(/height="(\d+)"/.exec(svg)?.[1]);

test("what is on show is asked for when it is saved, one part or several side by side", () => {
  const shown = [{ name: "one", wide: 50 }];
  const picture = offered(shown);
  assert.equal(picture.figure(THEME, true).width, 50);
  shown.push({ name: "two", wide: 70 });
  const both = picture.figure(THEME, true);
  assert.ok(both.width > 120);
  assert.equal(picture.parts().length, 2);
  const svg = figureDocument([both], THEME, LOOK);
  for (const { name } of shown) assert.ok(svg.includes(`>${name}</text>`));
});

test("title, caption and credit each take lines of their own, and none where they are empty", () => {
  const figure = offered([{ name: "", wide: 400 }]).figure(THEME, true);
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
