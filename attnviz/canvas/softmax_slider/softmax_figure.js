// Rows of weights as a figure: bars side by side, each with its name, its formula and its numbers, at one d_k; and while d_k
// grows, as a film.

import { drawPanel, countNameLines, panelScene } from "./panel.js";
import { softmaxRow } from "./softmax.js";
import { fill, joinTexts } from "../shared/dom.js";
import { formatPercent, formatSignificant } from "../shared/numbers.js";
import { placeBoxes } from "../scene/side_by_side.js";
import { writeText } from "../shared/surface.js";
import { wrapText } from "../scene/text_width.js";
import { filmOfSteps } from "../scene/film.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { DrawingContext, SoftmaxFigureHeader, SoftmaxFilmHeader, Theme } from "../shared/types.js" */

const [HIGH, BETWEEN, LINE] = [150, 24, 18];
/** Pixels of a row that stands alone, and of one of several. */
const [ALONE, BESIDE] = [560, 320];

/**
 * @param {SoftmaxFigureHeader} header
 * @param {Uint8Array} payload float64 scores of all keys, then their cosines where they are needed
 * @param {Theme} theme
 * @returns {Figure}
 */
export function softmaxFigure(header, payload, theme) {
  const { panels, n, at, parameter, coldest, words, upright = false } = header;
  const numbers = new Float64Array(payload.slice().buffer);
  const row = { d: at, scores: numbers.subarray(0, n), cosines: numbers.length > n ? numbers.subarray(n) : null };
  const width = panels.length > 1 && !upright ? BESIDE : ALONE;
  const size = { width, tall: HIGH, lines: countNameLines(panels, width) };
  const rows = panels.map((panel) => {
    const { weights } = softmaxRow(panel.kind, row, parameter?.value ?? 1, coldest);
    return panelScene(panel, weights, words, size);
  });
  const { places, width: whole, height } = placeBoxes(rows, upright, BETWEEN);
  const set = [[words.step, String(at)], ...(parameter ? [[parameter.name, formatSignificant(parameter.value)]] : [])];
  const sliders = joinTexts(
    words.join_clauses,
    header.typed ? set.slice(1).map(parameterLabel) : set.map(parameterLabel),
  );
  const lines = [sliders, ...wrapText(fill(words.legend, { n, even: formatPercent(1 / n) }), whole, 13)].filter(
    Boolean,
  );
  const foot = height + 8;
  const draw = (/** @type {DrawingContext} */ context) => {
    rows.forEach((scene, panel) => {
      context.save();
      context.translate(places[panel][0], places[panel][1]);
      drawPanel(context, scene, theme, null);
      context.restore();
    });
    lines.forEach((line, i) => writeText(context, line, 0, foot + (i + 0.5) * LINE, theme, "13px", 0.8));
  };
  return { width: whole, height: foot + lines.length * LINE, title: header.title, draw };
}

/** A name and what it is set to, as a slider says it. @param {string[]} pair */
function parameterLabel([name, value]) {
  return `${name} = ${value}`;
}

/**
 * @param {SoftmaxFilmHeader} header @param {Uint8Array} payload float64 scores of each d_k, then cosines of each where they
 *   are needed
 */
export function softmaxFilm(header, payload) {
  const { d_k, n, words } = header;
  const numbers = new Float64Array(payload.slice().buffer);
  const cosines = numbers.subarray(n * d_k.length);
  return filmOfSteps(words.film, d_k.length, 7, (stop, theme, _bar, upright) => {
    const row = [numbers, cosines].flatMap((all) => [...all.subarray(n * stop, n * (stop + 1))]);
    const here = { ...header, at: d_k[stop], title: `${words.step} = ${d_k[stop]}`, upright };
    return softmaxFigure(here, new Uint8Array(Float64Array.from(row).buffer), theme);
  });
}
