// A decoder's step as a figure: its tokens, the scene, and beside it the next token, the work, the memory of each layer; and
// its steps as a film.

import { drawStep, filmOf, playerLayout } from "./step_player_scene.js";
import { drawSide, drawTape, headline, placeTape, sideScene } from "./step_player_side.js";
import { floats } from "../shared/packing.js";
import { steppedFilm } from "../scene/film.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { StepFigureHeader, Theme } from "../shared/types.js" */

/** Pixels of the scene, of what stands beside it, and between them; below the tokens. */
const [SCENE, SIDE, BETWEEN, BELOW] = [713, 380, 28, 8];
const WIDE = SCENE + BETWEEN + SIDE;

/** @param {StepFigureHeader} header @param {Uint8Array} payload @param {Theme} theme @returns {Figure} */
export function stepFigure(header, payload, theme) {
  const { at, rows, title } = header;
  const layout = playerLayout(SCENE, rows);
  const scene = { header, film: filmOf(header, floats(payload)), at, theme, layout, pointed: null };
  const tape = placeTape(header, at, WIDE);
  const side = sideScene(header, at, SIDE);
  const draw = (/** @type {SvgContext} */ context) => {
    drawTape(context, tape, theme);
    context.save();
    context.translate(0, tape.height + BELOW);
    drawStep(context, scene);
    context.translate(SCENE + BETWEEN, 0);
    drawSide(context, side, theme);
    context.restore();
  };
  const height = tape.height + BELOW + Math.max(layout.height, side.height + 1);
  return { width: WIDE, height: Math.ceil(height), title, draw };
}

/** @param {StepFigureHeader} header @param {Uint8Array} payload of all steps */
export function stepFilm(header, payload) {
  const { steps, words } = header;
  return steppedFilm(words.film, steps.length, 0.9 * steps.length, (at, theme) =>
    stepFigure({ ...header, at, title: headline(header, at) }, payload, theme),
  );
}
