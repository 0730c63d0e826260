// Token lines as a drawing knows them: queries on the left, keys on the right, one line a weight: which are drawn, how strongly,
// and where. No page: the same functions draw on screen and in files.

import { placeOnScale } from "../shared/colour.js";
import { MASKED_16, decodeValue } from "../shared/packing.js";
import { clipTo, drawWith } from "../shared/surface.js";
import { alongAxis, clearAround, drawPill, hideLabel } from "../shared/token_labels.js";
import { visibleSpans } from "../shared/zoom.js";

/** @import { LineLayer } from "../head/overlay.js" */
/** @import { TokenLabels } from "../shared/token_labels.js" */
/** @import { Colours, DrawingContext, Pin, Rectangle, Scale, Shape, Theme, Words, Zoom } from "../shared/types.js" */

export const MOST_LINES = 4000;
/** While a hand moves, the weakest lines wait once so many are drawn. */
const AT_ONCE = 80;
/** Lines that are drawn in one go: a thousand take longer than a frame. */
const PIECE = 200;
const LEVELS = 24;
/** A line weaker than this share of the scale is not drawn. */
const WEAKEST = 0.006;

/** Heights of the tokens on both sides, and which are on show. */
/** @param {Rectangle} plot @param {Zoom} zoom @param {Shape} shape */
export function visibleRows(plot, zoom, shape) {
  const [nq, nk] = shape;
  const span = visibleSpans(zoom, shape);
  return { nq, nk, z: zoom.z, q0: zoom.q0, k0: zoom.k0, span, hq: plot.h / span.q, hk: plot.h / span.k };
}

/** How strong a code's line is, 0 to 1. */
/** @param {number} code @param {{ top: number, signed: boolean, scale: Scale }} header */
function lineStrength(code, { top, signed, scale }) {
  return placeOnScale(Math.abs(decodeValue(code, top, signed)), scale, false);
}

/** @param {number} code @param {{ top: number, signed: boolean, scale: Scale }} header */
function strengthLevel(code, header) {
  return Math.min(LEVELS - 1, Math.floor(lineStrength(code, header) * LEVELS));
}

/** Magnitudes of codes on one scale from 0 to 65,534; masked stays masked. */
/** @param {Uint16Array} codes @param {boolean} signed */
export function magnitudes(codes, signed) {
  if (!signed) return codes;
  return codes.map((code) => (code === MASKED_16 ? code : Math.min(65534, Math.abs(code - 32767) * 2)));
}

/**
 * The strongest lines among the cells on show, at most `most`, by level of strength, weakest level first.
 * Each level is the flat list q, k, q, k... of its lines; `total` counts all cells on show that are not masked.
 * @param {Uint16Array} codes
 * @param {Uint16Array} sizes what `magnitudes` makes of the codes
 * @param {{ top: number, signed: boolean, scale: Scale }} header @param {ReturnType<typeof visibleRows>} rows
 */
export function strongestLines(codes, sizes, header, rows, most = MOST_LINES) {
  const { nq, nk, q0, k0, span } = rows;
  const [qa, qb] = [Math.floor(q0), Math.min(nq, Math.ceil(q0 + span.q))];
  const [ka, kb] = [Math.floor(k0), Math.min(nk, Math.ceil(k0 + span.k))];
  const counts = new Uint32Array(65536);
  for (let q = qa; q < qb; q++) {
    for (let i = q * nk + ka, end = q * nk + kb; i < end; i++) counts[sizes[i]] += 1;
  }
  const total = (qb - qa) * (kb - ka) - counts[MASKED_16];
  const cut = Math.max(
    magnitudeThreshold(counts, most),
    Math.floor(65534 * Math.sqrt((WEAKEST * header.scale.top) / header.top)),
  );
  /** @type {number[][]} */
  const levels = Array.from({ length: LEVELS }, () => []);
  let drawn = 0;
  for (let q = qa; q < qb; q++) {
    for (let k = ka, i = q * nk + ka; k < kb; k++, i++) {
      if (sizes[i] <= cut || sizes[i] === MASKED_16) continue;
      levels[strengthLevel(codes[i], header)].push(q, k);
      drawn += 1;
    }
  }
  return { levels, drawn, total };
}

/** The weakest level of those whose lines are drawn at once, so that AT_ONCE are not exceeded; 0 where all are. */
/** @param {number[][][]} heads the levels of each head on show */
export function weakestLevelAtOnce(heads) {
  let lines = 0;
  for (let level = LEVELS - 1; level >= 0; level--) {
    for (const levels of heads) lines += levels[level].length / 2;
    if (lines > AT_ONCE) return Math.min(level + 1, LEVELS - 1);
  }
  return 0;
}

