// A mask as a drawing knows it: its cells, names of rows and columns, what has no key left; where its cells are and which of
// them a gesture covers; and a mask as a figure. No page.

import { css, inkOn, mixColours, ramp, toPixel, toRgb, rgb } from "../shared/colour.js";
import { drawWith, fillBox, strokeGrid, writeText } from "../shared/surface.js";
import { drawColumnLabel, drawPill, labelStep } from "../shared/token_labels.js";
import { measureLabels } from "../heatmap/heatmap_scene.js";
import { clamp, formatPercent } from "../shared/numbers.js";
import { layoutInFile, nameSides } from "../head/head_figure.js";
import { unpackBits } from "../shared/packing.js";
import { plainText } from "../ribbons/ribbons_numbers.js";
import { filmOfSteps } from "../scene/film.js";
import { sizeWithin, textWidth } from "../scene/text_width.js";
import { besideScene, describeBeside, drawBeside, readWeights, sweep } from "./mask_weights.js";

/** @import { TokenLabels } from "../shared/token_labels.js" */
/** @import { Colours, DrawingContext, Film, MaskFigureHeader, Rectangle, Shape, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */

/**
 * @typedef {object} MaskScene
 * @property {Rectangle} plot
 * @property {number} cell pixels of a cell
 * @property {boolean} flat whether labels of columns stand side by side, without leaning
 * @property {number} font pixels of labels
 * @property {number} room pixels of the longest label
 * @property {Theme} theme
 * @property {Colours} colours
 * @property {Shape} shape
 * @property {Uint8Array} cells 1 = may look
 * @property {Float32Array | null} [weights] what each cell gets of its row's attention, where that is known
 * @property {TokenLabels} labelsQ
 * @property {TokenLabels} labelsK
 */

/** Words of which each gets so little that colours go by the root; pixels of a cell that holds its percent. */
export const [LONG, HOLDS] = [32, 30];

/** The colour of a cell that may look: the theme's own, a little towards the background. @param {Theme} theme */
export function maskInk({ primary, background }) {
  return mixColours(rgb(primary), rgb(background), 0.18);
}

/** Whether a query may look at nothing. @param {MaskScene} scene @param {number} q */
export function isEmptyRow({ cells, shape: [, nk] }, q) {
  return !cells.subarray(q * nk, (q + 1) * nk).some(Boolean);
}

/** Pixels of a mask, its weights where they are known; nothing where no query may look. @param {MaskScene} scene */
export function maskPixels({ cells, theme, weights, colours, shape }) {
  const solid = toPixel(maskInk(theme));
  const steps = weights ? ramp(colours.weights) : null;
  const at = shape[1] > LONG ? Math.sqrt : (/** @type {number} */ share) => share;
  return Uint32Array.from(cells, (open, i) => (!open ? 0 : steps && weights ? steps[Math.round(255 * at(weights[i]))] : solid)); // prettier-ignore
}

/** Hatch, cells, and names beside them. */
/** @param {DrawingContext} context @param {MaskScene} scene @param {Uint32Array} [pixels] of the cells, on their way to others */
export function drawMask(context, scene, pixels = maskPixels(scene)) {
  const { plot, colours, theme, shape } = scene;
  context.hatch(plot, colours.masked, theme.dark);
  context.cells(pixels, shape[1], plot);
  if (scene.weights && scene.cell >= HOLDS) drawPercents(context, scene, pixels);
  drawMaskAxes(context, scene);
}

/** What each open cell gets. @param {DrawingContext} context @param {MaskScene} scene @param {Uint32Array} pixels */
function drawPercents(context, { plot, cell, cells, weights, shape: [, nk], theme }, pixels) {
  const size = sizeWithin(cell < 40 ? 11 : 13, (cell - 4) / 2.4); // so that 100% fits
  (weights ?? []).forEach((share, i) => {
    if (!cells[i]) return;
    const [q, k] = [Math.floor(i / nk), i % nk];
    const text = { ...theme, text: inkOn(toRgb(pixels[i])) };
    writeText(context, formatPercent(share, 0), plot.x + (k + 0.5) * cell, plot.y + (q + 0.5) * cell, text, `${size}px`, 1, "center"); // prettier-ignore
  });
}

