// Bars of softmax weights while d_k grows, as a film.

import { softmaxFigure } from "./softmax_figure.js";
import { steppedFilm } from "../scene/film.js";

/** @import { SoftmaxFilmHeader } from "../shared/types.js" */

/**
 * @param {SoftmaxFilmHeader} header @param {Uint8Array} payload float64 scores of each d_k, then cosines of each where they
 *   are needed
 */
export function softmaxFilm(header, payload) {
  const { d_k, n, words } = header;
  const numbers = new Float64Array(payload.slice().buffer);
  const cosines = numbers.subarray(n * d_k.length);
  return steppedFilm(words.film, d_k.length, 7, (stop, theme) => {
    const row = [numbers, cosines].flatMap((all) => [...all.subarray(n * stop, n * (stop + 1))]);
    const here = { ...header, at: d_k[stop], title: `${words.d_k} = ${d_k[stop]}` };
    return softmaxFigure(here, new Uint8Array(Float64Array.from(row).buffer), theme);
  });
}
