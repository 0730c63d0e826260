// One query's way through attention as a film: its sentence's words, their scores, these scaled and masked, the weights that
// softmax makes of them, and the mixture of values. Words and bars are those of the lessons' picture.

import { storyLayout, wantedHeight } from "../attention_story/story_layout.js";
import { drawMarks, travel } from "../scene/marks.js";
import { largestOf, scoreNumbers } from "../attention_story/story_numbers.js";
import { storyMarks } from "../attention_story/story_scene.js";
import { fill, joinTexts } from "../shared/dom.js";
import { scaleFactor, editedMask } from "../shared/edit.js";
import { unpackEdit } from "../shared/group.js";
import { clamp, formatPercent, formatTypeset, toSignificant } from "../shared/numbers.js";
import { MASKED_16 } from "../shared/packing.js";
import { readRawScores } from "../shared/raw_scores.js";
import { clipTo, writeText } from "../shared/surface.js";
import { drawPill } from "../shared/token_labels.js";
import { textWidth } from "../scene/text_width.js";
import { drawMixture, MIXTURE_ROOM, mixtureParts } from "./mixture.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { DrawingContext, Edit, Film, HeadFilmHeader, RawHead, Theme } from "../shared/types.js" */
/** @typedef {Pick<HeadFilmHeader, "row" | "q" | "k" | "title" | "colours" | "words">} Told */
/** @typedef {ReturnType<typeof queryNumbers>} Query */

const [SECONDS, FRAMES] = [14, 60];
/** What is seen one after the other; and the share of each stage that moves, before it stands. */
const TRACK = ["words", "scores", "masked", "weights", "mixture"];
const MOVES = 0.9;
/** Pixels of the picture, wide and upright, of the query's line, and of its letters. */
const [WIDE, UPRIGHT, QUERY, LETTERS] = [{ width: 800, height: 470 }, { width: 560, height: 640 }, 40, 14];
const NO_TINTS = { plain: /** @type {[string, string]} */ (["#808080", "#808080"]) };

/** @param {HeadFilmHeader} header @param {Uint8Array} payload the head's raw scores */
export function headFilm(header, payload) {
  const [raw] = readRawScores(header.raw, payload);
  return queryFilm(header, raw, unpackEdit(header.edit, raw.shape));
}

/** @param {Told} told @param {RawHead} raw @param {Edit} edit @returns {Film} */
export function queryFilm(told, raw, edit) {
  const query = queryNumbers(told, raw, edit);
  const name = told.title ? fill(told.words.film_of, { head: told.title.replace(/[.。]$/, "") }) : told.words.film;
  /** @type {Film["figure"]} */
  const figure = (at, theme, _bar, upright = false) => queryFigure(told, query, at, theme, upright);
  return { name, seconds: SECONDS, frames: FRAMES, figure };
}

/** The numbers of the row at each stage, and what is mixed of it. @param {Told} told @param {RawHead} raw @param {Edit} edit */
function queryNumbers({ row, q, k, words }, raw, edit) {
  const [, nk] = raw.shape;
  const rowOf = (/** @type {any} */ all) => all && all.subarray(row * nk, (row + 1) * nk);
  const scores = /** @type {Float32Array} */ (rowOf(raw.scores));
  const one = { ...raw, shape: /** @type {[number, number]} */ ([1, nk]), scores, bias: rowOf(raw.bias) };
  const mask = rowOf(editedMask(edit, raw));
  const numbers = scoreNumbers(one, mask, scaleFactor(edit, raw), k ?? q, q[row], k === null ? row : null);
  const shown = {
    header: { shape: one.shape, top: 1, signed: false, q: [q[row]], k: k ?? q, words, coarse: false },
    codes: Uint16Array.from(numbers.scaled, (value) => (value === -Infinity ? MASKED_16 : 0)),
    values: numbers.weights,
  };
  const parts = mixtureParts(shown, words.others);
  return { ...numbers, parts, vectors: null, matrix: [], changed: null, starts: null };
}

