// The cells of a heatmap: one canvas, which glides to other numbers, and of which a box shows the part on show.

import { cellPixels, cellsOfPixel } from "./heatmap_scene.js";
import { pixelCanvas } from "../scene/canvas_context.js";
import { Glide } from "../scene/glide.js";
import { matrixBetween, glidingMatrix, matrixPixels } from "../scene/glide_matrix.js";
import { createBox, el } from "../shared/dom.js";
import { sharpness } from "../shared/window.js";

/** @import { HeatmapScene } from "./heatmap_scene.js" */
/** @import { Matrix } from "../scene/glide_matrix.js" */
/** @import { Drawn, Shape } from "../shared/types.js" */

export class HeatmapCells {
  canvas = el("canvas");
  box = createBox("av-cells", this.canvas);
  /** what the canvas shows, or will in a moment */
  painted = "";
  /** @type {Shape} its pixels, where rows and columns do not move */
  size = [0, 0];
  /** @type {Shape} pixels across and down that rows and columns move in */
  room = [1, 1];
  glide = new Glide(this.box, (/** @type {Matrix} */ matrix) => this.paint(matrix), matrixBetween);

  /** @param {HeatmapScene} scene @param {Drawn} drawn @param {boolean} glides whether no hand moves it */
  draw(scene, { about, keys }, glides) {
    const { plot, cells: c } = scene;
    const step = cellsOfPixel(Math.min(c.w, c.h) * sharpness(this.box));
    const wanted = `${scene.picture}|${step}`;
    place(this.box, plot.x, plot.y, plot.w, plot.h);
    if (this.painted !== wanted) {
      const { rows, columns, pixels } = cellPixels(scene, step);
      Object.assign(this, { painted: wanted, size: [rows, columns], room: [plot.w, plot.h].map(Math.ceil) });
      const matrix = glidingMatrix(about, pixels, keys, step);
      if (glides) this.glide.to(matrix);
      else this.glide.show(matrix);
    }
    const [rows, columns] = this.size;
    place(this.canvas, -c.k0 * c.w, -c.q0 * c.h, columns * step * c.w, rows * step * c.h);
  }

  /** @param {Matrix} matrix */
  paint(matrix) {
    const { pixels, columns } = matrixPixels(matrix, ...this.room);
    pixelCanvas(pixels, columns, this.canvas);
  }
}

/** Puts an element at a place of the box around it; one that stands there already is left alone. */
/** @param {HTMLElement} element @param {number} x @param {number} y @param {number} w @param {number} h */
function place({ style, dataset }, x, y, w, h) {
  const [left, top, width, height] = [x, y, w, h].map((v) => `${v.toFixed(3)}px`);
  const where = [left, top, width, height].join();
  if (dataset.place === where) return;
  dataset.place = where;
  Object.assign(style, { left, top, width, height });
}
