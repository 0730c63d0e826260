// Caches that grow side by side as a figure: at one number of tokens, a bar of bytes for each way of sharing.

import { drawWith, fillBox } from "../shared/surface.js";
import { barsOf } from "./cache_growth_bars.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { GrowthFigureHeader, Theme } from "../shared/types.js" */

/** Pixels of a group, of a bar's name and of its number; between two groups. */
const GROUP = { w: 520, name: 128, number: 92, apart: 40, top: 28 };
const LINE = 44;
const BAR = 22;

/** @param {GrowthFigureHeader} header @param {Uint8Array} _payload @param {Theme} theme @returns {Figure} */
export function growthFigure(header, _payload, theme) {
  const groups = barsOf(header, header.at);
  const draw = (/** @type {SvgContext} */ context) =>
    groups.forEach(({ name, bars }, n) => {
      const left = n * (GROUP.w + GROUP.apart);
      drawWith(context, { fillStyle: theme.text, textAlign: "left", textBaseline: "middle" });
      drawWith(context, { font: `600 15px ${theme.font}` });
      context.fillText(name, left, 9);
      bars.forEach((bar, row) => drawBar(context, bar, left, GROUP.top + row * LINE, theme));
    });
  const most = Math.max(...groups.map(({ bars }) => bars.length));
  const width = groups.length * (GROUP.w + GROUP.apart) - GROUP.apart;
  return { width, height: GROUP.top + most * LINE, title: header.title, draw };
}

/**
 * @param {SvgContext} context @param {ReturnType<typeof barsOf>[number]["bars"][number]} bar
 * @param {number} x @param {number} y @param {Theme} theme
 */
function drawBar(context, { name, about, colour, share, text }, x, y, theme) {
  const track = { x: x + GROUP.name, y: y + 7, w: GROUP.w - GROUP.name - GROUP.number, h: BAR };
  fillBox(context, track, theme.text, 0.07);
  fillBox(context, { ...track, w: track.w * share }, colour);
  drawWith(context, { fillStyle: theme.text, font: `600 14px ${theme.font}`, textAlign: "left" });
  context.fillText(name, x, y + 10);
  drawWith(context, { font: `12px ${theme.font}`, globalAlpha: 0.8 });
  context.fillText(about, x, y + 27);
  drawWith(context, { font: `14px ${theme.font}`, globalAlpha: 1, textAlign: "right" });
  context.fillText(text, x + GROUP.w, y + 7 + BAR / 2);
}
