// The way of a token through its model as a figure, and below it what is in the block that is lit.

import { drawBox, frame, GAP, heightOf, widthOf } from "./strip_scene.js";
import { fill } from "../shared/dom.js";
import { drawWith } from "../shared/surface.js";
import { textWidth } from "../scene/text_width.js";

/** @import { PartBox, PlacedBox, Squares } from "./strip_scene.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { ModelPart, ModelStripFigureHeader, Theme } from "../shared/types.js" */

/** Around what is inside a block, above its boxes, and between it and the way. */
const [PAD, TITLE, BETWEEN] = [13, 34, 12];

/** @param {ModelPart} part @param {Squares | null} [squares] @returns {PartBox} */
function boxOf(part, squares = null) {
  return { part, squares };
}

/** @param {PartBox[]} boxes */
function widthOfRow(boxes) {
  return boxes.reduce((sum, box) => sum + widthOf(box) + GAP, -GAP);
}

/** Boxes beside each other, all as high as the highest; what room is left goes to the one with squares. */
/** @param {PartBox[]} boxes @param {number} left @param {number} top @param {number} width @param {boolean} bar @returns {PlacedBox[]} */
function placeRow(boxes, left, top, width, bar) {
  const spare = width - widthOfRow(boxes);
  const wide = boxes.map((box) => widthOf(box) + (box.squares ? spare : 0));
  const h = Math.max(...boxes.map((box, i) => heightOf(box, wide[i], bar)));
  return boxes.map((box, i) => {
    const x = left + wide.slice(0, i).reduce((sum, w) => sum + w + GAP, 0);
    return { ...box, x, y: top, w: wide[i], h };
  });
}

/** @param {ModelStripFigureHeader} header @param {Uint8Array} _payload @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function modelStripFigure(header, _payload, theme, bar) {
  const { before, blocks, after, heads, at, words, title } = header;
  const [layer, head] = at;
  const { attention, mlp, norms } = blocks.of[layer];
  const middle = boxOf(blocks, { count: blocks.of.length, lit: layer, numbered: false });
  const way = [...before.map((part) => boxOf(part)), middle, ...after.map((part) => boxOf(part))];
  const inside = [boxOf(attention, { count: heads[layer], lit: head, numbered: true }), boxOf(mlp), boxOf(norms)];
  const named = fill(words.inside, { layer, head });
  const width = Math.max(widthOfRow(way), widthOfRow(inside) + 2 * PAD, textWidth(named, 13, 600) + 2 * PAD);
  const above = placeRow(way, 0, 0, width, bar);
  const top = above[0].h + BETWEEN;
  const below = placeRow(inside, PAD, top + TITLE, width - 2 * PAD, bar);
  const height = top + TITLE + below[0].h + PAD;
  const draw = (/** @type {SvgContext} */ context) => {
    for (const box of [...above, ...below]) drawBox(context, box, theme, bar);
    context.setLineDash([4, 3]);
    frame(context, { x: 0, y: top, w: width, h: height - top }, 8, theme.primary);
    context.setLineDash([]);
    const style = { fillStyle: theme.text, textBaseline: /** @type {const} */ ("middle") };
    drawWith(context, { ...style, font: `600 13px ${theme.font}`, textAlign: "left" });
    context.fillText(named, PAD, top + 18);
    drawWith(context, { font: `14px ${theme.font}`, textAlign: "center", globalAlpha: 0.7 });
    for (const { x, y, h } of [...above.slice(1), below[1]]) context.fillText("→", x - GAP / 2, y + h / 2);
    context.globalAlpha = 1;
  };
  return { width, height, title, draw };
}
