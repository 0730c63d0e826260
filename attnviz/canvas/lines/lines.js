// What a hand does with the token lines: point, press, move the window, wheel.

import { lineHit } from "./line_geometry.js";
import { LinesDrawing } from "./lines_drawing.js";
import { hoverOn } from "../shared/group.js";
import { clamp } from "../shared/numbers.js";
import { magnification, placeOn } from "../shared/window.js";
import { wheelFactor } from "../shared/zoom.js";

/** @import { HeadView } from "../head/head.js" */
/** @import { Zoom } from "../shared/types.js" */

export class Lines extends LinesDrawing {
  /** @param {HeadView} view */
  constructor(view) {
    super(view);
    /** @type {{ y: number, zoom: Zoom, moved: boolean } | null} */
    this.drag = null;
    const { stage } = this;
    stage.addEventListener("pointerdown", (e) => {
      this.drag = { y: e.clientY, zoom: { ...view.drawn.group.zoom }, moved: false };
      view.root.focus({ preventScroll: true });
    });
    stage.addEventListener("pointercancel", () => (this.drag = null));
    stage.addEventListener("pointerleave", () => {
      this.drag = null;
      hoverOn(view.drawn.group, null);
    });
    stage.addEventListener("pointermove", (e) => this.move(e));
    stage.addEventListener("click", (e) => {
      const hit = this.drag?.moved ? null : this.hit(e);
      this.drag = null;
      if (hit) view.press(hit);
    });
    stage.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
  }

  /** @param {MouseEvent} event */
  hit(event) {
    const [x, y] = placeOn(this.stage, event);
    return lineHit(x, y, this.plot, this.rows());
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { drag } = this;
    if (drag && event.buttons && drag.zoom.z > 1) {
      const dy = (event.clientY - drag.y) / magnification(this.stage);
      drag.moved ||= Math.abs(dy) > 5;
      if (drag.moved) {
        const rows = this.rows();
        const { z, q0, k0 } = drag.zoom;
        this.view.setZoom({ z, q0: q0 - dy / rows.hq, k0: k0 - dy / rows.hk });
        return;
      }
    }
    if (event.pointerType === "touch") return;
    const hit = this.hit(event);
    hoverOn(this.view.drawn.group, hit);
    this.stage.style.cursor = hit ? "pointer" : "";
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    if (!(event.ctrlKey || event.metaKey || this.view.drawn.group.zoom.z > 1)) return;
    const rows = this.rows();
    const share = clamp((placeOn(this.stage, event)[1] - this.plot.y) / this.plot.h, 0, 1);
    event.preventDefault();
    this.view.zoomBy(wheelFactor(event), rows.q0 + share * rows.span.q, rows.k0 + share * rows.span.k);
  }
}
