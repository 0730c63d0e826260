// A film: figures at times, each drawn on a frame of the same size. No page: the same frames make a file in a browser and
// without one.

import { writeLines } from "./side_by_side.js";
import { SvgContext } from "./svg_context.js";
import { escapeText } from "./svg_path.js";
import { FAMILY, wrapText } from "./text_width.js";
import { css, mixColours, rgb } from "../shared/colour.js";
import { clamp } from "../shared/numbers.js";

/** @import { Figure } from "./figure.js" */
/** @import { DrawingContext, Film, Theme } from "../shared/types.js" */
/** @typedef {{ width: number, height: number }} Size */
/** @typedef {{ title: string, caption: string }} FrameLook */

/** Frames of a film at most: of more stops some are left out. */
const MOST_FRAMES = 60;
const MARGIN = 36;
const NAME = { size: 28, line: 36 };
const MOMENT = { size: 20, line: 28 };
const CAPTION = { size: 16, line: 22 };
/** Lines of a moment's sentence that all frames have room for, and of a caption. */
const [MOMENT_LINES, CAPTION_LINES] = [2, 2];
/** Times larger than on screen at most. */
const LARGEST = 3;

/**
 * A film of stops, one after the other.
 * @param {string} name @param {number} stops @param {number} seconds @param {(stop: number, theme: Theme, bar: boolean, upright: boolean) => Figure} figureOf
 * @returns {Film}
 */
export function filmOfSteps(name, stops, seconds, figureOf) {
  const frames = Math.min(stops, MOST_FRAMES);
  const figure = (/** @type {number} */ at, /** @type {Theme} */ theme, bar = true, upright = false) =>
    figureOf(Math.round(clamp(at, 0, 1) * (stops - 1)), theme, bar, upright);
  return { name, seconds, frames, figure };
}

/** When the frames from one time to another are, at most so many. @param {Film} film */
export function frameTimes({ frames }, from = 0, to = 1, most = MOST_FRAMES) {
  const count = Math.max(1, Math.min(most, Math.round((frames - 1) * (to - from)) + 1));
  return Array.from({ length: count }, (_none, i) => from + ((to - from) * i) / Math.max(1, count - 1));
}

/** Whether frames of this size have more room below than beside. @param {Size} size */
export function isUpright({ width, height }) {
  return height >= width;
}

/** The room that each of the figures fits into. @param {Figure[]} figures @returns {Size} */
export function largestSize(figures) {
  const most = (/** @type {"width" | "height"} */ side) => Math.max(1, ...figures.map((figure) => figure[side]));
  return { width: most("width"), height: most("height") };
}

/**
 * A figure on paper, as large as fits, with the film's name and its moment above it and a caption below.
 * @param {DrawingContext} context @param {Figure} figure @param {Size} room of all the film's figures @param {Size} size
 * @param {Theme} theme @param {FrameLook} look
 */
export function drawFrame(context, figure, room, size, theme, { title, caption }) {
  const wide = size.width - 2 * MARGIN;
  const name = wrapText(title, wide, NAME.size, 600);
  const moment = wrapText(figure.title, wide, MOMENT.size).slice(0, MOMENT_LINES);
  const below = wrapText(caption, wide, CAPTION.size).slice(0, CAPTION_LINES);
  const said = MARGIN + name.length * NAME.line;
  const top = said + (moment.length ? MOMENT_LINES * MOMENT.line : 0) + 16;
  const foot = size.height - MARGIN - below.length * CAPTION.line;
  const high = foot - top - (below.length ? 16 : 0);
  const scale = Math.min(wide / room.width, high / room.height, LARGEST);
  context.save();
  context.fillStyle = theme.background;
  context.fillRect(0, 0, size.width, size.height);
  context.fillStyle = theme.text;
  writeLines(context, name, MARGIN, MARGIN, NAME, 600);
  writeLines(context, moment, MARGIN, said, MOMENT);
  context.fillStyle = css(mixColours(rgb(theme.text), rgb(theme.background), 0.15));
  writeLines(context, below, MARGIN, foot, CAPTION);
  context.translate((size.width - scale * room.width) / 2, top + (high - scale * room.height) / 2);
  context.scale(scale, scale);
  figure.draw(context);
  context.restore();
}

/** Frames as files. @param {Figure[]} figures @param {Size} size @param {Theme} theme @param {FrameLook} look */
export function frameDocuments(figures, size, theme, look) {
  const room = largestSize(figures);
  const { width, height } = size;
  return figures.map((figure) => {
    const context = new SvgContext();
    drawFrame(context, figure, room, size, theme, look);
    const place = `width="${width}" height="${height}" font-family="${escapeText(FAMILY)}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${place}>${context.drawing}</svg>`;
  });
}
