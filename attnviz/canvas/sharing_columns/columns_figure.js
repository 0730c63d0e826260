// Ways of sharing keys and values as a figure: the columns of a wide window, each in its frame.

import { columnsScene, drawColumn, WIDE } from "./columns_scene.js";
import { drawWith } from "../shared/surface.js";
import { roundedRect } from "../shared/token_labels.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { SharingFigureHeader, Theme } from "../shared/types.js" */

/** Pixels inside a frame, and between two. */
const ROOM = 16;

/** @param {SharingFigureHeader} header @param {Uint8Array} _payload @param {Theme} theme @returns {Figure} */
export function sharingFigure(header, _payload, theme) {
  const scene = columnsScene(header, theme);
  const [wide, high] = [WIDE + 2 * ROOM, scene.height + 2 * ROOM];
  const draw = (/** @type {SvgContext} */ context) => {
    context.save();
    scene.columns.forEach((_column, at) => {
      drawWith(context, { strokeStyle: theme.border, lineWidth: 1 });
      roundedRect(context, 0.5, 0.5, wide - 1, high - 1, 8);
      context.stroke();
      context.save();
      context.translate(ROOM, ROOM);
      drawColumn(context, scene, at);
      context.restore();
      context.translate(wide + ROOM, 0);
    });
    context.restore();
  };
  return { width: scene.columns.length * (wide + ROOM) - ROOM, height: high, title: header.title, draw };
}
