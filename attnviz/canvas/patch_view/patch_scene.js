// A picture with a row of weights over it as a drawing knows it: where its patches lie, a disc on each, frames; and all heads,
// each over a small picture. No page: the same functions draw on screen and in files.

import { drawWith, fillBox, frameBox, outline, strokeGrid, strokePath, writeText } from "../shared/surface.js";
import { ARROWS, STEPS } from "../shared/controls.js";
import { clamp, formatPercent } from "../shared/numbers.js";
import { ROLES } from "../shared/roles.js";
import { cutToFit } from "../shared/token_labels.js";
import { cellsBetween } from "../shared/zoom.js";
import { isSilenced } from "./patch_numbers.js";
import { textWidth } from "../scene/text_width.js";

/** @import { DrawingContext, PatchChoices, PatchHeader, Rectangle, Theme } from "../shared/types.js" */

/**
 * @typedef {object} PatchScene
 * @property {Pick<PatchHeader, "grid" | "words" | "windows" | "sinks">} header
 * @property {Size} size in CSS pixels
 * @property {Theme} theme
 * @property {(context: any, place: Rectangle) => void} paint draws the picture, without its colours and a little darker
 * @property {Float32Array} row weights of all tokens
 * @property {number} top the weight of a disc that fills its patch
 * @property {Pick<PatchChoices, "hidden" | "layer" | "shows">} state
 * @property {{ token: number, name: string }[]} framed tokens that look, and what is written on them
 */

/** Amber with a dark rim: no colour of another meaning, seen on dark and on bright pictures, by every kind of eye. */
const DISC = "#ffa614";
const RIM = "#241a05";
/** What is left of the picture's contrast under the discs, and the darkest of it. */
export const LEFT = 0.62;
export const FLOOR = 30;

/** The same as a matrix of colours: luma by 0.3, 0.59 and 0.11, which is what blending away a picture's saturation leaves on screen; dimmed. */
const GREY = `${[0.3, 0.59, 0.11].map((part) => String(Math.round(part * LEFT * 1e4) / 1e4)).join(" ")} 0 ${FLOOR / 255} `;
export const DIMMED = GREY.repeat(3) + "0 0 0 1 0";

/** Draws the picture, a disc on each patch, whose area is its weight, and covers what is hidden. */
/** @param {DrawingContext} context @param {PatchScene} scene */
export function drawLight(context, { header: { grid }, size, paint, row, top, state }) {
  paint(context, { x: 0, y: 0, w: size.width, h: size.height });
  context.beginPath();
  for (let patch = 0; patch < grid.rows * grid.columns; patch++) {
    const { x, y, w, h } = patchRectangle(patch, grid, size);
    const share = top > 0 ? Math.max(0, row[grid.first + patch]) / top : 0;
    const radius = (Math.sqrt(share) * Math.min(w, h)) / 2;
    if (radius < 0.4) continue;
    context.moveTo(x + w / 2 + radius, y + h / 2);
    context.arc(x + w / 2, y + h / 2, radius, 0, 2 * Math.PI);
  }
  drawWith(context, { fillStyle: DISC, strokeStyle: RIM, lineWidth: 1 });
  context.fill();
  if (size.width > 12 * grid.columns) context.stroke();
  for (const patch of state.hidden) crossOut(context, patch, grid, size);
}

/** A patch that nobody may look at: covered, with a stroke through it. */
/** @param {DrawingContext} context @param {number} patch @param {PatchHeader["grid"]} grid @param {Size} size */
function crossOut(context, patch, grid, size) {
  const box = patchRectangle(patch, grid, size);
  const { x, y, w, h } = box;
  fillBox(context, box, ROLES.hidden);
  if (w < 6) return;
  drawWith(context, { strokeStyle: "#5d626b", lineWidth: 1 });
  strokePath(context, [x, y + h], [x + w, y]);
}

