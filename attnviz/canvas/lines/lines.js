// Token lines: queries on the left, keys on the right, one line a weight. All lines on the base canvas,
// those of lit tokens on the overlay, so that a hover redraws little.

import { el } from "../shared/dom.js";
import { HeadSquares } from "../head/head_squares.js";
import {
  isWorthLighting,
  levelOf,
  LEVELS,
  lineHit,
  lineStrength,
  MOST_LINES,
  rowsOnShow,
  strongestLines,
  weakestAtOnce,
} from "./line_geometry.js";
import { listenTo } from "./lines_gestures.js";
import { clamp } from "../shared/numbers.js";
import { OverlayNumbers } from "../head/overlay.js";
import { cleared, contextOf, notePlot, sized, soon } from "../shared/surface.js";
import { drawPill, labelStep, LONGEST_LABEL } from "../shared/token_labels.js";
import { placeOn, sharpness } from "../shared/window.js";

/** @import { HeadView } from "../head/head.js" */
/** @import { LineLayer } from "../head/overlay.js" */
/** @import { TokenLabels } from "../shared/token_labels.js" */
/** @import { Rectangle, Theme } from "../shared/types.js" */
/** @typedef {ReturnType<typeof rowsOnShow>} Rows */

export class Lines {
  /** @param {HeadView} view */
  constructor(view) {
    this.view = view;
    this.stage = el("div", "av-stage av-lines", null, { role: "img", "data-testid": "lines" });
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
    /** @type {{ y: number, zoom: Zoom, moved: boolean } | null} */
    this.drag = null;
    /** Whether any of it is in the window; as long as none is, what a hand changes is drawn when the hand rests. */
    this.inWindow = true;
    /** whether what is lit was not drawn because nobody would have seen it */
    this.unlit = false;
    this.complete = soon(() => {
      if (this.width > 0) this.draw(true);
    });
    new IntersectionObserver(([{ isIntersecting }]) => {
      this.inWindow = isIntersecting;
      if (isIntersecting && this.unlit) this.light();
    }).observe(this.stage);
    listenTo(this);
  }

