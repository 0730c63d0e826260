// A decoder's steps as a film.

import { stepFigure } from "./step_player_figure.js";
import { headline } from "./step_player_texts.js";
import { steppedFilm } from "../scene/film.js";

/** @import { StepFigureHeader } from "../shared/types.js" */

/** @param {StepFigureHeader} header @param {Uint8Array} payload of all steps */
export function stepFilm(header, payload) {
  const { steps, words } = header;
  return steppedFilm(words.film, steps.length, 0.9 * steps.length, (at, theme) =>
    stepFigure({ ...header, at, title: headline(header, at) }, payload, theme),
  );
}
