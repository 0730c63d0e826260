// What a picture shows glides to what it is to show next; its marks are known by their keys.

import { easeCubicOut } from "d3-ease";
import { interpolate } from "d3-interpolate";

import { prefersReducedMotion } from "../shared/motion.js";
import { watchWindow } from "../shared/surface.js";

/** Through this module alone: components then share one copy. */
export { interpolateNumber, interpolateNumberArray } from "d3-interpolate";

/** Milliseconds that a glide takes, and a frame, so that its first picture has moved already. */
const [GLIDE, FRAME] = [250, 16];

/** @template State */
export class Glide {
  /**
   * @param {HTMLElement} picture what is out of the window does not glide
   * @param {(state: State) => void} draw
   * @param {(from: State, to: State) => ((share: number) => State) & { milliseconds?: number } | null} between null where one cannot
   * become the other; `milliseconds` of a longer way
   */
  constructor(picture, draw, between) {
    this.picture = picture;
    this.draw = draw;
    this.between = between;
    /** @type {State | null} */
    this.shown = null;
    /** @type {State | null} what is on show when it has glided there */
    this.goal = null;
    this.asked = 0;
    this.inWindow = true; // until it is known
    watchWindow(picture, (isInWindow) => (this.inWindow = isInWindow));
  }

  /** Shows a state at once. @param {State} state */
  show(state) {
    cancelAnimationFrame(this.asked);
    delete this.picture.dataset.gliding;
    this.shown = this.goal = state;
    this.draw(state);
  }

  /** Glides from what is on show; at once where nobody would see it, or less motion is asked for. @param {State} state */
  to(state) {
    const gliding = this.goal !== this.shown;
    if (gliding && isSame(this.goal, state)) return;
    const moves = this.shown !== null && this.inWindow && !document.hidden && !prefersReducedMotion();
    const way = moves && !isSame(this.shown, state) ? this.between(/** @type {State} */ (this.shown), state) : null;
    cancelAnimationFrame(this.asked);
    if (way) this.follow(way, state, performance.now() - FRAME);
    else this.show(state);
  }

  /** @param {((share: number) => State) & { milliseconds?: number }} way @param {State} goal @param {number} began */
  follow(way, goal, began) {
    const share = (performance.now() - began) / (way.milliseconds ?? GLIDE);
    if (share >= 1 || !this.picture.isConnected) {
      this.show(goal);
      return;
    }
    this.picture.dataset.gliding = "";
    this.goal = goal;
    this.shown = way(easeCubicOut(share));
    this.draw(this.shown);
    const next = (/** @type {number} */ time) => {
      // what was drawn in answer to a hand is shown by this very frame, which need not be drawn twice
      if (time < began + FRAME) this.asked = requestAnimationFrame(next);
      else this.follow(way, goal, began);
    };
    this.asked = requestAnimationFrame(next);
  }
}

/** Whether two states are alike. @param {any} one @param {any} other @returns {boolean} */
export function isSame(one, other) {
  if (one === other || !one || !other || typeof one !== "object") return one === other;
  if (ArrayBuffer.isView(one)) {
    const [a, b] = /** @type {Float64Array[]} */ ([one, other]);
    return a.length === b.length && a.every((value, i) => value === b[i]);
  }
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => isSame(one[name], other[name]));
}

/**
 * A function from a share to the marks between two scenes, matched by key; a mark of one scene alone fades in or out.
 * @template {{ key: string | number, alpha: number }} Mark
 * @param {Mark[]} from @param {Mark[]} to @returns {(share: number) => Mark[]}
 */
export function marksBetween(from, to) {
  const [before, after] = [from, to].map((marks) => new Map(marks.map((mark) => [mark.key, mark])));
  const leaving = from.filter(({ key }) => !after.has(key)).map((mark) => interpolate(mark, { ...mark, alpha: 0 }));
  const others = to.map((mark) => interpolate(before.get(mark.key) ?? { ...mark, alpha: 0 }, mark));
  return (share) => [...leaving, ...others].map((way) => ({ ...way(share) }));
}
