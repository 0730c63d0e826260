// The heatmap on screen, on a canvas for each thing that changes by itself: the cells, what stands around them, what is written
// over them, their sums, what is lit. Only what has changed is drawn again: each canvas touched is one that the browser copies.
// And what a hand does with it: point, press, drag, pinch, wheel, keys.

import { letterSize } from "../scene/text_width.js";
import { strongestText, valueAt } from "../head/head_readout.js";
import { ARROWS, isPress } from "../shared/controls.js";
import { setAttribute, el, joinTexts, setProperty } from "../shared/dom.js";
import { hoverOn } from "../shared/group.js";
import { clamp } from "../shared/numbers.js";
import { listenToGestures } from "../shared/plot_gestures.js";
import { clearCanvas, notePlot, sizeCanvas, createStage } from "../shared/surface.js";
import { LONGEST_LABEL } from "../shared/token_labels.js";
import { placeOn, sharpness } from "../shared/window.js";
import { cellsBetween, EVERYTHING, zoomTo, largestZoom, zoomToBox } from "../shared/zoom.js";
import { HeatmapCells } from "./heatmap_cells.js";
import { drawLit, drawMarks, isLit, markKeys } from "./heatmap_marks.js";
import {
  visibleCells,
  COMPACT,
  drawAxes,
  drawColumnSums,
  hitHeatmap,
  heatmapLayout,
  rowSumTexts,
  SUMS,
} from "./heatmap_scene.js";

/** @import { HeadComponent } from "../head/head.js" */
/** @import { Gesture } from "../shared/plot_gestures.js" */
/** @import { Hover, Rectangle } from "../shared/types.js" */
/** @import { Cells, HeatmapScene } from "./heatmap_scene.js" */
/** @import { TokenLabels } from "../shared/token_labels.js" */

/** Pixels of labels that are presented, at least and at most: such a page is magnified besides. */
const [PRESENTED, LARGE] = [14, 17];

export class Heatmap {
  /** @param {HeadComponent} view */
  constructor(view) {
    this.view = view;
    this.stage = createStage("av-stage av-heat", "heatmap", "help");
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
    /** @type {Hover | null} where the keys stand: pages that grow move other things under a mouse at rest */
    this.keyed = null;
    this.listen();
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
    this.font = compact ? COMPACT.font : presented ? clamp((high ?? 0) / (shape[0] + 6), PRESENTED, LARGE) : 12;
    this.need = Math.min(letterSize(this.font) + 1, letterSize(PRESENTED));
    this.room = Math.min(compact ? COMPACT.room : LONGEST_LABEL, width * 0.26);
    const { room, font } = this;
    const widths = { labelsQ: labelsQ.width(room, font), labelsK: labelsK.width(room, font) };
    const sums = header.edit !== null && !compact;
    Object.assign(this, heatmapLayout({ shape, width, compact, font, ...widths, high, sums, presented }));
    notePlot(this.stage, this.plot);
  }

