// Ways of sharing keys and values as a drawing: query heads wired to K/V heads, facts, and a bar for the cache. No page.

import { drawWith } from "../shared/surface.js";
import { roundedRect } from "../shared/token_labels.js";
import { wrapText } from "../scene/text_width.js";

/** @import { DrawingContext, SharingColumn, SharingHeader, Theme } from "../shared/types.js" */

export const WIDE = 320;
const WIRES_AT = 48;
const LINE = 17;
const FACT = 13;
const LARGEST_HEAD = 18;

/** The columns with their facts in lines, and how high each is: as the highest. @param {SharingHeader} header */
export function columnsScene({ columns, wires, colours }, /** @type {Theme} */ theme) {
  const facts = columns.map((column) => column.facts.flatMap((fact) => wrapText(fact, WIDE, FACT)));
  const cacheAt = WIRES_AT + wires + 34 + LINE * Math.max(...facts.map(({ length }) => length)) + 8;
  return { columns, facts, wires, colours, theme, cacheAt, height: cacheAt + 34 };
}

/** @typedef {ReturnType<typeof columnsScene>} ColumnsScene */

/** @param {DrawingContext} context @param {string} text @param {number} y @param {string} type */
function write(context, text, y, type, alpha = 1) {
  drawWith(context, { font: type, globalAlpha: alpha });
  context.fillText(text, 0, y);
  context.globalAlpha = 1;
}

/** @param {DrawingContext} context @param {number} x @param {number} y @param {number} width @param {number} height @param {number} radius */
function fillRounded(context, x, y, width, height, radius) {
  roundedRect(context, x, y, width, height, radius);
  context.fill();
}

/**
 * A query head: its middle and size, and those of the K/V head that it reads.
 * @typedef {{ key: number, alpha: number, x: number, size: number, reads: number, half: number }} HeadMark
 * @typedef {{ heads: HeadMark[], share: number }} ColumnMarks what a column has that can move
 */

/** @param {SharingColumn} column @returns {ColumnMarks} */
export function marksOf({ heads, kv_heads: kvHeads, share }) {
  const step = WIDE / heads;
  const size = Math.min(LARGEST_HEAD, step * 0.78);
  const half = Math.min(LARGEST_HEAD, (WIDE / kvHeads) * 0.39);
  const marks = Array.from({ length: heads }, (_, key) => {
    const reads = ((Math.floor((key * kvHeads) / heads) + 0.5) * WIDE) / kvHeads;
    return { key, alpha: 1, x: (key + 0.5) * step, size, reads, half };
  });
  return { heads: marks, share };
}

/**
 * Draws one column, from its upper left corner.
 * @param {DrawingContext} context @param {ColumnsScene} scene @param {number} at @param {ColumnMarks} [marks] on their way to others
 */
export function drawColumn(context, scene, at, marks = marksOf(scene.columns[at])) {
  const { columns, facts, wires, colours, theme, cacheAt } = scene;
  const column = columns[at];
  const type = (/** @type {number} */ size, weight = 400) => `${weight} ${size}px ${theme.font}`;
  drawHeads(context, marks.heads, wires, colours, theme);
  drawWith(context, { fillStyle: theme.text, textAlign: "left", textBaseline: "middle" });
  write(context, column.name, 10, type(18, 700));
  write(context, column.counted, 33, type(FACT), 0.85);
  facts[at].forEach((line, i) => write(context, line, WIRES_AT + wires + 34 + LINE * i, type(FACT)));
  write(context, column.cache, cacheAt + 4, type(17, 700));
  drawWith(context, { fillStyle: colours.masked, globalAlpha: 0.3 });
  fillRounded(context, 0, cacheAt + 18, WIDE, 12, 4);
  drawWith(context, { fillStyle: colours.k, globalAlpha: 1 });
  fillRounded(context, 0, cacheAt + 18, Math.max(3, WIDE * marks.share), 12, 4);
}

/**
 * Query heads above, K/V heads below, each query head wired to what it reads.
 * @param {DrawingContext} context @param {HeadMark[]} heads @param {number} wires pixels between them
 * @param {SharingHeader["colours"]} colours @param {Theme} theme
 */
function drawHeads(context, heads, wires, colours, theme) {
  const bottom = WIRES_AT + wires;
  drawWith(context, { strokeStyle: colours.masked, lineWidth: Math.min(1.2, WIDE / heads.length / 4) });
  context.beginPath();
  for (const { x, size, reads } of heads) {
    context.moveTo(x, WIRES_AT + size);
    context.lineTo(reads, bottom);
  }
  context.stroke();
  drawWith(context, { font: `600 11px ${theme.font}`, textAlign: "center", textBaseline: "middle" });
  let last = -1;
  for (const { x, size, reads, half, alpha } of heads) {
    context.globalAlpha = alpha;
    drawHead(context, "Q", x - size / 2, WIRES_AT, size, colours.q);
    if (Math.abs(reads - last) < 0.01) continue;
    drawHead(context, "K", reads - half, bottom, half, colours.k);
    drawHead(context, "V", reads, bottom, half, colours.v);
    last = reads;
  }
  context.globalAlpha = 1;
}

/** @param {DrawingContext} context @param {string} letter @param {number} x @param {number} y @param {number} size @param {string} colour */
function drawHead(context, letter, x, y, size, colour) {
  context.fillStyle = colour;
  fillRounded(context, x, y, size, size, Math.min(3, size / 5));
  if (size < 14) return;
  context.fillStyle = "#ffffff";
  context.fillText(letter, x + size / 2, y + size / 2);
}
