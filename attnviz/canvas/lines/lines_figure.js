// Token lines as a figure: of one head, or of several heads of a layer, each then in a colour of its own and named below.

import { drawLines, HEADING, magnitudes, visibleRows } from "./lines_scene.js";
import { LONGEST_IN_FILE, pinnedTokens, tokenPitch, readMatrices } from "../head/head_figure.js";
import { overlayColours } from "../head/overlay.js";
import { fill } from "../shared/dom.js";
import { drawWith, fillBox } from "../shared/surface.js";
import { textWidth } from "../scene/text_width.js";
import { tokenLabels } from "../shared/token_labels.js";
import { EVERYTHING } from "../shared/zoom.js";

/** @import { LineLayer } from "../head/overlay.js" */
/** @import { LinesScene } from "./lines_scene.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { DrawingContext, HeadFigureHeader, Theme } from "../shared/types.js" */

/** Pixels between the two columns of tokens. */
const WIDE = 380;
/** Pixels that the names of several heads take. */
const LEGEND = 26;

/** @param {HeadFigureHeader} header @param {Uint8Array} payload @param {Theme} theme @returns {Figure} */
export function linesFigure(header, payload, theme) {
  const { shape, heads, signed, colours, words, title } = header;
  const places = heads.length > 1 ? overlayColours(heads) : null;
  const layers = readMatrices(header, payload).map(({ codes, values }, at) => {
    const colour = places === null ? null : (places.get(heads[at]) ?? 0);
    return /** @type {LineLayer} */ (
      /** @type {unknown} */ ({ head: heads[at], colour, codes, values, sizes: magnitudes(codes, signed), header })
    );
  });
  const [labelsQ, labelsK] = tokenLabels(header);
  const most = Math.max(...shape, 1);
  const pitch = tokenPitch(most, 24);
  const font = pitch >= 16 ? 12 : 10;
  const room = LONGEST_IN_FILE;
  const headings = [words.queries, words.keys].map((text) => textWidth(text, HEADING, 600));
  const [left, right] = [labelsQ, labelsK].map((labels, at) => Math.max(headings[at], labels.width(room, font)) + 12);
  const plot = { x: Math.ceil(left), y: 24, w: WIDE, h: pitch * most };
  /** @type {LinesScene} */
  const scene = {
    ...{ plot, layers, labelsQ, labelsK, font, room, theme, colours, words },
    rows: visibleRows(plot, EVERYTHING, shape),
    need: font,
    lit: pinnedTokens(header),
    hovered: null,
  };
  const end = plot.y + plot.h + 6;
  const draw = (/** @type {DrawingContext} */ context) => {
    drawLines(context, scene);
    if (places !== null) nameHeads(context, [...places], plot.x, end + LEGEND / 2, scene);
  };
  return {
    width: Math.ceil(plot.x + WIDE + right),
    height: Math.ceil(places === null ? end : end + LEGEND),
    title,
    draw,
  };
}

/**
 * A square of its colour and the number of each head.
 * @param {DrawingContext} context @param {[number, number][]} places of heads among the colours
 * @param {number} x @param {number} y @param {LinesScene} scene
 */
function nameHeads(context, places, x, y, { colours, theme, words }) {
  drawWith(context, { font: `12px ${theme.font}`, textAlign: "left", textBaseline: "middle" });
  for (const [head, place] of places.toSorted(([a], [b]) => a - b)) {
    fillBox(context, { x, y: y - 6, w: 12, h: 12 }, colours.heads[place][Number(theme.dark)]);
    const name = fill(words.legend_head, { head });
    context.fillStyle = theme.text;
    context.fillText(name, x + 17, y);
    x += 17 + textWidth(name, 12) + 14;
  }
}
