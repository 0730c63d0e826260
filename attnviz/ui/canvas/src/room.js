// How much of the window is left for a picture.

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
  const room = globalThis.innerHeight - placeOnPage(root) - taken;
  return room < LEAST_ROOM ? null : room;
}
