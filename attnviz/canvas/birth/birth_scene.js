// A step of training as a drawing: its curves, sentence and words, and all heads; as a figure; and all steps as a film. No page.

import { drawCurves, HEIGHT, LEAST } from "./curves.js";
import { forward, meanLoss, patternScores, decodeSingles } from "./forward.js";
import { ramp } from "../shared/colour.js";
import { fill, visibleToken } from "../shared/dom.js";
import { formatFixed, formatGrouped, formatPercent } from "../shared/numbers.js";
import { drawWith, fillBox, roundedRect, writeText } from "../shared/surface.js";
import { TokenLabels } from "../shared/token_labels.js";
import { letterSize, sizeWithin, textWidth, wrapText } from "../scene/text_width.js";
import { BAR_ROOM, drawBarInFile } from "../shared/colour_bar.js";
import { filmOfSteps } from "../scene/film.js";
import { placeBoxes } from "../scene/side_by_side.js";

/** @import { BirthFigureHeader, BirthHeader, BirthSizes, DrawingContext, Rectangle, Theme, Words } from "../shared/types.js" */
/** @import { Pass } from "./forward.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @typedef {Pick<BirthHeader, "sizes" | "names" | "tokens" | "ids" | "words" | "colours" | "curves" | "steps" | "moment">} Told */
/** @typedef {ReturnType<typeof birthScene>} BirthScene */
/** @typedef {ReturnType<typeof placeStory>} Story */
/** @typedef {ReturnType<typeof placeHeads>} PlacedHeads */
/** @typedef {Rectangle & { text: string, below: string, good: boolean }} Chip */

/** Pixels of a line of the sentence, and that a word beside a small picture needs. */
const [LINE, WORD] = [20, 10.5];
/** Of a head's name above its picture, and between two. */
export const NAME = 38;
const GAP = 8;
/** The widest word beside the pictures, where these are large and where they are small, and its letters. */
const [LONGEST, LONGEST_BESIDE_SMALL, SMALL] = [76, 47, 10];
const CHIP = { h: 40, room: 6, least: 2, gap: 5 };
/** Letters of what stands below a word. */
const BELOW = 12;
/** Where it is narrower, or where it gives them one row, the words begin below what they are called. */
const NARROW = 400;

/** Pixels of a head's weights; nothing where a word may not look. */
/** @param {Float32Array} weights @param {number} length @param {BirthSizes} sizes @param {Uint32Array} steps of the colours */
function headPixels(weights, length, { causal }, steps) {
  const at = (/** @type {number} */ weight) => steps[Math.round(weight * 255)];
  return Uint32Array.from(weights, (weight, i) => (causal && i % length > i / length ? 0 : at(weight)));
}

/** What stands below a head's name: the larger of its scores, or that it is silenced. */
/** @param {{ previous: number, induction: number }} scores @param {boolean} silenced @param {Words} words */
function headText({ previous, induction }, silenced, words) {
  if (silenced) return words.silenced;
  const larger = previous < induction ? words.score_induction : words.score_previous;
  return fill(larger, { previous: formatFixed(previous, 2), induction: formatFixed(induction, 2) });
}

/** What stands below each word of the second copy, and whether it is predicted. The first cannot be. @param {Pass} pass */
function predictionMarks({ likely, right }) {
  const half = (likely.length + 1) / 2;
  return Array.from({ length: half }, (_none, i) => {
    const good = i > 0 && right[half + i - 1];
    return { text: i ? `${good ? "✓" : "✗"} ${formatPercent(likely[half + i - 1])}` : "—", good };
  });
}

/** The sentence about a step. @param {Pass} pass @param {number} step @param {Words} words */
function passSentence(pass, step, words) {
  const half = (pass.likely.length + 1) / 2;
  const right = pass.right.slice(half).filter(Boolean).length;
  return fill(words.said, {
    step: formatGrouped(step),
    right,
    of: half - 1,
    loss: formatFixed(meanLoss(pass.likely), 2),
  });
}

