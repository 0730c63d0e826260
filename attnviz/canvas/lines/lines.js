// Token lines on screen: queries on the left, keys on the right, one line a weight. All lines on the base canvas, those of lit
// tokens on the overlay, so that a hover redraws little. And what a hand does with them: point, press, move the window, wheel.

import { HeadSquares, OverlayNumbers } from "../head/overlay.js";
import { drawingContext } from "../scene/canvas_context.js";
import { textWidth } from "../scene/text_width.js";
import { createBox, el } from "../shared/dom.js";
import { hoverOn } from "../shared/group.js";
import { clamp } from "../shared/numbers.js";
import { listenToGestures } from "../shared/plot_gestures.js";
import { clearCanvas, clipTo, notePlot, sizeCanvas, runSoon, watchWindow } from "../shared/surface.js";
import { LONGEST_LABEL } from "../shared/token_labels.js";
import { placeOn, sharpness } from "../shared/window.js";
import {
  drawLineLabels,
  drawLitLines,
  HEADING,
  lineHit,
  linesToDraw,
  splitLines,
  visibleRows,
  strokePieces,
  weakestLevelAtOnce,
} from "./lines_scene.js";

/** @import { HeadComponent } from "../head/head.js" */
/** @import { Gesture } from "../shared/plot_gestures.js" */
/** @import { Rectangle } from "../shared/types.js" */
/** @import { LinesScene, Piece } from "./lines_scene.js" */
/** @import { TokenLabels } from "../shared/token_labels.js" */

export class Lines {
  /** @param {HeadComponent} view */
  constructor(view) {
    this.view = view;
    this.stage = el("div", "av-stage av-lines av-pan", null, { role: "img", "data-testid": "lines" });
    this.faint = el("canvas"); // lines that wait are drawn below the others
    this.base = el("canvas", "av-over");
    this.all = createBox("av-fade", this.faint, this.base);
    this.names = el("canvas", "av-over");
    this.over = el("canvas", "av-over");
    this.stage.append(this.all, this.names, this.over);
    this.overlay = new OverlayNumbers(view);
    this.squares = new HeadSquares(view, this.overlay);
    this.font = 12;
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
    this.complete = runSoon(() => {
      if (this.width === 0) return;
      if (this.waiting !== null) this.further(this.waiting);
      else {
        this.draw(true);
        view.tools.draw();
      }
    });
    watchWindow(this.stage, (isInWindow) => {
      this.inWindow = isInWindow;
      if (isInWindow && this.unlit) this.light();
    });
    this.listen();
  }

  listen() {
    const { stage, view } = this;
    listenToGestures(stage, {
      begin: () => {
        view.root.focus({ preventScroll: true });
        const { z, q0, k0 } = view.drawn.group.zoom;
        /** @type {Gesture} */
        const gesture = {
          press: (event) => {
            const hit = this.hit(event);
            if (hit) view.press(hit);
          },
        };
        if (z === 1) return gesture;
        gesture.move = (_event, [, dy]) => {
          const rows = this.rows();
          view.setZoom({ z, q0: q0 - dy / rows.hq, k0: k0 - dy / rows.hk });
        };
        return gesture;
      },
      point: (event) => {
        const hit = event && this.hit(event);
        hoverOn(view.drawn.group, hit);
        stage.style.cursor = hit ? "pointer" : "";
      },
      zoom: (factor, at) => {
        const rows = this.rows();
        const share = clamp((placeOn(stage, at)[1] - this.plot.y) / this.plot.h, 0, 1);
        view.zoomBy(factor, rows.q0 + share * rows.span.q, rows.k0 + share * rows.span.k);
      },
      takesWheel: (event) => event.ctrlKey || event.metaKey || view.drawn.group.zoom.z > 1,
    });
  }

