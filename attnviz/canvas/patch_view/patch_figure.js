// A picture with the discs of one row as a figure, with its sentence below; or the picture as it is.

import {
  answerHeight,
  countColumns,
  DIMMED,
  drawAnswer,
  drawLight,
  drawMarks,
  drawTiles,
  fitPicture,
  placeTiles,
} from "./patch_scene.js";
import { largestPatchWeight, headsInOrder } from "./patch_numbers.js";
import { patchSentence } from "./patch_sentence.js";
import { fill } from "../shared/dom.js";
import { formatPercent } from "../shared/numbers.js";
import { encodeBase64, toFloats } from "../shared/packing.js";
import { placeOfHead } from "../shared/raw_scores.js";
import { drawWith, writeText } from "../shared/surface.js";
import { wrapText } from "../scene/text_width.js";

/** @import { PatchScene } from "./patch_scene.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { ForFile, PatchFigureHeader, PatchHeader, Rectangle, Theme } from "../shared/types.js" */

const LINE = 17;
/** The picture as an address. @param {Pick<PatchHeader, "picture" | "parts">} header @param {Uint8Array} payload */
function pictureAddress({ picture, parts }, payload) {
  return `data:${picture.type};base64,${encodeBase64(payload.subarray(0, parts.picture))}`;
}

/** All heads, as wide as their small pictures are: few are larger. */
/** @param {ForFile<PatchHeader>} header @param {Uint8Array} payload @param {Theme} theme @returns {Figure} */
export function patchHeadsFigure(header, payload, theme) {
  const { picture, parts, grid, heads, state, title } = header;
  const rows = toFloats(payload.subarray(parts.picture));
  const keys = grid.first + grid.rows * grid.columns;
  const columns = countColumns(header);
  const board = placeTiles(header, headsInOrder(header), Math.max(640, 96 * columns));
  const href = pictureAddress(header, payload);
  const paint = (/** @type {SvgContext} */ context, /** @type {Rectangle} */ place) =>
    context.image(href, place, picture.smooth, DIMMED);
  const sceneOf = (/** @type {{ layer: number, head: number }} */ { layer, head }) => {
    const at = placeOfHead(heads, layer, head) * keys;
    const row = rows.subarray(at, at + keys);
    return { header, size: board.size, theme, paint, row, top: largestPatchWeight(row, grid.first), state, framed: [] };
  };
  const draw = (/** @type {SvgContext} */ context) => drawTiles(context, board, state, theme, sceneOf);
  return { width: board.width, height: Math.ceil(board.height), title, draw };
}

/** @param {PatchFigureHeader} header @param {Uint8Array} payload @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function patchFigure(header, payload, theme, bar) {
  const { picture, parts, side, title, query, state } = header;
  const size = fitPicture(picture, side, side);
  const href = pictureAddress(header, payload);
  const paint = (/** @type {SvgContext} */ context, /** @type {Rectangle} */ place, dimmed = DIMMED) =>
    context.image(href, place, picture.smooth, dimmed);
  if (query === null) {
    const { answer } = header;
    const width = answer.length ? Math.max(size.width, 220) : size.width;
    const draw = (/** @type {SvgContext} */ context) => {
      paint(context, { x: 0, y: 0, w: size.width, h: size.height }, "");
      drawWith(context, { strokeStyle: theme.border, lineWidth: 1 });
      context.strokeRect(0, 0, size.width, size.height);
      context.translate(0, size.height + 16);
      drawAnswer(context, answer, answer.map(([, share]) => share), width, theme); // prettier-ignore
    };
    return { width, height: size.height + (answer.length && 16 + answerHeight(answer)), title, draw };
  }
  const row = toFloats(payload.subarray(parts.picture));
  const top = largestPatchWeight(row, header.grid.first);
  const name = state.pins.includes(query) ? String(state.pins.indexOf(query) + 1) : "";
  /** @type {PatchScene} */
  const scene = { header, size, theme, paint, row, top, state, framed: [{ token: query, name }] };
  const said = [
    bar ? fill(header.light, { share: formatPercent(top) }) : "",
    patchSentence(header, query, row, state.shows),
  ];
  const lines = said.filter(Boolean).flatMap((text) => wrapText(text, size.width, 12));
  const draw = (/** @type {SvgContext} */ context) => {
    drawLight(context, scene);
    drawMarks(context, scene);
    lines.forEach((line, at) => writeText(context, line, 0, size.height + 8 + (at + 0.5) * LINE, theme, "12px"));
  };
  return { width: size.width, height: size.height + 8 + lines.length * LINE, title, draw };
}
