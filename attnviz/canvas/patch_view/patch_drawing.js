// A picture with a row of weights over it, a disc on each patch. Python's side, for files, is
// attnviz/pages/pictures/figures.py.

import { bordersAt, patchAt } from "./patch_geometry.js";
import { contextOf, drawWith, fillBox, outline, sized, strokeGrid, strokePath } from "../shared/surface.js";

/** @import { Size } from "./patch_geometry.js" */
/** @import { PatchHeader, Theme } from "../shared/types.js" */
/** @typedef {{ row: Float32Array, top: number, hidden: readonly number[] }} Light */

/** Amber with a dark rim: no colour of another meaning, seen on dark and on bright pictures, by every kind of eye. */
const DISC = "#ffa614";
const RIM = "#241a05";
/** What is left of the picture's contrast, and the darkest of it. */
const LEFT = 0.62;
const FLOOR = 30;

/** The picture without its colours and a little darker, which the discs are drawn over. Made once. */
/** @param {ImageBitmap} picture */
export function dimmed(picture) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.width, picture.height];
  const ink = contextOf(canvas);
  ink.drawImage(picture, 0, 0);
  const image = ink.getImageData(0, 0, canvas.width, canvas.height);
  const { data } = image;
  for (let i = 0; i < data.length; i += 4) {
    const grey = 0.299 * data[i] + 0.587 * data[i + 1] + 0.114 * data[i + 2];
    data[i] = data[i + 1] = data[i + 2] = FLOOR + grey * LEFT;
  }
  ink.putImageData(image, 0, 0);
  return canvas;
}

/**
 * Draws the picture and a disc on each patch, whose area is its weight; the largest, of weight `top`, fills its patch.
 * @param {HTMLCanvasElement} canvas
 * @param {HTMLCanvasElement} picture the dimmed one
 * @param {Size} size in CSS pixels
 * @param {PatchHeader} header @param {Light} light
 */
export function drawLight(canvas, picture, size, { grid, picture: about }, { row, top, hidden }) {
  const ink = sized(canvas, size.width, size.height);
  ink.imageSmoothingEnabled = about.smooth;
  ink.drawImage(picture, 0, 0, size.width, size.height);
  ink.beginPath();
  for (let patch = 0; patch < grid.rows * grid.columns; patch++) {
    const { x, y, w, h } = patchAt(patch, grid, size);
    const share = top > 0 ? Math.max(0, row[grid.first + patch]) / top : 0;
    const radius = (Math.sqrt(share) * Math.min(w, h)) / 2;
    if (radius < 0.4) continue;
    ink.moveTo(x + w / 2 + radius, y + h / 2);
    ink.arc(x + w / 2, y + h / 2, radius, 0, 2 * Math.PI);
  }
  drawWith(ink, { fillStyle: DISC, strokeStyle: RIM, lineWidth: 1 });
  ink.fill();
  if (size.width > 12 * grid.columns) ink.stroke();
  for (const patch of hidden) cross(ink, patch, grid, size);
  return ink;
}

/** A patch that nobody may look at: covered, with a stroke through it. */
/** @param {CanvasRenderingContext2D} ink @param {number} patch @param {PatchHeader["grid"]} grid @param {Size} size */
function cross(ink, patch, grid, size) {
  const box = patchAt(patch, grid, size);
  const { x, y, w, h } = box;
  fillBox(ink, box, "#8a8f98");
  if (w < 6) return;
  drawWith(ink, { strokeStyle: "#5d626b", lineWidth: 1 });
  strokePath(ink, [x, y + h], [x + w, y]);
}

/**
 * Frames a patch, with a number where it is one of several.
 * @param {CanvasRenderingContext2D} ink @param {number} patch @param {PatchHeader} header @param {Size} size
 * @param {string} colour @param {string} name @param {Theme} theme
 */
export function frame(ink, patch, { grid }, size, colour, name, theme) {
  const box = patchAt(patch, grid, size);
  const { x, y, w, h } = box;
  outline(ink, box, colour, 2, "#ffffff");
  if (!name || w < 14) return;
  drawWith(ink, { font: `600 ${Math.min(13, h * 0.6)}px ${theme.font}`, textBaseline: "middle", textAlign: "center" });
  drawWith(ink, { strokeStyle: "#ffffff", lineWidth: 3 });
  ink.strokeText(name, x + w / 2, y + h / 2);
  ink.fillStyle = colour;
  ink.fillText(name, x + w / 2, y + h / 2);
}

/**
 * The borders of the windows that a layer looks inside, over a picture.
 * @param {CanvasRenderingContext2D} ink
 * @param {[number, number] | undefined} window side and shift, in patches; a layer may have none
 * @param {PatchHeader["grid"]} grid @param {Size} size
 */
export function windowBorders(ink, window, grid, { width, height }) {
  if (!window) return;
  const [side, shift] = window;
  const rows = bordersAt(side, shift, grid.rows).map((row) => Math.round((row * height) / grid.rows));
  const columns = bordersAt(side, shift, grid.columns).map((at) => Math.round((at * width) / grid.columns));
  drawWith(ink, { strokeStyle: "rgba(255, 255, 255, 0.75)", lineWidth: 1.5 });
  strokeGrid(ink, { x: 0, y: 0, w: width, h: height }, rows, columns);
}

/**
 * A small corner on patches that all others look at.
 * @param {CanvasRenderingContext2D} ink @param {readonly number[]} patches @param {PatchHeader["grid"]} grid
 * @param {Size} size
 */
export function corners(ink, patches, grid, size) {
  ink.fillStyle = "#D55E00";
  for (const patch of patches) {
    const { x, y, w, h } = patchAt(patch, grid, size);
    const side = Math.min(w, h) * 0.34;
    ink.beginPath();
    ink.moveTo(x + w, y);
    ink.lineTo(x + w - side, y);
    ink.lineTo(x + w, y + side);
    ink.fill();
  }
}