/** Frames the patches that look, with a number where there are several. */
/** @param {DrawingContext} context @param {PatchScene} scene */
export function drawFrames(context, { header: { grid, words }, size, theme, framed }) {
  if (words !== null) return;
  for (const { token, name } of framed) {
    if (token < grid.first) continue;
    const box = patchRectangle(token - grid.first, grid, size);
    const { x, y, w, h } = box;
    outline(context, box, theme.q, 2, "#ffffff");
    if (!name || w < 14) continue;
    drawWith(context, { font: `600 ${Math.min(13, h * 0.6)}px ${theme.font}`, strokeStyle: "#ffffff", lineWidth: 3 });
    drawWith(context, { textBaseline: "middle", textAlign: "center", fillStyle: theme.q });
    context.strokeText(name, x + w / 2, y + h / 2);
    context.fillText(name, x + w / 2, y + h / 2);
  }
}

/** What lies over the large picture besides discs: windows that the layer looks inside, patches that all look at, frames. */
/** @param {DrawingContext} context @param {PatchScene} scene */
export function drawMarks(context, scene) {
  drawWindows(context, scene);
  drawSinks(context, scene);
  if (scene.state.shows !== "mean") drawFrames(context, scene);
}

/** The borders of the windows that a layer looks inside. @param {DrawingContext} context @param {PatchScene} scene */
function drawWindows(context, { header: { grid, windows }, state, size: { width, height } }) {
  if (!["row", "mean"].includes(state.shows) || !windows[state.layer]) return;
  const [side, shift] = windows[state.layer];
  const rows = windowBorders(side, shift, grid.rows).map((row) => Math.round((row * height) / grid.rows));
  const columns = windowBorders(side, shift, grid.columns).map((at) => Math.round((at * width) / grid.columns));
  drawWith(context, { strokeStyle: "#ffffff", globalAlpha: 0.75, lineWidth: 1.5 });
  strokeGrid(context, { x: 0, y: 0, w: width, h: height }, rows, columns);
  context.globalAlpha = 1;
}

/** A small corner on patches that all others look at. @param {DrawingContext} context @param {PatchScene} scene */
function drawSinks(context, { header: { grid, sinks }, size }) {
  context.fillStyle = ROLES.key;
  for (const patch of sinks) {
    const { x, y, w, h } = patchRectangle(patch, grid, size);
    const side = Math.min(w, h) * 0.34;
    context.beginPath();
    context.moveTo(x + w, y);
    context.lineTo(x + w - side, y);
    context.lineTo(x + w, y + side);
    context.fill();
  }
}

/** @typedef {{ width: number, height: number, frames?: Rectangle[] }} Size `frames`: where equal parts of its patches lie, side by side, if not all over it */

/** The rectangle of a patch, in CSS pixels. */
/** @param {number} patch @param {PatchHeader["grid"]} grid @param {Size} size @returns {Rectangle} */
export function patchRectangle(patch, { rows, columns }, { width, height, frames }) {
  const [row, column] = [Math.floor(patch / columns), patch % columns];
  if (frames) {
    const wide = columns / frames.length;
    const frame = frames[Math.floor(column / wide)];
    const [w, h] = [frame.w / wide, frame.h / rows];
    return { x: frame.x + (column % wide) * w, y: frame.y + row * h, w, h };
  }
  const [x, y] = [Math.round((column * width) / columns), Math.round((row * height) / rows)];
  const [right, low] = [Math.round(((column + 1) * width) / columns), Math.round(((row + 1) * height) / rows)];
  return { x, y, w: right - x, h: low - y };
}

/** Where windows of `side` patches that are moved by `shift` meet, along an axis of `count` patches. */
/** @param {number} side @param {number} shift @param {number} count */
export function windowBorders(side, shift, count) {
  const places = [];
  for (let at = 1; at < count; at++) if ((((at - shift) % side) + side) % side === 0) places.push(at);
  return places;
}

