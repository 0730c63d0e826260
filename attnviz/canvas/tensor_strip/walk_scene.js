// The walk from words to output as a drawing: each step's name, a picture of its tensors, and their shape. No page.

import { rgb } from "../shared/colour.js";
import { drawWith, fillBox, roundedRect, writeText } from "../shared/surface.js";
import { textWidth } from "../scene/text_width.js";
import { tint } from "../tensor_board/tensor_tint.js";

/** @import { DrawingContext, Rectangle, StripHeader, TensorColours, Theme, Thumb } from "../shared/types.js" */
/** @typedef {Rectangle & { name: string, shape: string, thumbs: (Rectangle & { thumb: Thumb })[] }} WalkStep */

const [NAME, SHAPE] = [12.5, 11];
/** Pixels around all, of the narrowest step, inside each at its sides, and between two. */
const [AROUND, LEAST, PAD, GAP] = [3, 52, 3, 4];
const HIGH = 92;
/** Pixels of a number, of the highest picture, between two pictures, and down to the middle of all. */
const [CELL, HIGHEST, APART, MIDDLE] = [7, 44, 4, 48];

/** @param {StripHeader["steps"]} steps */
export function placeWalk(steps) {
  let x = AROUND;
  const placed = steps.map(({ label, shape, thumbs }, i) => {
    const name = `${i + 1} ${label}`;
    const cells = thumbs.map(({ rows }) => Math.min(CELL, HIGHEST / rows));
    const pictures = thumbs.reduce((sum, { cols }, at) => sum + cols * cells[at] + APART, -APART);
    const w = Math.max(LEAST, 2 * PAD + Math.max(textWidth(name, NAME), textWidth(shape, SHAPE), pictures));
    let left = x + (w - pictures) / 2;
    const places = thumbs.map((thumb, at) => {
      const [wide, high] = [thumb.cols * cells[at], thumb.rows * cells[at]];
      left += wide + APART;
      return { thumb, x: left - wide - APART, y: AROUND + MIDDLE - high / 2, w: wide, h: high };
    });
    const step = { name, shape, thumbs: places, x, y: AROUND, w, h: HIGH };
    x += w + GAP;
    return step;
  });
  return { steps: placed, width: x - GAP + AROUND, height: HIGH + 2 * AROUND };
}

/**
 * @param {DrawingContext} context @param {WalkStep[]} steps @param {number} current @param {Theme} theme
 * @param {TensorColours} colours
 */
export function drawWalk(context, steps, current, theme, colours) {
  const background = rgb(theme.background);
  steps.forEach(({ name, shape, thumbs, x, y, w, h }, i) => {
    const [middle, isCurrent] = [x + w / 2, i === current];
    if (i) fillBox(context, { x: x - GAP, y: y + h / 2, w: GAP, h: 1 }, theme.text, 0.3);
    if (isCurrent) {
      drawWith(context, { fillStyle: theme.secondary, strokeStyle: theme.primary, lineWidth: 1 });
      roundedRect(context, { x: x + 0.5, y: y + 0.5, w: w - 1, h: h - 1 }, 8);
      context.fill();
      context.stroke();
    }
    for (const { thumb, ...place } of thumbs) drawThumb(context, thumb, place, colours, background);
    writeText(context, name, middle, y + 14, theme, `${isCurrent ? 600 : 400} ${NAME}px`, 1, "center");
    writeText(context, shape, middle, y + h - 13, theme, `${SHAPE}px`, 0.75, "center");
  });
}

/**
 * @param {DrawingContext} context @param {Thumb} thumb @param {Rectangle} place @param {TensorColours} colours
 * @param {import("../shared/types.js").Rgb} background
 */
function drawThumb(context, { cols, fill, role, roles }, { x, y, w }, colours, background) {
  const cell = w / cols;
  fill.forEach((share, i) => {
    const of = roles.length ? roles[i % cols] : role;
    context.fillStyle = share === null ? colours.masked : tint(of, share, colours, background).fill;
    context.fillRect(x + (i % cols) * cell, y + Math.floor(i / cols) * cell, cell - 1, cell - 1);
  });
}
