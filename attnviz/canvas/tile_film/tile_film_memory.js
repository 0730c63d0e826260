// What lies in fast and in slow memory at a step, as a drawing: a chip for each matrix, with the colour of it at its edge.

import { drawWith, writeText } from "../shared/surface.js";
import { cutToFit, roundedRect } from "../shared/token_labels.js";
import { textWidth } from "../scene/text_width.js";
import { colourOfChip, describeMemory } from "./tile_film_texts.js";

/** @import { DrawingContext, Theme, TileRun } from "../shared/types.js" */
/** @import { Chip } from "./tile_film_texts.js" */
/** @typedef {ReturnType<typeof memoryScene>} MemoryScene */

/** A chip, and between two; the name above a memory's chips, and what is left below them. */
const CHIP = { h: 21, edge: 4, room: 8, gap: 6, pitch: 25 };
const [NAME, BELOW] = [22, 2];

/** @param {TileRun} header @param {number} at @param {number} width */
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
  drawWith(context, { strokeStyle: theme.border, lineWidth: 1, globalAlpha: alpha });
  context.setLineDash(chip.name ? [] : [3, 3]);
  roundedRect(context, x + 0.5, y + 0.5, w - 1, CHIP.h - 1, 4);
  context.stroke();
  context.setLineDash([]);
  drawWith(context, { fillStyle: colour, globalAlpha: alpha });
  roundedRect(context, x, y, CHIP.edge, CHIP.h, 2);
  context.fill();
  writeText(context, text, x + CHIP.edge + CHIP.room, y + CHIP.h / 2, theme, "12px", alpha);
}
