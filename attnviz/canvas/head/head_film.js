// One query's way through attention as a film: its sentence's words, their scores, these scaled and masked, the weights that
// softmax makes of them, and the mixture of values.

import { attend, writeLogits } from "../shared/attend.js";
import { fill, joinTexts, visibleToken } from "../shared/dom.js";
import { scaleFactor, editedMask } from "../shared/edit.js";
import { unpackEdit } from "../shared/group.js";
import { clamp, formatFixed, formatPercent, toSignificant } from "../shared/numbers.js";
import { MASKED_16 } from "../shared/packing.js";
import { readRawScores } from "../shared/raw_scores.js";
import { clipTo, drawWith, fillBox, writeText } from "../shared/surface.js";
import { cutToFit, drawPill } from "../shared/token_labels.js";
import { textWidth } from "../scene/text_width.js";
import { drawMixture, MIXTURE_ROOM, mixtureParts } from "./mixture.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { DrawingContext, Edit, Film, HeadFilmHeader, RawHead, Theme } from "../shared/types.js" */
/** @typedef {Pick<HeadFilmHeader, "row" | "q" | "k" | "title" | "colours" | "words">} Told */
/** @typedef {ReturnType<typeof queryOf>} Query */
/** @typedef {ReturnType<typeof placeKeys>} Places */

const [SECONDS, FRAMES] = [14, 60];
/** What is seen one after the other; and the share of each stage that moves, before it stands. */
const [WORDS, SCORES, SCALED, WEIGHTS, MIXTURE] = [0, 1, 2, 3, 4];
const MOVES = 0.9;
/** Keys that are drawn: of more, those with the largest weights. Keys of a column on a wide frame and on an upright one. */
const [MOST_KEYS, KEYS_WIDE, KEYS_UPRIGHT] = [40, 14, 24];
/** Pixels of a key's row, of its letters and of its label at most, of a number, and between columns. */
const [ROW, LETTERS, LABEL, NUMBER, BETWEEN] = [22, 14, 130, 62, 28];
/** Of a line of the sentence, of its letters, and between two words. */
const WORD = { line: 36, letters: 22, gap: 18 };
/** Pixels of the bars of one column, and of one of several. */
const [ALONE, BESIDE] = [420, 210];
/** Pixels of the query's line, and of the bar of all weights with what is above it. */
const [QUERY, SUM] = [40, 50];

/** @param {HeadFilmHeader} header @param {Uint8Array} payload the head's raw scores */
export function headFilm(header, payload) {
  const [raw] = readRawScores(header.raw, payload);
  return queryFilm(header, raw, unpackEdit(header.edit, raw.shape));
}

/** @param {Told} told @param {RawHead} raw @param {Edit} edit @returns {Film} */
export function queryFilm(told, raw, edit) {
  const query = queryOf(told, raw, edit);
  const name = told.title ? fill(told.words.film_of, { head: told.title.replace(/[.。]$/, "") }) : told.words.film;
  const figure = (
    /** @type {number} */ at,
    /** @type {Theme} */ theme,
    /** @type {boolean | undefined} */ _bar,
    upright = false,
  ) => queryFigure(told, query, at, theme, upright);
  return { name, seconds: SECONDS, frames: FRAMES, figure };
}

/** The numbers of the row, at each stage; -Infinity where masked. @param {Told} told @param {RawHead} raw @param {Edit} edit */
function queryOf({ row, q, k, words }, raw, edit) {
  const [, nk] = raw.shape;
  const rowOf = (/** @type {any} */ all) => all && all.subarray(row * nk, (row + 1) * nk);
  const scores = /** @type {Float32Array} */ (rowOf(raw.scores));
  const one = { ...raw, shape: /** @type {[number, number]} */ ([1, nk]), scores, bias: rowOf(raw.bias) };
  const [mask, factor, scaled] = [rowOf(editedMask(edit, raw)), scaleFactor(edit, raw), new Float32Array(nk)];
  writeLogits(one, mask, factor, scaled, 0, nk);
  const weights = attend(one, mask, factor);
  const own = k === null ? row : null;
  const names = (k ?? q).map((token) => visibleToken(token).trim());
  const numbers = {
    header: { shape: one.shape, top: 1, signed: false, q: [q[row]], k: k ?? q, words, coarse: false },
    codes: Uint16Array.from(scaled, (value) => (value === -Infinity ? MASKED_16 : 0)),
    values: weights,
  };
  const parts = mixtureParts(numbers, words.others);
  return { token: visibleToken(q[row]).trim(), own, names, scores, scaled, weights, factor, parts, ...changesOf(one) };
}

