// Query heads wired to K/V heads, and under each K/V head a column: its share of the cache. With fewer K/V heads the same lines and
// columns stand together, and what the others would keep melts away. No page.

import { readableColour } from "../shared/colour.js";
import { clamp } from "../shared/numbers.js";
import { drawWith, fillBox, writeText } from "../shared/surface.js";
import { marksBetween } from "../scene/glide.js";

/** @import { DrawingContext, Film, ForFile, SharingHeader, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @typedef {Omit<SharingHeader, "session" | "ack">} Sharing */

/** Below this width rows have no names beside them. Pixels of these names, of the lines above, of a head at most. */
const [NARROW, NAMES, TOP, HEAD] = [640, 104, 58, 18];
/** How much of a query head's room a head takes, and a column; how much of the height is wires. */
const [SIZE, COLUMN, WIRES] = [0.78, 0.86, 0.42];
const [WIDE, HIGH, FRAMES] = [960, 430, 12]; // of a file; frames of a step

/** Where everything stands. */
/** @param {Sharing} header @param {number} at the way of sharing that is written @param {{ width: number, height: number }} size @param {Theme} theme */
export function sharingScene({ columns, words, colours }, at, { width, height }, theme) {
  const isNarrow = width < NARROW;
  const [left, top] = isNarrow ? [0, TOP + 18] : [NAMES, TOP];
  const head = Math.min(HEAD, (SIZE * (width - left)) / columns[at].heads);
  const keys = top + head + WIRES * (height - top - 2 * head);
  const wall = { y: keys + head + 3, h: height - keys - head - 3 };
  // what does not shrink with the K/V heads: a straight line through the first and the last share says it
  const [most, least] = [columns[0], columns[columns.length - 1]];
  const perHead = (most.share - least.share) / Math.max(1, most.kv_heads - least.kv_heads);
  const state = most === least ? 0 : Math.max(0, wall.h * (most.share - perHead * most.kv_heads));
  return { column: columns[at], words, colours, theme, width, height, isNarrow, left, top, head, keys, wall, state };
}

/** @typedef {ReturnType<typeof sharingScene>} SharingScene */

/**
 * A query head: its middle, and that of the K/V head that it reads, as shares of the width, as is its own room.
 * @typedef {{ key: number, alpha: number, x: number, reads: number, pitch: number }} HeadMark
 */

/**
 * Marks of the query heads; all in shares of the width: `x`, and `reads`, where its K/V head is.
 * @param {{ heads: number, kv_heads: number }} column @returns {HeadMark[]}
 */
export function headMarks({ heads, kv_heads: kvHeads }) {
  return Array.from({ length: heads }, (_, key) => {
    const reads = (Math.floor((key * kvHeads) / heads) + 0.5) / kvHeads;
    return { key, alpha: 1, x: (key + 0.5) / heads, reads, pitch: 1 / heads };
  });
}

