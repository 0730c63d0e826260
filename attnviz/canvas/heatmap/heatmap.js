// The heatmap on screen, on a canvas for each thing that changes by itself: the cells, what stands around them, what is written
// over them, their sums, what is lit. Only what has changed is drawn again: each canvas touched is one that the browser copies.
// And what a hand does with it: point, press, drag, pinch, wheel, keys.

import { letterSize } from "../scene/text_width.js";
import { strongestText, valueAt } from "../head/head_readout.js";
import { ARROWS, isPress } from "../shared/controls.js";
import { setAttribute, el, joinTexts, setProperty } from "../shared/dom.js";
import { hoverOn } from "../shared/group.js";
import { clamp } from "../shared/numbers.js";
import { clearCanvas, notePlot, sizeCanvas, createStage } from "../shared/surface.js";
import { LONGEST_LABEL } from "../shared/token_labels.js";
import { magnification, placeOn, sharpness } from "../shared/window.js";
import { cellsBetween, EVERYTHING, zoomTo, largestZoom, wheelFactor, zoomToBox } from "../shared/zoom.js";
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
/** @import { Hit, Hover, Rectangle, Zoom } from "../shared/types.js" */
/** @import { Cells, HeatmapScene } from "./heatmap_scene.js" */
/** @import { TokenLabels } from "../shared/token_labels.js" */

/** @typedef {{ size: number, clientX: number, clientY: number }} Spread how far two fingers are apart, and their middle */
/** @typedef {{ from: [number, number], zoom: Zoom, hit: Hit | null, moved: boolean }} Drag */

