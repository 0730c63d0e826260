// A board as a drawing: matrices with their numbers, what the lit one was computed from, and its sum; and one operation as a
// figure, as a wide window shows it. No page.

import {
  CAPTION,
  NAME,
  termTexts,
  placeBoard,
  placeOfNumber,
  sumOnItsWay,
  SHAPE,
  SIGN,
  splitName,
  SUM,
  nameWidth,
} from "./board_geometry.js";
import { drawMap, placeMap } from "./map_scene.js";
import { nameColour, columnRole, tensorColour } from "./tensor_tint.js";
import { readableColour, rgb } from "../shared/colour.js";
import { textWidth } from "../scene/text_width.js";
import { clipTo, drawWith, fillBox, frameBox, roundedRect, writeText } from "../shared/surface.js";

/** @import { BoardStart, PlacedBoard, SheetStart, StandingSheet } from "./board_geometry.js" */
/** @import { Board, BoardCell, BoardFigureHeader, DrawingContext, FigurePart, Rectangle, TensorColours, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */

/**
 * A board on its way: its matrices have come a `share` of their way from where they started, its new numbers a `born` part of
 * theirs; those of the last board that leave go to where they stand among all.
 * @typedef {{ start: BoardStart, share: number, born: number, leaving: { one: StandingSheet, to: SheetStart }[] }} Moving
 */

/**
 * A board as it is drawn: the number `lit` of its result is made of `areas`.
 * @typedef {object} BoardScene
 * @property {Pick<PlacedBoard, "standing" | "between" | "sum">} board
 * @property {Theme} theme
 * @property {TensorColours} colours
 * @property {[number, number]} lit
 * @property {BoardCell["a"]} areas
 * @property {Moving | null} moving
 * @property {{ cell: BoardCell, share: number } | null} [summing] the sum is being made of its numbers
 * @property {{ names: string[], text: string }} [edited] which matrices are changed by hand, and how
 */

/** @param {DrawingContext} context @param {BoardScene} scene */
export function drawBoard(context, scene) {
  const { board, theme, moving } = scene;
  const left = moving ? 1 - moving.share : 0;
  for (const { one, to } of moving?.leaving ?? []) {
    if (left) drawOnItsWay(context, one, to, 1 - left, -1, scene);
  }
  board.standing.forEach((one, i) => {
    const { placed, x, y, sign, seen } = one;
    const isAhead = moving?.start.cells && !moving.born;
    if (isAhead && i === board.standing.length - 1) return;
    if (!isAhead)
      writeText(context, sign, x + seen + board.between, y + placed.height / 2 + 17, theme, `${SIGN}px`, 0.8);
    drawOnItsWay(context, one, moving?.start.sheets[i] ?? null, left, i, scene);
  });
  if (!board.sum || moving) return;
  const way = scene.summing ? sumOnItsWay(board, scene.summing.cell, scene.summing.share) : null;
  drawSum(context, board.sum, scene, way?.there ?? null);
  for (const { sheet, at, place } of way?.flights ?? [])
    drawNumber(context, board.standing[sheet].placed, at, place, 2, scene);
}

/**
 * A matrix so much of the way to its start, where it has another size. @param {DrawingContext} context
 * @param {StandingSheet} one @param {SheetStart} start @param {number} far @param {number} number @param {BoardScene} scene
 */
function drawOnItsWay(context, one, start, far, number, scene) {
  const { by, size } = start ?? { by: [0, 0], size: 1 };
  const [halfWide, halfHigh] = [one.seen / 2, one.placed.height / 2];
  context.save();
  context.translate(one.x + halfWide + far * by[0], one.y + halfHigh + far * by[1]);
  context.scale(size ** far, size ** far);
  context.translate(-halfWide, -halfHigh);
  drawSheet(context, one, number, scene);
  context.restore();
}

/** @param {DrawingContext} context @param {StandingSheet} one @param {number} number of the sheet @param {BoardScene} scene */
function drawSheet(context, { placed, seen, scrolled }, number, scene) {
  const { sheet, sizes, rows, cols, lefts, cell } = placed;
  const { theme, board, moving } = scene;
  drawTitle(context, placed, scene);
  const isCut = seen < placed.width;
  if (isCut) {
    clipTo(context, { x: 0, y: CAPTION - 4, w: seen, h: placed.height }, 0);
    context.translate(-scrolled, 0);
  }
  /** @type {(name: string, x: number, y: number, align?: CanvasTextAlign) => void} */
  const label = (name, x, y, align = "center") => writeText(context, name, x, y, theme, `${sizes.label}px`, 0.8, align);
  cols.forEach((name, c) => label(name, lefts[c] + cell / 2, CAPTION + sizes.label / 2));
  rows.forEach((name, r) => {
    const { y, h } = placeOfNumber(placed, r, 0);
    label(name, lefts[0] - 5, y + h / 2, "right");
  });
  const isOrigin = (/** @type {number} */ r, /** @type {number} */ c) =>
    scene.areas.some(([of, r0, r1, c0, c1]) => of === number && r0 <= r && r < r1 && c0 <= c && c < c1);
  const isResult = number === board.standing.length - 1;
  const starts = isResult && moving?.start.cells;
  sheet.text.forEach((_line, r) =>
    cols.forEach((_name, c) => {
      const isLit = isResult && scene.lit[0] === r && scene.lit[1] === c;
      const place = placeOfNumber(placed, r, c);
      if (starts && moving) {
        place.x += (1 - moving.born) * starts[r][c][0];
        place.y += (1 - moving.born) * starts[r][c][1];
        context.globalAlpha = moving.born;
      }
      drawNumber(context, placed, [r, c], place, isLit ? 3 : isOrigin(r, c) ? 2 : 0, scene);
    }),
  );
  context.globalAlpha = 1;
  if (isCut) context.restore();
}

