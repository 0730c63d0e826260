// One operation as a figure: its matrices with a number lit, and the sum of that number, as a wide window shows them.

import { placeBoard } from "./board_geometry.js";
import { drawBoard } from "./board_scene.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { Board, BoardFigureHeader, FigurePart, TensorColours, Theme } from "../shared/types.js" */

const WINDOW = { width: 1160, most: 56, isFile: true };

/** An operation with one of its numbers lit, as a part of a figure. */
/** @param {Board} board @param {[number, number]} at @param {TensorColours} colours @returns {FigurePart} */
export function boardPart({ sheets, signs, cells }, at, colours) {
  return ["board", { sheets, signs, cell: cells[at[0]][at[1]], at, title: "", colours }, new Uint8Array()];
}

/** @param {BoardFigureHeader} header @param {Uint8Array} _payload @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function boardFigure(header, _payload, theme, bar) {
  const { cell, at, colours, title } = header;
  const board = placeBoard(header, cell, at, WINDOW, bar);
  const scene = { board, theme, colours, lit: at, areas: cell.a, moving: null };
  return { ...board, title, draw: (/** @type {SvgContext} */ context) => drawBoard(context, scene) };
}
