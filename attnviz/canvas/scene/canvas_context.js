// A canvas as a drawing context: what its own context has, and three calls of ours. SvgContext is the same for files.

import { letterSize } from "./text_width.js";

/** @import { DrawingContext } from "../shared/types.js" */

/** The 2D context of a canvas, which every browser that can run Streamlit has. @param {HTMLCanvasElement} canvas */
export function canvasContext(canvas) {
  const context = canvas.getContext("2d");
  if (!context) throw new Error("this browser draws no 2D canvas");
  return context;
}

/** The same to draw pictures on. @param {HTMLCanvasElement} canvas @returns {DrawingContext} */
export function drawingContext(canvas) {
  const context = canvasContext(canvas);
  context.textRendering = "geometricPrecision"; // else a system may round each letter's width, and a text is cut
  if (!("cells" in context)) Object.defineProperty(Object.assign(context, CALLS), "font", FONT);
  return /** @type {DrawingContext} */ (/** @type {unknown} */ (context));
}

/** A canvas that holds just these pixels, row by row. */
/** @param {Uint32Array} pixels @param {number} columns @param {HTMLCanvasElement} [canvas] one to use again */
export function pixelCanvas(pixels, columns, canvas = document.createElement("canvas")) {
  const rows = pixels.length / columns;
  if (canvas.width !== columns) canvas.width = columns;
  if (canvas.height !== rows) canvas.height = rows;
  const bytes = new Uint8ClampedArray(/** @type {ArrayBuffer} */ (pixels.buffer), pixels.byteOffset, pixels.byteLength);
  canvasContext(canvas).putImageData(new ImageData(bytes, columns), 0, 0);
  return canvas;
}

const ownFont = () => Object.getOwnPropertyDescriptor(CanvasRenderingContext2D.prototype, "font");

/** The context's own font, in the size that is drawn. @type {PropertyDescriptor & ThisType<CanvasRenderingContext2D>} */
const FONT = {
  get() {
    return ownFont()?.get?.call(this);
  },
  set(font) {
    ownFont()?.set?.call(
      this,
      font.replace(/[\d.]+(?=px)/, (/** @type {string} */ size) => String(letterSize(Number(size)))),
    );
  },
};

/** @type {HTMLCanvasElement | undefined} what cells are painted on before they are drawn */
let scratch;

/** @type {Pick<DrawingContext, "cells" | "hatch" | "fade"> & ThisType<CanvasRenderingContext2D & DrawingContext>} */
const CALLS = {
  cells(pixels, columns, { x, y, w, h }) {
    scratch = pixelCanvas(pixels, columns, scratch);
    this.imageSmoothingEnabled = false;
    this.drawImage(scratch, x, y, w, h);
  },

  hatch({ x, y, w, h }, colour, dark) {
    this.save();
    this.beginPath();
    this.rect(x, y, w, h);
    this.clip();
    Object.assign(this, { fillStyle: colour, globalAlpha: dark ? 0.22 : 0.26 });
    this.fillRect(x, y, w, h);
    Object.assign(this, { strokeStyle: colour, globalAlpha: dark ? 0.55 : 0.7, lineWidth: 1 });
    this.beginPath();
    for (let sum = Math.ceil((x + y) / 6) * 6; sum <= x + y + w + h; sum += 6) {
      this.moveTo(Math.min(x + w, sum - y), Math.max(y, sum - x - w));
      this.lineTo(Math.max(x, sum - y - h), Math.min(y + h, sum - x));
    }
    this.stroke();
    this.restore();
  },

  fade(opacity, draw) {
    const layer = document.createElement("canvas");
    Object.assign(layer, { width: this.canvas.width, height: this.canvas.height });
    canvasContext(layer).setTransform(this.getTransform());
    draw(drawingContext(layer));
    this.save();
    Object.assign(this, { globalAlpha: opacity }).resetTransform();
    this.drawImage(layer, 0, 0);
    this.restore();
  },
};
