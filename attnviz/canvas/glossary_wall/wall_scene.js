// The glossary as a wall: a tile for each word, as many beside each other as there is room for.

import { drawMarks } from "../scene/marks.js";
import { wrapText } from "../scene/text_width.js";
import { writeText } from "../shared/surface.js";
import { HIGH, termMarks, WIDE } from "./term_pictures.js";

/** @import { DrawingContext, ForFile, GlossaryWallHeader, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @typedef {{ key: string, alpha: number, x: number, y: number, w: number, h: number }} Tile */

/** Pixels of a tile at least, and of what stands below its picture; in a file. */
const [LEAST, NAME, GAP, FILE] = [146, 44, 10, 1100];

/** Where each tile is. @param {GlossaryWallHeader["terms"]} terms @param {number} width */
export function wallLayout(terms, width) {
  const columns = Math.max(2, Math.floor((width + GAP) / (LEAST + GAP)));
  const w = (width - (columns - 1) * GAP) / columns;
  const h = HIGH + NAME + 16;
  const tiles = terms.map(({ id }, n) => {
    const [column, row] = [n % columns, Math.floor(n / columns)];
    return { key: id, alpha: 1, x: column * (w + GAP), y: row * (h + GAP), w, h };
  });
  return { columns, tiles, height: Math.max(h, Math.ceil(terms.length / columns) * (h + GAP)) };
}

/**
 * @param {DrawingContext} context @param {Tile[]} tiles @param {Pick<GlossaryWallHeader, "terms" | "numbers">} header
 * @param {Theme} theme @param {string | null} [lit] the word that is pointed at
 */
export function drawWall(context, tiles, { terms, numbers }, theme, lit = null) {
  const names = new Map(terms.map(({ id, name }) => [id, name]));
  for (const { key, alpha, x, y, w, h } of tiles) {
    const name = names.get(key);
    if (name === undefined || alpha < 0.02) continue;
    context.save();
    context.translate(x, y);
    context.fillStyle = theme.secondary;
    context.globalAlpha = alpha;
    context.beginPath();
    context.roundRect(0, 0, w, h, 10);
    context.fill();
    if (key === lit) {
      context.strokeStyle = theme.primary;
      context.lineWidth = 2;
      context.stroke();
    }
    wrapText(name, w - 12, 14, 600)
      .slice(0, 2)
      .forEach((line, n, all) =>
        writeText(
          context,
          line,
          w / 2,
          HIGH + 12 + NAME / 2 + 17 * (n - (all.length - 1) / 2),
          theme,
          "600 14px",
          alpha,
          "center",
        ),
      );
    context.translate((w - WIDE) / 2, 10);
    const ground = { ...theme, background: theme.secondary };
    drawMarks(
      context,
      termMarks(key, numbers, ground).map((each) => ({ ...each, alpha: each.alpha * alpha })),
      ground,
    );
    context.restore();
  }
}

/** @param {ForFile<GlossaryWallHeader>} header @param {Uint8Array} _payload @param {Theme} theme @returns {Figure} */
export function wallFigure(header, _payload, theme) {
  const { tiles, height } = wallLayout(header.terms, FILE);
  const draw = (/** @type {DrawingContext} */ context) => drawWall(context, tiles, header, theme);
  return { width: FILE, height, title: header.title, draw };
}
