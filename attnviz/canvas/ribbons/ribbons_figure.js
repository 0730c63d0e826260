// The ribbons of a word as a figure, and as a film in which they grow and unfold into the matrix.

import { computeHead, describeTouched, plainText } from "./ribbons_numbers.js";
import { drawRibbons, ribbonsScene } from "./ribbons_scene.js";
import { scenesBetween } from "./ribbons_glide.js";
import { unpackEdit } from "../shared/group.js";
import { clamp } from "../shared/numbers.js";
import { readRawScores } from "../shared/raw_scores.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { DrawingContext, Film, RibbonsFigureHeader, Theme } from "../shared/types.js" */

/** Pixels that a file is wide, and one of an upright film. */
const [WIDTH, UPRIGHT] = [960, 390];
const [SECONDS, FRAMES] = [8, 48];
/** The shares of a film in which ribbons grow, stand, unfold, and the matrix stands. */
const [GROWN, STOOD, UNFOLDED] = [0.35, 0.55, 0.8];

/** @param {RibbonsFigureHeader} header @param {Uint8Array} payload */
function readHead(header, payload) {
  const [raw] = readRawScores(header.raw, payload);
  const edit = unpackEdit(header.state.edit, raw.shape);
  return { head: computeHead(header, raw, edit), edit };
}

/** @param {RibbonsFigureHeader} header @param {Uint8Array} payload raw scores of the head @param {Theme} theme @returns {Figure} */
export function ribbonsFigure(header, payload, theme) {
  const { head, edit } = readHead(header, payload);
  const { state, colours, words } = header;
  const look = { theme, colours, words };
  const scene = ribbonsScene(head, { ...state, lit: state.pinned, grown: 1 }, WIDTH, look);
  const draw = (/** @type {DrawingContext} */ context) => drawRibbons(context, scene, look);
  const title = plainText(describeTouched(head, state, edit, words), words);
  return { width: WIDTH, height: scene.height, title, said: title, draw };
}

/** @param {RibbonsFigureHeader} header @param {Uint8Array} payload @returns {Film} */
export function ribbonsFilm(header, payload) {
  const { head, edit } = readHead(header, payload);
  const { state, colours, words } = header;
  const title = plainText(describeTouched(head, state, edit, words), words);
  const ease = (/** @type {number} */ share) => 1 - (1 - clamp(share, 0, 1)) ** 3;
  /** @type {Film["figure"]} */
  const figure = (at, theme, _bar, upright = false) => {
    const look = { theme, colours, words };
    const width = upright ? UPRIGHT : WIDTH;
    const view = { ...state, lit: state.pinned, grown: ease(at / GROWN), unfolded: false };
    const folded = ribbonsScene(head, view, width, look);
    const open = ribbonsScene(head, { ...view, grown: 1, unfolded: true }, width, look);
    const scene = at < STOOD ? folded : scenesBetween(folded, open)(ease((at - STOOD) / (UNFOLDED - STOOD)));
    const draw = (/** @type {DrawingContext} */ context) => drawRibbons(context, scene, look);
    return { width, height: Math.max(folded.height, open.height), title, draw };
  };
  return { name: header.title.replace(/[.。]$/, ""), seconds: SECONDS, frames: FRAMES, figure };
}
