// All heads as a figure: the mosaic as a wide window shows it, with its bar below.

import { mosaicLayout, relativeMeasure, tileOrder, tilesOf } from "./mosaic_geometry.js";
import { mosaicBoard } from "./mosaic_board.js";
import { drawMosaic, drawMosaicLit } from "./mosaic_scene.js";
import { BAR_ROOM, barWidth, drawBarInFile } from "../shared/colour_bar.js";
import { MASKED_8 } from "../shared/packing.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { MosaicFigureHeader, Theme } from "../shared/types.js" */

const WIDTH = 960;
/** Pixels of the picture for each of the page's. */
const FINE = 2;

/** @param {MosaicFigureHeader} header @param {Uint8Array} codes @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function mosaicFigure(header, codes, theme, bar) {
  const tiles = tilesOf(header);
  const mosaic = mosaicLayout(header, tiles, tileOrder(tiles.length, header), WIDTH);
  const { scale, unit, colours, words, title } = header;
  const measured = header.dim && header.measure ? relativeMeasure(header.measure) : null;
  const scene = { header, tiles, mosaic, theme, measured, selected: header.selected, at: null };
  const board = mosaicBoard(scene, codes, FINE);
  const hatched = codes.includes(MASKED_8) ? words.hidden : null;
  const draw = (/** @type {SvgContext} */ context) => {
    drawMosaic(context, scene, board);
    drawMosaicLit(context, scene);
    if (bar) drawBarInFile(context, 40, mosaic.height + 8, { scale, signed: false, unit, colours }, theme, hatched);
  };
  const width = Math.max(mosaic.width, bar ? 40 + barWidth(unit, hatched) : 0);
  return { width, height: mosaic.height + (bar ? BAR_ROOM : 0), title, draw };
}
