// A mask as drawn: cells that may look in colour, the others hatched, what is pointed at, in words too.

import { css, cssGradient } from "../shared/colour.js";
import { Drawing } from "../shared/component.js";
import { createBox, el, fill, visibleToken } from "../shared/dom.js";
import {
  drawMask,
  isEmptyRow,
  lightRow,
  LONG,
  maskHit,
  maskInk,
  maskLayout,
  maskPixels,
  nearestCell,
} from "./mask_scene.js";
import { maskedHead, sweep } from "./mask_weights.js";
import { singlePositions } from "../head/head_numbers.js";
import { Glide } from "../scene/glide.js";
import { matrixBetween, glidingMatrix } from "../scene/glide_matrix.js";
import { drawWith, layOver, markPainted, notePlot, outline, sizeCanvas, createStage } from "../shared/surface.js";
import { drawColumnLabel, LONGEST_LABEL } from "../shared/token_labels.js";
import { clamp } from "../shared/numbers.js";
import { magnification, placeOn, placeOnPage, presentationRoom } from "../shared/window.js";

/** @import { Matrix } from "../scene/glide_matrix.js" */
/** @import { MaskScene } from "./mask_scene.js" */
/** @import { TokenLabels } from "../shared/token_labels.js" */
/** @import { Head } from "../ribbons/ribbons_numbers.js" */
/** @import { Axis, MaskHeader, RawHead, Stops, Theme } from "../shared/types.js" */

/** So many words want less room than others. */
const FEW = 7;
/** Pixels from which ribbons stand beside the mask, between both, of a cell at most, of all rows at least, and around them. */
const [WIDE, GAP, LARGEST, LEAST, AROUND] = [760, 28, 60, 300, 150];

/**
 * All that a drawing needs, complete or not there at all.
 * @typedef {object} Mask
 * @property {MaskHeader} header
 * @property {Uint8Array} given the mask as Python sent it
 * @property {Uint8Array} cells the mask as it is painted: 1 = may look
 * @property {RawHead | null} raw scores, where weights are shown
 * @property {Theme} theme
 * @property {TokenLabels} labelsQ
 * @property {TokenLabels} labelsK
 */

