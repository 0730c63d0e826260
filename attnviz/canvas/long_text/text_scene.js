// A long text's head as it is drawn, on screen and in a file: cells, the names of units beside them, a bar of colours.

import { ramp } from "../shared/colour.js";
import { clipTo, drawWith, fillBox, frameBox, writeText } from "../shared/surface.js";
import { DECADES, unitOf } from "./tile_numbers.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { Colours, DrawingContext, Rectangle, Stops, Theme } from "../shared/types.js" */
/** @typedef {{ plot: Rectangle, first: [query: number, key: number], perPixel: number }} Window the part of a text on show */
/** @typedef {{ starts: number[], labelOf: (unit: number, letters: number) => string }} Names of units, by their first tokens */
/**
 * `first` and `span`: tokens on show; `corner`: of the first cell, of `step` tokens a side.
 * @typedef {{ title: string, colours: Colours, legend: string, first: [number, number], span: number,
 *   corner: [number, number], step: number, columns: number, starts: number[], labels: Record<number, string> }} TextFigureHeader
 */

export const ROOM = { left: 118, top: 74 };
export const LINE = 13; // pixels of a name

/** Pixels of codes; masked is transparent. @param {Stops} stops */
export function codeColours(stops) {
  const colours = ramp(stops);
  colours[0] = 0;
  return colours;
}

/** Names of units: as many as have room. @param {DrawingContext} context @param {Window} view @param {Names} names @param {Theme} theme */
export function drawNames(context, { plot, first, perPixel }, { starts, labelOf }, theme) {
  drawWith(context, { font: `11px ${theme.font}`, textBaseline: "middle" });
  for (const [side, axis] of /** @type {const} */ (["q", "k"]).entries()) {
    let free = -Infinity;
    const [begin, stop] = [first[side], first[side] + plot.w * perPixel];
    for (let u = unitOf(starts, begin); u < starts.length && starts[u] < stop; u++) {
      const at = Math.max(0, (starts[u] - begin) / perPixel) + LINE / 2;
      if (at < free || at > plot.w - LINE / 2) continue;
      free = at + LINE;
      context.save();
      context.translate(plot.x + (side ? at : -6), plot.y + (side ? -6 : at));
      if (side) context.rotate(-Math.PI / 2);
      drawWith(context, { fillStyle: theme[axis], textAlign: side ? "left" : "right" });
      context.fillText(labelOf(u, side ? 13 : 20), 0, 0);
      context.restore();
    }
  }
}

/** Draws `cells`, clipped to the plot, on the page's second colour. */
/** @param {DrawingContext} context @param {Rectangle} plot @param {Theme} theme @param {() => void} cells */
export function drawInPlot(context, plot, theme, cells) {
  clipTo(context, plot, 0);
  fillBox(context, plot, theme.secondary);
  cells();
  context.restore();
  frameBox(context, plot, 0, theme.border);
}

const SIDE = 620;

/** What is on show, as a file. @param {TextFigureHeader} header @param {Uint8Array} payload @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function textFigure(header, payload, theme, bar) {
  const { title, colours, first, span, corner, step, columns, starts, labels, legend } = header;
  const plot = { x: ROOM.left, y: ROOM.top, w: SIDE, h: SIDE };
  const table = codeColours(colours.weights);
  const cell = SIDE / span;
  const [y, x] = corner.map((at, side) => (at - first[side]) * cell);
  const [w, h] = [columns, payload.length / columns].map((count) => count * step * cell);
  const draw = (/** @type {DrawingContext} */ context) => {
    drawInPlot(context, plot, theme, () =>
      context.cells(
        Uint32Array.from(payload, (code) => table[code]),
        columns,
        { x: plot.x + x, y: plot.y + y, w, h },
      ),
    );
    const names = {
      starts,
      labelOf: (/** @type {number} */ unit, /** @type {number} */ most) => labels[unit].slice(0, most),
    };
    drawNames(context, { plot, first, perPixel: 1 / cell }, names, theme);
    if (!bar) return;
    const [low, line] = [plot.y + plot.h + 20, plot.x + plot.w];
    context.cells(table.slice(1), 255, { x: line - 200, y: low - 5, w: 160, h: 10 });
    writeText(context, `${legend} ${(10 ** -DECADES).toFixed(DECADES)}`, line - 208, low, theme, "12px", 0.8, "right");
    writeText(context, "1", line - 32, low, theme, "12px", 0.8);
  };
  return { width: plot.x + SIDE + 8, height: plot.y + SIDE + (bar ? 36 : 8), title, draw };
}
