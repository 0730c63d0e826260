// Ways of sharing keys and values as a drawing: query heads wired to K/V heads, facts, and a bar for the cache. No page.

import { clamp } from "../shared/numbers.js";
import { drawWith, fillBox, frameBox, writeText } from "../shared/surface.js";
import { wrapText } from "../scene/text_width.js";

/** @import { DrawingContext, ForFile, SharingColumn, SharingHeader, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */

/** Pixels of a column in a file, its frame and the room inside it among them; between two columns. */
export const [WIDE, ROOM] = [352, 16];
/** How much smaller and larger a column is drawn that is narrower or wider; beyond it, texts are broken anew. */
const [SMALLEST, LARGEST] = [0.85, 1.6];
const LINE = 17;
const FACT = 13;
const LARGEST_HEAD = 18;

/** The columns with their texts in lines, and how high each is: as the highest. */
/** @param {SharingHeader} header @param {Theme} theme @param {number} width of a column with its frame */
export function columnsScene({ columns, wires, colours }, theme, width) {
  const scale = clamp((width - 2 * ROOM) / (WIDE - 2 * ROOM), SMALLEST, LARGEST);
  const wide = (width - 2 * ROOM) / scale;
  const lines = columns.map(({ counted, facts }) => ({
    counted: wrapText(counted, wide, FACT),
    facts: facts.flatMap((fact) => wrapText(fact, wide, FACT)),
  }));
  const most = (/** @type {"counted" | "facts"} */ of) => LINE * Math.max(...lines.map((texts) => texts[of].length));
  const wiresAt = 31 + most("counted");
  const factsAt = wiresAt + wires + 34;
  const cacheAt = factsAt + most("facts") + 8;
  const height = (cacheAt + 34) * scale + 2 * ROOM;
  return { columns, lines, wires, colours, theme, scale, wide, wiresAt, factsAt, cacheAt, width, height };
}

/** @typedef {ReturnType<typeof columnsScene>} ColumnsScene */

/**
 * A query head: its middle and size, and those of the K/V head that it reads, as shares of the width.
 * @typedef {{ key: number, alpha: number, x: number, size: number, reads: number, half: number }} HeadMark
 * @typedef {{ heads: HeadMark[], share: number }} ColumnMarks what a column has that can move
 */

/** @param {SharingColumn} column @returns {ColumnMarks} */
export function columnMarks({ heads, kv_heads: kvHeads, share }) {
  const marks = Array.from({ length: heads }, (_, key) => {
    const reads = (Math.floor((key * kvHeads) / heads) + 0.5) / kvHeads;
    return { key, alpha: 1, x: (key + 0.5) / heads, size: 0.78 / heads, reads, half: 0.39 / kvHeads };
  });
  return { heads: marks, share };
}

/**
 * Draws one column in its frame.
 * @param {DrawingContext} context @param {ColumnsScene} scene @param {number} at @param {ColumnMarks} [marks] on their way to others
 */
export function drawColumn(context, scene, at, marks = columnMarks(scene.columns[at])) {
  const { columns, lines, colours, theme, scale, wide, factsAt, cacheAt, width, height } = scene;
  const column = columns[at];
  const write = (/** @type {string} */ text, /** @type {number} */ y, type = `400 ${FACT}px`, alpha = 1) =>
    writeText(context, text, 0, y, theme, type, alpha);
  frameBox(context, { x: 0, y: 0, w: width, h: height }, 8, theme.border);
  context.save();
  context.translate(ROOM, ROOM);
  context.scale(scale, scale);
  drawHeads(context, marks.heads, scene);
  write(column.name, 10, "700 18px");
  lines[at].counted.forEach((line, i) => write(line, 33 + LINE * i, undefined, 0.85));
  lines[at].facts.forEach((line, i) => write(line, factsAt + LINE * i));
  write(column.cache, cacheAt + 4, "700 17px");
  const cache = { x: 0, y: cacheAt + 18, w: wide, h: 12 };
  fillBox(context, cache, colours.masked, 0.3, 4);
  fillBox(context, { ...cache, w: Math.max(3, wide * marks.share) }, colours.k, 1, 4);
  context.restore();
}

/**
 * Query heads above, K/V heads below, each query head wired to what it reads.
 * @param {DrawingContext} context @param {HeadMark[]} marks @param {ColumnsScene} scene
 */
function drawHeads(context, marks, { wires, colours, theme, wide, wiresAt }) {
  const bottom = wiresAt + wires;
  const sizeOf = (/** @type {number} */ share) => Math.min(LARGEST_HEAD, wide * share);
  const heads = marks.map(({ x, size, reads, half, alpha }) => {
    return { x: x * wide, size: sizeOf(size), reads: reads * wide, half: sizeOf(half), alpha };
  });
  drawWith(context, { strokeStyle: colours.masked, lineWidth: Math.min(1.2, wide / heads.length / 4) });
  context.beginPath();
  for (const { x, size, reads } of heads) {
    context.moveTo(x, wiresAt + size);
    context.lineTo(reads, bottom);
  }
  context.stroke();
  drawWith(context, { font: `600 11px ${theme.font}`, textAlign: "center", textBaseline: "middle" });
  let last = -1;
  for (const { x, size, reads, half, alpha } of heads) {
    drawHead(context, "Q", x - size / 2, wiresAt, size, colours.q, alpha);
    if (Math.abs(reads - last) < 0.01) continue;
    drawHead(context, "K", reads - half, bottom, half, colours.k, alpha);
    drawHead(context, "V", reads, bottom, half, colours.v, alpha);
    last = reads;
  }
}

/**
 * @param {DrawingContext} context @param {string} letter @param {number} x @param {number} y @param {number} size
 * @param {string} colour @param {number} alpha
 */
function drawHead(context, letter, x, y, size, colour, alpha) {
  fillBox(context, { x, y, w: size, h: size }, colour, alpha, Math.min(3, size / 5));
  if (size < 14) return;
  drawWith(context, { fillStyle: "#ffffff", globalAlpha: alpha });
  context.fillText(letter, x + size / 2, y + size / 2);
  context.globalAlpha = 1;
}

/** @param {ForFile<SharingHeader>} header @param {Uint8Array} _payload @param {Theme} theme @returns {Figure} */
export function sharingFigure(header, _payload, theme) {
  const scene = columnsScene(header, theme, WIDE);
  const draw = (/** @type {SvgContext} */ context) => {
    context.save();
    scene.columns.forEach((_column, at) => {
      drawColumn(context, scene, at);
      context.translate(WIDE + ROOM, 0);
    });
    context.restore();
  };
  return { width: scene.columns.length * (WIDE + ROOM) - ROOM, height: scene.height, title: header.title, draw };
}