/** The sentence that names the moment, once the film has reached it; where it never comes, at the end. */
/** @param {Told} header @param {number} reached */
export function momentSentence({ words, moment, curves, names, steps }, reached) {
  const last = steps[steps.length - 1];
  if (moment === null) return reached < last ? "" : fill(words.unborn, { step: formatGrouped(last) });
  if (reached < moment) return "";
  const scores = curves.induction.map((values) => values[curves.at.indexOf(moment)]);
  const head = names[scores.indexOf(Math.max(...scores))];
  return fill(words.born, { step: formatGrouped(moment), head });
}

/** Every how many of so many words one is written beside a picture of this height. */
/** @param {number} count @param {number} high */
function spreadLabels(count, high) {
  const word = Math.max(WORD, letterSize(SMALL));
  return Math.ceil((word * count) / Math.max(high, word));
}

/** The colour of a head. @param {BirthHeader["colours"]} colours @param {number} head @param {boolean} dark */
function headColour({ heads }, head, dark) {
  return heads[head % heads.length][Number(dark)];
}

/** What is seen of a pass. @param {Told} header @param {Pass} pass @param {number} step @param {ReadonlySet<number>} silenced */
export function birthScene({ ids, words }, pass, step, silenced) {
  const scores = pass.weights.map((weights) => patternScores(weights, ids));
  return { pass, silenced, scores, said: passSentence(pass, step, words), guessed: predictionMarks(pass) };
}

/** What is written above a head's picture. @param {Told} header @param {BirthScene} scene @param {number} head */
export function headLabels({ names, words }, { scores, silenced }, head) {
  return [fill(words.head, { head: names[head] }), headText(scores[head], silenced.has(head), words)];
}

/**
 * A copy of the words, as many in a row as there is room for, each with what stands below it.
 * @param {string} name @param {string[]} tokens @param {{ text: string, good: boolean }[]} below
 * @param {{ widest: number, beside: number }} sizes of the widest text below, and of both copies' names
 * @param {number} start @param {number} width
 */
function placeChips(name, tokens, below, { widest, beside }, start, width) {
  const texts = below.map((_under, i) => visibleToken(tokens[i]));
  const letters = texts.map((text) => Math.max(textWidth(text, 14, 600), widest));
  const rowOf = (/** @type {number} */ around) =>
    letters.reduce((sum, w) => sum + w + 2 * around + CHIP.gap, -CHIP.gap);
  const around = rowOf(CHIP.room) > width && rowOf(CHIP.least) <= width ? CHIP.least : CHIP.room;
  const [wide, row] = [letters.map((w) => w + 2 * around), rowOf(around)];
  const left = width < NARROW || (beside + row > width && row <= width) ? 0 : beside;
  let [x, y] = [left, start + (left ? 0 : LINE)];
  const chips = below.map(({ text: under, good }, i) => {
    const [text, w] = [texts[i], wide[i]];
    if (x > left && x + w > width) [x, y] = [left, y + CHIP.h + CHIP.gap];
    const chip = /** @type {Chip} */ ({ text, below: under, good, x, y, w, h: CHIP.h });
    x += w + CHIP.gap;
    return chip;
  });
  return { name, chips, at: start + (left ? CHIP.h : LINE) / 2, end: y + CHIP.h + CHIP.gap };
}

/**
 * The left half: curves, the sentence, and both copies. Where it would not fit its room curves are lower; if they cannot
 * be, what the words themselves bear is not said; if that is not enough, what stands below a word is as small as in a file.
 * @param {Told} header @param {BirthScene} scene @param {number} width @param {number} [room] pixels of its height
 * @param {number} [high] pixels of the curves @param {number} [small] letters below a word
 * @returns {{ lines: string[], moment: string[], copies: ReturnType<typeof placeChips>[], width: number, height: number, high: number, small: number }}
 */