/** The patch under a point; null beside the picture. */
/** @param {number} x @param {number} y @param {PatchHeader["grid"]} grid @param {Size} size */
export function hitPatch(x, y, { rows, columns }, { width, height, frames }) {
  if (frames) {
    const isHit = (/** @type {number} */ patch) => {
      const box = patchRectangle(patch, { rows, columns, first: 0 }, { width, height, frames });
      return x >= box.x && y >= box.y && x < box.x + box.w && y < box.y + box.h;
    };
    const at = Array.from({ length: rows * columns }, (_none, patch) => patch).findIndex(isHit);
    return at < 0 ? null : at;
  }
  const [column, row] = [Math.floor((x / width) * columns), Math.floor((y / height) * rows)];
  if (column < 0 || row < 0 || column >= columns || row >= rows) return null;
  return row * columns + column;
}

/** The patches on the way from one to another, so that a quick hand paints a line without gaps. */
/** @param {number} from @param {number} to @param {number} columns */
export function patchesBetween(from, to, columns) {
  const [r0, c0, r1, c1] = [Math.floor(from / columns), from % columns, Math.floor(to / columns), to % columns];
  return cellsBetween([r0, c0], [r1, c1]).map(([row, column]) => row * columns + column);
}

/** The patch one step of an arrow key away, stopped by the edges. */
/** @param {number} patch @param {string} key @param {PatchHeader["grid"]} grid */
export function patchAfterKey(patch, key, { rows, columns }) {
  const [row, column] = [Math.floor(patch / columns), patch % columns];
  const by = ARROWS[key];
  if (by === undefined) return null;
  const [r, c] = [row + by[0], column + by[1]];
  return r < 0 || c < 0 || r >= rows || c >= columns ? patch : r * columns + c;
}

/** The word one step of an arrow key away, stopped by the first and the last. */
/** @param {number} word @param {string} key @param {number} count */
export function wordAfterKey(word, key, count) {
  return key in STEPS ? clamp(word + STEPS[key], 0, count - 1) : null;
}

/** The largest size of a picture's shape within these bounds. */
/** @param {Size} picture @param {number} most @param {number} tallest @returns {Size} */
export function fitPicture({ width, height }, most, tallest) {
  const times = Math.min(most / width, tallest / height);
  return { width: Math.max(1, Math.round(width * times)), height: Math.max(1, Math.round(height * times)) };
}

/** Pixels along a field that a digit is drawn in, and across the widest that the model gets. */
export const PEN_SIDE = 32;
const WIDEST = 24;

/**
 * The square of a field that the model gets: its ink stretched to the whole height, in the middle, as `stretch_ink` of
 * attnviz/models/pictures/sources.py does; null without ink. In pixels of the field.
 * @param {Uint8Array} cells @returns {Rectangle | null}
 */
export function fitFrame(cells) {
  const inked = Array.from(cells.keys()).filter((i) => cells[i]);
  if (!inked.length) return null;
  const columns = inked.map((i) => i % PEN_SIDE);
  const [left, top] = [Math.min(...columns), Math.floor(inked[0] / PEN_SIDE)];
  const w = Math.max(...columns) + 1 - left;
  const h = Math.floor(inked[inked.length - 1] / PEN_SIDE) + 1 - top;
  const side = Math.max(h, (w * PEN_SIDE) / WIDEST);
  return { x: left + (w - side) / 2, y: top + (h - side) / 2, w: side, h: side };
}

/** Pixels of a name of the answer with its bar. */
const BAR = 26;

/** How high an answer is. @param {PatchHeader["answer"]} answer */
export const answerHeight = (answer) => answer.length * BAR;

/**
 * What the model says: a bar for each name, and a line where it ended without the change.
 * @param {DrawingContext} context @param {PatchHeader["answer"]} answer @param {readonly number[]} shares @param {number} width @param {Theme} theme
 */
