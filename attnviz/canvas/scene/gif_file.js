// Frames of a canvas as a GIF, which needs nothing of the browser but its canvas.

import { applyPalette, GIFEncoder, quantize } from "gifenc";
import { canvasContext } from "./canvas_context.js";

/** A GIF that a canvas is drawn into, frame after frame; it plays on and on. @param {HTMLCanvasElement} canvas */
export function beginGif(canvas) {
  const { width, height } = canvas;
  const gif = GIFEncoder();
  return {
    /** Adds what is on the canvas. @param {number} seconds that it stays */
    async add(seconds) {
      const { data } = canvasContext(canvas).getImageData(0, 0, width, height);
      const palette = quantize(data, 256);
      gif.writeFrame(applyPalette(data, palette), width, height, { palette, delay: 1000 * seconds });
    },
    async end() {
      gif.finish();
      return new Blob([gif.bytes()], { type: "image/gif" });
    },
    stop() {},
  };
}