/** What else becomes of scores. @param {RawHead} raw */
function changesOf({ bias, softcap, sink }) {
  return { isBiased: bias !== null, softcap, hasSink: sink !== null };
}

/** The sentence about a stage, with the row's own numbers. @param {number} stage @param {Query} query @param {Told} told */
function sentenceOf(stage, { token, names, scores, scaled, weights, factor, parts, ...changes }, { words }) {
  const masked = scaled.filter((value) => value === -Infinity).length;
  const largest = (/** @type {Float32Array} */ of) => of.indexOf(Math.max(...of));
  if (stage === WORDS) return fill(words.film_words, { token, count: names.length });
  if (stage === SCORES) {
    const key = largest(scores);
    return fill(words.film_scores, { token, key: names[key], value: signed(scores[key]) });
  }
  if (masked === names.length) return fill(words.film_empty, { token });
  if (stage === SCALED) {
    const key = largest(scaled);
    const also = [
      changes.isBiased ? words.film_bias : "",
      changes.softcap === null ? "" : fill(words.film_softcap, { cap: toSignificant(changes.softcap, 4) }),
    ];
    const times = fill(words.film_scaled, { factor: toSignificant(factor, 4) });
    const hidden = masked ? fill(words.film_masked, { masked }) : "";
    const left = fill(words.film_left, { key: names[key], value: signed(scaled[key]) });
    return joinTexts(words.join_clauses, [times, ...also, hidden, left]);
  }
  if (stage === WEIGHTS) {
    const key = largest(weights);
    const sum = formatPercent(sumOf(weights), 0);
    return fill(changes.hasSink ? words.film_sink : words.film_weights, {
      ...{ sum, key: names[key], value: formatPercent(weights[key], 0) },
    });
  }
  const shares = parts.map(({ name, share, i }) =>
    fill(i === null ? words.film_others : words.film_part, { key: name, share: formatPercent(share, 0) }),
  );
  return fill(words.film_mixture, { token, parts: joinTexts(words.join_things, shares) });
}

/** As far as 32 bits are sure of it. @param {Float32Array} weights */
const sumOf = (weights) =>
  toSignificant(
    weights.reduce((sum, weight) => sum + weight, 0),
    6,
  );

/** @param {number} value */
const signed = (value) => formatFixed(value, 2).replace("-", "−");

/**
 * Where keys stand: as a sentence, and each in its own row.
 * @param {Query} query @param {boolean} upright
 */
function placeKeys({ names, weights }, upright) {
  const all = Array.from(names, (_name, i) => i);
  const shown = all.sort((a, b) => weights[b] - weights[a] || a - b).slice(0, MOST_KEYS);
  const labels = shown
    .sort((a, b) => a - b)
    .map((key) => ({ key, ...cutToFit(names[key], LABEL, (text) => textWidth(text, LETTERS)) }));
  const columns = Math.ceil(labels.length / (upright ? KEYS_UPRIGHT : KEYS_WIDE));
  const [rows, bar] = [Math.ceil(labels.length / columns), columns > 1 ? BESIDE : ALONE];
  const label = Math.max(...labels.map(({ width }) => width));
  const column = label + 10 + bar + NUMBER;
  const width = columns * (column + BETWEEN) - BETWEEN;
  let [x, y] = [0, QUERY];
  const keys = labels.map(({ key, text, width: wide }, n) => {
    const word = textWidth(text, WORD.letters);
    if (x > 0 && x + word > width) [x, y] = [0, y + WORD.line];
    const left = Math.floor(n / rows) * (column + BETWEEN) + label + 10;
    const at = {
      key,
      text,
      word: [x, y + WORD.line / 2],
      label: [left - 10 - wide, QUERY + ((n % rows) + 0.5) * ROW],
      left,
    };
    x += word + WORD.gap;
    return at;
  });
  const foot = Math.max(QUERY + rows * ROW, y + WORD.line);
  return { keys, bar, width, foot, height: foot + SUM + MIXTURE_ROOM };
}

