// What a hand does to ribbons and cells: points at them, pins them, drags them to another scale; and the keys that do the same.

import { touchedWeights } from "./ribbons_numbers.js";
import { clamp } from "../shared/numbers.js";
import { placeOn } from "../shared/window.js";

/** @import { Ribbons } from "./ribbons.js" */
/** @import { Ribbon } from "./ribbons_marks.js" */
/** @import { Scene } from "./ribbons_scene.js" */

/** Pixels beside a ribbon that are still it, that a press may move, and that a hand drags from one end of the scale to the other. */
const [NEAR, STILL, WHOLE] = [5, 4, 360];
/** Places of each curve of a ribbon that a pointer is compared with. */
const STEPS = 32;

/** @param {Ribbons} view */
export function followHand(view) {
  const { canvas, stage, words, root } = view;
  /** @type {{ y: number, place: number, moved: boolean } | null} where a ribbon was taken hold of */
  let grip = null;
  let dragged = false;
  stage.addEventListener("pointermove", (event) => (grip ? drag(event, false) : point(view, event)));
  stage.addEventListener("pointerleave", () => view.light(null));
  canvas.addEventListener("pointerdown", (event) => {
    const hit = event.pointerType === "touch" ? null : hitBy(view, event); // a finger scrolls the page
    dragged = false;
    grip = hit && "i" in hit ? { y: event.clientY, place: view.controls.place, moved: false } : null;
    if (grip) canvas.setPointerCapture(event.pointerId);
  });
  /** @param {PointerEvent} event @param {boolean} ended */
  const drag = ({ clientY }, ended) => {
    if (!grip) return;
    grip.moved ||= Math.abs(grip.y - clientY) > STILL;
    if (grip.moved) view.controls.scale(clamp(grip.place + (grip.y - clientY) / WHOLE, 0, 1), ended);
  };
  for (const end of /** @type {const} */ (["pointerup", "pointercancel"])) {
    canvas.addEventListener(end, (event) => {
      drag(event, true);
      dragged = grip?.moved ?? false;
      grip = null;
    });
  }
  canvas.addEventListener("click", (event) => {
    if (!dragged) press(view, event);
  });
  words.addEventListener("keydown", (event) => key(view, event));
  root.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || (view.touched.pinned === null && !view.asked)) return;
    event.preventDefault();
    view.change({ pinned: null });
  });
}

/** What a pointer is on: a cell of the matrix as its row and column, or a ribbon as its word. */
/** @param {Ribbons} view @param {MouseEvent} event @returns {{ q: number, k: number } | { i: number } | null} */
function hitBy(view, event) {
  const [x, y] = placeOn(view.canvas, event);
  const { scene } = view;
  if (!scene) return null;
  const n = view.header.q.length;
  if (scene.cells) {
    const [k, q] = [((x - scene.cells.x) / scene.cells.w) * n, ((y - scene.cells.y) / scene.cells.h) * n].map(
      Math.floor,
    );
    return k >= 0 && q >= 0 && k < n && q < n ? { q, k } : null;
  }
  const i = hitRibbon(scene, x, y);
  return i === null ? null : { i };
}

/** The word of the ribbon at a place. @param {Scene} scene @param {number} x @param {number} y */
export function hitRibbon({ marks }, x, y) {
  const ribbons = /** @type {Ribbon[]} */ (marks.filter((mark) => mark.kind === "ribbon" && mark.alpha > 0));
  const far = ribbons.map(({ path, w }) => distanceTo(path, x, y) - w / 2);
  const nearest = far.indexOf(Math.min(...far));
  return far[nearest] < NEAR ? Number(ribbons[nearest].key.slice(7)) : null;
}

/** @param {Ribbons} view @param {PointerEvent} event */
function point(view, event) {
  if (event.target !== view.canvas) return;
  const hit = hitBy(view, event);
  const { axis, word } = view.touched;
  if (!hit) view.light(null);
  else if ("i" in hit) view.light(hit.i);
  else view.light(axis === "q" ? (hit.q === word ? hit.k : null) : hit.k === word ? hit.q : null);
  view.canvas.style.cursor = hit ? ("i" in hit ? "ns-resize" : "pointer") : "";
}

/** Pins a ribbon or a cell; the same again lets it go. @param {Ribbons} view @param {MouseEvent} event */
function press(view, event) {
  const hit = hitBy(view, event);
  if (!hit) return;
  const { axis, pinned, word } = view.touched;
  if ("i" in hit && view.asked) {
    view.touch(hit.i);
    return;
  }
  if ("i" in hit) {
    view.change({ pinned: pinned === hit.i ? null : hit.i });
    return;
  }
  const [own, other] = axis === "q" ? [hit.q, hit.k] : [hit.k, hit.q];
  const shares = touchedWeights(view.head, { ...view.touched, word: own });
  const isSame = own === word && pinned === other;
  view.change({ word: own, pinned: isSame || shares[other] === null ? null : other });
}

/** Arrow keys: ← and → touch the next word, ↑ and ↓ pin the next ribbon. @param {Ribbons} view @param {KeyboardEvent} event */
function key(view, event) {
  const { pinned, axis } = view.touched;
  const word = view.asked ? view.aimed : view.touched.word;
  const last = view.header.q.length - 1;
  const along = { ArrowRight: word + 1, ArrowLeft: word - 1, Home: 0, End: last }[event.key];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (along === undefined && step === undefined) return;
  event.preventDefault();
  if (along !== undefined) {
    if (along < 0 || along > last) return;
    if (view.asked) view.aim(along);
    else view.touch(along);
    return;
  }
  if (view.asked) return;
  const shares = touchedWeights(view.head, view.touched);
  const open = shares.flatMap((share, i) => (share === null ? [] : [i]));
  const at = pinned === null ? (axis === "q" ? open.length : -1) : open.indexOf(pinned);
  view.change({ pinned: open[clamp(at + /** @type {number} */ (step), 0, open.length - 1)] ?? null });
}

/** How far a place is from a ribbon's middle. @param {number[]} path @param {number} x @param {number} y */
function distanceTo(path, x, y) {
  let least = Infinity;
  const curve = (/** @type {number} */ from) => {
    for (let step = 0; step <= STEPS; step++) {
      const [t, s] = [step / STEPS, 1 - step / STEPS];
      const at = [0, 1].map((side) => s ** 3 * path[from + side] + 3 * s * s * t * path[from + 2 + side] + 3 * s * t * t * path[from + 4 + side] + t ** 3 * path[from + 6 + side]); // prettier-ignore
      least = Math.min(least, Math.hypot(at[0] - x, at[1] - y));
    }
  };
  for (const from of [2, 8, 14]) curve(from);
  const [x0, y0, , y1] = path;
  return Math.min(least, Math.hypot(x0 - x, clamp(y, Math.min(y0, y1), Math.max(y0, y1)) - y));
}
