// The matrix as drawn, on a canvas for each thing that changes by itself: the cells, what stands around them, what is written
// over them, their sums, what is lit. Only what has changed is drawn again: each canvas touched is one that the browser copies.

import { attribute, el, property } from "../shared/dom.js";
import { drawAxes, drawColumnSums, rowSumTexts } from "./heatmap_axes.js";
import { COMPACT, cellsOnShow, heatmapHit, heatmapLayout, SUMS } from "./heatmap_geometry.js";
import { drawLit, drawMarks, isLit, marksOf } from "./heatmap_marks.js";
import { cellPixels, cellsOfPixel } from "./heatmap_scene.js";
import { valueAt } from "../head/head_readout.js";
import { pixelCanvas } from "../scene/canvas_context.js";
import { Glide } from "../scene/glide.js";
import { matrixBetween, matrixOf, pixelsOf } from "../scene/glide_matrix.js";
import { cleared, notePlot, sized, stageOf } from "../shared/surface.js";
import { LONGEST_LABEL } from "../shared/token_labels.js";
import { placeOn, sharpness } from "../shared/window.js";

/** @import { HeadView } from "../head/head.js" */
/** @import { Cells } from "./heatmap_geometry.js" */
/** @import { HeatmapScene } from "./heatmap_scene.js" */
/** @import { Matrix } from "../scene/glide_matrix.js" */
/** @import { TokenLabels } from "../shared/token_labels.js" */
/** @import { Drawn, Rectangle, Shape } from "../shared/types.js" */

/** Pixels of labels that are presented: 14 of a projector's at least, because such a page is magnified. */
export const PRESENTED = 13;

export class HeatmapDrawing {
  /** @param {HeadView} view */
  constructor(view) {
    this.view = view;
    this.stage = stageOf("av-stage av-heat", "heatmap", "help");
    this.picture = new HeatmapCells();
    this.base = el("canvas");
    this.marks = el("canvas", "av-over");
    this.below = el("canvas", "av-below");
    this.over = el("canvas", "av-over");
    this.stage.append(this.picture.box, this.base, this.marks, this.below, this.over);
    /** @type {WeakMap<HTMLCanvasElement, { how: string, labelsQ: TokenLabels, labelsK: TokenLabels }>} what each canvas shows */
    this.shown = new WeakMap();
    this.font = 12;
    /** pixels of a row or column whose label is written */
    this.need = 13;
    this.room = LONGEST_LABEL;
    this.flat = true;
    this.width = 0;
    this.height = 0;
    /** @type {Rectangle} */
    this.plot = { x: 0, y: 0, w: 0, h: 0 };
    /** @type {[number, number, number, number] | null} the box that a drag has drawn: x0, y0, x1, y1 */
    this.box = null;
  }

  /**
   * Sizes of labels and plot, for the room there is.
   * @param {number} width
   * @param {number | null} high what is left of the window, null where it does not matter
   * @param {boolean} presented larger, and every cell square
   */
  layout(width, high, presented) {
    const { header, labelsQ, labelsK } = this.view.drawn;
    const { compact, shape } = header;
    this.font = compact ? COMPACT.font : presented ? PRESENTED : 12;
    this.need = Math.min(this.font + 1, PRESENTED);
    this.room = Math.min(compact ? COMPACT.room : LONGEST_LABEL, width * 0.26);
    const { room, font } = this;
    const widths = { labelsQ: labelsQ.width(room, font), labelsK: labelsK.width(room, font) };
    const sums = header.edit !== null && !compact;
    Object.assign(this, heatmapLayout({ shape, width, compact, font, ...widths, high, sums, presented }));
    notePlot(this.stage, this.plot);
  }

  cells() {
    const { header, group } = this.view.drawn;
    return cellsOnShow(this.plot, group.zoom, header.shape);
  }

  /** What is drawn now. @returns {HeatmapScene} */
  scene() {
    const { drawn } = this.view;
    const { header, group, theme, words, codes, table, hasMasked, sums, labelsQ, labelsK } = drawn;
    const { plot, font, need, room, flat, box } = this;
    const { colours, shape, signed, segments } = header;
    const picture = `${drawn.picture}|${drawn.tableKey}`;
    const { cell, hover } = group;
    return {
      ...{ plot, font, need, room, flat, box, theme, colours, words, shape, signed, segments, picture, codes, table },
      ...{ hasMasked, sums, labelsQ, labelsK, cell, hover },
      cells: this.cells(),
      lit: this.view.lit(),
      valueAt: (q, k) => valueAt(drawn, q, k),
    };
  }

