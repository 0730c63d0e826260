// The film of tiles as a figure: the matrix at one step, and beside it the same tile large, what it does, and what lies where.

import { drawMatrix, drawTile, sceneOf } from "./tile_film_scene.js";
import { HIGH, matrixLayout, numbersOf, tellingLine, tileLayout } from "./tile_film_geometry.js";
import { colourOfChip, describeLine, describeMemory } from "./tile_film_texts.js";
import { textWidth, wrapText } from "../scene/text_width.js";
import { drawWith, fillBox, writeText } from "../shared/surface.js";
import { roundedRect } from "../shared/token_labels.js";

/** @import { Chip } from "./tile_film_texts.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { Theme, TileFigureHeader } from "../shared/types.js" */
/** @typedef {{ chip: Chip, x: number, y: number, w: number }} PlacedChip */

/** Pixels of the large tile and what stands below it, and between it and the matrix. */
const [WIDE, BETWEEN] = [500, 28];
const LINE = 18;
/** A chip of a matrix in a memory, and between two. */
const CHIP = { h: 20, edge: 4, room: 8, gap: 6, pitch: 25 };

/** @param {TileFigureHeader} header @param {Uint8Array} payload @param {Theme} theme @returns {Figure} */
export function tileFigure(header, payload, theme) {
  const { at, backward, blocks, title } = header;
  const scene = sceneOf(header, numbersOf(header, payload), theme);
  const matrix = matrixLayout(Infinity, backward);
  const tile = tileLayout(WIDE, HIGH, blocks[backward ? 1 : 0], backward);
  const line = tellingLine(header, scene.numbers, at);
  const said = wrapText(describeLine(header, scene.numbers, at, line), WIDE, 13);
  const { fast, fastChips, slow, slowChips } = describeMemory(header, at);
  const upper = placeChips(fastChips, tile.height + 16 + said.length * LINE + 20);
  const lower = placeChips(slowChips, upper.end + 26);
  const draw = (/** @type {SvgContext} */ context) => {
    context.save();
    drawMatrix(context, scene, matrix);
    context.translate(matrix.width + BETWEEN, 0);
    drawTile(context, scene, tile, line);
    said.forEach((text, n) => writeText(context, text, 0, tile.height + 12 + n * LINE, theme, "13px"));
    for (const [name, { start, placed }] of /** @type {const} */ ([
      [fast, upper],
      [slow, lower],
    ])) {
      writeText(context, name, 0, start - 12, theme, "600 14px");
      for (const place of placed) drawChip(context, place, colourOfChip(header, place.chip, theme.primary), theme);
    }
    context.restore();
  };
  const height = Math.max(matrix.height, lower.end);
  return { width: Math.ceil(matrix.width + BETWEEN + WIDE), height: Math.ceil(height), title, draw };
}

/** Chips in rows from this height on, and where they end. @param {Chip[]} chips @param {number} start */
function placeChips(chips, start) {
  let [x, y] = [0, start];
  const placed = chips.map((chip) => {
    const w = CHIP.edge + 2 * CHIP.room + textWidth(chip.text, 12);
    if (x > 0 && x + w > WIDE) [x, y] = [0, y + CHIP.pitch];
    const place = { chip, x, y, w };
    x += w + CHIP.gap;
    return place;
  });
  return { start, placed, end: y + CHIP.pitch };
}

/** A box with the colour of its matrix at its edge; what is never built is paler, in dashes. */
/** @param {SvgContext} context @param {PlacedChip} placed @param {string} colour @param {Theme} theme */
function drawChip(context, { chip: { name, text }, x, y, w }, colour, theme) {
  context.fade(name ? 1 : 0.8, () => {
    drawWith(context, { strokeStyle: theme.border, lineWidth: 1 });
    context.setLineDash(name ? [] : [3, 3]);
    roundedRect(context, x + 0.5, y + 0.5, w - 1, CHIP.h - 1, 4);
    context.stroke();
    context.setLineDash([]);
    fillBox(context, { x, y, w: CHIP.edge, h: CHIP.h }, colour);
    writeText(context, text, x + CHIP.edge + CHIP.room, y + CHIP.h / 2, theme, "12px");
  });
}
