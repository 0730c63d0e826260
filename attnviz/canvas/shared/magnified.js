// A page may magnify its pictures: the window's pixels are then larger than the picture's own.

/** @type {WeakMap<Element, number>} what was found last */
const found = new WeakMap();
let unchanged = false;

/**
 * How many of the window's pixels one of the element's own is wide.
 * @param {Element} element
 */
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
