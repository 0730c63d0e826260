// A step of a training run as a figure: curves, its sentence and the words on the left, all heads on the right.

import { guesses, headColour, headPixels, headText, labelsApart, passSentence } from "./birth_scene.js";
import { drawCurves, HEIGHT } from "./curves.js";
import { forward, scoresOn, singles } from "./forward.js";
import { ramp } from "../shared/colour.js";
import { BAR_ROOM, drawBarInFile } from "../shared/colour_bar.js";
import { fill, visibleToken } from "../shared/dom.js";
import { grouped } from "../shared/numbers.js";
import { drawWith, fillBox, writeText } from "../shared/surface.js";
import { roundedRect, TokenLabels } from "../shared/token_labels.js";
import { textWidth, wrapText } from "../scene/text_width.js";

/** @import { Pass } from "./forward.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { BirthFigureHeader, Theme } from "../shared/types.js" */

/** Pixels of the left half, of its first line, and between it and the right half. */
const [WIDE, STEP, BETWEEN] = [440, 24, 28];
const LINE = 20;
/** Pixels of a head's picture, of its name above it, and between two. */
const [TILE, NAME, GAP] = [143, 38, 8];
const [LONGEST, SMALL] = [76, 10];
const CHIP = { h: 40, room: 6, gap: 5 };
const GOOD = "#009e73";

/** @typedef {{ text: string, below: string, good: boolean, x: number, y: number, w: number }} Chip */
/** @typedef {{ header: BirthFigureHeader, theme: Theme, pass: Pass, silenced: ReadonlySet<number> }} Scene */

/**
 * @param {BirthFigureHeader} header @param {Uint8Array} payload float16 numbers of the model at this step
 * @param {Theme} theme @param {boolean} bar
 * @returns {Figure}
 */
export function birthFigure(header, payload, theme, bar) {
  const { ids, sizes, words, steps, at, open, tokens, colours, title } = header;
  const silenced = new Set(header.silenced);
  const pass = forward(singles(new Uint16Array(payload.slice().buffer)), ids, sizes, silenced);
  const scene = { header, theme, pass, silenced };
  const now = { step: steps[at], reached: open ? Infinity : steps[at], silenced };
  const said = wrapText(passSentence(pass, now.step, words), WIDE, 14);
  const half = ids.length / 2;
  const numbers = ids.slice(0, half).map((number) => ({ text: fill(words.number, { number }), good: false }));
  const start = STEP + HEIGHT + said.length * LINE + 8;
  const first = placeChips(words.first, tokens, numbers, start);
  const second = placeChips(words.second, tokens, guesses(pass), first.end);
  const labels = new TokenLabels(tokens);
  const beside = labels.width(LONGEST, SMALL) + 5;
  const right = beside + sizes.heads * (TILE + GAP) - GAP;
  const foot = sizes.layers * (NAME + TILE + GAP);
  const draw = (/** @type {SvgContext} */ context) => {
    context.save();
    writeText(context, fill(words.at, { step: grouped(now.step) }), 0, 9, theme, "600 15px");
    context.translate(0, STEP);
    drawCurves(context, WIDE, header, theme, now);
    context.translate(0, -STEP);
    said.forEach((line, i) => writeText(context, line, 0, STEP + HEIGHT + (i + 0.5) * LINE, theme, "14px"));
    for (const copy of [first, second]) drawCopy(context, copy, theme);
    context.translate(WIDE + BETWEEN, 0);
    for (let layer = 0; layer < sizes.layers; layer++) {
      context.save();
      context.translate(0, layer * (NAME + TILE + GAP));
      drawLabels(context, labels, tokens.length, beside, theme);
      context.translate(beside, 0);
      for (let head = layer * sizes.heads; head < (layer + 1) * sizes.heads; head++) {
        drawHead(context, head, scene);
        context.translate(TILE + GAP, 0);
      }
      context.restore();
    }
    const look = { scale: { top: 1, root: false }, signed: false, unit: words.weight, colours };
    if (bar) drawBarInFile(context, 0, foot + 4, look, theme, sizes.causal ? words.hidden : null);
    context.restore();
  };
  return { width: WIDE + BETWEEN + right, height: Math.max(second.end, foot + (bar ? BAR_ROOM : 0)), title, draw };
}

/**
 * A copy of the words, as many in a row as there is room for, each with what stands below it.
 * @param {string} name @param {string[]} tokens @param {{ text: string, good: boolean }[]} below @param {number} start
 */
function placeChips(name, tokens, below, start) {
  const left = textWidth(name, 14, 600) + 6;
  let [x, y] = [left, start];
  const chips = below.map(({ text: under, good }, i) => {
    const text = visibleToken(tokens[i]);
    const w = Math.max(textWidth(text, 14, 600), textWidth(under, 12)) + 2 * CHIP.room;
    if (x > left && x + w > WIDE) [x, y] = [left, y + CHIP.h + CHIP.gap];
    const chip = /** @type {Chip} */ ({ text, below: under, good, x, y, w });
    x += w + CHIP.gap;
    return chip;
  });
  return { name, chips, start, end: y + CHIP.h + CHIP.gap };
}

/** @param {SvgContext} context @param {ReturnType<typeof placeChips>} copy @param {Theme} theme */
function drawCopy(context, { name, chips, start }, theme) {
  writeText(context, name, 0, start + CHIP.h / 2, theme, "600 14px");
  for (const { text, below, good, x, y, w } of chips) {
    drawWith(context, { strokeStyle: good ? GOOD : theme.border, lineWidth: good ? 2 : 1 });
    roundedRect(context, x + 0.5, y + 0.5, w - 1, CHIP.h - 1, 6);
    context.stroke();
    writeText(context, text, x + (w - textWidth(text, 14, 600)) / 2, y + 12, theme, "600 14px");
    writeText(context, below, x + (w - textWidth(below, 12)) / 2, y + 28, theme, "12px", 0.8);
  }
}

/** The words beside the heads of a layer, as many as there is room for. */
/** @param {SvgContext} context @param {TokenLabels} labels @param {number} count @param {number} room @param {Theme} theme */
function drawLabels(context, labels, count, room, theme) {
  drawWith(context, { font: `${SMALL}px ${theme.font}`, fillStyle: theme.text });
  drawWith(context, { textAlign: "right", textBaseline: "middle" });
  for (let i = 0; i < count; i += labelsApart(count, TILE)) {
    context.fillText(labels.cut(i, LONGEST, SMALL).text, room - 5, NAME + ((i + 0.5) * TILE) / count);
  }
}

/** A head's name and its weights. @param {SvgContext} context @param {number} head @param {Scene} scene */
function drawHead(context, head, { header: { ids, sizes, names, words, colours }, theme, pass, silenced }) {
  const off = silenced.has(head);
  const place = { x: 0, y: NAME, w: TILE, h: TILE };
  fillBox(context, { x: 0, y: 0, w: 4, h: 36 }, headColour(colours, head, theme.dark));
  writeText(context, fill(words.head, { head: names[head] }), 9, 9, theme, "600 14px");
  writeText(context, headText(scoresOn(pass.weights[head], ids), off, words), 9, 27, theme, "12px", 0.8);
  context.fade(off ? 0.25 : 1, () => {
    if (sizes.causal) context.hatch(place, colours.masked, theme.dark);
    context.cells(headPixels(pass.weights[head], ids.length, sizes, ramp(colours.weights)), ids.length, place);
  });
}
