// A training run as a film: its curves grow, and all heads on the words at each step.

import { birthFigure } from "./birth_figure.js";
import { steppedFilm } from "../scene/film.js";

/** @import { BirthFigureHeader } from "../shared/types.js" */

/** @param {BirthFigureHeader} header @param {Uint8Array} payload float16 numbers of the model at all steps */
export function birthFilm(header, payload) {
  const { steps, tokens, words } = header;
  const size = payload.length / steps.length;
  return steppedFilm(words.film, steps.length, 8, (at, theme, bar) => {
    const title = tokens.slice(0, tokens.length / 2).join(" ");
    return birthFigure({ ...header, at, title }, payload.subarray(at * size, (at + 1) * size), theme, bar);
  });
}