/** @extends {Drawing<MaskHeader, Mask>} */
export class MaskDrawing extends Drawing {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.stage = createStage("av-stage av-mask av-pan", "mask", "help");
    this.base = el("canvas");
    this.over = el("canvas", "av-over");
    this.pad = el("div", "av-pad av-pan");
    this.stage.append(this.base, this.over, this.pad);
    this.count = el("div", "av-mask-count", "", { "data-testid": "count" });
    this.read = el("div", "av-readout", "", { "data-testid": "readout" });
    this.legend = el("div", "av-bar-row av-legend");
    this.glide = new Glide(this.stage, (/** @type {Matrix} */ matrix) => this.drawCells(matrix), matrixBetween);
    /** Where all stands, once it is known how wide it may be, and what is left for ribbons. */
    this.beside = 0;
    this.places = { plot: { x: 0, y: 0, w: 0, h: 0 }, font: 12, room: 0, cell: 0, flat: true, width: 0, height: 0 };
    /** @type {[number, number] | null} the cell or label under the pointer */
    this.hover = null;
    /** @type {[number, number] | null} the cell that the keyboard is on */
    this.cursor = null;
    /** The word whose row is shown, how many layers light climbs, rows that the mask covers, and the weights that it leaves. */
    this.word = 0;
    this.layers = 1;
    this.swept = Infinity;
    /** @type {Head | null} */
    this.head = null;
  }

  drawLegend() {
    const { header, theme, raw } = this.shown;
    const { words, colours, shape } = header;
    const swatch = el("span", raw ? "av-swatch mk-scale" : "av-swatch");
    const stops = shape[1] > LONG ? colours.weights.map(([t, colour]) => [t * t, colour]) : colours.weights;
    swatch.style.background = raw ? cssGradient(/** @type {Stops} */ (stops)) : css(maskInk(theme));
    const [kept, cut] = [raw ? words.share : words.kept, words.cut].map((text) => el("span", "av-bar-name", text));
    this.legend.replaceChildren(
      createBox("av-line", swatch, kept),
      createBox("av-line", el("span", "av-bar-hatch"), cut),
    );
  }

  resize() {
    const width = this.root.clientWidth;
    if (!this.held || width === 0) return;
    const { header, labelsQ, labelsK, raw } = this.held;
    const { shape } = header;
    const isBeside = raw !== null && width >= (shape[1] > FEW ? WIDE : 0.75 * WIDE) && shape[1] <= LONG;
    this.root.dataset.beside = String(isBeside || shape[1] > LONG);
    const half = isBeside ? Math.round(width * 0.48) : width;
    if (this.stage.parentElement) this.stage.parentElement.style.width = isBeside ? `${half}px` : "";
    const font = width < WIDE ? 12 : 13;
    const room = Math.min(LONGEST_LABEL, half * 0.26);
    const widths = { labelsQ: labelsQ.width(room, font), labelsK: labelsK.width(room, font) };
    const left = presentationRoom(this.root) ?? (innerHeight - placeOnPage(this.root)) / magnification(this.root);
    const size = isBeside ? { largest: LARGEST, high: clamp(left - AROUND, LEAST, 640) } : raw ? { largest: 40 } : {};
    this.places = { font, room, ...maskLayout({ shape, width: half, font, ...widths, ...size }) };
    this.beside = isBeside ? width - half - GAP : width;
    layOver(this.pad, this.places.plot);
    notePlot(this.stage, this.places.plot);
    this.draw();
  }

  draw() {
    if (!this.held || !this.places.cell) return;
    const { header, labelsQ, raw, cells } = this.held;
    this.head = raw && maskedHead(header.q, raw, sweep(cells, header.shape, this.swept));
    const matrix = glidingMatrix(labelsQ.texts.join(), maskPixels(this.scene()), header.shape.map(singlePositions));
    if (this.isPainting && !raw) this.glide.show(matrix);
    else this.glide.to(matrix);
    this.drawCount();
    this.light();
    markPainted(this.root, "attnviz-mask-painted", header.data);
  }

  /** Whether a hand is at work, which is followed at once. */
  get isPainting() {
    return false;
  }

  /** @param {Matrix} matrix */
  drawCells({ pixels }) {
    drawMask(sizeCanvas(this.base, this.places.width, this.places.height), this.scene(), pixels);
  }

  /** What is drawn now. @returns {MaskScene} */
  scene() {
    const { colours, shape } = this.shown.header;
    const { head, shown, swept } = this;
    const cells = sweep(shown.cells, shape, swept);
    return { ...shown, ...this.places, colours, shape, cells, weights: head?.weights };
  }

  light() {
    if (!this.held || !this.places.cell) return;
    const { theme, header, labelsQ, labelsK } = this.held;
    const { plot, cell, flat, font: size, room, width, height } = this.places;
    const context = sizeCanvas(this.over, width, height);
    const at = this.hover ?? this.cursor;
    this.read.textContent = at ? this.readout(at) : "";
    this.stage.dataset.at = at ? at.join(",") : "";
    if (!at && !this.head) return;
    const [q, k] = at ?? [this.word, -1];
    context.font = `${size}px ${theme.font}`;
    if (q >= 0) {
      lightRow(context, { ...this.places, theme, colours: header.colours, labelsQ }, q);
    }
    if (k >= 0) {
      drawWith(context, { strokeStyle: theme.k, lineWidth: 1.5 });
      context.strokeRect(plot.x + k * cell, plot.y, cell, plot.h);
      const lit = { colour: header.colours.k, theme, size };
      drawColumnLabel(context, labelsK.cut(k, room, size), plot.x + (k + 0.5) * cell, plot.y, flat, lit);
    }
    if (q >= 0 && k >= 0) {
      const box = { x: plot.x + k * cell, y: plot.y + q * cell, w: cell, h: cell };
      outline(context, box, theme.text, 2.5, theme.background);
    }
  }

  /** @param {Axis} axis @param {number} i */
  name(axis, i) {
    const { header } = this.shown;
    return `${visibleToken((axis === "q" ? header.q : (header.k ?? header.q))[i]).trim()} (${i})`;
  }

  /** @param {[number, number]} cell */
  readout([q, k]) {
    const { header, cells } = this.shown;
    const { words } = header;
    if (q < 0 || k < 0) return "";
    const i = q * header.shape[1] + k;
    const names = { query: this.name("q", q), key: this.name("k", k) };
    const notes = [fill(cells[i] ? words.may : words.maynot, names)];
    if (isEmptyRow(this.scene(), q)) notes.push(fill(words.empty, { query: names.query }));
    return notes.join(" · ");
  }

  /** A row in words: how many keys it may look at. @param {number} q */
  rowSaid(q) {
    const { header, cells } = this.shown;
    const { words, shape } = header;
    const count = cells.subarray(q * shape[1], (q + 1) * shape[1]).reduce((n, cell) => n + cell, 0);
    return fill(words.row, { query: this.name("q", q), count, total: shape[1] });
  }

  drawCount() {
    const { cells, header } = this.shown;
    const kept = cells.reduce((n, cell) => n + cell, 0);
    this.count.textContent = fill(header.words.summary, { kept, total: cells.length });
    this.root.dataset.kept = String(kept);
  }

  /** The cell or label under a pointer. @param {MouseEvent} event */
  hit(event) {
    const [x, y] = placeOn(this.stage, event);
    return maskHit(x, y, this.places.plot, this.shown.header.shape);
  }

  /** The cell nearest to a pointer. @param {MouseEvent} event */
  nearest(event) {
    const [x, y] = placeOn(this.stage, event);
    return nearestCell(x, y, this.places.plot, this.shown.header.shape);
  }
}
