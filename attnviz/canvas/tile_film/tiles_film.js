// Attention over tiles, tile after tile, as a film.

import { tileFigure } from "./tile_film_figure.js";
import { describeStep } from "./tile_film_texts.js";
import { steppedFilm } from "../scene/film.js";

/** @import { TileFigureHeader } from "../shared/types.js" */

/** Seconds that a tile stands, and that all take at most. */
const [STAND, LONGEST] = [0.6, 20];

/** @param {TileFigureHeader} header @param {Uint8Array} payload of all tiles */
export function tileFilm(header, payload) {
  const { tiles, words } = header;
  return steppedFilm(words.film, tiles.length, Math.min(LONGEST, STAND * tiles.length), (at, theme) =>
    tileFigure({ ...header, at, title: describeStep(header, at) }, payload, theme),
  );
}