/** What stands over the cells and beside them. @param {DrawingContext} context @param {MaskScene} scene */
function drawMaskAxes(context, scene) {
  const { plot, cell, theme, shape, labelsQ, labelsK, font, room, flat } = scene;
  const [nq, nk] = shape;
  if (cell >= 5) {
    drawWith(context, { strokeStyle: theme.background, lineWidth: cell >= 12 ? 1 : 0.5 });
    const edges = (/** @type {number} */ from, /** @type {number} */ n) =>
      Array.from({ length: n + 1 }, (_, i) => from + i * cell);
    strokeGrid(context, plot, edges(plot.y, nq), edges(plot.x, nk));
  }
  drawWith(context, { font: `${font}px ${theme.font}`, textBaseline: "middle", textAlign: "right" });
  const stepQ = labelStep(cell, font + 2);
  for (let q = 0; q < nq; q++) {
    const empty = isEmptyRow(scene, q);
    context.fillStyle = empty ? theme.k : theme.text;
    if (q % stepQ === 0) context.fillText(labelsQ.cut(q, room, font).text, plot.x - 6, plot.y + (q + 0.5) * cell);
    if (empty) context.fillRect(plot.x - 4, plot.y + q * cell + 1, 3, Math.max(1, cell - 2));
  }
  context.fillStyle = theme.text;
  const stepK = labelStep(cell, flat ? 1 : font + 2);
  for (let k = 0; k < nk; k += stepK) {
    drawColumnLabel(context, labelsK.cut(k, room, font), plot.x + (k + 0.5) * cell, plot.y, flat);
  }
}

/** Frames a query's row and its name. */
/** @param {DrawingContext} context @param {Pick<MaskScene, "plot" | "cell" | "room" | "font" | "theme" | "colours" | "labelsQ">} scene @param {number} q */
export function lightRow(context, { plot, cell, room, font, theme, colours, labelsQ }, q) {
  context.font = `${font}px ${theme.font}`;
  drawPill(context, labelsQ.cut(q, room, font), plot.x - 6, plot.y + (q + 0.5) * cell, "right", colours.q, theme, font);
  drawWith(context, { strokeStyle: theme.q, lineWidth: 1.5 });
  context.strokeRect(plot.x, plot.y + q * cell, plot.w, cell);
}

/**
 * Sizes for the width there is; `labelsQ` and `labelsK` are the widths of the widest labels, `high` how high all rows may be.
 * @param {{ shape: Shape, width: number, font: number, labelsQ: number, labelsK: number, largest?: number, high?: number }} given
 */
export function maskLayout({ shape: [nq, nk], width, font, labelsQ, labelsK, largest = 34, high = 640 }) {
  const { left, right, top, cell: most, flat } = measureLabels({ nk, width, font, labelsQ, labelsK }, largest);
  const cell = Math.min(most, Math.max(6, high / nq));
  const plot = { x: left, y: top, w: cell * nk, h: cell * nq };
  return { plot, cell, flat, width: Math.ceil(left + plot.w + right), height: Math.ceil(top + plot.h + 4) };
}

/**
 * The cell at a point of the stage; -1 stands for the label beside a row or above a column.
 * @param {number} px @param {number} py @param {Rectangle} plot @param {Shape} shape @returns {[number, number] | null}
 */
export function maskHit(px, py, plot, [nq, nk]) {
  const q = Math.max(-1, Math.floor(((py - plot.y) / plot.h) * nq));
  const k = Math.max(-1, Math.floor(((px - plot.x) / plot.w) * nk));
  return q >= nq || k >= nk || (q < 0 && k < 0) ? null : [q, k];
}

