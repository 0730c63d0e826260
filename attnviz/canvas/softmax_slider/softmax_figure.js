// Rows of weights as a figure: bars side by side, each with its name, its formula and its numbers, at one d_k.

import { drawBars, LEFT } from "./bars.js";
import { factsOf, softmaxRow } from "./softmax.js";
import { fill, joined } from "../shared/dom.js";
import { percent, significant } from "../shared/numbers.js";
import { fillBox, writeText } from "../shared/surface.js";
import { textWidth, wrapText } from "../scene/text_width.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { SoftmaxFigureHeader, Theme } from "../shared/types.js" */

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
  const { panels, n, at, parameter, coldest, words } = header;
  const numbers = new Float64Array(payload.slice().buffer);
  const row = { d: at, scores: numbers.subarray(0, n), cosines: numbers.length > n ? numbers.subarray(n) : null };
  const width = panels.length > 1 ? BESIDE : ALONE;
  const whole = panels.length * (width + BETWEEN) - BETWEEN;
  const rows = panels.map((panel) => {
    const { weights } = softmaxRow(panel.kind, row, parameter?.value ?? 1, coldest);
    return { ...panel, weights, facts: factsOf(weights) };
  });
  const widest = Math.max(
    ...panels.map(({ title, formula }) => 28 + textWidth(title, 15, 600) + textWidth(formula, 13)),
  );
  const top = widest > width ? 2 * LINE + 6 : LINE + 6;
  const set = [[words.d_k, String(at)], ...(parameter ? [[parameter.name, significant(parameter.value)]] : [])];
  const sliders = joined(words.join_clauses, header.typed ? set.slice(1).map(said) : set.map(said));
  const lines = [sliders, ...wrapText(fill(words.legend, { n, even: percent(1 / n) }), whole, 13)].filter(Boolean);
  const foot = top + HIGH + 52;
  const draw = (/** @type {SvgContext} */ context) => {
    context.save();
    for (const { title, formula, colour, weights, facts } of rows) {
      fillBox(context, { x: 0, y: LINE / 2 - 5.5, w: 11, h: 11 }, colour);
      writeText(context, title, 19, LINE / 2, theme, "600 15px");
      const after = widest > width ? [19, 1.5 * LINE] : [28 + textWidth(title, 15, 600), LINE / 2];
      writeText(context, formula, after[0], after[1], theme, "13px", 0.75);
      let x = LEFT;
      facts.forEach((fact, i) => {
        writeText(context, fact, x, top + HIGH + 14, theme, "600 18px");
        writeText(context, words.facts[i], x, top + HIGH + 34, theme, "12px", 0.8);
        x += Math.max(64, textWidth(words.facts[i], 12)) + 18;
      });
      context.translate(0, top);
      drawBars(context, { width, height: HIGH, weights, colour, theme, pointed: null, numbered: true });
      context.translate(width + BETWEEN, -top);
    }
    context.restore();
    lines.forEach((line, i) => writeText(context, line, 0, foot + (i + 0.5) * LINE, theme, "13px", 0.8));
  };
  return { width: whole, height: foot + lines.length * LINE, title: header.title, draw };
}

/** A name and what it is set to, as a slider says it. @param {string[]} pair */
function said([name, value]) {
  return `${name} = ${value}`;
}