/** Pixels of labels that are presented, at least and at most: such a page is magnified besides. */
const [PRESENTED, LARGE] = [13, 17];

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
    /** @type {Map<number, [number, number]>} */
    this.pointers = new Map();
    /** @type {Drag | null} */
    this.drag = null;
    /** @type {Spread | null} */
    this.pinch = null;
    /** @type {{ open: boolean, last: [number, number] } | null} a stroke that paints the mask */
    this.stroke = null;
    /** @type {number | null} the column whose bar is dragged */
    this.pulled = null;
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
    stage.addEventListener("pointerdown", (e) => this.down(e));
    stage.addEventListener("pointermove", (e) => this.move(e));
    stage.addEventListener("pointerup", (e) => this.up(e));
    stage.addEventListener("pointercancel", (e) => this.cancel(e));
    stage.addEventListener("pointerleave", (e) => {
      if (e.pointerType !== "touch") hoverOn(this.view.drawn.group, null);
    });
    stage.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
    stage.addEventListener("keydown", (e) => this.key(e));
    stage.addEventListener("blur", () => (this.keyed = null));
    stage.addEventListener("dblclick", (e) => e.preventDefault());
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    const hit = this.hit(event);
    const { z } = this.view.drawn.group.zoom;
    if (hit?.axis !== "cell" || !(event.ctrlKey || event.metaKey || z > 1)) return;
    event.preventDefault();
    this.view.zoomBy(wheelFactor(event), ...hit.at);
  }

  /** @param {PointerEvent} event */
  down(event) {
    if (event.button > 0) return;
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.pointers.size === 2) {
      this.drag = null;
      this.pinch = this.spread();
      return;
    }
    const hit = this.hit(event);
    if (this.view.painter.painting && hit?.axis === "cell") {
      const open = !this.view.painter.isOpen(hit.q, hit.k); // the first cell decides what a stroke does to all
      this.stroke = { open, last: [hit.q, hit.k] };
      this.view.painter.paintCells([[hit.q, hit.k]], open);
      this.stage.setPointerCapture(event.pointerId);
      return;
    }
    if (this.view.finder.painting && hit?.axis === "k" && this.depth(event) > 0) {
      this.pulled = hit.i;
      this.stage.setPointerCapture(event.pointerId);
      this.view.finder.pull(hit.i, this.depth(event));
      return;
    }
    const zoom = { ...this.view.drawn.group.zoom };
    this.drag = { from: [event.clientX, event.clientY], zoom, hit, moved: false };
  }

  /** Pixels below the matrix. @param {PointerEvent} event */
  depth(event) {
    return placeOn(this.stage, event)[1] - this.plot.y - this.plot.h;
  }

  /** @param {PointerEvent} event */
  strokeTo(event) {
    const hit = this.hit(event);
    if (!this.stroke || hit?.axis !== "cell") return;
    const { last, open } = this.stroke;
    if (last[0] === hit.q && last[1] === hit.k) return;
    this.view.painter.paintCells(cellsBetween(last, [hit.q, hit.k]), open);
    this.stroke.last = [hit.q, hit.k];
  }

  /** @returns {Spread} */
  spread() {
    const [[x0, y0], [x1, y1]] = [...this.pointers.values()];
    return { size: Math.hypot(x1 - x0, y1 - y0) || 1, clientX: (x0 + x1) / 2, clientY: (y0 + y1) / 2 };
  }

  /** @param {PointerEvent} event */
  move(event) {
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.stroke) {
      this.strokeTo(event);
      return;
    }
    if (this.pulled !== null) {
      this.view.finder.pull(this.pulled, this.depth(event));
      return;
    }
    if (this.pinch && this.pointers.size === 2) {
      this.pinchTo(this.spread(), this.pinch.size);
      return;
    }
    if (this.drag && this.pointers.size === 1 && this.dragTo(event, this.drag)) return;
    if (event.pointerType !== "touch" || this.drag || this.pinch) {
      const hit = this.hit(event);
      this.keyed = null;
      hoverOn(this.view.drawn.group, hit?.axis === "cell" ? { axis: "cell", q: hit.q, k: hit.k } : hit);
      this.stage.style.cursor = hit ? "pointer" : "";
    }
  }

  /** @param {Spread} now @param {number} before */
  pinchTo(now, before) {
    const hit = this.hit(now);
    if (hit?.axis !== "cell") return;
    this.view.zoomBy(now.size / before, ...hit.at);
    this.pinch = now;
  }

  /** A drag moves the window when zoomed in; zoomed out, a mouse draws the box to zoom into. Answers whether it did. */
  /** @param {PointerEvent} event @param {Drag} drag */
  dragTo(event, drag) {
    const by = magnification(this.stage);
    const [dx, dy] = [(event.clientX - drag.from[0]) / by, (event.clientY - drag.from[1]) / by];
    if (!drag.moved && Math.hypot(dx, dy) > 5) {
      drag.moved = true;
      if (drag.hit?.axis === "cell") this.stage.setPointerCapture(event.pointerId);
    }
    if (!drag.moved || drag.hit?.axis !== "cell") return false;
    const c = this.cells();
    if (drag.zoom.z > 1) {
      this.view.setZoom({ z: drag.zoom.z, q0: drag.zoom.q0 - dy / c.h, k0: drag.zoom.k0 - dx / c.w });
      this.stage.style.cursor = "grabbing";
    } else if (event.pointerType === "mouse" && largestZoom([c.nq, c.nk]) > 1.5) {
      this.box = this.boxBetween(drag.from, [event.clientX, event.clientY]);
      this.light();
    }
    return true;
  }

  /** @param {[number, number]} from @param {[number, number]} to @returns {[number, number, number, number]} */
  boxBetween(from, to) {
    const { plot } = this;
    const ends = [from, to].map(([clientX, clientY]) => placeOn(this.stage, { clientX, clientY }));
    const [xs, ys] = [0, 1].map((side) => ends.map((end) => end[side]));
    const [x0, x1] = xs.map((v) => clamp(v, plot.x, plot.x + plot.w)).sort((a, b) => a - b);
    const [y0, y1] = ys.map((v) => clamp(v, plot.y, plot.y + plot.h)).sort((a, b) => a - b);
    return [x0, y0, x1, y1];
  }

  /** @param {PointerEvent} event */
  up(event) {
    this.pointers.delete(event.pointerId);
    if (this.pointers.size > 0) return;
    const { drag, box, stroke } = this;
    this.stroke = this.pulled = null;
    if (stroke) this.view.painter.emit();
    this.drag = this.pinch = this.box = null;
    if (event.pointerType === "touch") hoverOn(this.view.drawn.group, null);
    if (box) this.zoomInto(box);
    else if (drag && !drag.moved && drag.hit) this.view.press(drag.hit);
    this.stage.style.cursor = "";
  }

  /** @param {PointerEvent} event */
  cancel(event) {
    this.pointers.delete(event.pointerId);
    if (this.stroke) this.view.painter.emit();
    if (this.pointers.size === 0) this.drag = this.pinch = this.box = this.stroke = this.pulled = null;
    hoverOn(this.view.drawn.group, null);
    this.light();
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