  cells() {
    const { header, group } = this.view.drawn;
    return visibleCells(this.plot, group.zoom, header.shape);
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
      ...{ hasMasked, sums, labelsQ, labelsK, cell, hover, guess: this.view.guess.cell },
      cells: this.cells(),
      wanted: this.wantedCells(),
      lit: this.view.lit(),
      valueAt: (q, k) => valueAt(drawn, q, k),
    };
  }

  /** What a visitor asks heads to do, by cells on show. */
  wantedCells() {
    const { finder, controls, drawn } = this.view;
    const { wanted } = finder;
    if (wanted === null) return null;
    const [nq, nk] = drawn.header.shape;
    return Float32Array.from({ length: nq * nk }, (_none, i) =>
      controls.cellsOf(Math.floor(i / nk), i % nk).reduce((sum, at) => sum + wanted[at], 0),
    );
  }

  draw() {
    const { painting } = this.view.painter;
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
    setAttribute(stage, "data-zoom", [c.z, c.q0, c.k0].map((v) => v.toFixed(3)).join(","));
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
    drawAxes(sizeCanvas(this.base, this.width, this.height), scene);
  }

  /** @param {HeatmapScene} scene */
  drawMarks(scene) {
    const marks = markKeys(scene);
    setProperty(
      this.marks,
      "hidden",
      marks.every((mark) => mark === null),
    );
    if (this.marks.hidden || !this.isOther(this.marks, scene.cells, marks)) return;
    drawMarks(sizeCanvas(this.marks, this.width, this.height), scene);
  }

  /** What columns get in all, on a canvas as low as its bars. @param {HeatmapScene} scene */
  drawSums(scene) {
    const { sums } = scene;
    setProperty(this.below, "hidden", sums === null);
    if (sums === null) return;
    const bottom = this.plot.y + this.plot.h;
    const top = `${Math.floor(bottom)}px`;
    if (this.below.style.top !== top) this.below.style.top = top;
    const context = sizeCanvas(this.below, this.width, SUMS.high + 4);
    context.translate(0, bottom - Math.floor(bottom));
    drawColumnSums(context, scene, this.view.finder.row() ?? sums.cols);
  }

  /** Draws what is lit, if that has changed. */
  light() {
    const { group } = this.view.drawn;
    const { hover, cell } = group;
    if (!this.isOther(this.over, this.cells(), [this.view.lit(), hover, cell, this.view.guess.cell, this.box])) return;
    const scene = this.scene();
    if (isLit(scene)) drawLit(sizeCanvas(this.over, this.width, this.height), scene);
    else clearCanvas(this.over);
  }

  /** What lies under a pointer. @param {{ clientX: number, clientY: number }} event */
  hit(event) {
    const { header, group } = this.view.drawn;
    const [x, y] = placeOn(this.stage, event);
    return hitHeatmap(x, y, this.plot, group.zoom, header.shape);
  }

  listen() {
    const { stage } = this;
    listenToGestures(stage, {
      begin: (event) => this.begin(event),
      point: (event) => this.point(event),
      zoom: (factor, at) => {
        const hit = this.hit(at);
        if (hit?.axis === "cell") this.view.zoomBy(factor, ...hit.at);
      },
      takesWheel: (event) =>
        (event.ctrlKey || event.metaKey || this.view.drawn.group.zoom.z > 1) && this.hit(event)?.axis === "cell",
    });
    stage.addEventListener("keydown", (e) => this.key(e));
    stage.addEventListener("blur", () => (this.keyed = null));
    stage.addEventListener("dblclick", (e) => e.preventDefault());
  }

  /** @param {PointerEvent | null} event */
  point(event) {
    const hit = event && this.hit(event);
    if (event) this.keyed = null;
    hoverOn(this.view.drawn.group, hit?.axis === "cell" ? { axis: "cell", q: hit.q, k: hit.k } : hit);
    this.stage.style.cursor = hit ? "pointer" : "";
  }

  /** @param {PointerEvent} event @returns {Gesture} */
  begin(event) {
    const hit = this.hit(event);
    const { painter, finder } = this.view;
    if (painter.painting && hit?.axis === "cell") return this.paint(hit);
    if (finder.painting && hit?.axis === "k" && this.depth(event) > 0) {
      const move = (/** @type {PointerEvent} */ now) => finder.pull(hit.i, this.depth(now));
      move(event);
      return { atOnce: true, move };
    }
    const press = () => hit && this.view.press(hit);
    return hit?.axis === "cell" ? { ...this.dragFrom(event), press } : { press };
  }

  /** Pixels below the matrix. @param {PointerEvent} event */
  depth(event) {
    return placeOn(this.stage, event)[1] - this.plot.y - this.plot.h;
  }

  /** A stroke paints the mask: its first cell decides what it does to all. @param {{ q: number, k: number }} first @returns {Gesture} */
  paint({ q, k }) {
    const { painter } = this.view;
    const open = !painter.isOpen(q, k);
    /** @type {[number, number]} */
    let last = [q, k];
    painter.paintCells([last], open);
    const move = (/** @type {PointerEvent} */ event) => {
      const hit = this.hit(event);
      if (hit?.axis !== "cell" || (last[0] === hit.q && last[1] === hit.k)) return;
      painter.paintCells(cellsBetween(last, [hit.q, hit.k]), open);
      last = [hit.q, hit.k];
    };
    return { atOnce: true, move, end: () => painter.emit() };
  }

  /** A drag moves the window when zoomed in; zoomed out, a mouse draws the box to zoom into. @param {PointerEvent} begun @returns {Gesture} */
  dragFrom(begun) {
    const { z, q0, k0 } = this.view.drawn.group.zoom;
    return {
      move: (event, [dx, dy]) => {
        const c = this.cells();
        if (z > 1) {
          this.view.setZoom({ z, q0: q0 - dy / c.h, k0: k0 - dx / c.w });
          this.stage.style.cursor = "grabbing";
        } else if (event.pointerType === "mouse" && largestZoom([c.nq, c.nk]) > 1.5) {
          this.box = this.boxBetween(begun, event);
          this.light();
        }
      },
      end: (cancelled) => {
        const { box } = this;
        this.box = null;
        this.stage.style.cursor = "";
        if (box && !cancelled) this.zoomInto(box);
        else if (box) this.light();
      },
    };
  }

  /** @param {...PointerEvent} corners @returns {[number, number, number, number]} */
  boxBetween(...corners) {
    const { plot } = this;
    const ends = corners.map((corner) => placeOn(this.stage, corner));
    const [xs, ys] = [0, 1].map((side) => ends.map((end) => end[side]));
    const [x0, x1] = xs.map((v) => clamp(v, plot.x, plot.x + plot.w)).sort((a, b) => a - b);
    const [y0, y1] = ys.map((v) => clamp(v, plot.y, plot.y + plot.h)).sort((a, b) => a - b);
    return [x0, y0, x1, y1];
  }

  /** @param {[number, number, number, number]} box */
  zoomInto(box) {
    const { group, header } = this.view.drawn;
    const zoom = zoomToBox(box, this.plot, group.zoom, header.shape);
    if (zoom) this.view.setZoom(zoom);
    else this.light();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { view } = this;
    const { group } = view.drawn;
    if (event.altKey || ((event.ctrlKey || event.metaKey) && !(event.key in ARROWS))) return;
    if (event.key in ARROWS) this.walk(ARROWS[event.key], event.ctrlKey || event.shiftKey ? 10 : 1);
    else if (isPress(event)) this.pressByKey(this.keyed ?? group.hover);
    else if (event.key === "Escape") {
      this.keyed = null;
      if (!view.release()) return; // nothing is held: the key belongs to the page
    } else if (event.key === "+" || event.key === "=") view.zoomBy(1.5);
    else if (event.key === "-" || event.key === "_") view.zoomBy(1 / 1.5);
    else if (event.key === "0") view.setZoom(EVERYTHING);
    else return;
    event.preventDefault();
  }

  /** @param {Hover | null} hover */
  pressByKey(hover) {
    const { painter } = this.view;
    if (hover === null) return;
    if (painter.painting && hover.axis === "cell") {
      painter.paintCells([[hover.q, hover.k]], !painter.isOpen(hover.q, hover.k));
      painter.emitSoon();
    } else this.view.press(hover);
  }

  /** @param {[number, number]} direction @param {number} by */
  walk([dq, dk], by) {
    const { group, header } = this.view.drawn;
    const [nq, nk] = header.shape;
    const { cell } = group;
    const hover = this.keyed ?? group.hover;
    const at = hover === null ? (cell ?? [-dq * by, -dk * by]) : placeOfHover(hover);
    // one step beyond the first cells stand the names of rows and columns
    const beyond = (/** @type {number} */ side) => (by === 1 && at[side] <= 0 && at[1 - side] >= 0 ? -1 : 0);
    const q = clamp(at[0] + dq * by, beyond(0), nq - 1);
    const k = clamp(at[1] + dk * by, q < 0 ? 0 : beyond(1), nk - 1);
    this.keyed = q < 0 ? { axis: "k", i: k } : k < 0 ? { axis: "q", i: q } : { axis: "cell", q, k };
    hoverOn(group, this.keyed);
    this.view.setZoom(zoomTo(group.zoom, Math.max(0, q), Math.max(0, k), header.shape));
    const row = q === at[0] || this.keyed.axis !== "cell" ? "" : strongestText(this.view.drawn, "q", q);
    this.view.announce(joinTexts(this.view.drawn.words.join_heard, [this.view.readout(), row]));
  }
}

/** Row and column of what is pointed at; -1 for the name of the other side. @param {Hover} hover @returns {[number, number]} */
function placeOfHover(hover) {
  if (hover.axis === "cell") return [hover.q, hover.k];
  return hover.axis === "q" ? [hover.i, -1] : [-1, hover.i];
}
