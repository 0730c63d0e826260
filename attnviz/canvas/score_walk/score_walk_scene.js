// What grows with d_k, in one picture: products q·k as walks that add a number at each step and spread, the softmax of where they
// end, raw and divided by the square root of d_k, and how much of a change softmax then lets through. All axes stand still. No page.

import { filmOfSteps } from "../scene/film.js";
import { wrapText } from "../scene/text_width.js";
import { softmaxRow } from "../softmax_slider/softmax.js";
import { fill } from "../shared/dom.js";
import { formatFixed, formatGrouped, formatPercent } from "../shared/numbers.js";
import { toFloats } from "../shared/packing.js";
import { drawWith, fillBox, strokePath, writeText } from "../shared/surface.js";

/** @import { DrawingContext, ForFile, ScoreWalkHeader, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @typedef {ReturnType<typeof walkScene>} WalkScene */

/** The widest d_k, and how many times its root the axis of products reaches; keys that are drawn at most. */
const [WIDEST, REACH, MOST] = [4096, 3.2, 24];
/** Pixels beside the walks, from them to the bars, above both, of the walks, between them and the gradient, of it, below. */
const [LEFT, WIRES, TOP, HIGH, BELOW, LOW, FOOT] = [44, 56, 26, 262, 56, 84, 34];
/** Pixels above and below its walks. */
export const AROUND = TOP + BELOW + LOW + FOOT;
const NARROW = 640;
const TICKS = [1, 4, 16, 64, 256, 1024, 4096];
const KINDS = /** @type {const} */ (["raw", "sqrt"]);

/** Where d_k stands, 0 to 1: by its fourth root, as products stand by their own square root, so that √d_k is a straight line. @param {number} d */
const along = (d) => (d / WIDEST) ** 0.25;
/** @param {number} product */
const up = (product) => Math.sign(product) * Math.sqrt(Math.min(1, Math.abs(product) / (REACH * Math.sqrt(WIDEST))));

/** The Frobenius norm of softmax's Jacobian diag(p) - p pᵀ. @param {Float64Array} p */
export function jacobianNorm(p) {
  const [two, three] = [2, 3].map((power) => p.reduce((sum, weight) => sum + weight ** power, 0));
  return Math.sqrt(Math.max(0, two - 2 * three + two ** 2));
}

/** Of each d_k both rows of weights, and their norms. @param {Pick<ScoreWalkHeader, "n" | "d_k">} header @param {Uint8Array} payload */
export function readWalks({ n, d_k }, payload) {
  const scores = toFloats(payload);
  return d_k.map((d, i) => {
    const row = { d, scores: scores.subarray(i * n, (i + 1) * n), cosines: null };
    const weights = KINDS.map((kind) => softmaxRow(kind, row, 1, 0).weights);
    return { d, scores: row.scores, weights, norms: weights.map(jacobianNorm) };
  });
}

/**
 * @param {Pick<ScoreWalkHeader, "n" | "words" | "pair" | "medians">} header @param {ReturnType<typeof readWalks>} stops
 * @param {number} at the stop of d_k @param {number} width @param {Theme} theme @param {number} [high] pixels of its walks
 */
export function walkScene({ n, words, pair, medians }, stops, at, width, theme, high = HIGH) {
  const narrow = width < NARROW;
  const wide = narrow ? width - LEFT - 4 : Math.round((width - LEFT - WIRES) * 0.52);
  const plot = { x: LEFT, y: TOP, w: wide, h: high };
  const bars = narrow
    ? { x: LEFT, y: high + AROUND + 34, w: width - LEFT - 4, h: high }
    : { x: LEFT + wide + WIRES, y: TOP, w: width - LEFT - wide - WIRES, h: high };
  const slope = { x: LEFT, y: TOP + high + BELOW, w: wide, h: LOW };
  const height = narrow ? bars.y + bars.h + 8 : slope.y + LOW + FOOT;
  return {
    stops,
    at,
    plot,
    bars,
    slope,
    width,
    height,
    narrow,
    n,
    keys: drawnKeys(n, stops[at].scores),
    words,
    pair,
    medians,
    theme,
  };
}

/** The keys that are drawn: the first ones, and the one that gets most. @param {number} n @param {Float32Array} scores */
function drawnKeys(n, scores) {
  const most = scores.reduce((best, score, key) => (score > scores[best] ? key : best), 0);
  const keys = Array.from({ length: Math.min(n, MOST) }, (_none, key) => key);
  return most < keys.length ? keys : [...keys.slice(0, -1), most];
}

