// The glossary as a wall: a tile for each word, as many beside each other as there is room for.

import { drawMarks } from "../scene/marks.js";
import { wrapText } from "../scene/text_width.js";
import { frameBox, writeText } from "../shared/surface.js";
import { HIGH, termMarks, WIDE } from "./term_pictures.js";

/** @import { DrawingContext, ForFile, GlossaryWallHeader, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @typedef {{ key: string, alpha: number, x: number, y: number, w: number, h: number, named: number }} Tile `named`: how much its name is seen */
/** @typedef {Pick<GlossaryWallHeader, "terms" | "found" | "asked" | "guess" | "among">} Wall */
/** @typedef {Pick<GlossaryWallHeader, "terms" | "numbers" | "asked" | "guess" | "words">} Drawn */

/** Pixels of a tile at least, and of what stands below its picture; in a file. */
const [LEAST, NAME, GAP, FILE] = [146, 44, 10, 1100];
/** What is left of a word that was not looked for. */
const FADED = 0.22;

/** The words that are looked for, or of which one is asked for. @param {Wall} wall */
export function firstWords({ terms, found, asked, among }) {
  const place = terms.find(({ id }) => id === asked)?.place;
  if (place === undefined) return terms.slice(0, found);
  return terms.filter((each) => Math.floor(each.place / among) === Math.floor(place / among));
}

/** Where each tile is. @param {Wall} wall @param {number} width */
export function wallLayout(wall, width) {
  const { terms, asked, guess } = wall;
  const first = firstWords(wall);
  const ordered = [...first, ...terms.filter((term) => !first.includes(term))];
  const columns = Math.max(2, Math.floor((width + GAP) / (LEAST + GAP)));
  const w = (width - (columns - 1) * GAP) / columns;
  const h = HIGH + NAME + 16;
  const tiles = ordered.map(({ id }, n) => {
    const [column, row] = [n % columns, Math.floor(n / columns)];
    const [alpha, named] = n < first.length ? [1, Number(!asked || guess !== "")] : [FADED, 1];
    return { key: id, alpha, named, x: column * (w + GAP), y: row * (h + GAP), w, h };
  });
  return { columns, tiles, height: Math.max(h, Math.ceil(terms.length / columns) * (h + GAP)) };
}

/**
 * @param {DrawingContext} context @param {Tile[]} tiles @param {Drawn} header @param {Theme} theme
 * @param {string | null} [lit] the word that is pointed at
 * @param {(key: string, n: number) => number} [shareOf] how much of a picture is drawn
 */
export function drawWall(context, tiles, header, theme, lit = null, shareOf = () => 1) {
  const alphaOf = (/** @type {Tile} */ { key, alpha }) => (key === lit ? 1 : alpha);
  for (const alpha of new Set(tiles.map(alphaOf))) {
    const draw = (/** @type {DrawingContext} */ on) =>
      tiles.forEach((tile, n) => {
        if (alphaOf(tile) === alpha) drawTile(on, tile, header, theme, tile.key === lit, shareOf(tile.key, n));
      });
    if (alpha < 1) context.fade(alpha, draw);
    else draw(context);
  }
}

/** @param {DrawingContext} context @param {Tile} tile @param {Drawn} header @param {Theme} theme @param {boolean} isLit @param {number} share */
function drawTile(context, { key, named, x, y, w, h }, { terms, numbers, asked, guess, words }, theme, isLit, share) {
  const name = terms.find(({ id }) => id === key)?.name ?? "";
  const [isRight, isGuess] = [guess !== "" && key === asked, guess !== "" && key === guess];
  context.save();
  context.translate(x, y);
  context.fillStyle = theme.secondary;
  context.beginPath();
  context.roundRect(0, 0, w, h, 10);
  context.fill();
  if (isGuess && !isRight) context.setLineDash([5, 4]);
  if (isLit || isRight) frameBox(context, { x: 0, y: 0, w, h }, 10, theme.primary, isRight ? 4 : 2);
  else if (isGuess) frameBox(context, { x: 0, y: 0, w, h }, 10, theme.text, 1.5);
  context.setLineDash([]);
  const lines = wrapText(name, w - 12, 14, 600).slice(0, 2);
  if (isGuess) lines.push(words.yours);
  lines.forEach((line, n) => {
    const middle = HIGH + 12 + NAME / 2 + 17 * (n - (lines.length - 1) / 2);
    const font = isGuess && n === lines.length - 1 ? "13px" : "600 14px";
    writeText(context, line, w / 2, middle, theme, font, named, "center");
  });
  context.translate((w - WIDE) / 2, 10);
  const ground = { ...theme, background: theme.secondary };
  drawMarks(context, termMarks(key, numbers, ground, share), ground);
  context.restore();
}

/** @param {ForFile<GlossaryWallHeader>} header @param {Uint8Array} _payload @param {Theme} theme @returns {Figure} */
export function wallFigure(header, _payload, theme) {
  const { tiles, height } = wallLayout(header, FILE);
  const draw = (/** @type {DrawingContext} */ context) => drawWall(context, tiles, header, theme);
  return { width: FILE, height, title: header.title, draw };
}
