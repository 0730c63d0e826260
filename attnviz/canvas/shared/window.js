// The window and what is in it: a page may magnify its pictures, and one that is presented has the window down to the bar.

import { clamp } from "./numbers.js";

/** @type {WeakMap<Element, number>} what was found last */
const found = new WeakMap();
let unchanged = false;

/** How many of the window's pixels one of the element's own is wide. @param {Element} element */
export function magnification(element) {
  const known = unchanged ? found.get(element) : undefined;
  if (known !== undefined) return known;
  const now = element.currentCSSZoom ?? 1;
  found.set(element, now);
  return now;
}

/**
 * Draws at the size that was found last: asking again, once something was written on the page, costs a layout of all of it.
 * @param {() => void} draw
 */
export function asLargeAsBefore(draw) {
  unchanged = true;
  try {
    draw();
  } finally {
    unchanged = false;
  }
}

/** Where a pointer is on an element, in the element's own pixels. */
/** @param {Element} element @param {{ clientX: number, clientY: number }} event @returns {[number, number]} */
export function placeOn(element, { clientX, clientY }) {
  const { left, top } = element.getBoundingClientRect();
  const by = magnification(element);
  return [(clientX - left) / by, (clientY - top) / by];
}

/** Pixels of the screen for one of the element's own. @param {Element} element */
export function sharpness(element) {
  return (globalThis.devicePixelRatio || 1) * magnification(element);
}

/** Scrolls a box, never the page, so that what is `high` and begins at `top` in it is seen, with some air. */
/** @param {Element} box @param {number} top @param {number} high @param {number} air */
export function scrollWithin(box, top, high, air) {
  if (top < box.scrollTop) box.scrollTop = top - air;
  else if (top + high > box.scrollTop + box.clientHeight) box.scrollTop = top + high - box.clientHeight + air;
}

/** Pixels of the presentation's bar, which may come after the pictures. */
const BAR = 49;
/** Air between a picture and the bar, in the window's pixels. */
const AIR = 10;
/** With less room than this, a picture is scrolled to, and has the window to itself. */
const LEAST = 300;

/** How far an element is below the top of the page, however far the page is scrolled. @param {Element} element */
export function placeOnPage(element) {
  let top = element.getBoundingClientRect().top;
  let node = /** @type {Node | null} */ (element);
  while (node) {
    if (node instanceof Element) top += node.scrollTop;
    node = node instanceof ShadowRoot ? node.host : node.parentNode;
  }
  return top;
}

/** What a presentation scrolls to, so that it has the window from its upper edge to the bar. */
export const STOPS = ".st-key-main-picture, [class*='st-key-picture-of-']:not(.st-key-main-picture *)";

/**
 * What a picture may take of the window, in its own pixels; null where nothing is presented, or where the page must be
 * scrolled to see the picture.
 * @param {Element} root
 */
export function presentationRoom(root) {
  if (document.documentElement.dataset.present === undefined) return null;
  const shadow = root.getRootNode();
  const stop = (shadow instanceof ShadowRoot ? shadow.host : root).closest(STOPS);
  const above = placeOnPage(root) - (stop ? placeOnPage(stop) - AIR : 0);
  const left = globalThis.innerHeight - BAR - above - AIR;
  return left < LEAST ? null : left / magnification(root);
}

/** How high a picture is that takes the window down to what stands below it. */
/** @param {Element} root @param {{ least: number, most: number, below: number }} room in its own pixels */
export function pictureHeight(root, { least, most, below }) {
  const presented = presentationRoom(root);
  const room = presented ?? (globalThis.innerHeight - placeOnPage(root)) / magnification(root);
  return Math.round(clamp(room - below, least, presented ? Infinity : most));
}