/** @param {WalkScene} scene @param {number} x the stop of d_k that stands nearest to it */
export function stopAtX({ stops, plot }, x) {
  const distance = (/** @type {number} */ i) => Math.abs(plot.x + plot.w * along(stops[i].d) - x);
  return stops.reduce((best, _stop, i) => (distance(i) < distance(best) ? i : best), 0);
}

/** @param {DrawingContext} context @param {WalkScene} scene */
export function drawWalk(context, scene) {
  const { stops, at, plot, theme, words, pair, n, keys } = scene;
  const here = stops[at];
  const x = (/** @type {number} */ d) => plot.x + plot.w * along(d);
  const y = (/** @type {number} */ product) => plot.y + (plot.h / 2) * (1 - up(product));
  writeText(context, words.walks, plot.x, 9, theme, "600 14px");
  const reach = 8 * Math.sqrt(WIDEST);
  drawWith(context, { fillStyle: theme.text, globalAlpha: 0.07 });
  context.beginPath();
  for (const [d, side] of [[0, 1], [WIDEST, 1], [WIDEST, -1]]) context.lineTo(x(d), y(side * Math.sqrt(d))); // prettier-ignore
  context.fill();
  context.globalAlpha = 1;
  for (const tick of [-100, -10, 0, 10, 100].filter((each) => Math.abs(each) < reach)) {
    fillBox(context, { x: plot.x, y: Math.round(y(tick)), w: plot.w, h: 1 }, theme.text, tick ? 0.12 : 0.4);
    writeText(context, String(tick).replace("-", "−"), plot.x - 7, y(tick), theme, "12px", 0.85, "right");
  }
  writeText(context, "±√d_k", x(WIDEST) - 6, y(Math.sqrt(WIDEST)) + 16, theme, "12px", 0.9, "right");
  for (const key of keys) {
    for (const [from, to, alpha, lineWidth] of [[0, at, 0.9, 1.5], [at, stops.length - 1, 0.16, 1]]) {
      drawWith(context, { strokeStyle: pair[0], globalAlpha: alpha, lineWidth, lineJoin: "round" });
      const points = stops.slice(from, to + 1).map(({ d, scores }) => /** @type {[number, number]} */ ([x(d), y(scores[key])]));
      strokePath(context, ...(from ? [] : [/** @type {[number, number]} */ ([x(0), y(0)])]), ...points);
    }
    context.globalAlpha = 1;
  } // prettier-ignore
  drawBars(context, scene, y);
  drawSlope(context, scene, x);
  for (const key of keys) {
    context.beginPath();
    context.arc(x(here.d), y(here.scores[key]), 3.5, 0, 2 * Math.PI);
    drawWith(context, { fillStyle: pair[0] });
    context.fill();
  }
  if (n > keys.length)
    writeText(context, fill(words.drawn, { drawn: keys.length, n }), plot.x, plot.y + plot.h + 14, theme, "12px", 0.85);
}

/** @param {DrawingContext} context @param {WalkScene} scene @param {(product: number) => number} y */
function drawBars(context, { stops, at, plot, bars, theme, words, pair, keys, narrow }, y) {
  const here = stops[at];
  const room = (bars.w - 20) / 2;
  const row = bars.h / keys.length;
  const cut = plot.x + plot.w * along(here.d);
  if (!narrow) {
    drawWith(context, { strokeStyle: theme.text, globalAlpha: 0.16, lineWidth: 1 });
    keys.forEach((key, place) => {
      const [from, to, end] = [y(here.scores[key]), bars.y + (place + 0.5) * row, plot.x + plot.w];
      context.beginPath();
      context.moveTo(cut + 5, from);
      context.lineTo(end, from);
      context.bezierCurveTo(end + WIRES / 2, from, end + WIRES / 2, to, bars.x - 3, to);
      context.stroke();
    });
    context.globalAlpha = 1;
  }
  KINDS.forEach((_kind, i) => {
    const left = bars.x + i * (room + 20);
    writeText(context, words.softmax[i], left, bars.y - 17, theme, "600 14px");
    fillBox(context, { x: left, y: bars.y, w: 1, h: bars.h }, theme.text, 0.5);
    fillBox(context, { x: left + room - 1, y: bars.y, w: 1, h: bars.h }, theme.text, 0.15);
    let most = 0;
    keys.forEach((key, place) => {
      const weight = here.weights[i][key];
      if (weight > here.weights[i][keys[most]]) most = place;
      fillBox(context, { x: left, y: bars.y + place * row + 1, w: Math.max(1, weight * room), h: row - 2 }, pair[i], 1, 2);
    });
    const share = here.weights[i][keys[most]];
    const [end, inside] = [left + share * room, share > 0.75];
    const number = formatPercent(share, 0);
    const text = inside ? { ...theme, text: "#ffffff" } : theme;
    writeText(context, number, end + (inside ? -6 : 6), bars.y + (most + 0.5) * row, text, "600 13px", 1, inside ? "right" : "left");
  }); // prettier-ignore
}

