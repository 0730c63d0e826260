// All heads as a figure: the mosaic as a wide window shows it, with its bar below.

import { mosaicLayout, relativeMeasure, tileOrder, tilesOf } from "./mosaic_geometry.js";
import { drawMosaicLabels, drawMosaicLit, drawSilenced, tilePixels } from "./mosaic_scene.js";
import { mixed, pixelOf, rgb, rgbOf } from "../shared/colour.js";
import { BAR_ROOM, barWidth, drawBarInFile } from "../shared/colour_bar.js";
import { MASKED_8 } from "../shared/packing.js";

/** @import { Mosaic } from "./mosaic_geometry.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { MosaicFigureHeader, OverviewHeader, Theme } from "../shared/types.js" */

const WIDTH = 960;
/** Pixels of the picture for each of the page's. */
const FINE = 2;

/** @param {MosaicFigureHeader} header @param {Uint8Array} codes @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function mosaicFigure(header, codes, theme, bar) {
  const tiles = tilesOf(header);
  const mosaic = mosaicLayout(header, tiles, tileOrder(tiles.length, header), WIDTH);
  const { scale, unit, colours, words, title } = header;
  const scene = { header, tiles, mosaic, theme, selected: header.selected, at: null };
  const board = boardOf(header, codes, mosaic, theme);
  const hatched = codes.includes(MASKED_8) ? words.hidden : null;
  const draw = (/** @type {SvgContext} */ context) => {
    drawMosaicLabels(context, scene);
    context.cells(board.pixels, board.columns, board.place);
    drawSilenced(context, scene);
    drawMosaicLit(context, scene);
    if (bar) drawBarInFile(context, 40, mosaic.height + 8, { scale, signed: false, unit, colours }, theme, hatched);
  };
  const width = Math.max(mosaic.width, bar ? 40 + barWidth(unit, hatched) : 0);
  return { width, height: mosaic.height + (bar ? BAR_ROOM : 0), title, draw };
}

/**
 * All tiles in one picture, with nothing between them.
 * @param {Pick<OverviewHeader, "shape" | "colours" | "scale" | "dim" | "measure">} header @param {Uint8Array} codes
 * @param {Mosaic} mosaic @param {Theme} theme
 */
function boardOf(header, codes, { places, tw, th }, theme) {
  const [h, w] = header.shape;
  const [left, top] = [0, 1].map((side) => Math.min(...places.map((place) => place[side])));
  const [right, bottom] = [0, 1].map((side) => Math.max(...places.map((place) => place[side])));
  const place = { x: left, y: top, w: right + tw - left, h: bottom + th - top };
  const columns = Math.round(place.w * FINE);
  const pixels = new Uint32Array(columns * Math.round(place.h * FINE));
  const table = tilePixels(/** @type {OverviewHeader} */ (header), theme);
  const measured = header.dim && header.measure ? relativeMeasure(header.measure) : null;
  const page = rgb(theme.background);
  places.forEach(([x, y], tile) => {
    const [x0, y0] = [Math.round((x - left) * FINE), Math.round((y - top) * FINE)];
    const dimmed = measured === null ? table : table.map((pixel) => faint(pixel, page, 0.25 + 0.75 * measured[tile]));
    for (let row = 0; row < th * FINE; row++) {
      const from = (tile * h + Math.floor((row * h) / (th * FINE))) * w;
      for (let col = 0; col < tw * FINE; col++) {
        pixels[(y0 + row) * columns + x0 + col] = dimmed[codes[from + Math.floor((col * w) / (tw * FINE))]];
      }
    }
  });
  return { pixels, columns, place };
}

/** A pixel of which the page takes a part. @param {number} pixel @param {import("../shared/types.js").Rgb} page @param {number} left */
function faint(pixel, page, left) {
  return pixelOf(mixed(page, rgbOf(pixel), left), pixel >>> 24);
}
