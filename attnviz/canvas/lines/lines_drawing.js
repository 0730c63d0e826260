// Token lines as drawn: queries on the left, keys on the right, one line a weight. All lines on the base canvas, those of lit
// tokens on the overlay, so that a hover redraws little.

import { el } from "../shared/dom.js";
import { HeadSquares } from "../head/head_squares.js";
import {
  asideOf,
  LEVELS,
  litLines,
  MOST_LINES,
  piecesOf,
  rowsOnShow,
  strongestLines,
  weakestAtOnce,
} from "./line_geometry.js";
import { clamp } from "../shared/numbers.js";
import { OverlayNumbers } from "../head/overlay.js";
import { cleared, clipTo, contextOf, drawWith, notePlot, sized, soon } from "../shared/surface.js";
import { alongAxis, drawPill, LONGEST_LABEL } from "../shared/token_labels.js";
import { sharpness } from "../shared/window.js";

/** @import { HeadView } from "../head/head.js" */
/** @import { LineLayer } from "../head/overlay.js" */
/** @import { Piece } from "./line_geometry.js" */
/** @import { TokenLabels } from "../shared/token_labels.js" */
/** @import { Rectangle, Theme } from "../shared/types.js" */
/** @typedef {ReturnType<typeof rowsOnShow>} Rows */

export class LinesDrawing {
  /** @param {HeadView} view */
  constructor(view) {
    this.view = view;
    this.stage = el("div", "av-stage av-lines av-pan", null, { role: "img", "data-testid": "lines" });
    this.base = el("canvas", "av-fade");
    this.names = el("canvas", "av-over");
    this.over = el("canvas", "av-over");
    this.stage.append(this.base, this.names, this.over);
    this.overlay = new OverlayNumbers(view);
    this.squares = new HeadSquares(view, this.overlay);
    this.font = 12;
    /** the headings that were measured */
    this.title = { name: "", width: 0 };
    this.room = LONGEST_LABEL;
    this.width = 0;
    this.height = 0;
    /** @type {Rectangle} */
    this.plot = { x: 0, y: 0, w: 0, h: 0 };
    this.counted = { drawn: 0, total: 0 };
    /** @type {{ how: string, labelsQ: TokenLabels, labelsK: TokenLabels } | null} what the labels were drawn for */
    this.named = null;
    /** Whether any of it is in the window; as long as none is, what a hand changes is drawn when the hand rests. */
    this.inWindow = true;
    /** whether what is lit was not drawn because nobody would have seen it */
    this.unlit = false;
    /** @type {Piece[] | null} lines still to be drawn; null: all of them */
    this.waiting = null;
    this.complete = soon(() => {
      if (this.width === 0) return;
      if (this.waiting !== null) this.further(this.waiting);
      else {
        this.draw(true);
        view.tools.draw();
      }
    });
    new IntersectionObserver(([{ isIntersecting }]) => {
      this.inWindow = isIntersecting;
      if (isIntersecting && this.unlit) this.light();
    }).observe(this.stage);
  }

  /**
   * @param {number} width
   * @param {Rectangle | null} beside the heatmap's plot, if it stands beside the lines
   */
  layout(width, beside) {
    const { header, theme, labelsQ, labelsK } = this.view.drawn;
    const context = contextOf(this.base);
    this.font = Math.max(12, this.view.heatmap.font);
    const font = `${this.font}px ${theme.font}`;
    this.room = Math.min(LONGEST_LABEL, width * 0.3);
    const title = this.titleWidth(context, font);
    const left = Math.ceil(Math.max(title, labelsQ.width(context, this.room, font))) + 12;
    const right = Math.ceil(Math.max(title, labelsK.width(context, this.room, font))) + 12;
    const top = beside ? beside.y : 22;
    const high = beside ? beside.h : clamp(Math.max(...header.shape) * 22, 120, 560);
    const wide = Math.max(60, Math.min(width, beside ? 900 : 620) - left - right);
    this.plot = { x: left, y: top, w: wide, h: high };
    this.width = left + wide + right;
    this.height = Math.ceil(top + high + 4);
    notePlot(this.stage, this.plot);
  }

  /** The width of the wider heading, measured once. @param {CanvasRenderingContext2D} context @param {string} font */
  titleWidth(context, font) {
    const { words } = this.view.drawn;
    const name = [words.queries, words.keys, font].join();
    if (this.title.name !== name) {
      context.font = font;
      const widths = [words.queries, words.keys].map((text) => context.measureText(text).width * 1.05);
      this.title = { name, width: Math.max(...widths) };
    }
    return this.title.width;
  }