/** @param {DrawingContext} context @param {SharingScene} scene @param {HeadMark[]} [marks] on their way to others */
export function drawSharing(context, scene, marks = headMarks(scene.column)) {
  const { column, colours, theme, width, height, isNarrow, left, top, head, keys, wall, state } = scene;
  writeText(context, column.name, 0, 14, theme, "700 22px");
  writeText(context, column.counted, 0, 40, theme, "14px", 0.9);
  writeText(context, column.kept, width, 14, theme, "700 26px", 1, "right");
  writeText(context, column.compared, isNarrow ? 0 : width, isNarrow ? 59 : 40, theme, "14px", 0.9, isNarrow ? "left" : "right");
  const wide = width - left;
  const place = (/** @type {number} */ share) => left + share * wide;
  const room = { y: wall.y, h: wall.h - state };
  for (const { x, pitch, alpha } of marks)
    fillBox(context, { ...room, x: place(x - (COLUMN / 2) * pitch), w: COLUMN * pitch * wide }, colours.masked, 0.22 * alpha);
  drawWith(context, { strokeStyle: theme.text, globalAlpha: 0.5, lineWidth: clamp(wide / marks.length / 6, 0.4, 1.4) });
  context.beginPath();
  for (const { x, reads } of marks) {
    context.moveTo(place(x), top + head);
    context.lineTo(place(reads), keys);
  }
  context.stroke();
  context.globalAlpha = 1;
  for (const { x, pitch, alpha } of marks) {
    const size = Math.min(HEAD, SIZE * pitch * wide);
    drawHead(context, "Q", { x: place(x) - size / 2, y: top, w: size, h: size }, scene, colours.q, alpha);
  }
  let last = -1;
  for (const { reads, pitch, alpha } of marks) {
    if (Math.abs(reads - last) < 1e-4) continue;
    const w = (COLUMN / 2) * pitch * wide;
    for (const [letter, x, colour] of /** @type {const} */ ([["K", place(reads) - w, colours.k], ["V", place(reads), colours.v]])) {
      drawHead(context, letter, { x, y: keys, w, h: head }, scene, colour, alpha);
      fillBox(context, { ...room, x, w }, colour, alpha);
    }
    last = reads;
  }
  if (state > 0.5) fillBox(context, { x: left, y: height - state, w: wide, h: state }, theme.text, 0.45);
  if (!isNarrow) nameRows(context, scene);
} // prettier-ignore

/** What stands in each row, at its left. @param {DrawingContext} context @param {SharingScene} scene */
function nameRows(context, { words, colours, theme, top, head, keys, wall, state, height }) {
  const rows = /** @type {const} */ ([
    [words.queries, top + head / 2, colours.q],
    [words.keys, keys + head / 2, colours.k],
    [words.cache, wall.y + (wall.h - state) / 2, theme.text],
    ...(state > 0.5 ? [/** @type {const} */ ([words.state, height - 8, theme.text])] : []),
  ]);
  for (const [text, y, colour] of rows)
    writeText(context, text, 0, y, { ...theme, text: readableColour(colour, theme.background) }, "600 13px");
}

/** @param {DrawingContext} context @param {string} letter @param {import("../shared/types.js").Rectangle} box @param {SharingScene} scene @param {string} colour @param {number} alpha */
function drawHead(context, letter, box, { theme }, colour, alpha) {
  fillBox(context, box, colour, alpha, Math.min(3, box.w / 5));
  if (box.w < 11) return;
  const white = { text: "#ffffff", font: theme.font };
  writeText(
    context,
    letter,
    box.x + box.w / 2,
    box.y + box.h / 2,
    white,
    `600 ${box.w < 14 ? 10 : 11}px`,
    alpha,
    "center",
  );
}

/** The way of sharing as far on as that, between two of them too. @param {ForFile<Sharing>} header @param {number} at @param {Theme} theme @returns {Figure} */
function figureAt(header, at, theme) {
  const near = Math.round(at);
  const scene = sharingScene(header, near, { width: WIDE, height: HIGH }, theme);
  const [from, to] = [Math.floor(at), Math.ceil(at)].map((stop) => headMarks(header.columns[stop]));
  const marks = marksBetween(from, to)(at - Math.floor(at));
  const draw = (/** @type {DrawingContext} */ context) => drawSharing(context, scene, marks);
  return { width: WIDE, height: HIGH, title: header.title || scene.column.spoken, draw };
}

/** @param {ForFile<Sharing>} header @param {Uint8Array} _payload @param {Theme} theme @returns {Figure} */
export function sharingFigure(header, _payload, theme) {
  return figureAt(header, header.at, theme);
}

/** From a K/V head for each query head to one for all. @param {ForFile<Sharing>} header @returns {Film} */
export function sharingFilm(header) {
  const last = header.columns.length - 1;
  const figure = (/** @type {number} */ share, /** @type {Theme} */ theme) => {
    const at = clamp(share, 0, 1) * last;
    const within = clamp(2 * (at - Math.floor(at)) - 0.5, 0, 1); // half of the time it stands
    return figureAt({ ...header, title: "" }, Math.floor(at) + within, theme);
  };
  return { name: header.words.film, seconds: 2 * last, frames: FRAMES * last + 1, figure };
}
