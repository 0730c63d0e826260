// What a hand does with the heatmap: point, press, drag, pinch, wheel, keys.

import { ARROWS, isPress } from "../shared/controls.js";
import { hoverOn } from "../shared/group.js";
import { strongestText } from "../head/head_readout.js";
import { joined } from "../shared/dom.js";
import { HeatmapDrawing } from "./heatmap_drawing.js";
import { clamp } from "../shared/numbers.js";
import { magnification, placeOn } from "../shared/window.js";
import { cellsBetween, EVERYTHING, follow, mostZoom, wheelFactor, zoomToBox } from "../shared/zoom.js";

/** @import { HeadView } from "../head/head.js" */
/** @import { Hit, Hover, Zoom } from "../shared/types.js" */
/** @typedef {{ size: number, clientX: number, clientY: number }} Spread how far two fingers are apart, and their middle */
/** @typedef {{ from: [number, number], zoom: Zoom, hit: Hit | null, moved: boolean }} Drag */

export class Heatmap extends HeatmapDrawing {
  /** @param {HeadView} view */
  constructor(view) {
    super(view);
    /** @type {Map<number, [number, number]>} */
    this.pointers = new Map();
    /** @type {Drag | null} */
    this.drag = null;
    /** @type {Spread | null} */
    this.pinch = null;
    /** @type {{ open: boolean, last: [number, number] } | null} a stroke that paints the mask */
    this.stroke = null;
    /** @type {{ axis: "cell", q: number, k: number } | null} where the keys stand: pages that grow move other things under a mouse at rest */
    this.keyed = null;
    this.listen();
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
    if (this.view.controls.painting && hit?.axis === "cell") {
      const open = !this.view.controls.isOpen(hit.q, hit.k); // the first cell decides what a stroke does to all
      this.stroke = { open, last: [hit.q, hit.k] };
      this.view.controls.paintCells([[hit.q, hit.k]], open);
      this.stage.setPointerCapture(event.pointerId);
      return;
    }
    const zoom = { ...this.view.drawn.group.zoom };
    this.drag = { from: [event.clientX, event.clientY], zoom, hit, moved: false };
  }

  /** @param {PointerEvent} event */
  strokeTo(event) {
    const hit = this.hit(event);
    if (!this.stroke || hit?.axis !== "cell") return;
    const { last, open } = this.stroke;
    if (last[0] === hit.q && last[1] === hit.k) return;
    this.view.controls.paintCells(cellsBetween(last, [hit.q, hit.k]), open);
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
    } else if (event.pointerType === "mouse" && mostZoom([c.nq, c.nk]) > 1.5) {
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
    this.stroke = null;
    if (stroke) this.view.controls.emit();
    this.drag = this.pinch = this.box = null;
    if (event.pointerType === "touch") hoverOn(this.view.drawn.group, null);
    if (box) this.zoomInto(box);
    else if (drag && !drag.moved && drag.hit) this.view.press(drag.hit);
    this.stage.style.cursor = "";
  }

  /** @param {PointerEvent} event */
  cancel(event) {
    this.pointers.delete(event.pointerId);
    if (this.stroke) this.view.controls.emit();
    if (this.pointers.size === 0) this.drag = this.pinch = this.box = this.stroke = null;
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
    const { controls } = this.view;
    if (hover === null) return;
    if (controls.painting && hover.axis === "cell") {
      controls.paintCells([[hover.q, hover.k]], !controls.isOpen(hover.q, hover.k));
      controls.emitSoon();
    } else this.view.press(hover);
  }

  /** @param {[number, number]} direction @param {number} by */
  walk([dq, dk], by) {
    const { group, header } = this.view.drawn;
    const [nq, nk] = header.shape;
    const { cell } = group;
    const hover = this.keyed ?? group.hover;
    const at = hover?.axis === "cell" ? [hover.q, hover.k] : (cell ?? [-dq * by, -dk * by]);
    const q = clamp(at[0] + dq * by, 0, nq - 1);
    const k = clamp(at[1] + dk * by, 0, nk - 1);
    this.keyed = { axis: "cell", q, k };
    hoverOn(group, this.keyed);
    this.view.setZoom(follow(group.zoom, q, k, header.shape));
    const row = q === at[0] ? "" : strongestText(this.view.drawn, "q", q);
    this.view.announce(joined(this.view.drawn.words.join_heard, [this.view.readout(), row]));
  }
}
