// Token lines as a drawing knows them: queries on the left, keys on the right, one line a weight. No page: the same functions
// draw on screen and in files.

import { asideOf, LEVELS, litLines, MOST_LINES, piecesOf, strongestLines } from "./line_geometry.js";
import { clipTo, drawWith } from "../shared/surface.js";
import { alongAxis, drawPill } from "../shared/token_labels.js";

/** @import { LineLayer } from "../head/overlay.js" */
/** @import { Piece, rowsOnShow } from "./line_geometry.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { TokenLabels } from "../shared/token_labels.js" */
/** @import { Colours, DrawingContext, Pin, Rectangle, Theme, Words } from "../shared/types.js" */

/**
 * @typedef {object} LinesScene
 * @property {Rectangle} plot
 * @property {ReturnType<typeof rowsOnShow>} rows which tokens are on show, and how high they are
 * @property {LineLayer[]} layers heads laid over each other
 * @property {TokenLabels} labelsQ
 * @property {TokenLabels} labelsK
 * @property {number} font pixels of labels
 * @property {number} need pixels of a token whose label is written
 * @property {number} room pixels of the longest label
 * @property {Theme} theme
 * @property {Colours} colours
 * @property {Words} words
 * @property {(Pin & { pin: boolean })[]} lit
 * @property {{ q: number, k: number } | null} hovered the cell that is pointed at
 */

export const HEADING = 11;
/** How much of the other lines is left where some are lit, as the style sheet has it on screen. */
const FADED = 0.18;

/** The strongest lines of each layer, by level, and how many there are of how many. @param {LinesScene} scene */
export function linesToDraw({ layers, rows }) {
  const most = Math.floor(MOST_LINES / layers.length);
  return layers.map(({ codes, sizes, header }) => strongestLines(codes, sizes, header, rows, most));
}

/** Whether lines go from Q's colour to K's: those of one head whose weights have one sign. @param {LinesScene} scene */
function isTinted({ layers: [{ colour, header }] }) {
  return colour === null && !header.signed;
}

/** From Q's colour to K's. @param {DrawingContext} context @param {LinesScene} scene */
function queryToKey(context, { plot: { x, w }, theme }) {
  const gradient = context.createLinearGradient(x, 0, x + w, 0);
  gradient.addColorStop(0.1, theme.q);
  gradient.addColorStop(0.9, theme.k);
  return gradient;
}

/**
 * Draws lines, the weakest first.
 * @param {DrawingContext} context @param {Piece[]} pieces of the heads that were laid over each other last
 * @param {LinesScene} scene @param {number} [least] how strong the weakest line is
 */
export function strokePieces(context, pieces, scene, least = scene.theme.dark ? 0.12 : 0.06) {
  const { layers, rows, theme } = scene;
  const tinted = isTinted(scene) ? queryToKey(context, scene) : theme.text;
  for (const { at, level, lines } of pieces) {
    const aside = asideOf(at, layers.length, Math.min(rows.hq, rows.hk));
    strokeLevel(context, lines, scene, layers[at], (level + 0.5) / LEVELS, least, aside, tinted);
  }
}

/**
 * @param {DrawingContext} context @param {number[]} lines @param {LinesScene} scene @param {LineLayer} layer
 * @param {number} strength @param {number} least @param {number} aside @param {DrawingContext["strokeStyle"]} ink of one head
 */
function strokeLevel(context, lines, { rows, plot, theme, colours }, layer, strength, least, aside, ink) {
  const { codes, header, colour } = layer;
  const both = header.signed && colour === null;
  const side = Number(theme.dark);
  for (const positive of both ? [true, false] : [true]) {
    context.beginPath();
    for (let n = 0; n < lines.length; n += 2) {
      const [q, k] = [lines[n], lines[n + 1]];
      if (both && codes[q * rows.nk + k] > 32767 !== positive) continue;
      curve(context, plot, rows, q, k, aside);
    }
    const signed = both ? colours.scores[side][positive ? 3 : 1][1] : ink;
    const strokeStyle = colour === null ? signed : colours.heads[colour][side];
    const globalAlpha = least + (1 - least) * strength * 0.95;
    drawWith(context, { strokeStyle, globalAlpha, lineWidth: 0.75 + 2.75 * strength });
    context.stroke();
  }
  context.globalAlpha = 1;
}

