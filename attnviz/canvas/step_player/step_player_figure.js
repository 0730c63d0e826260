// A decoder's step as a figure: its tokens, the scene, and beside it the next token, the work, the memory of each layer; and
// its steps as a film.

import { drawStep, filmOf, playerLayout } from "./step_player_scene.js";
import { drawSide, drawTape, stepSentence, placeTape, sideScene } from "./step_player_side.js";
import { toFloats } from "../shared/packing.js";
import { filmOfSteps } from "../scene/film.js";
import { placeBoxes } from "../scene/side_by_side.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { DrawingContext, ForFile, PlayedRun, Theme } from "../shared/types.js" */

/** Pixels of the scene, of what stands beside it, and between them; below the tokens. */
const [SCENE, SIDE, BETWEEN, BELOW] = [713, 380, 28, 8];

/** @param {ForFile<PlayedRun>} header @param {Uint8Array} payload @param {Theme} theme @returns {Figure} */
export function stepFigure(header, payload, theme) {
  const { at, rows, title, upright = false } = header;
  const layout = playerLayout(SCENE, rows);
  const scene = { header, film: filmOf(header, toFloats(payload)), at, theme, layout, pointed: null };
  const side = sideScene(header, at, upright ? SCENE : SIDE);
  const halves = [
    { width: SCENE, height: layout.height },
    { width: side.width, height: side.height + 1 },
  ];
  const { places, width, height } = placeBoxes(halves, upright, BETWEEN);
  const tape = placeTape(header, at, width);
  const draw = (/** @type {DrawingContext} */ context) => {
    drawTape(context, tape, theme);
    context.save();
    context.translate(0, tape.height + BELOW);
    drawStep(context, scene);
    context.translate(places[1][0], places[1][1]);
    drawSide(context, side, theme);
    context.restore();
  };
  return { width, height: Math.ceil(tape.height + BELOW + height), title, draw };
}

/** @param {ForFile<PlayedRun>} header @param {Uint8Array} payload of all steps */
export function stepFilm(header, payload) {
  const { steps, words } = header;
  return filmOfSteps(words.film, steps.length, 0.9 * steps.length, (at, theme, _bar, upright) =>
    stepFigure({ ...header, at, title: stepSentence(header, at), upright }, payload, theme),
  );
}