/**
 * Lines that are drawn in one go, the weakest of all heads first.
 * @param {number[][][]} heads the levels of each head on show
 * @typedef {{ at: number, level: number, lines: number[] }} Piece of the head at this place among them
 * @returns {Piece[]}
 */
export function splitLines(heads) {
  /** @type {Piece[]} */
  const pieces = [];
  for (let level = 0; level < LEVELS; level++) {
    heads.forEach((levels, at) => {
      const all = levels[level];
      for (let from = 0; from < all.length; from += 2 * PIECE) {
        pieces.push({ at, level, lines: all.slice(from, from + 2 * PIECE) });
      }
    });
  }
  return pieces;
}

/** The size that a line must exceed for at most `most` to be kept. */
/** @param {Uint32Array} counts how many lines have each size @param {number} most */
function magnitudeThreshold(counts, most) {
  let cut = 65534;
  let kept = 0;
  while (cut > 0 && kept + counts[cut] <= most) kept += counts[cut--];
  return cut;
}

/** Whether a lit token's line is strong enough to be drawn. */
/** @param {number} code @param {{ top: number, signed: boolean, scale: Scale }} header */
export function isWorthLighting(code, header) {
  return code !== MASKED_16 && lineStrength(code, header) >= (header.scale.root ? 0.08 : WEAKEST);
}

/**
 * The token at a point of the stage: of the left column or the right one, or none between them.
 * @param {number} px @param {number} py @param {Rectangle} plot @param {ReturnType<typeof visibleRows>} rows
 * @returns {Pin | null}
 */
export function lineHit(px, py, plot, rows) {
  if (py < plot.y || py >= plot.y + plot.h) return null;
  const third = plot.w * 0.3;
  if (px < plot.x + third) return { axis: "q", i: Math.floor((py - plot.y) / rows.hq + rows.q0) };
  if (px > plot.x + plot.w - third) return { axis: "k", i: Math.floor((py - plot.y) / rows.hk + rows.k0) };
  return null;
}

/**
 * The lines of lit tokens, by level of strength; of a cell pointed at, only its query's.
 * @param {{ codes: Uint16Array, header: { top: number, signed: boolean, scale: Scale } }} layer
 * @param {ReturnType<typeof visibleRows>} rows @param {(Pin & { pin: boolean })[]} lit @param {boolean} onCell
 */
function highlightedLines({ codes, header }, rows, lit, onCell) {
  /** @type {number[][]} */
  const levels = Array.from({ length: LEVELS }, () => []);
  const add = (/** @type {number} */ q, /** @type {number} */ k) => {
    const code = codes[q * rows.nk + k];
    if (isWorthLighting(code, header)) levels[strengthLevel(code, header)].push(q, k);
  };
  for (const { axis, i, pin } of lit) {
    if (onCell && axis === "k" && !pin) continue;
    for (let j = 0; j < (axis === "q" ? rows.nk : rows.nq); j++) {
      if (axis === "q") add(i, j);
      else add(j, i);
    }
  }
  return levels;
}

/**
 * @typedef {object} LinesScene
 * @property {Rectangle} plot
 * @property {ReturnType<typeof visibleRows>} rows which tokens are on show, and how high they are
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

/**
 * Draws lines, the weakest first.
 * @param {DrawingContext} context @param {Piece[]} pieces of the heads that were laid over each other last
 * @param {LinesScene} scene @param {number} [least] how strong the weakest line is
 */
export function strokePieces(context, pieces, scene, least = scene.theme.dark ? 0.12 : 0.06) {
  const { layers, rows } = scene;
  const apart = Math.min(2.5, Math.min(rows.hq, rows.hk) / (layers.length + 2)); // lines of several heads lie beside each other
  for (const { at, level, lines } of pieces) {
    const aside = (at - (layers.length - 1) / 2) * apart;
    strokeLinesOfStrength(context, lines, scene, layers[at], (level + 0.5) / LEVELS, least, aside);
  }
}

/**
 * Strokes those lines of a head that have one strength.
 * @param {DrawingContext} context @param {number[]} lines their queries and keys in turn @param {LinesScene} scene
 * @param {LineLayer} layer @param {number} strength from 0 to 1 @param {number} least @param {number} aside
 */
function strokeLinesOfStrength(context, lines, { rows, plot, theme, colours }, layer, strength, least, aside) {
  const { codes, header, colour } = layer;
  const both = header.signed && colour === null;
  const side = Number(theme.dark);
  for (const positive of both ? [true, false] : [true]) {
    context.beginPath();
    for (let n = 0; n < lines.length; n += 2) {
      const [q, k] = [lines[n], lines[n + 1]];
      if (both && codes[q * rows.nk + k] > 32767 !== positive) continue;
      addLine(context, plot, rows, q, k, aside);
    }
    const signed = both ? colours.scores[side][positive ? 3 : 1][1] : theme.weight;
    const strokeStyle = colour === null ? signed : colours.heads[colour][side];
    const globalAlpha = least + (1 - least) * strength * 0.95;
    drawWith(context, { strokeStyle, globalAlpha, lineWidth: 0.75 + 2.75 * strength });
    context.stroke();
  }
  context.globalAlpha = 1;
}

