// The film of tiles as a figure: both memories at one step, the race, and what is said of them; and its carrying as a film.

import { describeLine, describeRace, describeStep, drawFilm, tileScene } from "./tile_film_scene.js";
import { filmLayout, readTileNumbers, mostTellingLine } from "./tile_film_geometry.js";
import { writeLines } from "../scene/side_by_side.js";
import { wrapText } from "../scene/text_width.js";
import { clamp } from "../shared/numbers.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { DrawingContext, Film, ForFile, Theme, TileRun } from "../shared/types.js" */

/** Pixels of a figure, wide and upright, how high its memories and race are where there is a choice, and a line of text. */
const [WIDE, UPRIGHT, HIGH, COLUMN] = [1000, 560, 450, 480];
const LINE = { size: 15, line: 22 };
/** Frames of a tile, as many as a film has at most, seconds of a tile, and of all at most. */
const [EACH, MOST, STAND, LONGEST] = [3, 60, 0.9, 24];

/** @param {ForFile<TileRun>} header @param {Uint8Array} payload @param {Theme} theme @param {boolean} [_bar] @returns {Figure} */
export function tileFigure(header, payload, theme, _bar, share = 1) {
  const { at, title, upright = false } = header;
  const scene = { ...tileScene(header, readTileNumbers(header, payload), theme), share };
  const layout = filmLayout(upright ? UPRIGHT : WIDE, HIGH, header);
  const line = mostTellingLine(header, scene.numbers, at);
  const said = [describeRace(header, at), describeLine(header, scene.numbers, at, line)];
  const texts = said.map((text) => wrapText(text, COLUMN, LINE.size));
  const below = upright ? texts[0].length * LINE.line + 6 : 0;
  const draw = (/** @type {DrawingContext} */ context) => {
    drawFilm(context, scene, layout, line);
    context.fillStyle = theme.text;
    texts.forEach((lines, n) => {
      const [x, y] = upright ? [0, n * below] : [n * (WIDE - COLUMN), 0];
      writeLines(context, lines, x, layout.height + 8 + y, LINE);
    });
  };
  const lines = upright ? texts.flat().length : Math.max(...texts.map(({ length }) => length));
  return { width: layout.width, height: Math.ceil(layout.height + 14 + lines * LINE.line), title, draw };
}

/** @param {ForFile<TileRun>} header @param {Uint8Array} payload of all tiles @returns {Film} */
export function tileFilm(header, payload) {
  const { tiles, words } = header;
  const last = tiles.length - 1;
  /** @type {Film["figure"]} */
  const figure = (time, theme, bar, upright = false) => {
    const { at, share } = momentOf(clamp(time, 0, 1) * last);
    return tileFigure({ ...header, at, title: describeStep(header, at), upright }, payload, theme, bar, share);
  };
  const frames = Math.min(MOST, EACH * last + 1);
  return { name: words.film, seconds: Math.min(LONGEST, STAND * tiles.length), frames, figure };
}

/** The tile at work, and how much of its time is over: a whole number is a tile that is done. @param {number} position */
export function momentOf(position) {
  const at = Math.max(0, Math.ceil(position - 1e-6));
  return { at, share: Math.min(1, 1 - at + position + 1e-6) };
}
