// The way of a token through its model as a figure, and below it what is in the block that is lit.

import { drawStrip, placeStrip } from "./strip_scene.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { ModelStripFigureHeader, Theme } from "../shared/types.js" */

/** @param {ModelStripFigureHeader} header @param {Uint8Array} _payload @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function modelStripFigure(header, _payload, theme, bar) {
  const scene = placeStrip(header, header.at, { width: Infinity, touch: false, bar });
  const { width, height } = scene;
  return {
    width,
    height,
    title: header.title,
    draw: (/** @type {SvgContext} */ context) => drawStrip(context, scene, theme),
  };
}
