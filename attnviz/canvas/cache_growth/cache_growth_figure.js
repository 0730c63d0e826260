// Caches that grow side by side as a figure: at one number of tokens, a bar of bytes for each way of sharing.

import { drawGrowth, growthScene } from "./cache_growth_scene.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { GrowthFigureHeader, Theme } from "../shared/types.js" */

/** Pixels of a group, with those between it and the next. */
const GROUP = 560;

/** @param {GrowthFigureHeader} header @param {Uint8Array} _payload @param {Theme} theme @returns {Figure} */
export function growthFigure(header, _payload, theme) {
  const scene = growthScene(header, header.at, header.groups.length * GROUP - 40, theme);
  const draw = (/** @type {SvgContext} */ context) => drawGrowth(context, scene);
  return { width: scene.width, height: Math.ceil(scene.height), title: header.title, draw };
}