  draw() {
    const { painting } = this.view.controls;
    const { stage } = this;
    const scene = this.scene();
    const c = scene.cells;
    this.picture.draw(scene, this.view.drawn, !this.view.drawn.group.editing);
    this.drawAxes(scene);
    this.drawMarks(scene);
    this.drawSums(scene);
    const touch = c.z > 1 || painting ? "none" : "pan-y";
    if (stage.style.touchAction !== touch) stage.style.touchAction = touch;
    stage.classList.toggle("av-painting", painting);
    attribute(stage, "data-zoom", [c.z, c.q0, c.k0].map((v) => v.toFixed(3)).join(","));
  }

  /** Whether a canvas has to be drawn again: it shows something else than this, or has another size. */
  /** @param {HTMLCanvasElement} canvas @param {Cells} c @param {unknown[]} what */
  isOther(canvas, c, what) {
    const { theme, labelsQ, labelsK } = this.view.drawn;
    const { width, height, plot, room, font, flat } = this;
    const how = JSON.stringify([width, height, sharpness(canvas), plot, room, font, flat, c, theme, what]);
    const shown = this.shown.get(canvas);
    if (shown?.how === how && shown.labelsQ === labelsQ && shown.labelsK === labelsK) return false;
    this.shown.set(canvas, { how, labelsQ, labelsK });
    return true;
  }

  /** @param {HeatmapScene} scene */
  drawAxes(scene) {
    const { hasMasked, colours, sums, words, cells } = scene;
    const written = sums === null ? null : rowSumTexts(sums.rows, cells);
    if (!this.isOther(this.base, cells, [hasMasked, colours.masked, written, words.sums])) return;
    drawAxes(sized(this.base, this.width, this.height), scene);
  }

  /** @param {HeatmapScene} scene */
  drawMarks(scene) {
    const marks = marksOf(scene);
    property(
      this.marks,
      "hidden",
      marks.every((mark) => mark === null),
    );
    if (this.marks.hidden || !this.isOther(this.marks, scene.cells, marks)) return;
    drawMarks(sized(this.marks, this.width, this.height), scene);
  }

  /** What columns get in all, on a canvas as low as its bars. @param {HeatmapScene} scene */
  drawSums(scene) {
    const { sums } = scene;
    property(this.below, "hidden", sums === null);
    if (sums === null) return;
    const bottom = this.plot.y + this.plot.h;
    const top = `${Math.floor(bottom)}px`;
    if (this.below.style.top !== top) this.below.style.top = top;
    const context = sized(this.below, this.width, SUMS.high + 4);
    context.translate(0, bottom - Math.floor(bottom));
    drawColumnSums(context, scene, sums.cols);
  }

  /** Draws what is lit, if that has changed. */
  light() {
    const { group } = this.view.drawn;
    const { pins, hover, cell } = group;
    if (!this.isOther(this.over, this.cells(), [pins, hover, cell, this.box])) return;
    const scene = this.scene();
    if (isLit(scene)) drawLit(sized(this.over, this.width, this.height), scene);
    else cleared(this.over);
  }

  /** What lies under a pointer. @param {{ clientX: number, clientY: number }} event */
  hit(event) {
    const { header, group } = this.view.drawn;
    const [x, y] = placeOn(this.stage, event);
    return heatmapHit(x, y, this.plot, group.zoom, header.shape);
  }
}

export class HeatmapCells {
  constructor() {
    this.box = el("div", "av-cells");
    this.canvas = el("canvas");
    this.box.append(this.canvas);
    /** what the canvas shows, or will in a moment */
    this.painted = "";
    /** @type {Shape} its pixels, where rows and columns do not move */
    this.size = [0, 0];
    /** @type {Shape} pixels across and down that rows and columns move in */
    this.room = [1, 1];
    this.glide = new Glide(this.box, (/** @type {Matrix} */ matrix) => this.paint(matrix), matrixBetween);
  }

  /** @param {HeatmapScene} scene @param {Drawn} drawn @param {boolean} glides whether no hand moves it */
  draw(scene, { about, keys }, glides) {
    const { plot, cells: c } = scene;
    const step = cellsOfPixel(Math.min(c.w, c.h) * sharpness(this.box));
    const wanted = `${scene.picture}|${step}`;
    place(this.box, plot.x, plot.y, plot.w, plot.h);
    if (this.painted !== wanted) {
      const { rows, columns, pixels } = cellPixels(scene, step);
      Object.assign(this, { painted: wanted, size: [rows, columns], room: [plot.w, plot.h].map(Math.ceil) });
      const matrix = matrixOf(about, pixels, keys, step);
      if (glides) this.glide.to(matrix);
      else this.glide.show(matrix);
    }
    const [rows, columns] = this.size;
    place(this.canvas, -c.k0 * c.w, -c.q0 * c.h, columns * step * c.w, rows * step * c.h);
  }

  /** @param {Matrix} matrix */
  paint(matrix) {
    const { pixels, columns } = pixelsOf(matrix, ...this.room);
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
