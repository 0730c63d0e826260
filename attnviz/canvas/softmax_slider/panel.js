// A row of weights with its name, its formula and its numbers. No page: the same function draws on screen and in files.

import { drawBars, LEFT } from "./bars.js";
import { factsOf } from "./softmax.js";
import { writeText } from "../shared/surface.js";
import { roundedRect } from "../shared/token_labels.js";
import { textWidth, wrapText } from "../scene/text_width.js";

/** @import { DrawingContext, SoftmaxHeader, Theme } from "../shared/types.js" */
/** @typedef {ReturnType<typeof panelScene>} PanelScene */

/** A line of the name, what stands before it, and between it and the formula. */
const NAME = { line: 21, before: 19, gap: 9 };
/** A number below the bars, a line of what it is, pixels of both at least, and between two. */
const FACT = { number: 24, line: 17, least: 64, gap: 18 };

/** Lines that names and formulas take in panels of this width: one where each fits beside its own. */
/** @param {SoftmaxHeader["panels"]} panels @param {number} width */
export function linesOfNames(panels, width) {
  if (panels.every(({ title, formula }) => nameWidth(title) + textWidth(formula, 13) <= width)) return 1;
  return 1 + Math.max(...panels.map(({ formula }) => wrapText(formula, width - NAME.before, 13).length));
}

/** @param {string} title */
function nameWidth(title) {
  return NAME.before + textWidth(title, 15, 600) + NAME.gap;
}

/**
 * @param {SoftmaxHeader["panels"][number]} panel @param {Float64Array} weights @param {SoftmaxHeader["words"]} words
 * @param {{ width: number, tall: number, lines: number }} size `tall`: pixels of the bars
 */
export function panelScene({ title, formula, colour }, weights, words, { width, tall, lines }) {
  const beside = { x: nameWidth(title), y: NAME.line / 2, lines: [formula] };
  const below = { x: NAME.before, y: 1.5 * NAME.line, lines: wrapText(formula, width - NAME.before, 13) };
  const wide = words.facts.map((name) => Math.max(FACT.least, textWidth(name, 12)) + FACT.gap);
  const most = (width - LEFT) / wide.length;
  const narrow = wide.reduce((sum, each) => sum + each, -FACT.gap) > width - LEFT;
  let x = LEFT;
  const facts = factsOf(weights).map((value, i) => {
    const fact = { value, x, names: wrapText(words.facts[i], narrow ? most - 6 : Infinity, 12) };
    x += narrow ? most : wide[i];
    return fact;
  });
  const top = lines * NAME.line;
  const foot = FACT.number + FACT.line * Math.max(...facts.map(({ names }) => names.length));
  const height = top + tall + foot;
  return { title, formula: lines > 1 ? below : beside, colour, weights, facts, top, tall, width, height };
}

/**
 * @param {DrawingContext} context @param {PanelScene} scene @param {Pick<Theme, "text" | "font">} theme
 * @param {number | null} pointed the bar that is pointed at
 */
export function drawPanel(context, scene, theme, pointed) {
  const { title, formula, colour, weights, facts, top, tall, width } = scene;
  context.fillStyle = colour;
  roundedRect(context, 0, NAME.line / 2 - 5.5, 11, 11, 3);
  context.fill();
  writeText(context, title, NAME.before, NAME.line / 2, theme, "600 15px");
  formula.lines.forEach((line, n) =>
    writeText(context, line, formula.x, formula.y + n * NAME.line, theme, "13px", 0.75),
  );
  context.save();
  context.translate(0, top);
  drawBars(context, { width, height: tall, weights, colour, theme, pointed });
  context.restore();
  for (const { value, x, names } of facts) {
    writeText(context, value, x, top + tall + FACT.number / 2, theme, "600 18px");
    names.forEach((name, n) =>
      writeText(context, name, x, top + tall + FACT.number + FACT.line * (n + 0.5), theme, "12px", 0.8),
    );
  }
}