  rows() {
    const { header, group } = this.view.drawn;
    return rowsOnShow(this.plot, group.zoom, header.shape);
  }

  /**
   * Lines take longer to draw than all else: the faintest come when the hand rests, as all do that nobody sees.
   * @param {boolean} [now] whether they are drawn in any case
   */
  draw(now = this.inWindow) {
    const layers = this.overlay.refresh();
    this.squares.draw();
    this.waiting = null;
    if (!now) {
      this.complete();
      return;
    }
    const context = sized(this.base, this.width, this.height);
    const rows = this.rows();
    const most = Math.floor(MOST_LINES / layers.length);
    const found = layers.map(({ codes, sizes, header }) => strongestLines(codes, sizes, header, rows, most));
    const sum = (/** @type {number[]} */ counts) => counts.reduce((all, one) => all + one, 0);
    this.counted = { drawn: sum(found.map((one) => one.drawn)), total: sum(found.map((one) => one.total)) };
    clipTo(context, this.plot, 2, 1);
    const levels = found.map((one) => one.levels);
    const from = weakestAtOnce(levels);
    const pieces = piecesOf(levels);
    const first = pieces.filter(({ level }) => level >= from);
    this.strokePieces(context, first, rows);
    context.restore();
    this.waiting = pieces.slice(0, pieces.length - first.length);
    if (this.waiting.length) this.complete();
    this.nameTokens(rows);
    this.stage.dataset.heads = layers.map(({ head, colour }) => `${head}:${colour ?? ""}`).join(" ");
  }

  /**
   * Draws some of the lines that wait beneath those that stand, and others in the next frame: the page answers in between.
   * @param {Piece[]} waiting
   */
  further(waiting) {
    const piece = waiting === this.waiting ? waiting.pop() : null; // other numbers have others
    if (!piece) return;
    const context = contextOf(this.base);
    clipTo(context, this.plot, 2, 1);
    context.globalCompositeOperation = "destination-over";
    this.strokePieces(context, [piece], this.rows());
    context.restore();
    requestAnimationFrame(() => this.further(waiting));
  }

  /** The labels stand on a canvas of their own, which other weights leave as it is. @param {Rows} rows */
  nameTokens(rows) {
    const { theme, labelsQ, labelsK, words } = this.view.drawn;
    const { width, height, plot, room } = this;
    const { text, q, k, font } = theme;
    const how = JSON.stringify([width, height, sharpness(this.names), plot, room, rows, text, q, k, font, words.keys]);
    const { named } = this;
    if (named?.how === how && named.labelsQ === labelsQ && named.labelsK === labelsK) return;
    this.named = { how, labelsQ, labelsK };
    this.drawLabels(sized(this.names, width, height), rows, theme);
  }

  /** @param {LineLayer} layer @param {boolean} positive */
  ink({ header: { colours, signed }, colour }, positive) {
    const { dark } = this.view.drawn.theme;
    if (colour !== null) return colours.heads[colour][Number(dark)];
    if (!signed) return "#000000";
    return colours.scores[Number(dark)][positive ? 3 : 1][1];
  }

