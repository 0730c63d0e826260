// A mask as a figure, with a legend below it.

import { LONGEST_IN_FILE, nameSides, pitchOf } from "../head/head_figure.js";
import { roomOfLabels } from "../heatmap/heatmap_geometry.js";
import { drawMaskAxes, drawMaskGround, maskInk, maskPixels } from "./mask_scene.js";
import { css } from "../shared/colour.js";
import { unpackBits } from "../shared/packing.js";
import { drawWith, fillBox, hatch } from "../shared/surface.js";
import { textWidth } from "../scene/text_width.js";
import { labelsOf } from "../shared/token_labels.js";

/** @import { MaskScene } from "./mask_scene.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { MaskFigureHeader, Theme } from "../shared/types.js" */

const HEADINGS = 20;
const LEGEND = 28;

/** @param {MaskFigureHeader} header @param {Uint8Array} payload bits @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function maskFigure(header, payload, theme, bar) {
  const { shape, colours, words, title } = header;
  const [nq, nk] = shape;
  const [labelsQ, labelsK] = labelsOf(header);
  const pitch = pitchOf(Math.max(nq, nk, 1), 34);
  const font = pitch >= 16 ? 12 : 10;
  const room = LONGEST_IN_FILE;
  const widths = { labelsQ: labelsQ.width(room, font), labelsK: labelsK.width(room, font) };
  const { left, right, top, cell, flat } = roomOfLabels({ nk, width: Infinity, font, ...widths }, pitch);
  const plot = { x: left + HEADINGS, y: top + HEADINGS, w: cell * nk, h: cell * nq };
  /** @type {MaskScene} */
  const scene = {
    ...{ plot, cell, flat, font, room, theme, colours, shape, labelsQ, labelsK },
    cells: unpackBits(payload, nq * nk),
  };
  const end = plot.y + plot.h + 6;
  const second = plot.x + 20 + textWidth(words.kept, 12) + 16;
  const draw = (/** @type {SvgContext} */ context) => {
    nameSides(context, plot, theme, words);
    drawMaskGround(context, scene);
    context.cells(maskPixels(scene), nk, plot);
    drawMaskAxes(context, scene);
    if (!bar) return;
    fillBox(context, { x: plot.x, y: end + 8, w: 14, h: 10 }, css(maskInk(theme)));
    hatch(context, { x: second, y: end + 8, w: 14, h: 10 }, colours.masked, theme.dark);
    drawWith(context, { font: `12px ${theme.font}`, fillStyle: theme.text, textAlign: "left", textBaseline: "middle" });
    context.fillText(words.kept, plot.x + 20, end + 13);
    context.fillText(words.cut, second + 20, end + 13);
  };
  const legend = second + 20 + textWidth(words.cut, 12) + 8;
  const width = Math.ceil(Math.max(plot.x + plot.w + right, bar ? legend : 0));
  return { width, height: Math.ceil(end + (bar ? LEGEND : 0)), title, draw };
}
