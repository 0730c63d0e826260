// A lesson's picture of attention as a figure, and as a film of what the step moves.

import { clamp } from "../shared/numbers.js";
import { storyNumbers } from "./story_numbers.js";
import { wantedHeight } from "./story_layout.js";
import { drawMarks, travel } from "../scene/marks.js";
import { stageSentence, storyMarks } from "./story_scene.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { DrawingContext, Film, ForFile, StoryHeader, Theme } from "../shared/types.js" */

/** Stops of a slider from one stage to the next. */
export const TICKS = 50;
const [WIDE, UPRIGHT, SECONDS] = [900, 560, 3];

/** @param {ForFile<StoryHeader>} header @param {Uint8Array} payload @param {Theme} theme @returns {Figure} */
export function storyFigure(header, payload, theme) {
  const { at, track, pair, factor, terms, colours, words, title, upright = false } = header;
  const numbers = storyNumbers(header, payload, factor, terms);
  const [width, height] = [upright ? UPRIGHT : WIDE, Math.max(300, wantedHeight(numbers.keys.length))];
  const look = { width, height, pair, terms, theme, colours, words };
  const first = Math.min(Math.floor(at), track.length - 1);
  const here = storyMarks(track[first], numbers, look);
  const marks = at > first ? travel(here, storyMarks(track[first + 1], numbers, look))(at - first) : here;
  const draw = (/** @type {DrawingContext} */ context) => drawMarks(context, marks, theme);
  const said = stageSentence(track[Math.round(at)], numbers, look);
  return { width, height, title: title || said, said, draw };
}

/** @param {ForFile<StoryHeader>} header @param {Uint8Array} payload @returns {Film} */
export function storyFilm(header, payload) {
  const last = Math.max(1, header.track.length - 1);
  /** @type {Film["figure"]} */
  const figure = (share, theme, _bar, upright = false) => {
    const at = Math.min(header.track.length - 1, clamp(share, 0, 1) * last);
    return storyFigure({ ...header, at, title: "", upright }, payload, theme);
  };
  return { name: header.words.story, seconds: SECONDS * last, frames: 24 * last, figure };
}
