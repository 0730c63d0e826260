// Keys and values as bricks, one a token: with a cache each is computed once and stays in a wall; without one every step computes all
// of them again, right below those of the cache, and pushes down what was computed before, which is grey. No page.

import { readableColour } from "../shared/colour.js";
import { fill, visibleToken } from "../shared/dom.js";
import { clamp, formatBytes, formatGrouped } from "../shared/numbers.js";
import { cutToFit } from "../shared/token_labels.js";
import { filmOfSteps } from "../scene/film.js";
import { drawMarks, mark, textMark } from "../scene/marks.js";
import { textWidth, wrapText } from "../scene/text_width.js";

/** @import { BrickRun, DrawingContext, Film, ForFile, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { Mark } from "../scene/marks.js" */

/** Below this width lanes have their names above them. Pixels of names beside, of a name above, of tokens, that a brick falls. */
const [NARROW, NAMES, ABOVE, LABELS, FALL] = [640, 168, 46, 24, 40];
/** Pixels of a brick's height at most, and of the width from which on it bears its token. */
const [BRICK, BEARS] = [34, 34];
const [WIDE, HIGH] = [960, 420]; // of a file

/** Tokens computed up to a step, with a cache and without. @param {number[]} contexts @param {number} at @returns {[number, number]} */
export function tokensComputed(contexts, at) {
  return [contexts[at], contexts.slice(0, at + 1).reduce((sum, context) => sum + context, 0)];
}

/** What is to be seen, in a sentence. @param {Pick<BrickRun, "contexts" | "kept" | "total" | "words">} header @param {number} at */
export function brickSentence({ contexts, kept, total, words }, at) {
  const [cached, anew] = tokensComputed(contexts, at);
  return fill(words.said, { step: at + 1, total, cached, anew: formatGrouped(anew), bytes: formatBytes(kept[at]) });
}

/** @param {Omit<BrickRun, "at">} header @param {number} at the step @param {{ width: number, height: number }} size @param {Theme} theme */
export function brickScene(header, at, size, theme) {
  const { width, height } = size;
  const isNarrow = width < NARROW;
  const left = isNarrow ? 0 : NAMES;
  const pitch = (width - left) / header.rows;
  const top = isNarrow ? ABOVE : FALL;
  const free = height - top - LABELS - (isNarrow ? ABOVE : 8);
  const brick = clamp(free / (header.total + 1), 1, BRICK);
  const place = {
    left,
    pitch,
    brick,
    gap: pitch > 4 && brick > 4 ? 1 : 0,
    fall: isNarrow ? 8 : FALL,
    top,
    base: height - 2,
    level: height - 2 - header.total * brick,
    isNarrow,
  };
  const marks = [...laneMarks(header, at, place, theme), ...captionMarks(header, at, place, theme)];
  return { ...size, theme, marks };
}

/** The step that brought the token under a place. @param {Pick<BrickRun, "rows" | "contexts">} header @param {number} width @param {number} x */
export function stepUnder({ rows, contexts }, width, x) {
  const left = width < NARROW ? 0 : NAMES;
  const step = contexts.findIndex((context) => context > ((x - left) * rows) / (width - left));
  return step < 0 ? contexts.length - 1 : step;
}

/** @typedef {{ left: number, pitch: number, brick: number, gap: number, fall: number, top: number, base: number, level: number, isNarrow: boolean }} Place */

