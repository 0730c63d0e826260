// A heatmap as a drawing knows it: data, places and what is lit. It needs no page: on screen each layer has a canvas of its
// own, in a file all lie over each other.

import { drawAxes, drawColumnSums } from "./heatmap_axes.js";
import { drawLit, drawMarks, isLit } from "./heatmap_marks.js";
import { strongestOfBlocks } from "../shared/packing.js";

/** @import { Cells } from "./heatmap_geometry.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { TokenLabels } from "../shared/token_labels.js" */
/** @import { Colours, Hover, Pin, Rectangle, Shape, Theme, Words } from "../shared/types.js" */

/**
 * @typedef {object} HeatmapScene
 * @property {Rectangle} plot
 * @property {Cells} cells which are on show, and how large they are
 * @property {number} font pixels of labels
 * @property {number} need pixels of a row or column whose label is written
 * @property {number} room pixels of the longest label
 * @property {boolean} flat whether labels of columns stand side by side, without leaning
 * @property {Theme} theme
 * @property {Colours} colours
 * @property {Words} words
 * @property {Shape} shape
 * @property {boolean} signed
 * @property {[number[], number[]]} segments rows and columns where a second sentence begins
 * @property {string} picture names numbers and colours: another where any of them is another
 * @property {Uint16Array} codes
 * @property {Uint32Array} table pixels of all codes
 * @property {(q: number, k: number) => number} valueAt
 * @property {boolean} hasMasked
 * @property {{ rows: Float32Array, cols: Float32Array } | null} sums
 * @property {TokenLabels} labelsQ
 * @property {TokenLabels} labelsK
 * @property {(Pin & { pin: boolean })[]} lit
 * @property {[number, number] | null} cell
 * @property {Hover | null} hover
 * @property {[number, number, number, number] | null} box
 */

/** Pixels of a matrix, each the strongest of step x step cells. */
/** @param {HeatmapScene} scene @param {number} step */
export function cellPixels({ codes, table, shape, signed }, step) {
  const blocks = strongestOfBlocks(codes, shape, step, signed);
  const pixels = new Uint32Array(blocks.codes.length);
  for (let i = 0; i < pixels.length; i++) pixels[i] = table[blocks.codes[i]];
  return { ...blocks, pixels };
}

/** How many cells along a side share a pixel, where a cell has so many: one, or two, four... */
/** @param {number} pixels */
export function cellsOfPixel(pixels) {
  let step = 1;
  while (pixels * step < 0.75) step *= 2;
  return step;
}

/** The whole picture in one file. @param {SvgContext} context @param {HeatmapScene} scene */
export function drawHeatmap(context, scene) {
  const { plot, sums, cells } = scene;
  drawAxes(context, scene);
  const { columns, pixels } = cellPixels(scene, cellsOfPixel(2 * Math.min(cells.w, cells.h)));
  context.cells(pixels, columns, plot);
  drawMarks(context, scene);
  if (sums !== null) {
    context.save();
    context.translate(0, plot.y + plot.h);
    drawColumnSums(context, scene, sums.cols);
    context.restore();
  }
  if (isLit(scene)) drawLit(context, scene);
}