export function placeStory(header, scene, width, room = Infinity, high = HEIGHT, small = BELOW) {
  const { said, guessed } = scene;
  const { ids, tokens, words } = header;
  const lines = room < Infinity && high === LEAST ? [] : wrapText(said, width, 14);
  const moment = wrapText(momentSentence(header, Infinity), width, 14, 600); // it has its room before it is written
  const start = high + (lines.length + moment.length) * LINE + 8;
  const half = ids.length / 2;
  const numbers = ids.slice(0, half).map((number) => ({ text: fill(words.number, { number }), good: false }));
  const sizes = {
    widest: Math.max(...["✗ 99.9%", ...numbers.map(({ text }) => text)].map((text) => textWidth(text, small))),
    beside: Math.max(...[words.first, words.second].map((name) => textWidth(name, 14, 600))) + 6,
  };
  const first = placeChips(words.first, tokens, numbers, sizes, start, width);
  const second = placeChips(words.second, tokens, guessed, sizes, first.end, width);
  const over = second.end - room;
  if (over > 0 && high > LEAST) return placeStory(header, scene, width, room, Math.max(LEAST, high - over), small);
  const smallest = sizeWithin(BELOW, BELOW);
  if (over > 0 && small > smallest) return placeStory(header, scene, width, room, HEIGHT, smallest);
  return { lines, moment, copies: [first, second], width, height: second.end, high, small };
}

/**
 * @param {DrawingContext} context @param {Story} story @param {Told} header
 * @param {{ step: number, reached: number, silenced: ReadonlySet<number> }} now @param {Theme} theme
 */
export function drawStory(context, story, header, now, theme) {
  const { lines, moment, copies, width, high, small } = story;
  drawCurves(context, { width, high }, header, theme, now);
  lines.forEach((line, i) => writeText(context, line, 0, high + (i + 0.5) * LINE, theme, "14px"));
  if (momentSentence(header, now.reached)) {
    const top = high + (lines.length + 0.5) * LINE;
    moment.forEach((line, i) => writeText(context, line, 0, top + i * LINE, theme, "600 14px"));
  }
  for (const { name, chips, at } of copies) {
    writeText(context, name, 0, at, theme, "600 14px");
    for (const { text, below, good, x, y, w, h } of chips) {
      drawWith(context, { strokeStyle: good ? theme.primary : theme.border, lineWidth: good ? 2 : 1 });
      roundedRect(context, { x: x + 0.5, y: y + 0.5, w: w - 1, h: h - 1 }, 6);
      context.stroke();
      writeText(context, text, x + (w - textWidth(text, 14, 600)) / 2, y + 11, theme, "600 14px");
      writeText(context, below, x + (w - textWidth(below, small)) / 2, y + 29, theme, `${small}px`, 0.8);
    }
  }
}

/** The right half: all heads, those of a layer in a row. @param {Told} header @param {number} width @param {number} most of a picture */
export function placeHeads({ sizes, tokens }, width, most) {
  const labels = new TokenLabels(tokens);
  const longest = width < NARROW ? LONGEST_BESIDE_SMALL : LONGEST;
  const beside = labels.width(longest, SMALL) + 5;
  const tile = Math.min(most, (width - beside + GAP) / sizes.heads - GAP);
  const places = Array.from({ length: sizes.layers * sizes.heads }, (_none, head) => ({
    x: beside + (head % sizes.heads) * (tile + GAP),
    y: Math.floor(head / sizes.heads) * (NAME + tile + GAP),
    w: tile,
    h: NAME + tile,
  }));
  const height = sizes.layers * (NAME + tile + GAP);
  return { labels, longest, beside, places, tile, width: beside + sizes.heads * (tile + GAP) - GAP, height };
}

