// The part of a matrix on show: factor z (1 = everything) and the first query and key, in cells.

import { clamp } from "./numbers.js";

/** @import { Rectangle, Shape, Zoom } from "./types.js" */

/** @type {Readonly<Zoom>} */
export const EVERYTHING = Object.freeze({ z: 1, q0: 0, k0: 0 });

/** How many queries and keys are on show. @param {Zoom} zoom @param {Shape} shape */
export function visibleSpans(zoom, [nq, nk]) {
  return { q: nq / zoom.z, k: nk / zoom.z };
}

/** @param {Shape} shape */
export function largestZoom([nq, nk]) {
  return Math.max(1, Math.min(nq, nk) > 6 ? Math.max(nq, nk) / 6 : Math.max(nq, nk) / 12);
}

/** The nearest window that lies within the matrix. @param {Zoom} zoom @param {Shape} shape @returns {Zoom} */
export function clampZoom(zoom, shape) {
  const [nq, nk] = shape;
  const z = clamp(zoom.z, 1, largestZoom(shape));
  return { z, q0: clamp(zoom.q0, 0, nq - nq / z), k0: clamp(zoom.k0, 0, nk - nk / z) };
}

/** Zooms by `factor`, keeping the point (q, k), in cells, where it is. */
/** @param {Zoom} zoom @param {number} factor @param {number} q @param {number} k @param {Shape} shape */
export function zoomAt(zoom, factor, q, k, shape) {
  const z = clamp(zoom.z * factor, 1, largestZoom(shape));
  const f = zoom.z / z;
  return clampZoom({ z, q0: q - (q - zoom.q0) * f, k0: k - (k - zoom.k0) * f }, shape);
}

/** Moves the window as little as needed for the cell to be inside. */
/** @param {Zoom} zoom @param {number} q @param {number} k @param {Shape} shape */
export function zoomTo(zoom, q, k, shape) {
  const span = visibleSpans(zoom, shape);
  const into = (/** @type {number} */ first, /** @type {number} */ n, /** @type {number} */ i) =>
    i < first ? i : i + 1 > first + n ? i + 1 - n : first;
  return clampZoom({ z: zoom.z, q0: into(zoom.q0, span.q, q), k0: into(zoom.k0, span.k, k) }, shape);
}

/**
 * The window that shows what a box, drawn in pixels on the plot, encloses; null where it encloses nothing.
 * @param {[number, number, number, number]} box x0, y0, x1, y1
 * @param {Rectangle} plot @param {Zoom} zoom @param {Shape} shape @returns {Zoom | null}
 */
export function zoomToBox([x0, y0, x1, y1], plot, zoom, [nq, nk]) {
  const span = visibleSpans(zoom, [nq, nk]);
  const [w, h] = [plot.w / span.k, plot.h / span.q];
  const [dq, dk] = [(y1 - y0) / h, (x1 - x0) / w];
  if (dq < 0.5 || dk < 0.5) return null;
  const z = Math.min(nq / dq, nk / dk);
  const q0 = zoom.q0 + (y0 - plot.y) / h - (nq / z - dq) / 2;
  const k0 = zoom.k0 + (x0 - plot.x) / w - (nk / z - dk) / 2;
  return { z, q0, k0 };
}

/** By how much a turn of the wheel zooms; a wheel that counts lines is taken for 16 pixels a line. */
/** @param {{ deltaMode: number, deltaY: number }} event */
export function wheelFactor(event) {
  const pixels = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
  return Math.exp(-clamp(pixels, -200, 200) / 300);
}

/** The cells on the straight way between two, both included, without gaps. */
/** @param {[number, number]} from @param {[number, number]} to @returns {[number, number][]} */
export function cellsBetween([q0, k0], [q1, k1]) {
  const steps = Math.max(Math.abs(q1 - q0), Math.abs(k1 - k0));
  const between = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ step) =>
    Math.round(from + ((to - from) * step) / (steps || 1));
  return Array.from({ length: steps + 1 }, (_, s) => [between(q0, q1, s), between(k0, k1, s)]);
}
