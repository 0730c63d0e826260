// A sentence whose words pour into one of them: words, ribbons as wide as weights, and the matrix that they unfold into, as
// marks of which each has a key, so that they glide from one picture to the next.

import { boxMark, pillText, sideColours, textMark } from "./ribbons_marks.js";
import { matrixScene } from "./ribbons_matrix.js";
import { AIR, PAD, placeWords, ribbonPath, RISING, slantingPath, TURN } from "./ribbons_layout.js";
import { touchedWeights } from "./ribbons_numbers.js";
import { textWidth } from "../scene/text_width.js";
import { fill, visibleToken } from "../shared/dom.js";
import { clamp, formatPercent } from "../shared/numbers.js";
import { drawWith, fillBox, writeText } from "../shared/surface.js";

/** @import { Layout, Place } from "./ribbons_layout.js" */
/** @import { Box, Mark, Ribbon, Text } from "./ribbons_marks.js" */
/** @import { Head, Touched } from "./ribbons_numbers.js" */
/** @import { Colours, DrawingContext, Rectangle, Theme, Words } from "../shared/types.js" */
/**
 * `lit`: the other word that is pointed at. `grown`: how much of its way each ribbon has gone, 0 to 1. `high`: pixels that the
 * picture fills where it is presented.
 * @typedef {Touched & { unfolded: boolean, lit: number | null, grown: number, high?: number | null }} RibbonsView
 * @typedef {{ theme: Theme, colours: Colours, words: Words }} Look
 * `pixels`: the matrix where it is unfolded, so many `columns` wide, at `cells`.
 * `room`: the height that it takes at most on its way
 * @typedef {{ width: number, height: number, room?: number, layout: Layout, marks: Mark[], pixels: Uint32Array | null, columns: number, cells: Rectangle | null }} Scene
 */

/** A weight from which its percent is written; how strong a ribbon is that carries nothing and all, on a light page and on a dark one. */
const [WRITTEN, STRENGTHS] = [0.02, [[0.7, 0.9], [0.6, 0.95]]]; // prettier-ignore
/** Pixels from percents to what is written below them. */
const BELOW = 17;
/** Strength of the others while one is lit, of their percents, and of a word that the mask hides, which can still be read. */
export const [DIMMED, QUIET, HIDDEN] = [0.16, 0.42, 0.65];

/** The whole picture. @param {Head} head @param {RibbonsView} view @param {number} width @param {Look} look @returns {Scene} */
export function ribbonsScene(head, view, width, look) {
  const layout = placeWords(head.tokens, head.glued, view.word, width, view.high);
  const shares = touchedWeights(head, view);
  const folded = foldedScene(head, view, shares, layout, width, look);
  return view.unfolded ? matrixScene(head, view, shares, folded, width, look) : folded;
}

/**
 * @param {Head} head @param {RibbonsView} view @param {(number | null)[]} shares @param {Layout} layout @param {number} width
 * @param {Look} look @returns {Scene}
 */
function foldedScene(head, view, shares, layout, width, { theme, words }) {
  const { own } = sideColours(view, theme);
  const total = shares.reduce((/** @type {number} */ sum, share) => sum + (share ?? 0), 0);
  const thick = layout.thick / Math.max(1, total);
  const at = layout.words[view.word];
  const top = layout.top(at.line);
  const text = pillText(head, view, words);
  const [pale, strong] = STRENGTHS[Number(theme.dark)];
  const letters = Math.round(layout.size * (layout.isNarrow ? 0.62 : 0.56));
  const w = Math.min(width, Math.max(layout.thick, textWidth(text, letters, 600)) + 2 * PAD);
  // the word's own ribbon goes straight up: those from its left stand beside it
  const before = shares.reduce((/** @type {number} */ sum, share, i) => sum + (i < view.word ? 0.5 : i > view.word ? -0.5 : 0) * thick * (share ?? 0), 0); // prettier-ignore
  const shift = layout.count === 1 ? before : 0;
  const pill = { x: clamp(at.x - shift - w / 2, 0, width - w), y: top - layout.rise - layout.pill, w, h: layout.pill };
  const ribbons = pourRibbons(shares, layout, view.word, pill, thick).map(({ i, path, w: wide }) => {
    const share = shares[i] ?? 0;
    const strength = view.lit === null ? pale + (strong - pale) * share : view.lit === i ? strong : DIMMED;
    /** @type {Ribbon} */
    const mark = { key: `ribbon ${i}`, kind: "ribbon", alpha: share > 0 ? strength : 0, path, w: wide, colour: theme.weight, grown: view.grown }; // prettier-ignore
    return mark;
  });
  const texts = layout.words.map((place, i) => wordMark(place, i, view, shares, layout, theme));
  const percents = view.asked ? [] : shareMarks(view, shares, layout, theme.weight, width);
  const marks = [
    ...ribbons,
    ...texts,
    ...percents,
    ...guessMarks(view, layout, theme),
    boxMark({ key: "pill", kind: "pill", ...pill, size: letters, colour: own, text, alpha: 1 }),
    ...noteMarks(head, view, shares, layout, width, { theme, words }, percents),
  ];
  return { width, height: layout.height + BELOW / 2, layout, marks, pixels: null, columns: 0, cells: null };
}