/**
 * @param {DrawingContext} context @param {Rectangle} plot @param {LinesScene["rows"]} rows @param {number} q @param {number} k
 * @param {number} [aside] pixels that the line stands below its tokens' middle
 */
function curve(context, { x, y, w }, rows, q, k, aside = 0) {
  const [x0, x1, bend] = [x + 3, x + w - 3, w * 0.4];
  const [from, to] = [y + (q + 0.5 - rows.q0) * rows.hq + aside, y + (k + 0.5 - rows.k0) * rows.hk + aside];
  context.moveTo(x0, from);
  context.bezierCurveTo(x0 + bend, from, x1 - bend, to, x1, to);
}

/** The tokens of both sides, below their headings. @param {DrawingContext} context @param {LinesScene} scene */
export function drawLineLabels(context, { labelsQ, labelsK, words, plot, room, font: size, need, rows, theme }) {
  const [left, right] = [plot.x - 6, plot.x + plot.w + 6];
  drawWith(context, { font: `${size}px ${theme.font}`, fillStyle: theme.text, textBaseline: "middle" });
  drawWith(context, { globalAlpha: 0.9, textAlign: "right" });
  const queries = { n: rows.nq, first: rows.q0, span: rows.span.q, cell: rows.hq, from: plot.y };
  alongAxis(queries, need, (q, y) => context.fillText(labelsQ.cut(q, room, size).text, left, y));
  context.textAlign = "left";
  const keys = { n: rows.nk, first: rows.k0, span: rows.span.k, cell: rows.hk, from: plot.y };
  alongAxis(keys, need, (k, y) => context.fillText(labelsK.cut(k, room, size).text, right, y));
  drawWith(context, { globalAlpha: 1, font: `600 ${HEADING}px ${theme.font}`, fillStyle: theme.q, textAlign: "right" });
  context.fillText(words.queries, left, plot.y - 12);
  drawWith(context, { fillStyle: theme.k, textAlign: "left" });
  context.fillText(words.keys, right, plot.y - 12);
}

/** The lines of lit tokens, and their labels as pills. @param {DrawingContext} context @param {LinesScene} scene */
export function drawLitLines(context, scene) {
  const { layers, rows, lit, hovered, plot, theme, colours, labelsQ, labelsK, font, room } = scene;
  clipTo(context, plot, 2, 1);
  const found = layers.map((layer) => litLines(layer, rows, lit, hovered !== null));
  strokePieces(context, piecesOf(found), scene, 0.25);
  if (hovered) {
    context.setLineDash([6, 4]);
    drawWith(context, { strokeStyle: theme.text, lineWidth: 1.5 });
    context.beginPath();
    curve(context, plot, rows, hovered.q, hovered.k);
    context.stroke();
  }
  context.restore();
  context.font = `${font}px ${theme.font}`;
  for (const { axis, i } of lit) {
    const left = axis === "q";
    const y = plot.y + (i + 0.5 - (left ? rows.q0 : rows.k0)) * (left ? rows.hq : rows.hk);
    if (y < plot.y || y > plot.y + plot.h) continue;
    const label = (left ? labelsQ : labelsK).cut(i, room, font);
    const x = left ? plot.x - 6 : plot.x + plot.w + 6;
    drawPill(context, label, x, y, left ? "right" : "left", colours[axis], theme, font);
  }
}

/** The whole picture in one file. @param {SvgContext} context @param {LinesScene} scene */
export function drawLines(context, scene) {
  const pieces = piecesOf(linesToDraw(scene).map(({ levels }) => levels));
  context.fade(scene.lit.length ? FADED : 1, (layer) => {
    clipTo(layer, scene.plot, 2, 1);
    strokePieces(layer, pieces, scene);
    layer.restore();
  });
  drawLineLabels(context, scene);
  if (scene.lit.length) drawLitLines(context, scene);
}
