// A picture with a row of weights over it as a drawing knows it: a disc on each patch, and frames. No page: the same functions
// draw on screen and in files.

import { bordersAt, patchAt } from "./patch_geometry.js";
import { drawWith, fillBox, outline, strokeGrid, strokePath } from "../shared/surface.js";

/** @import { Size } from "./patch_geometry.js" */
/** @import { DrawingContext, PatchHeader, PatchState, Theme } from "../shared/types.js" */

/**
 * @typedef {object} PatchScene
 * @property {Pick<PatchHeader, "grid" | "words" | "windows" | "sinks">} header
 * @property {Size} size in CSS pixels
 * @property {Theme} theme
 * @property {Float32Array} row weights of all tokens
 * @property {number} top the weight of a disc that fills its patch
 * @property {Pick<PatchState, "hidden" | "layer" | "shows">} state
 * @property {{ token: number, name: string }[]} framed tokens that look, and what is written on them
 */

/** Amber with a dark rim: no colour of another meaning, seen on dark and on bright pictures, by every kind of eye. */
const DISC = "#ffa614";
const RIM = "#241a05";
/** What is left of the picture's contrast under the discs, and the darkest of it. */
export const LEFT = 0.62;
export const FLOOR = 30;

/** Draws a disc on each patch, whose area is its weight, and covers what is hidden. */
/** @param {DrawingContext} context @param {PatchScene} scene */
export function drawDiscs(context, { header: { grid }, size, row, top, state }) {
  context.beginPath();
  for (let patch = 0; patch < grid.rows * grid.columns; patch++) {
    const { x, y, w, h } = patchAt(patch, grid, size);
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
  const box = patchAt(patch, grid, size);
  const { x, y, w, h } = box;
  fillBox(context, box, "#8a8f98");
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
    const box = patchAt(token - grid.first, grid, size);
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
  const rows = bordersAt(side, shift, grid.rows).map((row) => Math.round((row * height) / grid.rows));
  const columns = bordersAt(side, shift, grid.columns).map((at) => Math.round((at * width) / grid.columns));
  drawWith(context, { strokeStyle: "#ffffff", globalAlpha: 0.75, lineWidth: 1.5 });
  strokeGrid(context, { x: 0, y: 0, w: width, h: height }, rows, columns);
  context.globalAlpha = 1;
}

/** A small corner on patches that all others look at. @param {DrawingContext} context @param {PatchScene} scene */
function drawSinks(context, { header: { grid, sinks }, size }) {
  context.fillStyle = "#D55E00";
  for (const patch of sinks) {
    const { x, y, w, h } = patchAt(patch, grid, size);
    const side = Math.min(w, h) * 0.34;
    context.beginPath();
    context.moveTo(x + w, y);
    context.lineTo(x + w - side, y);
    context.lineTo(x + w, y + side);
    context.fill();
  }
}
