// Figures side by side, each below its own title, and lines of text in a figure.

import { FAMILY, wrapText } from "./text_width.js";

/** @import { DrawingContext } from "../shared/types.js" */
/** @import { Figure } from "./figure.js" */

const BETWEEN = 28;
const NAME = { size: 13, line: 18 };

/**
 * @param {DrawingContext} context @param {string[]} lines @param {number} x @param {number} y where the first begins
 * @param {{ size: number, line: number }} type
 */
export function writeLines(context, lines, x, y, { size, line }, weight = 400) {
  Object.assign(context, { font: `${weight} ${size}px ${FAMILY}`, textAlign: "left", textBaseline: "middle" });
  lines.forEach((text, at) => context.fillText(text, x, y + (at + 0.5) * line));
}

/**
 * Where boxes stand: beside each other, or below each other on an upright frame; and the room that they take together.
 * @param {{ width: number, height: number }[]} boxes @param {boolean} upright
 */
export function placeBoxes(boxes, upright, between = BETWEEN) {
  let end = -between;
  const places = boxes.map(({ width, height }) => {
    const start = end + between;
    end = start + (upright ? height : width);
    return upright ? [0, start] : [start, 0];
  });
  const most = Math.max(...boxes.map(({ width, height }) => (upright ? width : height)));
  return { places, width: upright ? most : end, height: upright ? end : most };
}

/** Figures side by side as one, each below its own title. @param {Figure[]} figures @returns {Figure} */
export function joinFigures(figures) {
  const names = figures.map(({ title, width }) => wrapText(title, Math.max(90, width), NAME.size, 600));
  const above = NAME.line * Math.max(0, ...names.map(({ length }) => length)) + 6;
  const width = figures.reduce((sum, one) => sum + one.width + BETWEEN, -BETWEEN);
  const draw = (/** @type {DrawingContext} */ context) => {
    context.save();
    figures.forEach((figure, at) => {
      writeLines(context, names[at], 0, 0, NAME, 600);
      context.save();
      context.translate(0, above);
      figure.draw(context);
      context.restore();
      context.translate(figure.width + BETWEEN, 0);
    });
    context.restore();
  };
  return { width, height: above + Math.max(...figures.map(({ height }) => height)), title: "", draw };
}
