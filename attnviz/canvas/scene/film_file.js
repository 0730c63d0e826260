// A film as a file, made in the browser: GIF everywhere, WebM and MP4 where the browser encodes video.

import { applyPalette, GIFEncoder, quantize } from "gifenc";

import { pause } from "../shared/surface.js";
import { canvasContext, drawingContext } from "./canvas_context.js";
import { drawFrame, frameTimes, isUpright, largestSize } from "./film.js";

/** @import { FrameLook, Size } from "./film.js" */
/** @import { Film, Theme } from "../shared/types.js" */
/** @typedef {"gif" | "webm" | "mp4"} FilmKind */
/** @typedef {FrameLook & { kind: FilmKind, size: Size, from: number, to: number, theme: Theme, bar: boolean }} FilmLook */

/** Seconds that the last frame stays. */
const REST = 1.5;

/** Whether this browser encodes video: over plain http it does not. */
export function canEncodeVideo() {
  return "VideoEncoder" in globalThis;
}

/**
 * The file; null once it is stopped, or where the browser encodes no such video.
 * @param {Film} film @param {FilmLook} look @param {string | null} videoScript where `video_file.js` is
 * @param {(share: number) => void} progress @param {AbortSignal} signal
 */
export async function filmFile(film, look, videoScript, progress, signal) {
  const { kind, size, from, to, theme, bar } = look;
  const times = frameTimes(film, from, to);
  const figures = [];
  for (const at of times) {
    figures.push(film.figure(at, theme, bar, isUpright(size)));
    if (signal.aborted) return null;
    await pause(0); // the page answers meanwhile
  }
  const room = largestSize(figures);
  const canvas = Object.assign(document.createElement("canvas"), size);
  const file = kind === "gif" ? beginGif(canvas) : await (await import(String(videoScript))).beginVideo(kind, canvas);
  const each = (film.seconds * (to - from)) / Math.max(1, times.length - 1);
  if (!file) return null;
  for (let i = 0; i < figures.length; i++) {
    if (signal.aborted) {
      await file.stop();
      return null;
    }
    drawFrame(drawingContext(canvas), figures[i], room, size, theme, look);
    await file.add(i < figures.length - 1 ? each : each + REST);
    progress((i + 1) / figures.length);
    await pause(0);
  }
  return /** @type {Promise<Blob>} */ (file.end());
}

/** A moment of a film, small, to choose a part of it by. @param {HTMLCanvasElement} canvas @param {Film} film @param {number} at @param {FilmLook} look */
export function drawPreview(canvas, film, at, look) {
  const { size, theme, bar } = look;
  const scale = canvas.clientWidth / size.width;
  Object.assign(canvas, { width: canvas.clientWidth, height: Math.round(scale * size.height) });
  const context = drawingContext(canvas);
  context.scale(scale, scale);
  const figure = film.figure(at, theme, bar, isUpright(size));
  drawFrame(context, figure, largestSize([figure]), size, theme, look);
}

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