/** @param {Place} place @param {number} i @param {RibbonsView} view @param {(number | null)[]} shares @param {Layout} layout @param {Theme} theme */
function wordMark({ x, line, text }, i, view, shares, { top, line: high, size }, theme) {
  const { own, others } = sideColours(view, theme);
  const isOwn = i === view.word;
  const share = shares[i];
  return textMark({
    ...{ key: `word ${i}`, x, y: top(line) + high / 2, size, text },
    bold: Number(isOwn || (!view.asked && (share ?? 0) >= 0.25) || i === view.lit),
    colour: isOwn ? own : i === view.lit ? others : theme.text,
    alpha: isOwn || share !== null ? 1 : HIDDEN,
  });
}

/** A frame around the word that somebody expected. @param {RibbonsView} view @param {Layout} layout @param {Theme} theme */
function guessMarks({ guess = null }, { words, top, line: high }, theme) {
  if (guess === null) return [];
  const { x, line, width } = words[guess];
  const box = { x: x - width / 2 - 6, y: top(line) - 2, w: width + 12, h: high + 4 };
  return [boxMark({ key: "guess", kind: "frame", ...box, colour: theme.primary })];
}

/** Percents below the words that matter, the largest first; above a word whose ribbon leaves it below. */
/** @param {RibbonsView} view @param {(number | null)[]} shares @param {Layout} layout @param {string} colour @param {number} width */
function shareMarks(view, shares, { words, top, line, foot, isNarrow }, colour, width) {
  const size = isNarrow ? 13 : 16;
  /** @type {[number, number, number][]} */
  const taken = [];
  const order = shares.map((share, i) => ({ share: share ?? -1, i })).toSorted((a, b) => b.share - a.share);
  return order.flatMap(({ share, i }) => {
    if (share < 0 || (share < WRITTEN && i !== view.lit && i !== view.guess)) return [];
    const { x: middle, line: at } = words[i];
    const half = textWidth(formatPercent(share, 0), size) / 2 + 3;
    const x = clamp(middle, half, width - half); // wider than a word of one letter at the edge
    if (taken.some(([row, from, to]) => row === at && x + half > from && x - half < to)) return [];
    taken.push([at, x - half, x + half]);
    const y = at < words[view.word].line ? top(at) - size / 2 : top(at) + line + foot / 2 - 2;
    const alpha = view.lit === null || view.lit === i ? 1 : QUIET;
    return [textMark({ key: `share ${i}`, x, y, size, colour, share, alpha })];
  });
}

/**
 * Why some words are pale: below the first of them, or a line further where percents stand.
 * @param {Head} head @param {RibbonsView} view @param {(number | null)[]} shares @param {Layout} layout @param {number} width
 * @param {Pick<Look, "theme" | "words">} look @param {Text[]} percents
 */
function noteMarks(
  { tokens },
  view,
  shares,
  { words, top, line, foot, isNarrow },
  width,
  { theme, words: texts },
  percents,
) {
  const isRow = view.axis === "q";
  const hidden = shares.findIndex((share, i) => share === null && (isRow ? i > view.word : i < view.word));
  if (hidden < 0) return [];
  const size = isNarrow ? 12 : 14;
  const text = fill(isRow ? texts.not_yet : texts.too_early, { token: visibleToken(tokens[view.word]).trim() });
  const wide = textWidth(text, size);
  const first = words[hidden];
  const left = clamp(first.x - first.width / 2, 0, Math.max(0, width - wide));
  const level = top(first.line) + line + foot / 2 - 2;
  const isTaken = percents.some(({ x, y }) => Math.abs(y - level) < size && x > left - 20 && x < left + wide + 20);
  const y = level + (isTaken ? BELOW : 0);
  return [textMark({ key: "note", x: left + wide / 2, y, size, colour: theme.text, alpha: 0.72, text })];
}

/**
 * Ribbons from each word into the pill, beside each other in the order in which they come, so that none crosses another.
 * @param {(number | null)[]} shares @param {Layout} layout @param {number} word @param {Rectangle} pill @param {number} thick
 */
