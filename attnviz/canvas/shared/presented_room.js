// How much of the window a picture has that is presented: from where it begins to the bar.

import { magnification } from "./magnified.js";

/** Air between a picture and the bar, in the window's pixels. */
const AIR = 10;
/** With less room than this, a picture is scrolled to, and has the window to itself. */
const LEAST = 300;

/**
 * How far an element is below the top of the page, however far the page is scrolled.
 * @param {Element} element
 */
export function placeOnPage(element) {
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
 * What a picture may take of the window, in its own pixels; null where nothing is presented, or where the page must be
 * scrolled to see the picture.
 * @param {Element} root
 */
export function presentedRoom(root) {
  const bar = document.querySelector(".st-key-presenter-place");
  if (!bar || getComputedStyle(bar).position !== "fixed") return null;
  const left = globalThis.innerHeight - bar.getBoundingClientRect().height - placeOnPage(root) - AIR;
  return left < LEAST ? null : left / magnification(root);
}