/**
 * Adds the curve from a query to a key to the path.
 * @param {DrawingContext} context @param {Rectangle} plot @param {LinesScene["rows"]} rows @param {number} q @param {number} k
 * @param {number} [aside] pixels that the line stands below its tokens' middle
 */
function addLine(context, { x, y, w }, rows, q, k, aside = 0) {
  const [x0, x1, bend] = [x + 3, x + w - 3, w * 0.4];
  const [from, to] = [y + (q + 0.5 - rows.q0) * rows.hq + aside, y + (k + 0.5 - rows.k0) * rows.hk + aside];
  context.moveTo(x0, from);
  context.bezierCurveTo(x0 + bend, from, x1 - bend, to, x1, to);
}

/** The axes along which tokens stand. @param {LinesScene["rows"]} rows @param {Rectangle} plot */
function lineAxes(rows, plot) {
  return {
    q: { n: rows.nq, first: rows.q0, span: rows.span.q, cell: rows.hq, from: plot.y },
    k: { n: rows.nk, first: rows.k0, span: rows.span.k, cell: rows.hk, from: plot.y },
  };
}

/** The tokens of both sides, below their headings. @param {DrawingContext} context @param {LinesScene} scene */
export function drawLineLabels(context, { labelsQ, labelsK, words, plot, room, font: size, need, rows, theme }) {
  const [left, right] = [plot.x - 6, plot.x + plot.w + 6];
  drawWith(context, { font: `${size}px ${theme.font}`, fillStyle: theme.text, textBaseline: "middle" });
  drawWith(context, { globalAlpha: 0.9, textAlign: "right" });
  const axes = lineAxes(rows, plot);
  alongAxis(axes.q, need, (q, y) => context.fillText(labelsQ.cut(q, room, size).text, left, y));
  context.textAlign = "left";
  alongAxis(axes.k, need, (k, y) => context.fillText(labelsK.cut(k, room, size).text, right, y));
  drawWith(context, { globalAlpha: 1, font: `600 ${HEADING}px ${theme.font}`, fillStyle: theme.q, textAlign: "right" });
  context.fillText(words.queries, left, plot.y - 12);
  drawWith(context, { fillStyle: theme.k, textAlign: "left" });
  context.fillText(words.keys, right, plot.y - 12);
}

/** The lines of lit tokens, and their labels as pills. @param {DrawingContext} context @param {LinesScene} scene */
export function drawLitLines(context, scene) {
  const { layers, rows, lit, hovered, plot, theme, colours, labelsQ, labelsK, font, room, need } = scene;
  clipTo(context, plot, 2, 1);
  const found = layers.map((layer) => highlightedLines(layer, rows, lit, hovered !== null));
  strokePieces(context, splitLines(found), scene, 0.25);
  if (hovered) {
    context.setLineDash([6, 4]);
    drawWith(context, { strokeStyle: theme.text, lineWidth: 1.5 });
    context.beginPath();
    addLine(context, plot, rows, hovered.q, hovered.k);
    context.stroke();
  }
  context.restore();
  context.font = `${font}px ${theme.font}`;
  const sides = {
    q: { labels: labelsQ, x: plot.x - 6, align: /** @type {const} */ ("right") },
    k: { labels: labelsK, x: plot.x + plot.w + 6, align: /** @type {const} */ ("left") },
  };
  const axes = lineAxes(rows, plot);
  for (const { axis, i } of lit) {
    const { labels, x, align } = sides[axis];
    clearAround(axes[axis], need, i, font + 2, (other, y) =>
      hideLabel(context, labels.cut(other, room, font), x, y, align, theme, font),
    );
  }
  for (const { axis, i } of lit) {
    const left = axis === "q";
    const { labels, x, align } = sides[axis];
    const y = plot.y + (i + 0.5 - (left ? rows.q0 : rows.k0)) * (left ? rows.hq : rows.hk);
    if (y < plot.y || y > plot.y + plot.h) continue;
    drawPill(context, labels.cut(i, room, font), x, y, align, colours[axis], theme, font);
  }
}

/** The whole picture in one file. @param {DrawingContext} context @param {LinesScene} scene */
export function drawLines(context, scene) {
  const pieces = splitLines(linesToDraw(scene).map(({ levels }) => levels));
  context.fade(scene.lit.length ? FADED : 1, (layer) => {
    clipTo(layer, scene.plot, 2, 1);
    strokePieces(layer, pieces, scene);
    layer.restore();
  });
  drawLineLabels(context, scene);
  if (scene.lit.length) drawLitLines(context, scene);
}