function pourRibbons(shares, { words, top, line, thick: full }, word, pill, thick) {
  const own = words[word];
  const middle = pill.x + pill.w / 2;
  const sources = words.map(({ x, line: at }, i) => ({
    i,
    x,
    at,
    w: thick * (shares[i] ?? 0),
    isAbove: at < own.line,
  }));
  /** @type {{ i: number, path: number[], w: number }[]} */
  const ribbons = [];
  for (const isAbove of [false, true]) {
    const edge = isAbove ? pill.y : pill.y + pill.h;
    const away = isAbove ? -1 : 1;
    const all = sources.filter((source) => source.isAbove === isAbove).toSorted((a, b) => a.x - b.x || a.i - b.i);
    let slot = middle - all.reduce((sum, { w }) => sum + w, 0) / 2;
    const slots = all.map((source) => {
      const x = slot + source.w / 2;
      slot += source.w;
      return { ...source, slot: x };
    });
    for (const side of [-1, 1]) {
      // from the left the outermost goes across nearest to the pill; from the right as well
      let depth = TURN;
      const come = slots.filter((source) => (source.x <= source.slot ? -1 : 1) === side);
      for (const { i, x, at, w, slot: to } of side < 0 ? come : come.toReversed()) {
        const lane = edge + away * (depth + w / 2);
        depth += w;
        const from = isAbove ? top(at) + line : top(at) - AIR;
        const rising = isAbove ? 0 : RISING * full;
        const path = i === word ? slantingPath(x, from, to, edge) : ribbonPath(x, from, to, edge, lane, rising);
        ribbons.push({ i, w, path });
      }
    }
  }
  return ribbons.toSorted((a, b) => a.w - b.w || a.i - b.i);
}

/** Draws marks, ribbons below words. @param {DrawingContext} context @param {Pick<Scene, "marks" | "pixels" | "columns">} scene @param {Look} look */
export function drawRibbons(context, scene, { theme, colours }) {
  const order = ["grid", "ribbon", "frame", "pill", "text"];
  const marks = scene.marks.toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
  for (const mark of marks) {
    if (mark.alpha <= 0.001) continue;
    if (mark.kind === "ribbon") drawRibbon(context, mark);
    else if (mark.kind === "text") drawText(context, mark, theme);
    else if (mark.kind === "grid") drawGrid(context, mark, scene, theme, colours);
    else drawBox(context, mark, theme);
  }
  context.globalAlpha = 1;
}

/** @param {DrawingContext} context @param {Ribbon} ribbon */
function drawRibbon(context, { path: p, w, colour, alpha, grown }) {
  drawWith(context, { strokeStyle: colour, globalAlpha: alpha, lineWidth: Math.max(w, 0.6), lineCap: "butt" });
  const [far, whole] = [grown * lengthOf(p), grown < 1];
  if (whole) context.setLineDash([far, 1e4]);
  context.beginPath();
  context.moveTo(p[0], p[1]);
  context.lineTo(p[2], p[3]);
  for (let i = 4; i < 22; i += 6) context.bezierCurveTo(p[i], p[i + 1], p[i + 2], p[i + 3], p[i + 4], p[i + 5]);
  context.stroke();
  if (whole) context.setLineDash([]);
}

/** About how long a path is. @param {number[]} path */
function lengthOf(path) {
  let sum = 0;
  for (let i = 2; i < path.length; i += 2) sum += Math.hypot(path[i] - path[i - 2], path[i + 1] - path[i - 1]);
  return sum;
}

/** @param {DrawingContext} context @param {Text} text @param {Theme} theme */
function drawText(context, { x, y, size, bold, turn, colour, alpha, text, share }, theme) {
  const type = `${bold >= 0.5 ? "600 " : ""}${size}px`;
  const shown = Number.isNaN(share) ? text : formatPercent(share, 0);
  const ink = { ...theme, text: colour };
  if (!turn) {
    writeText(context, shown, x, y, ink, type, alpha, "center");
    return;
  }
  context.save();
  context.translate(x, y);
  context.rotate(turn);
  writeText(context, shown, 0, 0, ink, type, alpha, "center");
  context.restore();
}

/** @param {DrawingContext} context @param {Box} box @param {Theme} theme */
function drawBox(context, { kind, x, y, w, h, size, colour, text, alpha }, theme) {
  if (kind === "frame") {
    drawWith(context, { strokeStyle: colour, lineWidth: 2.5, globalAlpha: alpha });
    context.strokeRect(x, y, w, h);
    return;
  }
  fillBox(context, { x, y, w, h }, colour, alpha, 7);
  const ink = { ...theme, text: theme.dark ? theme.background : "#ffffff" };
  writeText(context, text, x + w / 2, y + h / 2, ink, `600 ${size}px`, alpha, "center");
}

/** On its way it is drawn through at once: what the mask hides is hatched when it has come. */
/** @param {DrawingContext} context @param {Box} box @param {Pick<Scene, "pixels" | "columns">} scene @param {Theme} theme @param {Colours} colours */
function drawGrid(context, { x, y, w, h, alpha }, { pixels, columns }, theme, colours) {
  if (!pixels || w < 1 || h < 1) return;
  if (alpha < 1) fillBox(context, { x, y, w, h }, colours.masked, 0.26 * alpha);
  else context.hatch({ x, y, w, h }, colours.masked, theme.dark);
  context.globalAlpha = alpha;
  context.cells(pixels, columns, { x, y, w, h });
}
