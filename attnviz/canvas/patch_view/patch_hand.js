// The hand on the large picture: it points, pins and paints, with a mouse, a finger or the keyboard.

import { isPress } from "../shared/controls.js";
import { patchesBetween, hitPatch, patchAfterKey, wordAfterKey } from "./patch_scene.js";

/** @import { PatchView } from "./patch_view.js" */

export class PatchHand {
  /** @param {PatchView} view */
  constructor(view) {
    this.view = view;
    /** @type {{ last: number, hides: boolean } | null} */
    this.stroke = null;
    /** @type {{ from: [number, number], drew: boolean } | null} the last press of the pen */
    this.pressed = null;
    const { large } = view;
    large.addEventListener("pointermove", (e) => this.move(e));
    large.addEventListener("pointerdown", (e) => this.press(e));
    large.addEventListener("click", (e) => this.tap(e));
    for (const end of ["pointerup", "pointercancel"]) large.addEventListener(end, () => this.endStroke());
    for (const end of ["pointerleave", "blur"]) large.addEventListener(end, () => view.point(null));
    large.addEventListener("keydown", (e) => this.key(e));
  }

  /** The patch under the pointer. @param {MouseEvent} event */
  patchUnder(event) {
    const box = this.view.large.getBoundingClientRect();
    const size = { width: box.width, height: box.height, frames: this.view.frames(box.height) };
    return hitPatch(event.clientX - box.left, event.clientY - box.top, this.view.header.grid, size);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const { header, pen } = this.view;
    if (this.pressed && event.buttons) {
      const to = pen.under(event);
      const { from, drew } = this.pressed;
      if (!drew && Math.hypot(to[0] - from[0], to[1] - from[1]) < 1) return;
      if (!drew) [this.pressed.drew, pen.last] = [true, from];
      this.view.point(null);
      pen.line(to);
      pen.last = to;
      return;
    }
    const patch = this.patchUnder(event);
    if (this.stroke && patch !== null) this.paintTo(patch);
    if (header.words === null) this.view.point(patch === null ? null : patch + header.grid.first);
  }

  /** @param {PointerEvent} event */
  press(event) {
    const { large, header, state, tools, pen } = this.view;
    const patch = this.patchUnder(event);
    const draws = header.pads > 0 && !tools.painting && (state.drawings !== null || event.pointerType === "mouse");
    this.pressed = draws ? { from: pen.under(event), drew: false } : null;
    if (!draws && (patch === null || !tools.painting)) return;
    large.setPointerCapture(event.pointerId);
    if (tools.painting && patch !== null) this.begin(patch);
  }

  /** Begins a stroke of the brush. @param {number} patch */
  begin(patch) {
    this.stroke = { last: patch, hides: !this.view.state.hidden.includes(patch) };
    this.paintTo(patch);
  }

  /** A stroke over one patch. @param {number} patch */
  dot(patch) {
    this.begin(patch);
    this.endStroke();
  }

  /** @param {number} patch */
  paintTo(patch) {
    if (!this.stroke) return;
    const hidden = new Set(this.view.state.hidden);
    for (const each of patchesBetween(this.stroke.last, patch, this.view.header.grid.columns)) {
      if (this.stroke.hides) hidden.add(each);
      else hidden.delete(each);
    }
    this.stroke.last = patch;
    this.view.change({ hidden: [...hidden].sort((a, b) => a - b) }, false);
  }

  endStroke() {
    if (this.pressed?.drew) this.view.pen.lift();
    if (!this.stroke) return;
    this.stroke = null;
    this.view.tell();
  }

  /** Pins once the finger is lifted: one that goes on to scroll the page pins nothing. @param {MouseEvent} event */
  tap(event) {
    const { header, tools } = this.view;
    const patch = this.patchUnder(event);
    if (this.pressed?.drew) return;
    if (patch !== null && !tools.painting && header.words === null) this.view.pin(patch + header.grid.first);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { view } = this;
    const { grid, words } = view.header;
    if (view.state.drawings && !view.tools.painting && view.pen.key(event)) {
      event.preventDefault();
      return;
    }
    const at = Math.max(0, view.query - grid.first);
    if (isPress(event)) view.tools.painting ? this.dot(at) : view.pin(view.query);
    else if (event.key === "Escape") {
      if (view.pointed === null && !view.state.pins.length) return; // nothing is held: the key belongs to the page
      view.pointed = null;
      view.change({ pins: [] });
    } else {
      const next =
        words === null ? patchAfterKey(at, event.key, grid) : wordAfterKey(view.query, event.key, words.length);
      if (next === null) return;
      view.point(words === null ? next + grid.first : next);
    }
    event.preventDefault();
  }
}
