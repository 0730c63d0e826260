// Where rows, strips and bars of a word's way through attention are at each stage.

import { clamp } from "../shared/numbers.js";
import { textWidth } from "../scene/text_width.js";
import { SLANT } from "../shared/token_labels.js";

/** @import { Theme, Words } from "../shared/types.js" */
/** @import { StoryNumbers } from "./story_numbers.js" */
/** @typedef {[negative: string, positive: string]} Tint */
/**
 * @typedef {object} Look
 * @property {number} width @property {number} height
 * @property {number} pair the key that the query meets large @property {number} terms products that a score adds up
 * @property {Theme} theme @property {{ masked: string, roles: Record<string, Tint> }} colours @property {Words} words
 */
/** @typedef {ReturnType<typeof storyLayout>} Layout */

/** Pixels of a row that is wanted, and at most; of a number, a heading, and the picture's foot. */
export const [ROW, HIGHEST, NUMBER, HEADING, FOOT] = [34, 46, 64, 24, 66];
/** What the strips of one query and one key take of the picture where they meet large, and at most; letters beside them. */
const LENS = { share: 0.4, most: 190 };
export const LENS_LETTERS = 16;
/** The widest name of a column of the matrix, and its letters at least and at most. */
const COLUMN = { widest: 100, least: 7, most: 14 };
/** A share of the room beside the words: strips and bars that stand beside each other. */
const [HALF_STRIP, HALF_BAR, WEIGHT] = [0.4, 0.58, 0.22];

/** What is seen at which stages. */
export const SHOWS = {
  x: new Set(["vectors", "asked", "new"]),
  keys: new Set(["roles", "scores"]),
  values: new Set(["roles", "values", "mixture"]),
  scores: new Set(["scores", "scaled", "masked"]),
  weights: new Set(["shares", "weights", "values", "mixture", "changed"]),
  masked: new Set(["asked", "masked", "shares", "weights", "values", "mixture", "new", "changed"]),
  foot: new Set(["weights", "mixture", "changed"]),
};

/** Pixels that all rows and what stands above and below them would like. @param {number} rows */
export const wantedHeight = (rows) => rows * ROW + LENS.most + HEADING;

/** How columns of the matrix are named: level where each name fits its column, else leaning. */
/** @param {string[]} names @param {number} height */
function columnNames(names, height) {
  const cell = Math.min(HIGHEST, height / Math.max(1, names.length));
  const letters = clamp(0.5 * cell, COLUMN.least, COLUMN.most);
  const widest = Math.min(COLUMN.widest, Math.max(0, ...names.map((name) => textWidth(name, letters))));
  const isLevel = widest <= cell - 5;
  return { letters, isLevel, widest: COLUMN.widest, tall: isLevel ? HEADING : widest * Math.sin(SLANT) + 14 };
}

/** Pixels above the rows. @param {string} stage @param {number} lens @param {number} columns */
function aboveRows(stage, lens, columns) {
  if (stage === "matrix") return columns;
  if (stage === "scores" && lens) return lens;
  if (stage === "roles") return 2 * HEADING + 22;
  return stage === "vectors" || stage === "new" ? 0 : HEADING;
}

/** @param {string} stage @param {StoryNumbers} numbers @param {Look} look */
export function storyLayout(stage, { names, keys, own, vectors }, { width, height, pair }) {
  const lens = vectors ? Math.min(LENS.most, LENS.share * height) : 0;
  const column = columnNames(
    keys.map((key) => names[key]),
    height - HEADING,
  );
  const top = aboveRows(stage, lens, column.tall);
  const row = Math.min(HIGHEST, (height - top - (SHOWS.foot.has(stage) ? FOOT : 0)) / Math.max(1, keys.length));
  const letters = clamp(row * 0.72, 8, 18);
  const meeting = stage === "scores" && vectors ? textWidth(`× ${names[pair]}`, LENS_LETTERS, 600) : 0;
  const label = Math.min(0.3 * width, Math.max(meeting, ...keys.map((key) => textWidth(names[key], letters, 600))));
  const left = label + 12;
  const wide = width - left - NUMBER;
  const thick = row * 0.74;
  const rowsOf = { lens, top, row, column, letters, label, left, wide, thick, end: top + keys.length * row };
  return { ...rowsOf, ...columnsOf(stage, left, wide, vectors !== null), at: own === null ? -1 : keys.indexOf(own) };
}

/** Bars and strips, beside each other where there are both. */
/** @param {string} stage @param {number} left @param {number} wide @param {boolean} hasVectors */
function columnsOf(stage, left, wide, hasVectors) {
  const all = { x: left, w: wide };
  const full = { x: left, w: wide + NUMBER };
  if (stage === "values" || stage === "mixture") {
    const bar = { x: left, w: WEIGHT * wide };
    return { bar, full, strip: { x: bar.x + bar.w + NUMBER, w: wide - bar.w } };
  }
  if (stage === "roles") return { bar: all, full, strip: { x: left, w: full.w / 2 - 10 } };
  if (stage !== "scores" || !hasVectors) return { bar: all, full, strip: full };
  const bar = { x: left + (1 - HALF_BAR) * wide, w: HALF_BAR * wide };
  return { bar, full, strip: { x: left, w: HALF_STRIP * wide } };
}
