// The matrix as drawn: base canvas (cells, labels) and overlay canvas (what is lit).

import { MASKED_16, strongestOfBlocks } from "./codes.js";
import { inkOnPixel } from "./colour.js";
import { attribute, el } from "./dom.js";
import { valueAt } from "./head_readout.js";
import { cellsOnShow, heatmapHit, heatmapLayout } from "./heatmap_geometry.js";
import { placeOn, sharpness } from "./magnified.js";
import { cleared, contextOf, hatch, pixelCanvas, sized } from "./surface.js";
import { drawSums } from "./sums.js";
import { drawPill, labelStep, LONGEST_LABEL, SLANT } from "./token_labels.js";

/** @import { HeadView } from "./head.js" */
/** @import { Axis, Rectangle, Theme } from "./types.js" */
/** @typedef {ReturnType<typeof cellsOnShow>} Cells */

export class HeatmapDrawing {
  /** @param {HeadView} view */
  constructor(view) {
    this.view = view;
    this.stage = el("div", "av-stage av-heat", null, {
      tabindex: "0",
      role: "application",
      "aria-describedby": "help",
      "data-testid": "heatmap",
    });
    this.base = el("canvas");
    this.over = el("canvas", "av-over");
    this.stage.append(this.base, this.over);
    this.font = 12;
    this.room = LONGEST_LABEL;
    this.flat = true;
    this.width = 0;
    this.height = 0;
    /** @type {Rectangle} */
    this.plot = { x: 0, y: 0, w: 0, h: 0 };
    /** @type {[number, number, number, number] | null} the box that a drag has drawn: x0, y0, x1, y1 */
    this.box = null;
    /** @type {Map<string, HTMLCanvasElement>} */
    this.pictures = new Map();
    this.picturesOf = "";
  }

  /**
   * Sizes of labels and plot, for the room there is.
   * @param {number} width
   * @param {number | null} high what is left of the window, null where it does not matter
   */
  layout(width, high = null) {
    const { header, theme, labelsQ, labelsK } = this.view.drawn;
    const { compact, shape } = header;
    this.font = compact ? 10 : 12;
    this.room = Math.min(compact ? 64 : LONGEST_LABEL, width * 0.26);
    const context = contextOf(this.base);
    const font = `${this.font}px ${theme.font}`;
    context.font = font;
    const [wideQ, wideK] = [labelsQ, labelsK].map((labels) => labels.width(context, this.room, font));
    const widths = { labelsQ: wideQ, labelsK: wideK };
    const sums = header.edit !== null && !compact;
    Object.assign(this, heatmapLayout({ shape, width, compact, font: this.font, ...widths, high, sums }));
    const { x, y, w, h } = this.plot;
    this.stage.dataset.plot = [x, y, w, h].map((v) => v.toFixed(2)).join(",");
  }

  cells() {
    const { header, group } = this.view.drawn;
    return cellsOnShow(this.plot, group.zoom, header.shape);
  }

  /**
   * The codes as a picture at full size or, when zoomed out, of the strongest of 2x2, 4x4... cells.
   * @param {number} pixelsPerCell
   * @returns {[HTMLCanvasElement, number]} and how many cells each of its pixels stands for, along one side
   */
  picture(pixelsPerCell) {
    const { picture: name, tableKey } = this.view.drawn;
    let step = 1;
    while (pixelsPerCell * step < 0.75) step *= 2;
    const key = `${name}|${tableKey}|${step}`;
    const known = this.picturesOf === name ? this.pictures.get(key) : undefined;
    const [old] = this.pictures.values();
    if (this.picturesOf !== name || this.pictures.size > 6) this.pictures.clear();
    const again = this.picturesOf === name ? undefined : old;
    this.picturesOf = name;
    const picture = known ?? this.paint(step, again);
    this.pictures.set(key, picture);
    return [picture, step];
  }

  /**
   * @param {number} step
   * @param {HTMLCanvasElement} [canvas] of a picture that is no more needed
   */
  paint(step, canvas) {
    const { codes, table, header } = this.view.drawn;
    const blocks = strongestOfBlocks(codes, header.shape, step, header.signed);
    const fillIn = (/** @type {Uint32Array} */ pixels) => {
      for (let i = 0; i < pixels.length; i++) pixels[i] = table[blocks.codes[i]];
    };
    return pixelCanvas(blocks.columns, blocks.rows, fillIn, canvas);
  }

