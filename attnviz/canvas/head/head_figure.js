// One head as a figure: its matrix drawn as on screen, as large as its tokens ask for, with its bar below.

import { visibleCells, drawHeatmap, measureLabels } from "../heatmap/heatmap_scene.js";
import { pixelTable } from "../shared/colour.js";
import { BAR_ROOM, barWidth, drawBarInFile } from "../shared/colour_bar.js";
import { encode16, toFloats } from "../shared/packing.js";
import { drawWith } from "../shared/surface.js";
import { tokenLabels } from "../shared/token_labels.js";
import { EVERYTHING } from "../shared/zoom.js";

/** @import { HeatmapScene } from "../heatmap/heatmap_scene.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { DrawingContext, HeadFigureHeader, Rectangle, Shape, Theme, Tokens, Words } from "../shared/types.js" */

/** Pixels of the longest label in a file, where no window is narrow. */
export const LONGEST_IN_FILE = 200;
/** Pixels for the words Queries and Keys. */
const HEADINGS = 20;

/** Pixels of a token along a side: as many as leave every label its line, up to some hundred tokens. @param {number} most */
export function tokenPitch(most, largest = 44) {
  if (most <= 12) return largest;
  if (most <= 40) return Math.min(largest, Math.max(20, 760 / most));
  return most <= 300 ? 14 : 1200 / most;
}

/** The numbers of a payload, one matrix after the other, as codes on the header's scale. */
/** @param {HeadFigureHeader} header @param {Uint8Array} payload */
export function readMatrices({ shape: [nq, nk], top, signed }, payload) {
  const all = toFloats(payload);
  return Array.from({ length: all.length / (nq * nk) }, (_, at) => {
    const values = all.subarray(at * nq * nk, (at + 1) * nq * nk);
    const codes = new Uint16Array(values.length);
    return { values, codes, hasMasked: encode16(values, null, top, signed, codes) };
  });
}

/** What is pinned, as the screen lights it. @param {HeadFigureHeader} header */
export function pinnedTokens({ pins, sentence, litRow, signed }) {
  const pinned = pins.tokens.map(([axis, i]) => ({ axis, i, pin: true }));
  const row = litRow && !signed ? (sentence?.row ?? null) : null;
  if (pinned.length || row === null) return pinned;
  return [{ axis: /** @type {const} */ ("q"), i: row, pin: false }];
}

/**
 * Where a matrix and its labels stand in a file, beside the words Queries and Keys.
 * @param {Tokens & { shape: Shape }} header @param {number} [largest] pixels of a cell
 */
export function layoutInFile(header, largest) {
  const [nq, nk] = header.shape;
  const [labelsQ, labelsK] = tokenLabels(header);
  const pitch = tokenPitch(Math.max(nq, nk, 1), largest);
  const font = pitch >= 16 ? 12 : 10;
  const room = LONGEST_IN_FILE;
  const widths = { labelsQ: labelsQ.width(room, font), labelsK: labelsK.width(room, font) };
  const { left, right, top, cell, flat } = measureLabels({ nk, width: Infinity, font, ...widths }, pitch);
  const plot = { x: left + HEADINGS, y: top + HEADINGS, w: cell * nk, h: cell * nq };
  return { places: { plot, font, room, flat, labelsQ, labelsK }, cell, width: plot.x + plot.w + right };
}

/** @param {HeadFigureHeader} header @param {Uint8Array} payload @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function headFigure(header, payload, theme, bar) {
  const { shape, signed, scale, colours, words, segments, pins, unit, title } = header;
  const [, nk] = shape;
  const [{ values, codes, hasMasked }] = readMatrices(header, payload);
  const { places, width } = layoutInFile(header);
  const { plot } = places;
  /** @type {HeatmapScene} */
  const scene = {
    ...places,
    ...{ theme, colours, words, shape, signed, segments, codes, hasMasked },
    cells: visibleCells(plot, EVERYTHING, shape),
    need: places.font,
    table: pixelTable(header, theme.dark),
    picture: "",
    valueAt: (q, k) => values[q * nk + k],
    sums: null,
    lit: pinnedTokens(header),
    cell: pins.cell,
    guess: header.guess ?? null,
    hover: null,
    box: null,
  };
  const hatched = hasMasked ? words.hidden : null;
  const wide = Math.max(width, bar ? plot.x + barWidth(unit, hatched) : 0);
  const end = plot.y + plot.h + 6;
  const draw = (/** @type {DrawingContext} */ context) => {
    nameSides(context, plot, theme, words);
    drawHeatmap(context, scene);
    if (bar) drawBarInFile(context, plot.x, end + 8, { scale, signed, unit, colours }, theme, hatched);
  };
  return { width: Math.ceil(wide), height: Math.ceil(bar ? end + BAR_ROOM : end), title, draw };
}

/** The words Queries and Keys, in their colours. */
/** @param {DrawingContext} context @param {Rectangle} plot @param {Theme} theme @param {Words} words */
export function nameSides(context, plot, theme, words) {
  drawWith(context, {
    font: `600 12px ${theme.font}`,
    textAlign: "center",
    textBaseline: "middle",
    fillStyle: theme.k,
  });
  context.fillText(words.keys, plot.x + plot.w / 2, 8);
  context.save();
  context.translate(8, plot.y + plot.h / 2);
  context.rotate(-Math.PI / 2);
  context.fillStyle = theme.q;
  context.fillText(words.queries, 0, 0);
  context.restore();
}