  /** From Q's colour to K's over all lines at once: stroking each with a gradient takes ten times as long. */
  /** @param {CanvasRenderingContext2D} context */
  tint(context) {
    const { theme } = this.view.drawn;
    const { x, y, w, h } = this.plot;
    const gradient = context.createLinearGradient(x, 0, x + w, 0);
    gradient.addColorStop(0.1, theme.q);
    gradient.addColorStop(0.9, theme.k);
    context.globalCompositeOperation = "source-in";
    context.fillStyle = gradient;
    context.fillRect(x - 2, y - 1, w + 4, h + 2);
    context.globalCompositeOperation = "source-over";
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {Piece[]} pieces of the heads that were laid over each other last
   * @param {Rows} rows @param {number} [least] how strong the weakest line is
   */
  strokePieces(context, pieces, rows, least = this.view.drawn.theme.dark ? 0.12 : 0.06) {
    const { layers } = this.overlay;
    for (const { at, level, lines } of pieces) {
      const aside = asideOf(at, layers.length, Math.min(rows.hq, rows.hk));
      this.stroke(context, lines, layers[at], (level + 0.5) / LEVELS, rows, least, aside);
    }
    const [{ colour, header }] = layers;
    if (colour === null && !header.signed) this.tint(context);
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {number[]} lines @param {LineLayer} layer @param {number} strength
   * @param {Rows} rows @param {number} least @param {number} aside
   */
  stroke(context, lines, layer, strength, rows, least, aside) {
    const { codes, header, colour } = layer;
    const both = header.signed && colour === null;
    for (const positive of both ? [true, false] : [true]) {
      context.beginPath();
      for (let n = 0; n < lines.length; n += 2) {
        const [q, k] = [lines[n], lines[n + 1]];
        if (both && codes[q * rows.nk + k] > 32767 !== positive) continue;
        this.curve(context, q, k, rows, aside);
      }
      const globalAlpha = least + (1 - least) * strength * 0.95;
      drawWith(context, { strokeStyle: this.ink(layer, positive), globalAlpha, lineWidth: 0.75 + 2.75 * strength });
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {number} q @param {number} k @param {Rows} rows
   * @param {number} [aside] pixels that the line stands below its tokens' middle
   */
  curve(context, q, k, rows, aside = 0) {
    const { x, y, w } = this.plot;
    const [x0, x1, bend] = [x + 3, x + w - 3, w * 0.4];
    const [from, to] = [y + (q + 0.5 - rows.q0) * rows.hq + aside, y + (k + 0.5 - rows.k0) * rows.hk + aside];
    context.moveTo(x0, from);
    context.bezierCurveTo(x0 + bend, from, x1 - bend, to, x1, to);
  }

  /** @param {CanvasRenderingContext2D} context @param {Rows} rows @param {Theme} theme */
  drawLabels(context, rows, theme) {
    const { labelsQ, labelsK, words } = this.view.drawn;
    const { plot } = this;
    const font = `${this.font}px ${theme.font}`;
    drawWith(context, { font, fillStyle: theme.text, textBaseline: "middle", globalAlpha: 0.9, textAlign: "right" });
    const [cutQ, cutK] = [labelsQ, labelsK].map((labels) => labels.cutter(context, this.room, font));
    const queries = { n: rows.nq, first: rows.q0, span: rows.span.q, cell: rows.hq, from: plot.y };
    alongAxis(queries, this.view.heatmap.need, (q, y) => context.fillText(cutQ(q).text, plot.x - 6, y));
    context.textAlign = "left";
    const keys = { n: rows.nk, first: rows.k0, span: rows.span.k, cell: rows.hk, from: plot.y };
    alongAxis(keys, this.view.heatmap.need, (k, y) => context.fillText(cutK(k).text, plot.x + plot.w + 6, y));
    drawWith(context, { globalAlpha: 1, font: `600 11px ${theme.font}`, fillStyle: theme.q, textAlign: "right" });
    context.fillText(words.queries, plot.x - 6, plot.y - 12);
    drawWith(context, { fillStyle: theme.k, textAlign: "left" });
    context.fillText(words.keys, plot.x + plot.w + 6, plot.y - 12);
  }

  light() {
    const { group, theme } = this.view.drawn;
    const lit = this.view.lit();
    this.squares.light();
    this.base.classList.toggle("av-faded", lit.length > 0);
    this.unlit = !this.inWindow;
    if (this.unlit) return;
    if (!lit.length) {
      cleared(this.over);
      return;
    }
    const context = sized(this.over, this.width, this.height);
    const rows = this.rows();
    const { layers } = this.overlay;
    const cell = group.hover?.axis === "cell" ? group.hover : null;
    clipTo(context, this.plot, 2, 1);
    const found = layers.map((layer) => litLines(layer, rows, lit, cell !== null));
    this.strokePieces(context, piecesOf(found), rows, 0.25);
    if (cell) {
      context.setLineDash([6, 4]);
      drawWith(context, { strokeStyle: theme.text, lineWidth: 1.5 });
      context.beginPath();
      this.curve(context, cell.q, cell.k, rows);
      context.stroke();
    }
    context.restore();
    this.lightLabels(context, rows);
  }

  /** @param {CanvasRenderingContext2D} context @param {Rows} rows */
  lightLabels(context, rows) {
    const { theme, header, labelsQ, labelsK } = this.view.drawn;
    const { plot, font } = this;
    context.font = `${font}px ${theme.font}`;
    for (const { axis, i } of this.view.lit()) {
      const left = axis === "q";
      const y = plot.y + (i + 0.5 - (left ? rows.q0 : rows.k0)) * (left ? rows.hq : rows.hk);
      if (y < plot.y || y > plot.y + plot.h) continue;
      const label = (left ? labelsQ : labelsK).cut(context, i, this.room);
      const x = left ? plot.x - 6 : plot.x + plot.w + 6;
      drawPill(context, label, x, y, left ? "right" : "left", header.colours[axis], theme, font);
    }
  }
}
