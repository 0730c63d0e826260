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

/** Draws one column, from its upper left corner. @param {DrawingContext} context @param {ColumnsScene} scene @param {number} at */
export function drawColumn(context, { columns, facts, wires, colours, theme, cacheAt }, at) {
  const column = columns[at];
  const type = (/** @type {number} */ size, weight = 400) => `${weight} ${size}px ${theme.font}`;
  drawHeads(context, column, wires, colours, theme);
  drawWith(context, { fillStyle: theme.text, textAlign: "left", textBaseline: "middle" });
  write(context, column.name, 10, type(18, 700));
  write(context, column.counted, 33, type(FACT), 0.85);
  facts[at].forEach((line, i) => write(context, line, WIRES_AT + wires + 34 + LINE * i, type(FACT)));
  write(context, column.cache, cacheAt + 4, type(17, 700));
  drawWith(context, { fillStyle: colours.masked, globalAlpha: 0.3 });
  fillRounded(context, 0, cacheAt + 18, WIDE, 12, 4);
  drawWith(context, { fillStyle: colours.k, globalAlpha: 1 });
  fillRounded(context, 0, cacheAt + 18, Math.max(3, WIDE * column.share), 12, 4);
}

/**
 * Query heads above, K/V heads below, each query head wired to what it reads.
 * @param {DrawingContext} context @param {SharingColumn} column @param {number} wires pixels between them
 * @param {SharingHeader["colours"]} colours @param {Theme} theme
 */
function drawHeads(context, { heads, kv_heads: kvHeads }, wires, colours, theme) {
  const step = WIDE / heads;
  const size = Math.min(LARGEST_HEAD, step * 0.78);
  const half = Math.min(LARGEST_HEAD, (WIDE / kvHeads) * 0.39);
  const bottom = WIRES_AT + wires;
  const middles = Array.from({ length: kvHeads }, (_, kv) => ((kv + 0.5) * WIDE) / kvHeads);
  drawWith(context, { strokeStyle: colours.masked, lineWidth: Math.min(1.2, step / 4) });
  context.beginPath();
  for (let head = 0; head < heads; head++) {
    context.moveTo((head + 0.5) * step, WIRES_AT + size);
    context.lineTo(middles[Math.floor((head * kvHeads) / heads)], bottom);
  }
  context.stroke();
  const font = `600 11px ${theme.font}`;
  drawWith(context, { font, textAlign: "center", textBaseline: "middle" });
  for (let head = 0; head < heads; head++) {
    drawHead(context, "Q", (head + 0.5) * step - size / 2, WIRES_AT, size, colours.q);
  }
  for (const x of middles) {
    drawHead(context, "K", x - half, bottom, half, colours.k);
    drawHead(context, "V", x, bottom, half, colours.v);
  }
}

/** @param {DrawingContext} context @param {string} letter @param {number} x @param {number} y @param {number} size @param {string} colour */
function drawHead(context, letter, x, y, size, colour) {
  context.fillStyle = colour;
  fillRounded(context, x, y, size, size, Math.min(3, size / 5));
  if (size < 14) return;
  context.fillStyle = "#ffffff";
  context.fillText(letter, x + size / 2, y + size / 2);
}