/** A matrix's name and shape. @param {DrawingContext} context @param {StandingSheet["placed"]} placed @param {BoardScene} scene */
function drawTitle(context, { sheet, width }, { theme, colours, edited }) {
  const { text, sub } = splitName(sheet.name);
  const wide = nameWidth(sheet.name);
  const type = (/** @type {number} */ size) => `italic 600 ${size}px ${NAME.family}`;
  drawWith(context, {
    fillStyle: nameColour(sheet.role, colours, theme.text),
    textAlign: "left",
    textBaseline: "middle",
  });
  context.font = type(NAME.size);
  context.fillText(text, 2, 11);
  context.font = type(NAME.sub);
  context.fillText(sub, 2 + wide.text, 15);
  const shape = wide.text + wide.sub + 12;
  writeText(context, sheet.shape, shape, 13, theme, `${SHAPE}px`, 0.75);
  if (!edited?.names.includes(sheet.name)) return;
  const hint = shape + textWidth(sheet.shape, SHAPE) + 10;
  if (hint + textWidth(edited.text, SHAPE) > width) return;
  writeText(
    context,
    edited.text,
    hint,
    13,
    { ...theme, text: readableColour(theme.primary, theme.background) },
    `${SHAPE}px`,
  );
}

/**
 * @param {DrawingContext} context @param {StandingSheet["placed"]} placed @param {[number, number]} at row and column
 * @param {Rectangle} place @param {number} framed pixels of the line around it @param {BoardScene} scene
 */
function drawNumber(context, { sheet, sizes }, [r, c], place, framed, { theme, colours }) {
  const share = sheet.fill[r][c];
  const look = share === null ? null : tensorColour(columnRole(sheet, c), share, colours, rgb(theme.background));
  if (look === null) context.hatch(place, colours.masked, theme.dark);
  else {
    context.fillStyle = look.fill;
    roundedRect(context, place, 4);
    context.fill();
  }
  if (framed) frameBox(context, place, 4 - framed / 2, theme.text, framed);
  const type = `${framed === 3 ? "600 " : ""}${sizes.number}px ${theme.font}`;
  drawWith(context, { font: type, fillStyle: look?.ink ?? theme.text, textAlign: "right" });
  context.fillText(sheet.text[r][c], place.x + place.w - sizes.beside, place.y + sizes.high / 2);
}

/**
 * The sum in its box.
 * @param {DrawingContext} context @param {NonNullable<PlacedBoard["sum"]>} sum @param {BoardScene} scene
 * @param {Set<number> | null} there the parts that are there already; null: all
 */
function drawSum(context, { placed, x, y, width, height }, { theme, colours }, there) {
  fillBox(context, { x, y, w: width, h: height }, theme.secondary, 1, 8);
  drawWith(context, { textAlign: "left", textBaseline: "middle" });
  for (const [n, { term, x: from, line }] of placed.entries()) {
    if (there && !there.has(n)) continue;
    const ink = nameColour(term.role, colours, theme.text);
    drawWith(context, { fillStyle: ink, globalAlpha: term.kind === "sign" ? 0.75 : 1 });
    let at = x + SUM.beside + from;
    for (const { text, size, down, weight, width: wide } of termTexts(term)) {
      context.font = `${weight} ${size}px ${theme.font}`;
      context.fillText(text, at, y + SUM.above + (line + 0.5) * SUM.line + down);
      at += wide;
    }
  }
  context.globalAlpha = 1;
}

const WINDOW = { width: 1160, most: 56, isFile: true };

/** Pixels of all tensors above the operation, and between the two. */
const [MAP, BELOW_MAP] = [104, 14];

/** An operation with one of its numbers lit, as a part of a figure, below all tensors. */
/**
 * @param {Board} board @param {[number, number]} at @param {TensorColours} colours @param {BoardFigureHeader["map"]} map
 * @param {[number, number]} place @returns {FigurePart}
 */
export function boardPart({ sheets, signs, cells }, at, colours, map, place) {
  const cell = cells[at[0]][at[1]];
  return ["board", { sheets, signs, cell, at, map, place, title: "", colours }, new Uint8Array()];
}

/** @param {BoardFigureHeader} header @param {Uint8Array} _payload @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function boardFigure(header, _payload, theme, bar) {
  const { cell, at, colours, title, map, place } = header;
  const board = placeBoard(header, cell, at, WINDOW, bar);
  const placed = map && placeMap(map, board.width, MAP);
  const scene = { board, theme, colours, lit: at, areas: cell.a, moving: null };
  const above = placed ? MAP + BELOW_MAP : 0;
  return {
    title,
    width: Math.ceil(Math.max(board.width, placed?.width ?? 0)),
    height: board.height + above,
    draw: (/** @type {DrawingContext} */ context) => {
      const tensors = map?.steps[place[0]].boards[place[1]];
      if (map && placed && tensors) drawMap(context, { map, placed, at: place[0], board: tensors, theme, colours });
      context.save();
      context.translate(0, above);
      drawBoard(context, scene);
      context.restore();
    },
  };
}
