// How much of the window is left for the pictures of a head.

import { magnification } from "./magnified.js";
import { scrolling } from "./motion.js";
import { soon } from "./surface.js";

/** @import { HeadView } from "./head.js" */

/** A window that is narrower shows one column. */
const NARROW = 640;
/** With less room than this, what is above must be scrolled away anyhow. */
const LEAST_ROOM = 200;
/** Pixels that the sentence below the pictures takes. */
const SENTENCE = 34;

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

/** Where the two pictures of a head have their places: side by side where there is room, above each other elsewhere. */
export class Room {
  /** @param {HeadView} view */
  constructor(view) {
    this.view = view;
    /** @type {{ width: number, high: number | null } | null} */
    this.found = null;
    this.check = soon(() => {
      const { width, high } = this.now();
      if (width !== 0 && (width !== this.found?.width || high !== this.found.high)) this.measure();
    });
  }

  /** Draws in the room there is now. */
  measure() {
    const now = this.now();
    if (now.width === 0) return;
    this.found = now;
    this.use();
  }

  /**
   * Draws in the room there was: the same parts with other numbers. Measuring, which costs a layout of the whole page,
   * waits until the picture stands.
   */
  again() {
    if (this.found === null) this.measure();
    else {
      this.use();
      this.check();
    }
  }

  /** The width, and the height that is left of the window for the matrix: null where none is to be spared. */
  now() {
    const { root, pair, drawn } = this.view;
    const { header } = drawn;
    const width = root.clientWidth;
    if (header.edit === null || header.compact) return { width, high: null };
    const taken = pair.offsetTop + (header.sentence === null ? 8 : SENTENCE);
    const left = (globalThis.innerHeight - placeOnPage(root)) / magnification(root) - taken;
    return { width, high: left < LEAST_ROOM ? null : left };
  }

  use() {
    if (this.found === null) return;
    const { view } = this;
    const { width, high } = this.found;
    const { lines } = view.drawn.header;
    const beside = lines && width >= 700;
    view.pair.classList.toggle("av-beside", beside);
    view.heatmap.layout(beside ? Math.floor((width - 24) * 0.56) : width, high);
    if (lines) {
      view.lines.layout(beside ? width - 24 - view.heatmap.width : width, beside ? view.heatmap.plot : null);
    }
    view.draw();
  }
}

/**
 * On a phone a head stands below the small pictures: who taps one wants to see it.
 * @param {Element} root
 * @param {boolean} tapped whether a hand chose another head
 */
export function bringIntoWindow(root, tapped) {
  const { innerWidth, innerHeight } = globalThis;
  if (!tapped || innerWidth > NARROW) return;
  const { top } = root.getBoundingClientRect();
  if (top >= 0 && top < innerHeight / 2) return;
  root.scrollIntoView({ block: "start", behavior: scrolling() });
}
