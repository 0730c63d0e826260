// All heads as a figure: the mosaic as a wide window shows it, with its bar below.

import { AllHeads } from "../shared/all_heads.js";
import { unpackedEdit } from "../shared/group.js";
import { mosaicLayout, relativeMeasure, tileOrder, tilesOf } from "./mosaic_geometry.js";
import { mosaicBoard } from "./mosaic_board.js";
import { drawMosaic, drawMosaicLit } from "./mosaic_scene.js";
import { BAR_ROOM, barWidth, drawBarInFile } from "../shared/colour_bar.js";
import { MASKED_8 } from "../shared/packing.js";
import { editedTiles } from "./tiles.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { Tile } from "./mosaic_geometry.js" */
/** @import { HeadEdit, MosaicFigureHeader, Theme } from "../shared/types.js" */

const WIDTH = 960;
/** Pixels of the picture for each of the page's. */
const FINE = 2;

/** @param {MosaicFigureHeader} header @param {Uint8Array} payload @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function mosaicFigure(header, payload, theme, bar) {
  const tiles = tilesOf(header);
  const codes = header.edit ? tilesUnder({ ...header, edit: header.edit }, tiles, payload) : payload;
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

/** The tiles under a change, which the browser makes of all heads: they follow the tiles. */
/** @param {MosaicFigureHeader & { edit: HeadEdit }} header @param {Tile[]} tiles @param {Uint8Array} payload */
function tilesUnder({ edit, selected, shape }, tiles, payload) {
  const size = tiles.length * shape[0] * shape[1];
  const all = AllHeads.read(payload.slice(size));
  const group = {
    all,
    edit: unpackedEdit(edit, all.heads[0].shape),
    selected,
    peeking: false,
    doc: null,
    edited: null,
  };
  return editedTiles({ ...group, tiles: null }, tiles, payload.subarray(0, size));
}