/** @param {Told} told @param {Query} query @param {number} at @param {Theme} theme @param {boolean} upright @returns {Figure} */
function queryFigure(told, query, at, theme, upright) {
  const { colours, words } = told;
  const stage = Math.min(MIXTURE, Math.floor(5 * clamp(at, 0, 1)));
  const done = 1 - (1 - clamp((5 * at - stage) / MOVES, 0, 1)) ** 3;
  const places = placeKeys(query, upright);
  const { width, height, foot } = places;
  const draw = (/** @type {DrawingContext} */ context) => {
    writeText(context, words.film_query, 0, 12, theme, `600 ${LETTERS}px`);
    const pill = { text: query.token, width: textWidth(query.token, LETTERS, 600) };
    drawPill(context, pill, textWidth(words.film_query, LETTERS, 600) + 14, 12, "left", theme.q, theme, LETTERS);
    if (query.names.length > places.keys.length) {
      const most = fill(words.film_most, { count: places.keys.length, all: query.names.length });
      writeText(context, most, width - textWidth(most, 12), 12, theme, "12px", 0.8);
    }
    drawKeys(context, query, places, stage, done, { theme, colours, words });
    if (stage >= WEIGHTS) drawSum(context, query, places, stage === WEIGHTS ? done : 1, theme);
    if (stage < MIXTURE || !query.parts.length) return;
    clipTo(context, { x: 0, y: foot + SUM, w: width, h: done * MIXTURE_ROOM }, 0);
    context.translate(0, foot + SUM);
    drawMixture(context, query.parts, fill(words.new_vector, { token: query.token }), theme, width);
    context.restore();
  };
  return { width, height, title: sentenceOf(stage, query, told), draw };
}

/**
 * Each key with its bar and its number, on the way from the stage before.
 * @param {DrawingContext} context @param {Query} query @param {Places} places @param {number} stage @param {number} done
 * @param {{ theme: Theme } & Pick<Told, "colours" | "words">} look
 */
function drawKeys(context, { own, scores, scaled, weights }, { keys, bar }, stage, done, { theme, colours, words }) {
  const seen = scaled.filter((value) => value !== -Infinity);
  const [low, high] = [Math.min(0, ...scores, ...seen), Math.max(0, ...scores, ...seen)];
  const length = (/** @type {number} */ value) => (bar * value) / (high - low || 1);
  const zero = -length(low);
  const moved = stage === SCORES ? Math.min(1, 2 * done) : Math.min(1, stage); // words go to their rows before bars grow
  const grown = stage === SCORES ? Math.max(0, 2 * done - 1) : done;
  for (const { key, text, word, label, left } of keys) {
    const isMasked = scaled[key] === -Infinity;
    const [from, to] = [stage - 1, stage].map((at) => {
      if (at <= WORDS) return [zero, 0];
      if (at === SCORES) return [zero, length(scores[key])];
      return at === SCALED ? [zero, isMasked ? 0 : length(scaled[key])] : [0, bar * weights[key]];
    });
    const [start, long] = to.map((end, n) => from[n] + grown * (end - from[n]));
    const [x, y] = label.map((end, n) => word[n] + moved * (end - word[n]));
    const pale = isMasked && stage >= SCALED ? 0.5 : 1;
    const letters = WORD.letters + moved * (LETTERS - WORD.letters);
    writeText(context, text, x, y, key === own ? { ...theme, text: theme.q } : theme, `${letters}px`, pale);
    const box = { x: left, y: label[1] - 7, w: bar, h: 14 };
    fillBox(context, box, theme.text, 0.05 * moved);
    if (pale < 1) context.fade(stage === SCALED ? done : 1, (on) => on.hatch(box, colours.masked, theme.dark));
    fillBox(context, { ...box, x: left + start + Math.min(0, long), w: Math.abs(long) }, theme.k, long < 0 ? 0.55 : 1);
    if (moved < 1) continue;
    const number =
      stage === SCORES ? signed(scores[key]) : stage > SCALED ? formatPercent(weights[key]) : signed(scaled[key]);
    const said = isMasked && stage === SCALED ? words.hidden : number;
    writeText(context, said, left + bar + 8, label[1], theme, "13px", pale);
  }
}

/**
 * All weights, one after the other, on the way to their sum.
 * @param {DrawingContext} context @param {Query} query @param {Places} places @param {number} done @param {Theme} theme
 */
function drawSum(context, { weights }, { width, foot }, done, theme) {
  const box = { x: 0, y: foot + 14, w: width - NUMBER, h: 16 };
  const filled = done * sumOf(weights);
  let [from, odd] = [0, false];
  for (const weight of weights) {
    const to = Math.min(from + weight, filled);
    if (to > from) fillBox(context, { ...box, x: box.w * from, w: box.w * (to - from) }, theme.k, odd ? 0.6 : 1);
    from += weight;
    odd = !odd;
  }
  drawWith(context, { strokeStyle: theme.border, lineWidth: 1 });
  context.strokeRect(box.x, box.y, box.w, box.h);
  writeText(context, `Σ ${formatPercent(filled, 0)}`, box.w + 8, box.y + 8, theme, "600 13px");
}
