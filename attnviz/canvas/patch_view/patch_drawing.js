// The picture on a canvas: without its colours and a little darker, with a row of weights over it.

import { drawDiscs, FLOOR, LEFT } from "./patch_scene.js";
import { canvasContext } from "../scene/canvas_context.js";
import { sized } from "../shared/surface.js";

/** @import { PatchScene } from "./patch_scene.js" */
/** @import { DrawingContext, Rectangle } from "../shared/types.js" */

/** The picture without its colours and a little darker, which the discs are drawn over. Made once. */
/** @param {ImageBitmap} picture */
export function dimmed(picture) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [picture.width, picture.height];
  const context = canvasContext(canvas);
  context.drawImage(picture, 0, 0);
  Object.assign(context, { globalCompositeOperation: "saturation", fillStyle: "#000000" });
  context.fillRect(0, 0, canvas.width, canvas.height);
  const veil = FLOOR / (1 - LEFT);
  Object.assign(context, { globalCompositeOperation: "source-over", globalAlpha: 1 - LEFT });
  context.fillStyle = `rgb(${veil} ${veil} ${veil})`;
  context.fillRect(0, 0, canvas.width, canvas.height);
  return canvas;
}

/** A photograph fills a place. @param {DrawingContext} context of a canvas @param {CanvasImageSource} picture @param {boolean} smooth @param {Rectangle} place */
export function drawPhotograph(context, picture, smooth, { x, y, w, h }) {
  const canvas = /** @type {CanvasRenderingContext2D} */ (/** @type {unknown} */ (context));
  canvas.imageSmoothingEnabled = smooth;
  canvas.drawImage(picture, x, y, w, h);
}

/**
 * Draws the dimmed picture and its discs.
 * @param {HTMLCanvasElement} canvas @param {HTMLCanvasElement} picture the dimmed one @param {boolean} smooth
 * @param {PatchScene} scene
 */
export function drawLight(canvas, picture, smooth, scene) {
  const { width, height } = scene.size;
  const context = sized(canvas, width, height);
  drawPhotograph(context, picture, smooth, { x: 0, y: 0, w: width, h: height });
  drawDiscs(context, scene);
  return context;
}