/** What softmax lets through over d_k, and where it stands now. @param {DrawingContext} context @param {WalkScene} scene @param {(d: number) => number} x */
function drawSlope(context, { stops, at, plot, slope, width, theme, words, pair, medians, narrow }, x) {
  const y = (/** @type {number} */ norm) => slope.y + slope.h * (1 - norm / 0.5);
  const lines = wrapText(fill(words.slope, { rows: medians.rows }), width - slope.x, 14, 600);
  lines.forEach((line, n) => writeText(context, line, slope.x, slope.y + 4 - 16 * (lines.length - n), theme, "600 14px"));
  for (const tick of [0, 0.25, 0.5]) {
    fillBox(context, { x: slope.x, y: Math.round(y(tick)), w: slope.w, h: 1 }, theme.text, tick ? 0.12 : 0.4);
    writeText(context, String(tick), slope.x - 7, y(tick), theme, "12px", 0.85, "right");
  }
  const here = stops[at];
  KINDS.forEach((_kind, i) => {
    drawWith(context, { strokeStyle: pair[i], lineWidth: 1, globalAlpha: 0.35 });
    strokePath(context, ...stops.map(({ d, norms }) => /** @type {[number, number]} */ ([x(d), y(norms[i])])));
    drawWith(context, { lineWidth: 3, globalAlpha: 1 });
    const middle = medians.middles[i];
    strokePath(context, ...medians.d_k.map((d, n) => /** @type {[number, number]} */ ([x(d), y(middle[n])])));
    context.beginPath();
    context.arc(x(here.d), y(here.norms[i]), 6, 0, 2 * Math.PI);
    drawWith(context, { fillStyle: pair[i] });
    context.fill();
    if (narrow) return;
    const place = plot.x + plot.w + WIRES;
    const line = slope.y + 12 + i * 26;
    fillBox(context, { x: place, y: line - 5, w: 10, h: 10 }, pair[i], 1, 5);
    writeText(context, fill(words.norms[i], { norm: formatFixed(here.norms[i], 3) }), place + 18, line, theme, "15px");
  });
  for (const tick of TICKS.filter((each) => each > 4 || !narrow))
    writeText(context, formatGrouped(tick), x(tick), slope.y + slope.h + 13, theme, "12px", 0.85, tick === WIDEST ? "right" : "center");
  writeText(context, "d_k", Math.min(width, x(64)), slope.y + slope.h + 28, theme, "12px", 0.85, "center");
  drawWith(context, { strokeStyle: theme.text, lineWidth: 2, globalAlpha: 0.7 });
  for (const { y: top, h } of [plot, slope]) strokePath(context, [x(here.d), top], [x(here.d), top + h]);
  context.globalAlpha = 1;
  fillBox(context, { x: Math.min(x(here.d) - 7, width - 14), y: plot.y + plot.h + 2, w: 14, h: 20 }, theme.text, 1, 7);
} // prettier-ignore

/** @param {ForFile<ScoreWalkHeader>} header @param {Uint8Array} payload @param {Theme} theme @returns {Figure} */
export function walkFigure(header, payload, theme) {
  return figureAt(header, readWalks(header, payload), header.at, theme, header.title);
}

/** @param {ForFile<ScoreWalkHeader>} header @param {ReturnType<typeof readWalks>} stops @param {number} at @param {Theme} theme @param {string} title @returns {Figure} */
function figureAt(header, stops, at, theme, title) {
  const scene = walkScene(header, stops, at, 880, theme);
  const draw = (/** @type {DrawingContext} */ context) => drawWalk(context, scene);
  return { width: scene.width, height: scene.height, title, draw };
}

/** While d_k grows. @param {ForFile<ScoreWalkHeader>} header @param {Uint8Array} payload */
export function walkFilm(header, payload) {
  const stops = readWalks(header, payload);
  return filmOfSteps(header.words.film, stops.length, 7, (stop, theme) =>
    figureAt(header, stops, stop, theme, `d_k = ${formatGrouped(stops[stop].d)}`),
  );
}
