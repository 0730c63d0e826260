// Ways of sharing keys and values as a figure: the columns of a wide window, each in its frame.

import { columnsScene, drawColumn, ROOM, WIDE } from "./columns_scene.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { SharingFigureHeader, Theme } from "../shared/types.js" */

/** @param {SharingFigureHeader} header @param {Uint8Array} _payload @param {Theme} theme @returns {Figure} */
export function sharingFigure(header, _payload, theme) {
  const scene = columnsScene(header, theme, WIDE);
  const draw = (/** @type {SvgContext} */ context) => {
    context.save();
    scene.columns.forEach((_column, at) => {
      drawColumn(context, scene, at);
      context.translate(WIDE + ROOM, 0);
    });
    context.restore();
  };
  return { width: scene.columns.length * (WIDE + ROOM) - ROOM, height: scene.height, title: header.title, draw };
}