  draw() {
    const { theme, header, hasMasked } = this.view.drawn;
    const context = sized(this.base, this.width, this.height);
    const { x, y, w, h } = this.plot;
    const c = this.cells();
    if (hasMasked) {
      context.fillStyle = hatch(context, theme, header.colours.masked);
      context.fillRect(x, y, w, h);
    }
    const [picture, step] = this.picture(Math.min(c.w, c.h) * sharpness(this.base));
    context.save();
    context.beginPath();
    context.rect(x, y, w, h);
    context.clip();
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, x - c.k0 * c.w, y - c.q0 * c.h, picture.width * step * c.w, picture.height * step * c.h);
    this.drawNumbers(context, c);
    this.drawSegments(context, c);
    context.restore();
    context.strokeStyle = theme.border;
    context.lineWidth = 1;
    context.strokeRect(x - 0.5, y - 0.5, w + 1, h + 1);
    this.drawLabels(context, c);
    drawSums(context, this.plot, c, this.view.drawn);
    const { painting } = this.view.controls;
    this.stage.style.touchAction = c.z > 1 || painting ? "none" : "pan-y";
    this.stage.classList.toggle("av-painting", painting);
    attribute(this.stage, "data-zoom", [c.z, c.q0, c.k0].map((v) => v.toFixed(3)).join(","));
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Cells} c
   */
  drawNumbers(context, c) {
    if (c.w < 30 || c.h < 13) return;
    const { theme, codes, table } = this.view.drawn;
    const size = Math.min(13, Math.floor(c.w / 3.1), Math.floor(c.h * 0.66));
    context.font = `${size}px ${theme.font}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let q = Math.floor(c.q0); q < Math.min(c.nq, c.q0 + c.span.q); q++) {
      for (let k = Math.floor(c.k0); k < Math.min(c.nk, c.k0 + c.span.k); k++) {
        const code = codes[q * c.nk + k];
        if (code === MASKED_16) continue;
        const value = valueAt(this.view.drawn, q, k);
        context.fillStyle = inkOnPixel(table[code]);
        context.globalAlpha = Math.abs(value) < 0.005 ? 0.45 : 0.95;
        const text = Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2).replace("-", "−");
        context.fillText(text, this.plot.x + (k + 0.5 - c.k0) * c.w, this.plot.y + (q + 0.5 - c.q0) * c.h);
      }
    }
    context.globalAlpha = 1;
  }

  /**
   * Dashed lines where one sentence ends and the next begins.
   * @param {CanvasRenderingContext2D} context
   * @param {Cells} c
   */
  drawSegments(context, c) {
    const [rows, columns] = this.view.drawn.header.segments;
    const { x, y, w, h } = this.plot;
    context.setLineDash([5, 4]);
    const strokes = /** @type {const} */ ([
      ["#00000080", 3],
      ["#ffffff", 1.2],
    ]);
    for (const [colour, width] of strokes) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      for (const q of rows) {
        context.moveTo(x, y + (q - c.q0) * c.h);
        context.lineTo(x + w, y + (q - c.q0) * c.h);
      }
      for (const k of columns) {
        context.moveTo(x + (k - c.k0) * c.w, y);
        context.lineTo(x + (k - c.k0) * c.w, y + h);
      }
      context.stroke();
    }
    context.setLineDash([]);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Cells} c
   */
  drawLabels(context, c) {
    const { theme, labelsQ, labelsK } = this.view.drawn;
    const font = `${this.font}px ${theme.font}`;
    context.font = font;
    context.fillStyle = theme.text;
    context.textBaseline = "middle";
    context.globalAlpha = 0.9;
    const stepQ = labelStep(c.h, this.font + 2);
    context.textAlign = "right";
    const [cutQ, cutK] = [labelsQ, labelsK].map((labels) => labels.cutter(context, this.room, font));
    for (let q = Math.ceil(c.q0 / stepQ) * stepQ; q < Math.min(c.nq, c.q0 + c.span.q); q += stepQ) {
      const y = this.plot.y + (q + 0.5 - c.q0) * c.h;
      if (y < this.plot.y - 1 || y > this.plot.y + this.plot.h) continue;
      context.fillText(cutQ(q).text, this.plot.x - 6, y);
    }
    const need = this.flat && c.w > 30 ? 1 : this.font + 2;
    const stepK = labelStep(c.w, need);
    for (let k = Math.ceil(c.k0 / stepK) * stepK; k < Math.min(c.nk, c.k0 + c.span.k); k += stepK) {
      const x = this.plot.x + (k + 0.5 - c.k0) * c.w;
      if (x < this.plot.x - 1 || x > this.plot.x + this.plot.w) continue;
      this.columnLabel(context, cutK(k).text, x);
    }
    context.globalAlpha = 1;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {string} text
   * @param {number} x
   */
  columnLabel(context, text, x) {
    if (this.flat) {
      context.textAlign = "center";
      context.fillText(text, x, this.plot.y - 10);
      return;
    }
    context.save();
    context.translate(x, this.plot.y - 6);
    context.rotate(-SLANT);
    context.textAlign = "left";
    context.fillText(text, 0, 0);
    context.restore();
  }

  /** The overlay: rows and columns of lit tokens, the cell, their labels as pills, the box being drawn. */
  light() {
    const { theme, group } = this.view.drawn;
    const lights = this.view.lit();
    if (!lights.length && !group.cell && !this.box) {
      cleared(this.over, this.width, this.height);
      return;
    }
    const context = sized(this.over, this.width, this.height);
    const { x, y, w, h } = this.plot;
    const c = this.cells();
    context.save();
    context.beginPath();
    context.rect(x - 2, y - 2, w + 4, h + 4);
    context.clip();
    for (const lit of lights) {
      this.outlineToken(context, c, lit.axis, lit.i, lit.pin ? 2 : 1.5, lit.pin ? 1 : 0.85);
    }
    if (group.cell) this.outlineCell(context, c, ...group.cell, 3);
    if (group.hover?.axis === "cell") this.outlineCell(context, c, group.hover.q, group.hover.k, 2);
    context.restore();
    this.lightLabels(context, c);
    if (this.box) drawBox(context, this.box, theme);
  }

  /**
   * A whole row or column.
   * @param {CanvasRenderingContext2D} context
   * @param {Cells} c
   * @param {Axis} axis
   * @param {number} i
   * @param {number} width
   * @param {number} alpha
   */
  outlineToken(context, c, axis, i, width, alpha) {
    const { theme } = this.view.drawn;
    const { x, y, w, h } = this.plot;
    const out = Math.max(0, width - (axis === "q" ? c.h : c.w) / 8);
    context.globalAlpha = alpha;
    const strokes = /** @type {const} */ ([
      [theme.background, width + 2],
      [axis === "q" ? theme.q : theme.k, width],
    ]);
    for (const [colour, wide] of strokes) {
      context.strokeStyle = colour;
      context.lineWidth = wide;
      if (axis === "q") context.strokeRect(x, y + (i - c.q0) * c.h - out, w, c.h + 2 * out);
      else context.strokeRect(x + (i - c.k0) * c.w - out, y, c.w + 2 * out, h);
    }
    context.globalAlpha = 1;
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Cells} c
   * @param {number} q
   * @param {number} k
   * @param {number} width
   */
  outlineCell(context, c, q, k, width) {
    const { theme } = this.view.drawn;
    const strokes = /** @type {const} */ ([
      [theme.background, width + 2],
      [theme.text, width],
    ]);
    for (const [colour, wide] of strokes) {
      context.strokeStyle = colour;
      context.lineWidth = wide;
      context.strokeRect(this.plot.x + (k - c.k0) * c.w, this.plot.y + (q - c.q0) * c.h, c.w, c.h);
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Cells} c
   */
  lightLabels(context, c) {
    const { theme, header, labelsQ, labelsK } = this.view.drawn;
    const { plot, font } = this;
    context.font = `${font}px ${theme.font}`;
    for (const { axis, i } of this.view.lit()) {
      if (axis === "q") {
        const y = plot.y + (i + 0.5 - c.q0) * c.h;
        if (y < plot.y || y > plot.y + plot.h) continue;
        drawPill(context, labelsQ.cut(context, i, this.room), plot.x - 6, y, "right", header.colours.q, theme, font);
        continue;
      }
      const x = plot.x + (i + 0.5 - c.k0) * c.w;
      if (x < plot.x || x > plot.x + plot.w) continue;
      const label = labelsK.cut(context, i, this.room);
      context.save();
      context.translate(x, plot.y - (this.flat ? 10 : 6));
      if (!this.flat) context.rotate(-SLANT);
      drawPill(context, label, 0, 0, this.flat ? "center" : "left", header.colours.k, theme, font);
      context.restore();
    }
  }

  /**
   * What lies under a pointer.
   * @param {{ clientX: number, clientY: number }} event
   */
  hit(event) {
    const { header, group } = this.view.drawn;
    const [x, y] = placeOn(this.stage, event);
    return heatmapHit(x, y, this.plot, group.zoom, header.shape);
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {[number, number, number, number]} box
 * @param {Theme} theme
 */
function drawBox(context, [x0, y0, x1, y1], theme) {
  context.fillStyle = theme.primary;
  context.globalAlpha = 0.15;
  context.fillRect(x0, y0, x1 - x0, y1 - y0);
  context.globalAlpha = 1;
  context.strokeStyle = theme.primary;
  context.strokeRect(x0, y0, x1 - x0, y1 - y0);
}