  /**
   * @param {number} width
   * @param {Rectangle | null} beside the heatmap's plot, if it stands beside the lines
   */
  layout(width, beside) {
    const { header, theme, labelsQ, labelsK } = this.view.drawn;
    const context = contextOf(this.base);
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

  /** Draws while a hand moves. */
  follow() {
    if (this.inWindow) this.draw();
    else {
      this.overlay.refresh();
      this.squares.draw();
      this.complete();
    }
  }

  /**
   * Lines take longer to draw than all else: the faintest come when the hand rests.
   * @param {boolean} whole with the faintest
   */
  draw(whole = false) {
    const { theme } = this.view.drawn;
    const context = sized(this.base, this.width, this.height);
    const rows = this.rows();
    const layers = this.overlay.refresh();
    const most = Math.floor(MOST_LINES / layers.length);
    const found = layers.map(({ codes, sizes, header }) => strongestLines(codes, sizes, header, rows, most));
    const sum = (/** @type {number[]} */ counts) => counts.reduce((all, one) => all + one, 0);
    this.counted = { drawn: sum(found.map((one) => one.drawn)), total: sum(found.map((one) => one.total)) };
    this.clip(context);
    const from = whole ? 0 : weakestAtOnce(found.map((one) => one.levels));
    if (from > 0) this.complete();
    const levels = found.map((one) => one.levels.map((lines, level) => (level < from ? [] : lines)));
    this.strokeLevels(context, levels, layers, rows, theme.dark ? 0.12 : 0.06);
    context.restore();
    this.nameTokens(rows);
    this.squares.draw();
    this.stage.dataset.heads = layers.map(({ head, colour }) => `${head}:${colour ?? ""}`).join(" ");
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

  /** @param {CanvasRenderingContext2D} context */
  clip(context) {
    const { x, y, w, h } = this.plot;
    context.save();
    context.beginPath();
    context.rect(x - 2, y - 1, w + 4, h + 2);
    context.clip();
  }

  /** @param {LineLayer} layer @param {boolean} positive */
  ink({ header: { colours, signed }, colour }, positive) {
    const { dark } = this.view.drawn.theme;
    if (colour !== null) return colours.heads[colour][Number(dark)];
    if (!signed) return "#000000";
    return colours.scores[Number(dark)][positive ? 3 : 1][1];
  }

  /**
   * From Q's colour to K's over all lines at once: stroking each with a gradient takes ten times as long.
   * @param {CanvasRenderingContext2D} context
   */
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
   * The weakest lines of all heads first.
   * @param {CanvasRenderingContext2D} context
   * @param {number[][][]} found for each head its lines by level
   * @param {LineLayer[]} layers @param {Rows} rows @param {number} faintest
   */
  strokeLevels(context, found, layers, rows, faintest) {
    for (let level = 0; level < LEVELS; level++) {
      const strength = (level + 0.5) / LEVELS;
      layers.forEach((layer, at) => {
        const aside = asideOf(at, layers.length, Math.min(rows.hq, rows.hk));
        this.stroke(context, found[at][level], layer, strength, rows, faintest, aside);
      });
    }
    const [{ colour, header }] = layers;
    if (colour === null && !header.signed) this.tint(context);
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {number[]} lines @param {LineLayer} layer @param {number} strength
   * @param {Rows} rows @param {number} faintest @param {number} aside
   */
  stroke(context, lines, layer, strength, rows, faintest, aside) {
    if (!lines.length) return;
    const { codes, header, colour } = layer;
    const both = header.signed && colour === null;
    for (const positive of both ? [true, false] : [true]) {
      context.beginPath();
      for (let n = 0; n < lines.length; n += 2) {
        const [q, k] = [lines[n], lines[n + 1]];
        if (both && codes[q * rows.nk + k] > 32767 !== positive) continue;
        this.curve(context, q, k, rows, aside);
      }
      context.strokeStyle = this.ink(layer, positive);
      context.globalAlpha = faintest + (1 - faintest) * strength * 0.95;
      context.lineWidth = 0.75 + 2.75 * strength;
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
    context.font = `${this.font}px ${theme.font}`;
    context.fillStyle = theme.text;
    context.textBaseline = "middle";
    context.globalAlpha = 0.9;
    context.textAlign = "right";
    this.drawColumn(context, labelsQ, rows.nq, rows.q0, rows.span.q, rows.hq, plot.x - 6);
    context.textAlign = "left";
    this.drawColumn(context, labelsK, rows.nk, rows.k0, rows.span.k, rows.hk, plot.x + plot.w + 6);
    context.globalAlpha = 1;
    context.font = `600 11px ${theme.font}`;
    context.fillStyle = theme.q;
    context.textAlign = "right";
    context.fillText(words.queries, plot.x - 6, plot.y - 12);
    context.fillStyle = theme.k;
    context.textAlign = "left";
    context.fillText(words.keys, plot.x + plot.w + 6, plot.y - 12);
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {TokenLabels} labels @param {number} n @param {number} first
   * @param {number} span @param {number} cell @param {number} x
   */
  drawColumn(context, labels, n, first, span, cell, x) {
    const step = labelStep(cell, this.font + 2);
    const cut = labels.cutter(context, this.room, `${this.font}px ${this.view.drawn.theme.font}`);
    for (let i = Math.ceil(first / step) * step; i < Math.min(n, first + span); i += step) {
      const y = this.plot.y + (i + 0.5 - first) * cell;
      if (y < this.plot.y - 1 || y > this.plot.y + this.plot.h) continue;
      context.fillText(cut(i).text, x, y);
    }
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
    this.clip(context);
    const found = layers.map((layer) => this.litLevels(rows, layer));
    this.strokeLevels(context, found, layers, rows, 0.25);
    if (cell) {
      context.setLineDash([6, 4]);
      context.strokeStyle = theme.text;
      context.lineWidth = 1.5;
      context.beginPath();
      this.curve(context, cell.q, cell.k, rows);
      context.stroke();
    }
    context.restore();
    this.lightLabels(context, rows);
  }

  /**
   * The lines of lit tokens, by level of strength; of a cell pointed at, only its query's.
   * @param {Rows} rows @param {LineLayer} layer
   */
  litLevels(rows, { codes, header }) {
    const { group } = this.view.drawn;
    /** @type {number[][]} */
    const levels = Array.from({ length: LEVELS }, () => []);
    const add = (/** @type {number} */ q, /** @type {number} */ k) => {
      const code = codes[q * rows.nk + k];
      if (isWorthLighting(code, header)) levels[levelOf(lineStrength(code, header))].push(q, k);
    };
    for (const { axis, i, pin } of this.view.lit()) {
      if (group.hover?.axis === "cell" && axis === "k" && !pin) continue;
      for (let j = 0; j < (axis === "q" ? rows.nk : rows.nq); j++) {
        if (axis === "q") add(i, j);
        else add(j, i);
      }
    }
    return levels;
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

  /** @param {MouseEvent} event */
  hit(event) {
    const [x, y] = placeOn(this.stage, event);
    return lineHit(x, y, this.plot, this.rows());
  }
}

/**
 * How far below its tokens' middle a head's lines stand, so that lines of several heads lie beside each other.
 * @param {number} at the head's place among those drawn
 * @param {number} count
 * @param {number} high pixels of a token
 */
function asideOf(at, count, high) {
  return (at - (count - 1) / 2) * Math.min(2.5, high / (count + 2));
}