/** @param {DrawingContext} context @param {PlacedHeads} placed @param {Told} header @param {BirthScene} scene @param {Theme} theme */
export function drawHeads(context, { labels, longest, beside, places, tile }, header, scene, theme) {
  const { sizes, tokens, colours } = header;
  const count = tokens.length;
  const steps = ramp(colours.weights);
  drawWith(context, {
    font: `${SMALL}px ${theme.font}`,
    fillStyle: theme.text,
  });
  drawWith(context, { textAlign: "right", textBaseline: "middle" });
  for (let layer = 0; layer < sizes.layers; layer++) {
    const top = places[layer * sizes.heads].y + NAME;
    for (let i = 0; i < count; i += spreadLabels(count, tile)) {
      context.fillText(labels.cut(i, longest, SMALL).text, beside - 5, top + ((i + 0.5) * tile) / count);
    }
  }
  places.forEach(({ x, y }, head) => {
    const off = scene.silenced.has(head);
    const place = { x, y: y + NAME, w: tile, h: tile };
    const [name, below] = headLabels(header, scene, head);
    fillBox(context, { x, y, w: 4, h: 36 }, headColour(colours, head, theme.dark));
    writeText(context, name, x + 9, y + 9, theme, "600 14px");
    writeText(context, below, x + 9, y + 27, theme, "12px", 0.8);
    const draw = (/** @type {DrawingContext} */ on) => {
      if (sizes.causal) on.hatch(place, colours.masked, theme.dark);
      on.cells(headPixels(scene.pass.weights[head], count, sizes, steps), count, place);
    };
    if (off) context.fade(0.25, draw);
    else draw(context);
  });
}

/** Pixels of the left half, of its first line, between it and the right half, and of a head's picture; of one below it. */
const [WIDE, STEP, BETWEEN, TILE, TILE_BELOW] = [440, 24, 28, 143, 170];

/**
 * @param {BirthFigureHeader} header @param {Uint8Array} payload float16 numbers of the model at this step
 * @param {Theme} theme @param {boolean} bar
 */
export function birthFigure(header, payload, theme, bar) {
  return passFigure(header, passOf(header, payload), theme, bar);
}

/** @param {BirthFigureHeader} header @param {Uint8Array} payload float16 numbers of the model at a step */
function passOf({ ids, sizes, silenced }, payload) {
  return forward(decodeSingles(new Uint16Array(payload.slice().buffer)), ids, sizes, new Set(silenced));
}

/** @param {BirthFigureHeader} header @param {Pass} pass @param {Theme} theme @param {boolean} bar @returns {Figure} */
function passFigure(header, pass, theme, bar) {
  const { sizes, words, steps, at, open, colours, title, upright = false } = header;
  const silenced = new Set(header.silenced);
  const now = { step: steps[at], reached: open ? Infinity : steps[at], silenced };
  const scene = birthScene(header, pass, now.step, silenced);
  const heads = placeHeads(header, Infinity, upright ? TILE_BELOW : TILE);
  const story = placeStory(header, scene, upright ? Math.max(WIDE, heads.width) : WIDE);
  const halves = [
    { width: story.width, height: STEP + story.height },
    { width: heads.width, height: heads.height + (bar ? BAR_ROOM : 0) },
  ];
  const { places, width, height } = placeBoxes(halves, upright, BETWEEN);
  const draw = (/** @type {DrawingContext} */ context) => {
    context.save();
    writeText(context, fill(words.at, { step: formatGrouped(now.step) }), 0, 9, theme, "600 15px");
    context.translate(0, STEP);
    drawStory(context, story, header, now, theme);
    context.translate(places[1][0], places[1][1] - STEP);
    drawHeads(context, heads, header, scene, theme);
    const look = { scale: { top: 1, root: false }, signed: false, unit: words.weight, colours };
    if (bar) drawBarInFile(context, 0, heads.height + 4, look, theme, sizes.causal ? words.hidden : null);
    context.restore();
  };
  return { width, height, title, draw };
}

/** @param {BirthFigureHeader} header @param {Uint8Array} payload float16 numbers of the model at all steps */
export function birthFilm(header, payload) {
  const size = payload.length / header.steps.length;
  const passAt = (/** @type {number} */ at) => passOf(header, payload.subarray(at * size, (at + 1) * size));
  return passesFilm(header, [...header.steps.keys()], passAt);
}

/** The film of some steps. @param {BirthFigureHeader} header @param {number[]} places @param {(at: number) => Pass} passAt */
export function passesFilm(header, places, passAt) {
  const { tokens, words } = header;
  const title = tokens.slice(0, tokens.length / 2).join(" ");
  return filmOfSteps(words.film, places.length, 8, (n, theme, bar, upright) =>
    passFigure({ ...header, at: places[n], title, upright }, passAt(places[n]), theme, bar),
  );
}