export function drawAnswer(context, answer, shares, width, theme) {
  const names = Math.min(width * 0.4, Math.max(0, ...answer.map(([name]) => textWidth(name, 14, 600))) + 10);
  const room = width - names - 50;
  const most = shares.indexOf(Math.max(...shares));
  const isChanged = answer.some(([, share, before]) => share !== before);
  answer.forEach(([name, , before], i) => {
    const [y, font] = [i * BAR, i === most ? "600 14px" : "14px"];
    writeText(context, cutToFit(name, names - 8, (text) => textWidth(text, 14, 600)).text, 0, y + BAR / 2, theme, font, i === most ? 1 : 0.85);
    fillBox(context, { x: names, y: y + 3, w: 1, h: BAR - 6 }, theme.text, 0.4);
    const w = shares[i] * room;
    fillBox(context, { x: names, y: y + 5, w, h: BAR - 10 }, i === most ? theme.primary : ROLES.reference, 1, Math.min(3, w / 2));
    if (isChanged) fillBox(context, { x: names + before * room - 1, y: y + 2, w: 2, h: BAR - 4 }, theme.text);
    writeText(context, formatPercent(shares[i]), width, y + BAR / 2, theme, font, i === most ? 1 : 0.85, "right");
  });
} // prettier-ignore

/** @typedef {ReturnType<typeof placeTiles>} PatchBoard */
/** @typedef {PatchBoard["tiles"][number]} PatchTile */

const MOST_COLUMNS = 12;
/** Of heads that are ordered by a measure and not by layer. */
const COLUMNS = 4;
const TALLEST = 200;
/** Pixels between tiles, around the picture of one, and of the name below it. */
const [GAP, EDGE, NAME] = [6, 4, 15];

/** How many heads stand side by side. @param {Pick<PatchHeader, "heads" | "measure">} header */
export function countColumns({ heads, measure }) {
  return measure ? COLUMNS : Math.min(MOST_COLUMNS, Math.max(...heads));
}

/** @param {Pick<PatchHeader, "heads" | "measure" | "picture">} header @param {[number, number][]} order @param {number} width */
export function placeTiles(header, order, width) {
  const columns = countColumns(header);
  const w = (width + GAP) / columns - GAP;
  const size = fitPicture(header.picture, Math.max(16, w - 2 * EDGE), TALLEST);
  const h = size.height + NAME + 2 * EDGE;
  const tiles = order.map(([layer, head], n) => {
    const place = { x: (n % columns) * (w + GAP), y: Math.floor(n / columns) * (h + GAP), w, h };
    const picture = { x: Math.round(place.x + (w - size.width) / 2), y: place.y + EDGE, w: size.width, h: size.height };
    return { layer, head, place, picture };
  });
  return { tiles, size, width, height: Math.ceil(tiles.length / columns) * (h + GAP) - GAP };
}

/**
 * @param {DrawingContext} context @param {PatchBoard} board @param {PatchChoices} state @param {Theme} theme
 * @param {(tile: PatchTile) => PatchScene} sceneOf what lies over the picture of a head
 */
export function drawTiles(context, { tiles }, state, theme, sceneOf) {
  const drawAll = (/** @type {DrawingContext} */ on, /** @type {PatchTile[]} */ these) => {
    for (const tile of these) {
      on.save();
      on.translate(tile.picture.x, tile.picture.y);
      drawLight(on, sceneOf(tile));
      on.restore();
    }
  };
  const silenced = tiles.filter(({ layer, head }) => isSilenced(state, layer, head));
  drawAll(
    context,
    tiles.filter((tile) => !silenced.includes(tile)),
  );
  if (silenced.length) context.fade(0.25, (layer) => drawAll(layer, silenced));
  for (const tile of tiles) {
    const { layer, head, place, picture } = tile;
    const [name, x, y] = [`${layer}.${head}`, place.x + place.w / 2, picture.y + picture.h + 1 + NAME / 2];
    writeText(context, name, x, y, theme, "11px", 0.75, "center");
    const half = textWidth(name, 11) / 2;
    drawWith(context, { strokeStyle: theme.text, lineWidth: 1, globalAlpha: 0.75 });
    if (silenced.includes(tile)) strokePath(context, [x - half, y], [x + half, y]);
    context.globalAlpha = 1;
    if (layer === state.layer && head === state.head) frameBox(context, place, 5, theme.primary, 2);
  }
}
