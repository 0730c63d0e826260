// A step of a training run as a figure: curves, its sentence and the words on the left, all heads on the right.

import { drawHeads, drawStory, placeHeads, placeStory, sceneOf } from "./birth_scene.js";
import { forward, singles } from "./forward.js";
import { BAR_ROOM, drawBarInFile } from "../shared/colour_bar.js";
import { fill } from "../shared/dom.js";
import { grouped } from "../shared/numbers.js";
import { writeText } from "../shared/surface.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { BirthFigureHeader, Theme } from "../shared/types.js" */

/** Pixels of the left half, of its first line, between it and the right half, and of a head's picture. */
const [WIDE, STEP, BETWEEN, TILE] = [440, 24, 28, 143];

/**
 * @param {BirthFigureHeader} header @param {Uint8Array} payload float16 numbers of the model at this step
 * @param {Theme} theme @param {boolean} bar
 * @returns {Figure}
 */
export function birthFigure(header, payload, theme, bar) {
  const { ids, sizes, words, steps, at, open, colours, title } = header;
  const silenced = new Set(header.silenced);
  const pass = forward(singles(new Uint16Array(payload.slice().buffer)), ids, sizes, silenced);
  const now = { step: steps[at], reached: open ? Infinity : steps[at], silenced };
  const scene = sceneOf(header, pass, now.step, silenced);
  const story = placeStory(header, scene, WIDE);
  const heads = placeHeads(header, Infinity, TILE);
  const draw = (/** @type {SvgContext} */ context) => {
    context.save();
    writeText(context, fill(words.at, { step: grouped(now.step) }), 0, 9, theme, "600 15px");
    context.translate(0, STEP);
    drawStory(context, story, header, now, theme);
    context.translate(WIDE + BETWEEN, -STEP);
    drawHeads(context, heads, header, scene, theme);
    const look = { scale: { top: 1, root: false }, signed: false, unit: words.weight, colours };
    if (bar) drawBarInFile(context, 0, heads.height + 4, look, theme, sizes.causal ? words.hidden : null);
    context.restore();
  };
  const width = WIDE + BETWEEN + heads.width;
  return { width, height: Math.max(STEP + story.height, heads.height + (bar ? BAR_ROOM : 0)), title, draw };
}
