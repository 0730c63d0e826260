// The film of tiles as a figure: the matrix at one step, and beside it the same tile large, what it does, and what lies where;
// and tile after tile as a film.

import { describeLine, describeStep, drawMatrix, drawTile, tileScene } from "./tile_film_scene.js";
import { HIGH, matrixLayout, readTileNumbers, mostTellingLine, tileLayout } from "./tile_film_geometry.js";
import { drawMemory, memoryScene } from "./tile_film_memory.js";
import { writeText } from "../shared/surface.js";
import { wrapText } from "../scene/text_width.js";
import { filmOfSteps } from "../scene/film.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { ForFile, Theme, TileRun } from "../shared/types.js" */

/** Pixels of the large tile and what stands below it, between it and the matrix, and of memory beside an upright one's. */
const [WIDE, BETWEEN, BESIDE] = [500, 28, 300];
const LINE = 18;

/** @param {ForFile<TileRun>} header @param {Uint8Array} payload @param {Theme} theme @returns {Figure} */
export function tileFigure(header, payload, theme) {
  const { at, backward, blocks, title, upright = false } = header;
  const scene = tileScene(header, readTileNumbers(header, payload), theme);
  const matrix = matrixLayout(Infinity, backward);
  const right = matrix.width + BETWEEN;
  const wide = upright ? right + BESIDE : WIDE;
  const tile = tileLayout(wide, HIGH, blocks[backward ? 1 : 0], backward);
  const line = mostTellingLine(header, scene.numbers, at);
  const said = wrapText(describeLine(header, scene.numbers, at, line), wide, 13);
  const memory = memoryScene(header, at, upright ? BESIDE : WIDE);
  const below = tile.height + 3 + said.length * LINE + 10;
  const [x, y] = upright ? [0, matrix.height + BETWEEN] : [right, 0];
  const draw = (/** @type {SvgContext} */ context) => {
    context.save();
    drawMatrix(context, scene, matrix);
    context.translate(x, y);
    drawTile(context, scene, tile, line);
    said.forEach((text, n) => writeText(context, text, 0, tile.height + 12 + n * LINE, theme, "13px"));
    context.translate(right - x, upright ? -y : below);
    drawMemory(context, memory, theme);
    context.restore();
  };
  const height = Math.max(matrix.height, y + below, (upright ? 0 : below) + memory.height);
  return { width: Math.ceil(x + wide), height: Math.ceil(height), title, draw };
}

/** Seconds that a tile stands, and that all take at most. */
const [STAND, LONGEST] = [0.6, 20];

/** @param {ForFile<TileRun>} header @param {Uint8Array} payload of all tiles */
export function tileFilm(header, payload) {
  const { tiles, words } = header;
  return filmOfSteps(words.film, tiles.length, Math.min(LONGEST, STAND * tiles.length), (at, theme, _bar, upright) =>
    tileFigure({ ...header, at, title: describeStep(header, at), upright }, payload, theme),
  );
}
