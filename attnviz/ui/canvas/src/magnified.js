// A page may magnify its pictures: the window's pixels are then larger than the picture's own.

/**
 * How many of the window's pixels one of the element's own is wide.
 * @param {Element} element
 */
export function magnification(element) {
  return element.currentCSSZoom ?? 1;
}

/**
 * Where a pointer is on an element, in the element's own pixels.
 * @param {Element} element
 * @param {{ clientX: number, clientY: number }} event
 * @returns {[number, number]}
 */
export function placeOn(element, { clientX, clientY }) {
  const { left, top } = element.getBoundingClientRect();
  const by = magnification(element);
  return [(clientX - left) / by, (clientY - top) / by];
}

/**
 * Pixels of the screen for one of the element's own.
 * @param {Element} element
 */
export function sharpness(element) {
  return (globalThis.devicePixelRatio || 1) * magnification(element);
}
