// A field with a hand-drawn digit as a drawing: its pixels, and the pen that keys move. No page.

/** @import { DrawingContext } from "../shared/types.js" */
/** @typedef {{ cells: Uint8Array, pen: [number, number] | null, isDown: boolean }} PadScene `pen`: in pixels of the drawing */

/** Pixels of a side, as in the data set. */
export const SIDE = 32;
const INK = 0xff1a1614;
const [PEN_UP, PEN_DOWN] = ["#0072B2", "#D55E00"];

/** @param {DrawingContext} context @param {PadScene} scene @param {number} size of a side, where it is drawn */
export function drawPad(context, { cells, pen, isDown }, size) {
  const pixels = Uint32Array.from(cells, (on) => on && INK);
  context.cells(pixels, SIDE, { x: 0, y: 0, w: size, h: size });
  if (!pen) return;
  const one = size / SIDE;
  const [x, y] = pen.map((at) => Math.floor(at) * one);
  context.fillStyle = isDown ? PEN_DOWN : PEN_UP;
  context.fillRect(x - one, y, 3 * one, one);
  context.fillRect(x, y - one, one, 3 * one);
}
