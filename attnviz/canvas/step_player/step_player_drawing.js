// The scene: one row for each token, its key, the weight that the newest token gives it, its value; q and output above.

import { colourAt, css, mixed, readable, rgb, themeOf } from "../shared/colour.js";
import { visibleToken } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { newRows, sceneOf } from "./step_player_geometry.js";
import { drawWith, fillBox, sized } from "../shared/surface.js";
import { textWidth } from "../scene/text_width.js";
import { cutToFit } from "../shared/token_labels.js";

/** @import { Weight } from "../scene/text_width.js" */
/** @import { Film } from "./step_player.js" */
/** @import { PlayerHeader, Theme } from "../shared/types.js" */
/** @typedef {ReturnType<typeof sceneOf>} Scene */

/**
 * @typedef {object} Easel
 * @property {CanvasRenderingContext2D} context
 * @property {Scene} scene
 * @property {Theme} theme
 * @property {PlayerHeader} header
 * @property {Film} film
 * @property {number} first
 * @property {number} end
 */

/**
 * @param {HTMLCanvasElement} canvas @param {HTMLElement} root @param {PlayerHeader} header @param {Film} film
 * @param {number} at @param {number | null} pointed @param {number} width
 */
export function drawScene(canvas, root, header, film, at, pointed, width) {
  const scene = sceneOf(width, header.rows);
  const context = sized(canvas, width, scene.height);
  const theme = themeOf(root, header.colours);
  const [first, end] = newRows(header.steps, at);
  /** @type {Easel} */
  const easel = { context, scene, theme, header, film, first, end };
  titles(easel);
  vectors(easel);
  rows(easel, pointed);
  frames(easel);
}

/** @param {Easel} easel */
function titles({ context, scene, theme, header, end }) {
  const { words, labels } = header;
  const token = visibleToken(labels[end - 1]);
  drawWith(context, { font: `600 12px ${theme.font}`, textBaseline: "middle", textAlign: "left" });
  const write = (
    /** @type {string} */ text,
    /** @type {number} */ x,
    /** @type {number} */ room,
    colour = theme.text,
  ) => {
    context.fillStyle = colour;
    context.fillText(shortened(text, room, 12, 600), x, 9);
  };
  const { k, weights, v } = scene;
  write(words.k, k.x, k.w, theme.k);
  write(words.weights, weights.x, weights.w);
  write(words.v, v.x, v.w, readable(header.colours.v, theme.background));
  drawWith(context, { font: `11px ${theme.font}`, textAlign: "right", fillStyle: theme.q });
  const said = words.q.replace("{token}", token);
  context.fillText(shortened(said, scene.label, 11), scene.label, 27);
  context.fillStyle = readable(header.colours.v, theme.background);
  context.fillText(shortened(words.output, weights.w, 11), v.x - 6, 27);
}

/** The new q above the keys, the output above the values: the same columns. @param {Easel} easel */
function vectors(easel) {
  const { header, film, scene, end } = easel;
  const [d, dv] = header.widths;
  const above = { y: 20, tall: 14 };
  strip(easel, film.q, end - 1, d, { ...scene.k, ...above }, header.colours.q, largest(film.q));
  strip(easel, film.output, end - 1, dv, { ...scene.v, ...above }, header.colours.v, largest(film.output));
}

/** @param {Easel} easel @param {number | null} pointed */
function rows(easel, pointed) {
  const { context, scene, theme, header, film, first, end } = easel;
  const [d, dv] = header.widths;
  const [topK, topV] = [largest(film.k), largest(film.v)];
  const every = Math.max(1, Math.ceil(11 / scene.row));
  const tall = Math.max(1, scene.row - (scene.row > 6 ? 1 : 0));
  for (let row = 0; row < end; row++) {
    const y = scene.top + row * scene.row;
    const weight = film.weights[(end - 1) * header.rows + row];
    if (row === pointed) fillBox(context, { x: 0, y, w: scene.v.x + scene.v.w, h: scene.row }, theme.primary, 0.14);
    strip(easel, film.k, row, d, { ...scene.k, y, tall }, header.colours.k, topK);
    strip(easel, film.v, row, dv, { ...scene.v, y, tall }, header.colours.v, topV);
    bar(easel, weight, y, tall);
    marks(easel, row, y);
    if (row % every && row !== pointed && row !== end - 1) continue;
    const font = `${row >= first ? "600 " : ""}11px ${theme.font}`;
    drawWith(context, { font, textAlign: "right", textBaseline: "middle", fillStyle: theme.text });
    context.fillText(
      shortened(visibleToken(header.labels[row]), scene.label, 11, row >= first ? 600 : 400),
      scene.label,
      y + scene.row / 2,
    );
  }
}

