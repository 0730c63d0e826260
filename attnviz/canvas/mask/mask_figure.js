// A mask as a figure, with a legend below it.

import { layoutInFile, nameSides } from "../head/head_figure.js";
import { drawMask, maskInk } from "./mask_scene.js";
import { css } from "../shared/colour.js";
import { unpackBits } from "../shared/packing.js";
import { drawWith, fillBox } from "../shared/surface.js";
import { textWidth } from "../scene/text_width.js";

/** @import { MaskScene } from "./mask_scene.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { MaskFigureHeader, Theme } from "../shared/types.js" */

const LEGEND = 28;

/** @param {MaskFigureHeader} header @param {Uint8Array} payload bits @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function maskFigure(header, payload, theme, bar) {
  const { shape, colours, words, title } = header;
  const { places, cell, width } = layoutInFile(header, 34);
  const { plot } = places;
  /** @type {MaskScene} */
  const scene = { ...places, cell, theme, colours, shape, cells: unpackBits(payload, shape[0] * shape[1]) };
  const end = plot.y + plot.h + 6;
  const second = plot.x + 20 + textWidth(words.kept, 12) + 16;
  const draw = (/** @type {SvgContext} */ context) => {
    nameSides(context, plot, theme, words);
    drawMask(context, scene);
    if (!bar) return;
    fillBox(context, { x: plot.x, y: end + 8, w: 14, h: 10 }, css(maskInk(theme)));
    context.hatch({ x: second, y: end + 8, w: 14, h: 10 }, colours.masked, theme.dark);
    drawWith(context, { font: `12px ${theme.font}`, fillStyle: theme.text, textAlign: "left", textBaseline: "middle" });
    context.fillText(words.kept, plot.x + 20, end + 13);
    context.fillText(words.cut, second + 20, end + 13);
  };
  const legend = second + 20 + textWidth(words.cut, 12) + 8;
  return {
    width: Math.ceil(Math.max(width, bar ? legend : 0)),
    height: Math.ceil(end + (bar ? LEGEND : 0)),
    title,
    draw,
  };
}
