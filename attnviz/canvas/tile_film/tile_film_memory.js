// What lies in fast and in slow memory at a step, as a drawing: a chip for each matrix, with the colour of it at its edge.

import { fill } from "../shared/dom.js";
import { formatBytes } from "../shared/numbers.js";
import { fillBox, frameBox, writeText } from "../shared/surface.js";
import { cutToFit } from "../shared/token_labels.js";
import { textWidth } from "../scene/text_width.js";
import { tileSpans } from "./tile_film_geometry.js";

/** @import { DrawingContext, Theme, TileRun } from "../shared/types.js" */
/** @typedef {ReturnType<typeof memoryScene>} MemoryScene */
/** A matrix in a memory: its letter, "" of the one that is never built, and what is said of it. */
/** @typedef {{ name: string, text: string }} Chip */

const NUMBER = 4; // bytes of a float32

/** A chip, and between two; the name above a memory's chips, and what is left below them. */
const CHIP = { h: 21, edge: 4, room: 8, gap: 6, pitch: 25 };
const [NAME, BELOW] = [22, 2];

/** Places what lies in fast and in slow memory at a tile, as rows of chips. @param {TileRun} header @param {number} at @param {number} width */
export function memoryScene(header, at, width) {
  const { fast, fastChips, slow, slowChips } = describeMemory(header, at);
  let height = 0;
  const place = (/** @type {string} */ name, /** @type {Chip[]} */ all) => {
    const top = height;
    let [x, y] = [0, top + NAME];
    const chips = all.map((chip) => {
      const around = CHIP.edge + 2 * CHIP.room;
      const { text, width: wide } = cutToFit(chip.text, width - around, (part) => textWidth(part, 12));
      const w = wide + around;
      if (x > 0 && x + w > width) [x, y] = [0, y + CHIP.pitch];
      const placed = { chip, text, x, y, w };
      x += w + CHIP.gap;
      return placed;
    });
    height = y + CHIP.pitch + BELOW;
    return { name, top, chips };
  };
  return { header, memories: [place(fast, fastChips), place(slow, slowChips)], width, height };
}

/** @param {DrawingContext} context @param {MemoryScene} scene @param {Theme} theme */
export function drawMemory(context, { header, memories }, theme) {
  for (const { name, top, chips } of memories) {
    writeText(context, name, 0, top + 10, theme, "600 14px");
    for (const placed of chips) drawChip(context, placed, colourOfChip(header, placed.chip, theme.primary), theme);
  }
}

/** A box with the colour of its matrix at its edge; what is never built is paler, in dashes. */
/** @param {DrawingContext} context @param {MemoryScene["memories"][number]["chips"][number]} placed @param {string} colour @param {Theme} theme */
function drawChip(context, { chip, text, x, y, w }, colour, theme) {
  const alpha = chip.name ? 1 : 0.8;
  context.globalAlpha = alpha;
  context.setLineDash(chip.name ? [] : [3, 3]);
  frameBox(context, { x, y, w, h: CHIP.h }, 4, theme.border);
  context.setLineDash([]);
  fillBox(context, { x, y, w: CHIP.edge, h: CHIP.h }, colour, alpha, 2);
  writeText(context, text, x + CHIP.edge + CHIP.room, y + CHIP.h / 2, theme, "12px", alpha);
}

/** What lies in fast and in slow memory at a step, each matrix with its size. @param {TileRun} header @param {number} at */
function describeMemory(header, at) {
  const { words, parts, slow, tokens, width, moved } = header;
  const [queries, keys] = tileSpans(header, at).map(({ from, to }) => to - from);
  const size = { q: queries, k: keys, n: tokens, d: width, 1: 1 };
  const chip = (/** @type {string} */ name, /** @type {number} */ rows, /** @type {number} */ cols) => {
    const called = { max: words.first, sum: words.second }[name] ?? name;
    const fields = { name: called, rows, cols, bytes: formatBytes(NUMBER * rows * cols) };
    return { name, text: fill(name ? words.part : words.never, fields) };
  };
  const total = parts.reduce((sum, [, rows, cols]) => sum + NUMBER * size[rows] * size[cols], 0);
  const [read, wrote] = moved[at];
  return {
    fast: fill(words.fast, { bytes: formatBytes(total) }),
    fastChips: parts.map(([name, rows, cols]) => chip(name, size[rows], size[cols])),
    slow: fill(words.slow, { read: formatBytes(read), written: formatBytes(wrote) }),
    slowChips: [...slow.map(([name, rows, cols]) => chip(name, size[rows], size[cols])), chip("", tokens, tokens)],
  };
}

/** The colour of a matrix in a memory: its own, or else `other`. @param {TileRun} header @param {Chip} chip @param {string} other */
function colourOfChip({ colours, green }, { name }, other) {
  return { Q: colours.q, K: colours.k, V: green, O: green }[name.replace("d", "")] ?? other;
}
