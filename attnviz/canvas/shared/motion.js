// What moves by itself: films that a button starts, and scrolling. Who asked the system for less motion gets stills.

import { clamp } from "./numbers.js";

/** Pictures that a film consists of where nothing may move. */
const STILLS = 6;
/** Milliseconds that each of them is on show at most. */
const LONGEST_STILL = 900;

/** Whether the visitor asked the system for less motion. */
export function prefersReducedMotion() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** How to scroll to something. @returns {"instant" | "smooth"} */
export function scrollBehaviour() {
  return prefersReducedMotion() ? "instant" : "smooth";
}

/**
 * Plays a film: frame after frame, or as a few stills; it ends where its picture is taken off the page.
 * @param {{ readonly isConnected: boolean }} picture
 * @param {number} whole milliseconds that it takes
 * @param {(share: number) => void} draw draws what is to be seen at this share of the film
 * @param {() => void} ended called when it has come to its end
 * @returns {() => void} stops it on the way
 */
export function film(picture, whole, draw, ended) {
  const began = performance.now();
  const stills = prefersReducedMotion();
  let still = 0;
  let asked = 0;
  const wait = () => {
    asked = stills ? window.setTimeout(step, Math.min(whole / STILLS, LONGEST_STILL)) : requestAnimationFrame(step);
  };
  const step = () => {
    still += 1;
    const share = stills ? still / STILLS : clamp((performance.now() - began) / whole, 0, 1);
    draw(share);
    if (picture.isConnected && share < 1) wait();
    else ended();
  };
  wait();
  return () => (stills ? clearTimeout(asked) : cancelAnimationFrame(asked));
}

/**
 * How far a row is scrolled to have `chip` in its middle; a row that fits is not scrolled.
 * @param {{ left: number, width: number }} chip measured from the row's own beginning
 * @param {number} seen how much of the row is seen
 * @param {number} whole how long it is
 */
export function scrollPosition(chip, seen, whole) {
  return clamp(chip.left - (seen - chip.width) / 2, 0, Math.max(0, whole - seen));
}
