// How much of the window is left for a picture.

import { magnification } from "./magnified.js";

/** A window that is narrower shows one column. */
const NARROW = 640;
/** With less room than this, what is above must be scrolled away anyhow. */
const LEAST_ROOM = 200;

/**
 * How far an element is below the top of the page, however far the page is scrolled.
 * @param {Element} element
 */
function placeOnPage(element) {
  let top = element.getBoundingClientRect().top;
  for (let node = /** @type {Node | null} */ (element); node; node = node.parentNode ?? hostOf(node)) {
    if (node instanceof Element) top += node.scrollTop;
  }
  return top;
}

/** @param {Node} node */
function hostOf(node) {
  return node instanceof ShadowRoot ? node.host : null;
}

/**
 * The height that is left of the window below what stands above; null where that must be scrolled away anyhow.
 * @param {Element} root
 * @param {number} taken by the root's own parts
 */
export function roomBelow(root, taken) {
  const by = magnification(root);
  const room = (globalThis.innerHeight - placeOnPage(root)) / by - taken;
  return room < LEAST_ROOM ? null : room;
}

/**
 * On a phone a head stands below the small pictures: who taps one wants to see it.
 * @param {Element} root
 * @param {boolean} tapped whether a hand chose another head
 */
export function bringIntoWindow(root, tapped) {
  const { top } = root.getBoundingClientRect();
  const { innerWidth, innerHeight, matchMedia } = globalThis;
  if (!tapped || innerWidth > NARROW || (top >= 0 && top < innerHeight / 2)) return;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  root.scrollIntoView({ block: "start", behavior: still ? "instant" : "smooth" });
}