/** Bricks of both lanes, and the tokens between them. */
/** @param {Omit<BrickRun, "at">} header @param {number} at @param {Place} place @param {Theme} theme @returns {Mark[]} */
function laneMarks(
  { labels, rows, contexts, total, colours },
  at,
  { left, pitch, brick, gap, fall, top, level },
  theme,
) {
  const [first, end] = [at ? contexts[at - 1] : 0, contexts[at]];
  const old = contexts.map((context, step) => {
    const box = { x: left, y: level + Math.max(0, at - step) * brick, w: context * pitch, h: brick - gap };
    return mark(`old-${step}`, "box", { ...box, colour: colours.masked, alpha: step < at ? 0.45 : 0 });
  });
  const tokens = Array.from({ length: rows }, (_none, token) => {
    const x = left + token * pitch;
    const isThere = token < end;
    const halves = (/** @type {string} */ lane, /** @type {number} */ y, /** @type {number} */ alpha) =>
      /** @type {const} */ (["k", "v"]).map((half, n) => {
        const box = { x, y: y + (n * (brick - gap)) / 2 - (isThere ? 0 : fall), w: pitch - gap, h: (brick - gap) / 2 };
        return mark(`${lane}-${half}-${token}`, "box", { ...box, colour: colours[half], alpha: isThere ? alpha : 0 });
      });
    return [...halves("cached", top, token < first ? 0.45 : 1), ...halves("anew", level, 1)];
  }).flat();
  const joints = Array.from({ length: gap ? rows - 1 : 0 }, (_none, n) => {
    const box = { x: left + (n + 1) * pitch - gap, y: level, w: gap, h: total * brick };
    return mark(`joint-${n}`, "box", { ...box, colour: theme.background });
  });
  const words = labels.slice(0, end).flatMap((label, token) => {
    const isNewest = token === end - 1;
    if (pitch < BEARS && !isNewest) return [];
    const weight = isNewest ? 600 : 400;
    const room = pitch < BEARS ? 120 : pitch - 3;
    const { text } = cutToFit(visibleToken(label), room, (part) => textWidth(part, 12, weight));
    const x = left + (token + 0.5) * pitch - textWidth(text, 12, weight) / 2;
    const within = clamp(x, left, left + rows * pitch - textWidth(text, 12, weight));
    return [textMark(`token-${token}`, text, { x: within, y: top + brick + 13, size: 12, weight, colour: theme.text })];
  });
  return [...old, ...tokens, ...joints, ...words];
}

/** Name and counts of both lanes. @param {Omit<BrickRun, "at">} header @param {number} at @param {Place} place @param {Theme} theme */
function captionMarks({ contexts, kept, words, colours }, at, { base, level, isNarrow }, theme) {
  const counts = tokensComputed(contexts, at);
  const values = { bytes: formatBytes(kept[at]), again: formatGrouped(counts[1] - counts[0]) };
  let below = 0; // the first lane's caption
  return /** @type {const} */ (["cached", "anew"]).flatMap((lane, n) => {
    const strong = { weight: 600, colour: n ? theme.text : readableColour(colours.k, theme.background) };
    const number = formatGrouped(counts[n]);
    const about = fill(words[`${lane}_about`], { n: counts[n], ...values });
    if (isNarrow) {
      const y = n ? level - 35 : 10;
      const text = `${number} ${about}`;
      return [
        textMark(`${lane}-name`, words[lane], { x: 0, y, size: 14, ...strong }),
        textMark(`${lane}-about`, text, { x: 0, y: y + 18, size: 13, colour: theme.text }),
      ];
    }
    const lines = wrapText(about, NAMES - 14, 13);
    const y = n ? Math.min(Math.max(level + 10, below), base - 56 - 17 * lines.length) : 10;
    below = y + 64 + 17 * lines.length;
    return [
      textMark(`${lane}-name`, words[lane], { x: 0, y, size: 16, ...strong }),
      textMark(`${lane}-number`, number, { x: 0, y: y + 28, size: 28, ...strong }),
      ...lines.map((line, i) =>
        textMark(`${lane}-about-${i}`, line, { x: 0, y: y + 54 + 17 * i, size: 13, colour: theme.text }),
      ),
    ];
  });
}

/** @param {ForFile<BrickRun>} header @param {number} at @param {Theme} theme @param {string} title @returns {Figure} */
function figureAt(header, at, theme, title) {
  const { marks, width, height } = brickScene(header, at, { width: WIDE, height: HIGH }, theme);
  const draw = (/** @type {DrawingContext} */ context) => drawMarks(context, marks, theme);
  return { width, height, title: title || brickSentence(header, at), draw };
}

/** @param {ForFile<BrickRun>} header @param {Uint8Array} _payload @param {Theme} theme @returns {Figure} */
export function brickFigure(header, _payload, theme) {
  return figureAt(header, header.at, theme, header.title);
}

/** Step by step. @param {ForFile<BrickRun>} header @returns {Film} */
export function brickFilm(header) {
  const steps = header.contexts.length;
  return filmOfSteps(header.words.film, steps, Math.max(2, 0.8 * steps), (at, theme) =>
    figureAt(header, at, theme, ""),
  );
}