/** A weight as a bar on the scale that every page has for weights. */
/** @param {Easel} easel @param {number} weight @param {number} y @param {number} tall */
function bar({ context, scene, theme, header }, weight, y, tall) {
  const { x, w } = scene.weights;
  const room = Math.max(10, w - 40);
  fillBox(context, { x, y, w: room, h: tall }, theme.text, 0.08);
  fillBox(context, { x, y, w: Math.max(0.5, room * weight), h: tall }, css(colourAt(header.colours.weights, weight)));
  if (scene.row < 11) return;
  drawWith(context, { fillStyle: theme.text, font: `10px ${theme.font}`, textAlign: "left", textBaseline: "middle" });
  context.fillText(percent(weight), x + room + 4, y + scene.row / 2);
}

/** Which tokens this step processes, with a cache and without. */
/** @param {Easel} easel @param {number} row @param {number} y */
function marks({ context, scene, theme, first }, row, y) {
  const radius = Math.min(4, scene.row / 2 - 0.5);
  scene.marks.forEach((x, way) => {
    const now = way === 1 || row >= first;
    context.beginPath();
    context.arc(x + scene.mark / 2, y + scene.row / 2, Math.max(1, radius), 0, 2 * Math.PI);
    drawWith(context, { strokeStyle: theme.text, fillStyle: theme.primary, globalAlpha: now ? 1 : 0.25 });
    if (now) context.fill();
    else context.stroke();
    context.globalAlpha = 1;
  });
}

/** @param {Easel} easel */
function frames({ context, scene, theme, header, first, end }) {
  for (const { x, w } of [scene.k, scene.v]) {
    drawWith(context, { strokeStyle: theme.text, globalAlpha: 0.35, lineWidth: 1 });
    context.strokeRect(x - 0.5, scene.top - 0.5, w + 1, end * scene.row + 1);
    context.globalAlpha = 0.3;
    context.setLineDash([2, 3]);
    context.strokeRect(x - 0.5, scene.top - 0.5, w + 1, header.rows * scene.row + 1);
    context.setLineDash([]);
    drawWith(context, { strokeStyle: theme.primary, globalAlpha: 1, lineWidth: 2 });
    context.strokeRect(x - 1, scene.top + first * scene.row - 1, w + 2, (end - first) * scene.row + 2);
    context.lineWidth = 1;
  }
  context.save();
  drawWith(context, { fillStyle: theme.text, globalAlpha: 0.8, font: `10px ${theme.font}` });
  drawWith(context, { textAlign: "left", textBaseline: "middle" });
  [header.words.with, header.words.without].forEach((word, way) => {
    context.save();
    context.translate(scene.marks[way] + scene.mark / 2, scene.top - 3);
    context.rotate(-Math.PI / 2.6);
    context.fillText(shortened(word, 44, 10), 0, 0);
    context.restore();
  });
  context.restore();
}

/**
 * One vector as a row of cells, from a tint of grey (negative) to the colour of what it is.
 * @param {Easel} easel @param {Float32Array} values @param {number} row @param {number} n
 * @param {{ x: number, w: number, y: number, tall: number }} place @param {string} colour @param {number} top
 */
function strip({ context, theme }, values, row, n, { x, w, y, tall }, colour, top) {
  const [background, positive, negative] = [rgb(theme.background), rgb(colour), rgb("#8a8f98")];
  for (let i = 0; i < n; i++) {
    const share = values[row * n + i] / top;
    const reached = 0.06 + 0.9 * Math.sqrt(Math.min(1, Math.abs(share)));
    const from = Math.floor((i * w) / n);
    const cell = { x: x + from, y, w: Math.ceil(((i + 1) * w) / n) - from, h: tall };
    fillBox(context, cell, css(mixed(background, share < 0 ? negative : positive, reached)));
  }
}

/** @param {Float32Array} values */
function largest(values) {
  return values.reduce((most, value) => Math.max(most, Math.abs(value)), 1e-9);
}

/** A text cut to at most `room` pixels. @param {string} text @param {number} room @param {number} size @param {Weight} [weight] */
function shortened(text, room, size, weight = 400) {
  return cutToFit(text, room, (part) => textWidth(part, size, weight)).text;
}
