// What a hand does on a plot: the mouse points, one finger or the mouse presses or drags, two fingers and the wheel zoom.

import { magnification } from "./window.js";
import { wheelFactor } from "./zoom.js";

/** @typedef {{ clientX: number, clientY: number }} Place in the window */
/**
 * What a press or a drag does from where it began: without `move` it is a press, which goes on pointing.
 * @typedef {object} Gesture
 * @property {boolean} [atOnce] whether it moves from the first pixel on
 * @property {(event: PointerEvent, by: [dx: number, dy: number]) => void} [move] by so many pixels of the plot since it began
 * @property {(event: PointerEvent) => void} [press] where it ends without having moved
 * @property {(cancelled: boolean) => void} [end]
 */

const SLACK = 5; // pixels that a press may slip

/**
 * Listens to a stage. Another finger ends a gesture; both then zoom around their middle.
 * @param {HTMLElement} stage
 * @param {{ begin: (event: PointerEvent) => Gesture, point: (event: PointerEvent | null) => void,
 *   zoom: (factor: number, at: Place) => void, takesWheel: (event: WheelEvent) => boolean }} does
 */
export function listenToGestures(stage, { begin, point, zoom, takesWheel }) {
  /** @type {Map<number, Place>} fingers that are down */
  const down = new Map();
  /** @type {Gesture | null} */
  let gesture = null;
  let from = { clientX: 0, clientY: 0 };
  let moved = false;
  /** @type {Place & { size: number } | null} how far two fingers are apart, and their middle */
  let pinch = null;
  const spread = () => {
    const [a, b] = [...down.values()];
    const size = Math.hypot(b.clientX - a.clientX, b.clientY - a.clientY) || 1;
    return { size, clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 };
  };
  const finish = (cancelled = true) => {
    const ended = gesture;
    gesture = null;
    ended?.end?.(cancelled);
  };
  stage.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    down.set(event.pointerId, event);
    if (down.size > 1) {
      finish();
      pinch = down.size === 2 ? spread() : null;
      return;
    }
    gesture = begin(event);
    [from, moved] = [event, Boolean(gesture.atOnce)];
    if (moved) stage.setPointerCapture(event.pointerId);
  });
  stage.addEventListener("pointermove", (event) => {
    if (down.has(event.pointerId)) down.set(event.pointerId, event);
    if (pinch && down.size === 2) {
      const now = spread();
      zoom(now.size / pinch.size, now);
      pinch = now;
      return;
    }
    if (gesture && down.has(event.pointerId)) {
      const by = magnification(stage);
      const [dx, dy] = [(event.clientX - from.clientX) / by, (event.clientY - from.clientY) / by];
      if (!moved && Math.hypot(dx, dy) > SLACK) {
        moved = true;
        if (gesture.move) stage.setPointerCapture(event.pointerId);
      }
      if (moved && gesture.move) {
        gesture.move(event, [dx, dy]);
        return;
      }
    }
    if (event.pointerType !== "touch" || gesture) point(event);
  });
  for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
    stage.addEventListener(name, (event) => {
      const cancelled = name === "pointercancel";
      down.delete(event.pointerId);
      if (down.size) return;
      pinch = null;
      const press = moved || cancelled ? null : gesture?.press;
      if (event.pointerType === "touch" || cancelled) point(null);
      finish(cancelled);
      press?.(event);
    });
  }
  stage.addEventListener("pointerleave", (event) => event.pointerType === "touch" || point(null));
  const turn = (/** @type {WheelEvent} */ event) => {
    if (!takesWheel(event)) return;
    event.preventDefault();
    zoom(wheelFactor(event), event);
  };
  stage.addEventListener("wheel", turn, { passive: false });
}
