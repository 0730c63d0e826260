// What a hand does with the token lines: point, press, move the window, wheel.

import { hoverOn } from "../shared/group.js";
import { clamp } from "../shared/numbers.js";
import { magnification, placeOn } from "../shared/window.js";
import { wheelFactor } from "../shared/zoom.js";

/** @import { Lines } from "./lines.js" */

/** @param {Lines} lines */
export function listenTo(lines) {
  const { stage } = lines;
  stage.addEventListener("pointerdown", (e) => {
    lines.drag = { y: e.clientY, zoom: { ...lines.view.drawn.group.zoom }, moved: false };
    lines.view.root.focus({ preventScroll: true });
  });
  stage.addEventListener("pointercancel", () => (lines.drag = null));
  stage.addEventListener("pointerleave", () => {
    lines.drag = null;
    hoverOn(lines.view.drawn.group, null);
  });
  stage.addEventListener("pointermove", (e) => move(lines, e));
  stage.addEventListener("click", (e) => {
    const hit = lines.drag?.moved ? null : lines.hit(e);
    lines.drag = null;
    if (hit) lines.view.press(hit);
  });
  stage.addEventListener("wheel", (e) => wheel(lines, e), { passive: false });
}

/** @param {Lines} lines @param {PointerEvent} event */
function move(lines, event) {
  if (lines.drag && event.buttons && lines.drag.zoom.z > 1) {
    const dy = (event.clientY - lines.drag.y) / magnification(lines.stage);
    lines.drag.moved ||= Math.abs(dy) > 5;
    if (lines.drag.moved) {
      const rows = lines.rows();
      const { z, q0, k0 } = lines.drag.zoom;
      lines.view.setZoom({ z, q0: q0 - dy / rows.hq, k0: k0 - dy / rows.hk });
      return;
    }
  }
  if (event.pointerType === "touch") return;
  const hit = lines.hit(event);
  hoverOn(lines.view.drawn.group, hit);
  lines.stage.style.cursor = hit ? "pointer" : "";
}

/** @param {Lines} lines @param {WheelEvent} event */
function wheel(lines, event) {
  if (!(event.ctrlKey || event.metaKey || lines.view.drawn.group.zoom.z > 1)) return;
  const rows = lines.rows();
  const share = clamp((placeOn(lines.stage, event)[1] - lines.plot.y) / lines.plot.h, 0, 1);
  event.preventDefault();
  lines.view.zoomBy(wheelFactor(event), rows.q0 + share * rows.span.q, rows.k0 + share * rows.span.k);
}
