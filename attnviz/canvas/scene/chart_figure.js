// A place for a chart, which only plotly.js can draw: its own SVG is put there.

/** @import { Figure } from "./figure.js" */
/** @import { SvgContext } from "./svg_context.js" */

/** What stands for the chart until it is drawn; Python's side is live/chart_frame.py. */
export const CHART = "<!--chart-->";

/** @param {{ width: number, height: number, title: string }} header @returns {Figure} */
export function chartFigure({ width, height, title }) {
  return { width, height, title, flush: true, draw: (/** @type {SvgContext} */ context) => context.insert(CHART) };
}