  /** @param {number} width @param {Rectangle | null} beside the heatmap's plot, if it stands beside the lines */
  layout(width, beside) {
    const { header, words, labelsQ, labelsK } = this.view.drawn;
    this.font = Math.max(12, this.view.heatmap.font);
    this.room = Math.min(LONGEST_LABEL, width * 0.3);
    const title = Math.max(...[words.queries, words.keys].map((text) => textWidth(text, HEADING, 600)));
    const left = Math.ceil(Math.max(title, labelsQ.width(this.room, this.font))) + 12;
    const right = Math.ceil(Math.max(title, labelsK.width(this.room, this.font))) + 12;
    const top = beside ? beside.y : 22;
    const high = beside ? beside.h : clamp(Math.max(...header.shape) * 22, 120, 560);
    const wide = Math.max(60, Math.min(width, beside ? 900 : 620) - left - right);
    this.plot = { x: left, y: top, w: wide, h: high };
    this.width = left + wide + right;
    this.height = Math.ceil(top + high + 4);
    notePlot(this.stage, this.plot);
  }

  rows() {
    const { header, group } = this.view.drawn;
    return visibleRows(this.plot, group.zoom, header.shape);
  }

  /** What is drawn now. @returns {LinesScene} */
  scene() {
    const { header, group, theme, words, labelsQ, labelsK } = this.view.drawn;
    const { plot, font, room } = this;
    const { colours } = header;
    return {
      ...{ plot, font, room, theme, words, colours, labelsQ, labelsK },
      rows: this.rows(),
      layers: this.overlay.layers,
      need: this.view.heatmap.need,
      lit: this.view.lit(),
      hovered: group.hover?.axis === "cell" ? group.hover : null,
    };
  }

  /** Lines take longer to draw than all else: the faintest come when the hand rests, as all do that nobody sees. */
  /** @param {boolean} [now] whether they are drawn in any case */
  draw(now = this.inWindow) {
    const layers = this.overlay.refresh();
    this.squares.draw();
    this.waiting = null;
    if (!now) {
      this.complete();
      return;
    }
    const context = sizeCanvas(this.base, this.width, this.height);
    sizeCanvas(this.faint, this.width, this.height);
    const scene = this.scene();
    const found = linesToDraw(scene);
    const sum = (/** @type {number[]} */ counts) => counts.reduce((all, one) => all + one, 0);
    this.counted = { drawn: sum(found.map((one) => one.drawn)), total: sum(found.map((one) => one.total)) };
    clipTo(context, this.plot, 2, 1);
    const levels = found.map((one) => one.levels);
    const from = weakestLevelAtOnce(levels);
    const pieces = splitLines(levels);
    const first = pieces.filter(({ level }) => level >= from);
    strokePieces(context, first, scene);
    context.restore();
    this.waiting = pieces.slice(0, pieces.length - first.length);
    if (this.waiting.length) this.complete();
    this.nameTokens(scene);
    this.stage.dataset.heads = layers.map(({ head, colour }) => `${head}:${colour ?? ""}`).join(" ");
  }

  /**
   * Draws some of the lines that wait below those that stand, and others in the next frame: the page answers in between.
   * @param {Piece[]} waiting
   */
  further(waiting) {
    const piece = waiting === this.waiting ? waiting.shift() : null; // other numbers have others
    if (!piece) return;
    const context = drawingContext(this.faint);
    clipTo(context, this.plot, 2, 1);
    strokePieces(context, [piece], this.scene());
    context.restore();
    requestAnimationFrame(() => this.further(waiting));
  }

  /** The labels stand on a canvas of their own, which other weights leave as it is. @param {LinesScene} scene */
  nameTokens(scene) {
    const { theme, labelsQ, labelsK, words, rows } = scene;
    const { width, height, plot, room } = this;
    const { text, q, k, font } = theme;
    const how = JSON.stringify([width, height, sharpness(this.names), plot, room, rows, text, q, k, font, words.keys]);
    const { named } = this;
    if (named?.how === how && named.labelsQ === labelsQ && named.labelsK === labelsK) return;
    this.named = { how, labelsQ, labelsK };
    drawLineLabels(sizeCanvas(this.names, width, height), scene);
  }

  light() {
    const lit = this.view.lit();
    this.squares.light();
    this.all.classList.toggle("av-faded", lit.length > 0);
    this.unlit = !this.inWindow;
    if (this.unlit) return;
    if (!lit.length) {
      clearCanvas(this.over);
      return;
    }
    drawLitLines(sizeCanvas(this.over, this.width, this.height), this.scene());
  }

  /** @param {MouseEvent} event */
  hit(event) {
    const [x, y] = placeOn(this.stage, event);
    return lineHit(x, y, this.plot, this.rows());
  }
}