/** The sentence about a stage, with the row's own numbers. @param {string} stage @param {Query} query @param {Told} told */
function sentenceOf(stage, { token, names, scores, scaled, weights, factor, parts, ...changes }, { words }) {
  const masked = scaled.filter((value) => value === -Infinity).length;
  if (stage === "words") return fill(words.film_words, { token, count: names.length });
  if (stage === "scores") {
    const key = largestOf(scores);
    return fill(words.film_scores, { token, key: names[key], value: formatTypeset(scores[key]) });
  }
  if (masked === names.length) return fill(words.film_empty, { token });
  if (stage === "masked") {
    const key = largestOf(scaled);
    const also = [
      changes.isBiased ? words.film_bias : "",
      changes.softcap === null ? "" : fill(words.film_softcap, { cap: toSignificant(changes.softcap, 4) }),
    ];
    const times = fill(words.film_scaled, { factor: toSignificant(factor, 4) });
    const hidden = masked ? fill(words.film_masked, { masked }) : "";
    const left = fill(words.film_left, { key: names[key], value: formatTypeset(scaled[key]) });
    return joinTexts(words.join_clauses, [times, ...also, hidden, left]);
  }
  if (stage === "weights") {
    const key = largestOf(weights);
    const total = weights.reduce((all, weight) => all + weight, 0); // as far as 32 bits are sure of it
    const sum = formatPercent(toSignificant(total, 6), 0);
    return fill(changes.hasSink ? words.film_sink : words.film_weights, {
      ...{ sum, key: names[key], value: formatPercent(weights[key], 0) },
    });
  }
  const shares = parts.map(({ name, share, i }) =>
    fill(i === null ? words.film_others : words.film_part, { key: name, share: formatPercent(share, 0) }),
  );
  return fill(words.film_mixture, { token, parts: joinTexts(words.join_things, shares) });
}

/** @param {Told} told @param {Query} query @param {number} at @param {Theme} theme @param {boolean} upright @returns {Figure} */
function queryFigure(told, query, at, theme, upright) {
  const { colours, words } = told;
  const stage = Math.min(TRACK.length - 1, Math.floor(TRACK.length * clamp(at, 0, 1)));
  const done = 1 - (1 - clamp((TRACK.length * at - stage) / MOVES, 0, 1)) ** 3;
  const size = upright ? UPRIGHT : WIDE;
  const height = Math.min(size.height, wantedHeight(query.keys.length));
  const heading = { ...words, score: words.film_score, weight: words.film_weight };
  const look = {
    width: size.width,
    height,
    pair: -1,
    terms: 0,
    theme,
    colours: { ...colours, roles: NO_TINTS },
    words: heading,
  };
  const marksOf = (/** @type {number} */ n) => storyMarks(TRACK[Math.min(n, TRACK.indexOf("weights"))], query, look);
  const marks = stage ? travel(marksOf(stage - 1), marksOf(stage))(done) : marksOf(0);
  const foot = QUERY + Math.max(height, storyLayout("weights", query, look).end);
  const draw = (/** @type {DrawingContext} */ context) => {
    writeText(context, words.film_query, 0, 12, theme, `600 ${LETTERS}px`);
    const pill = { text: query.token, width: textWidth(query.token, LETTERS, 600) };
    drawPill(context, pill, textWidth(words.film_query, LETTERS, 600) + 14, 12, "left", theme.q, theme, LETTERS);
    if (query.names.length > query.keys.length) {
      const most = fill(words.film_most, { count: query.keys.length, all: query.names.length });
      writeText(context, most, size.width - textWidth(most, 12), 12, theme, "12px", 0.8);
    }
    context.save();
    context.translate(0, QUERY);
    drawMarks(context, marks, theme);
    context.restore();
    if (TRACK[stage] !== "mixture" || !query.parts.length) return;
    clipTo(context, { x: 0, y: foot, w: size.width, h: done * MIXTURE_ROOM }, 0);
    context.translate(0, foot);
    drawMixture(context, query.parts, fill(words.new_vector, { token: query.token }), theme, size.width);
    context.restore();
  };
  return { width: size.width, height: foot + MIXTURE_ROOM, title: sentenceOf(TRACK[stage], query, told), draw };
}