/** The cell nearest to a point. */
/** @param {number} px @param {number} py @param {Rectangle} plot @param {Shape} shape @returns {[number, number]} */
export function nearestCell(px, py, plot, [nq, nk]) {
  const q = Math.floor(((py - plot.y) / plot.h) * nq);
  const k = Math.floor(((px - plot.x) / plot.w) * nk);
  return [clamp(q, 0, nq - 1), clamp(k, 0, nk - 1)];
}

/** The cells of the box between two corners. */
/** @param {[number, number]} from @param {[number, number]} to @returns {[number, number][]} */
export function cellsOfBox([q0, k0], [q1, k1]) {
  /** @type {[number, number][]} */
  const cells = [];
  for (let q = Math.min(q0, q1); q <= Math.max(q0, q1); q++) {
    for (let k = Math.min(k0, k1); k <= Math.max(k0, k1); k++) cells.push([q, k]);
  }
  return cells;
}

/** The cells, by number, of a whole row [q, -1] or column [-1, k]. */
/** @param {[number, number]} label @param {Shape} shape */
export function cellsOfLine([q, k], [nq, nk]) {
  if (q >= 0) return Array.from({ length: nk }, (_, j) => q * nk + j);
  return Array.from({ length: nq }, (_, j) => j * nk + k);
}

/** Pixels of the legend, of the ribbons beside the mask in a file, and between both. */
const [LEGEND, BESIDE, GAP] = [28, 660, 36];

/** @param {MaskFigureHeader} header @param {Uint8Array} payload bits, and scores @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function maskFigure(header, payload, theme, bar) {
  const { shape, colours, words, title, scale } = header;
  const { places, cell, width } = layoutInFile(header, scale === null ? 34 : 44);
  const { plot } = places;
  const cells = sweep(unpackBits(payload, shape[0] * shape[1]), shape, header.swept ?? shape[0]);
  const head = readWeights(header, payload, cells);
  /** @type {MaskScene} */
  const scene = { ...places, cell, theme, colours, shape, cells, weights: head?.weights };
  const end = plot.y + plot.h + 6;
  const kept = head ? words.share : words.kept;
  const key = { x: plot.x, y: end + 8, w: head ? 60 : 14, h: 10 };
  const first = plot.x + key.w + 6;
  const second = first + textWidth(kept, 12) + 16;
  const look = { theme, colours, words };
  const ribbons =
    head && shape[1] <= LONG ? besideScene(head, header.word, header.layers?.[0] ?? 1, null, BESIDE, look) : null;
  const draw = (/** @type {DrawingContext} */ context) => {
    nameSides(context, plot, theme, words);
    drawMask(context, scene);
    if (ribbons) {
      lightRow(context, scene, header.word);
      context.save();
      context.translate(width + GAP, Math.max(0, (end - ribbons.height) / 2));
      drawBeside(context, ribbons, look);
      context.restore();
    }
    if (!bar) return;
    if (!head) fillBox(context, key, css(maskInk(theme)));
    else context.cells(ramp(colours.weights), 256, key);
    context.hatch({ x: second, y: end + 8, w: 14, h: 10 }, colours.masked, theme.dark);
    writeText(context, kept, first, end + 13, theme, "12px");
    writeText(context, words.cut, second + 20, end + 13, theme, "12px");
  };
  const legend = second + 20 + textWidth(words.cut, 12) + 8;
  const said = head ? plainText([describeBeside(header, head, header.word)], words) : "";
  return {
    width: Math.ceil(Math.max(width + (ribbons ? GAP + BESIDE : 0), bar ? legend : 0)),
    height: Math.ceil(Math.max(end + (bar ? LEGEND : 0), ribbons?.height ?? 0)),
    title: title || said,
    said,
    draw,
  };
}

/** The mask falls over row after row. @param {MaskFigureHeader} header @param {Uint8Array} payload @returns {Film} */
export function maskFilm(header, payload) {
  const rows = header.shape[0];
  const { sweeps } = header.words;
  const name = sweeps[0].toUpperCase() + sweeps.slice(1);
  return filmOfSteps(name, rows + 1, Math.min(8, 2 + rows / 4), (swept, theme, bar) =>
    maskFigure({ ...header, swept }, payload, theme, bar),
  );
}
