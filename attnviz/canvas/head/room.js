// How much of the window is left for the pictures of a head.

import { scrollBehaviour } from "../shared/motion.js";
import { setProperty } from "../shared/dom.js";
import { clamp } from "../shared/numbers.js";
import { runSoon } from "../shared/surface.js";
import { asLargeAsBefore, magnification, placeOnPage, presentationRoom } from "../shared/window.js";

/** @import { HeadComponent } from "./head.js" */
/** @typedef {ReturnType<Room["now"]>} Found `many`: more tokens than fit beside the lines */

/** A window that is narrower shows one column. */
const NARROW = 640;
/** With less room than this, what is above must be scrolled away anyhow: the picture gets a screen of its own. */
const LEAST_ROOM = 200;
/** Where a row would be lower than this, tokens are many: the matrix gets the whole width, and a screen of its own. */
const LEAST_ROW = 4;
/** Pixels of Streamlit's bar, which lies over the top of the window. */
const BAR = 60;
/** Air above it. */
const SAID_GAP = 3;
/** Pixels of both beside each other at least, and of the matrix with what changes it. */
const [WIDE, LEAST_MAIN] = [620, 340];
/** Air below the pictures. */
const AIR = 8;
/** Pixels of the lines beside it: they are the quieter of the two. @type {[number, number]} */
const SIDE = [236, 320];

/**
 * How high the matrix may be: what is left of the window where its rows can be seen there, else a window of its own
 * with its controls, else one without them.
 * @param {number} rows
 * @param {number} left pixels below what stands above the matrix
 * @param {number} screen pixels of the window
 * @param {number} taken of a window, by controls and sentence
 * @param {number} below of a window, by the sentence
 * @returns {{ high: number | null, many: boolean }}
 */
export function availableHeight(rows, left, screen, taken, below) {
  const enough = Math.max(LEAST_ROOM, rows * LEAST_ROW);
  const high = [left, screen - taken].find((room) => room >= enough);
  if (high !== undefined) return { high, many: false };
  if (enough > LEAST_ROOM) return { high: screen - below, many: true };
  return { high: null, many: false };
}

/** Whether two rooms are the same, to the pixels that rounding may take. */
/** @param {Found} one @param {Found | null} other */
function isSameRoom(one, other) {
  if (other?.width !== one.width || one.many !== other.many || one.presented !== other.presented) return false;
  if (one.high === null || other.high === null) return one.high === other.high;
  return Math.abs(one.high - other.high) < 1;
}

/** Where the two pictures of a head have their places: side by side where there is room, above each other elsewhere. */
export class Room {
  /** @param {HeadComponent} view */
  constructor(view) {
    this.view = view;
    /** @type {Found | null} */
    this.found = null;
    this.check = runSoon(() => {
      const now = this.now();
      if (now.width !== 0 && !isSameRoom(now, this.found)) this.measure();
    });
    this.apart = runSoon(() => this.use(false), 0);
    /** What is said around pictures that are presented may take another line. */
    this.words = new ResizeObserver(() => this.check());
  }

  /** Draws in the room there is now. @param {boolean} [later] in a task of its own: finding the room may take long enough */
  measure(later = false) {
    this.view.tools.place();
    const now = this.now();
    if (now.width === 0) return;
    this.found = now;
    if (later) this.apart();
    else this.use();
    if (now.presented) this.words.observe(this.view.root);
    else this.words.disconnect();
  }

  /**
   * Draws in the room there was: the same parts with other numbers. Measuring, which costs a layout of the whole page,
   * waits until the picture stands.
   */
  again() {
    if (this.found === null) this.measure();
    else {
      asLargeAsBefore(() => this.use());
      this.check();
    }
  }

  /** The width, and the height for the matrix: null where it does not matter. */
  now() {
    const { root, pair, heatmap, lines, drawn } = this.view;
    const { header } = drawn;
    const width = root.clientWidth;
    if (header.compact) return { width, high: null, many: false };
    const presented = presentationRoom(root);
    if (presented !== null) {
      const below = width >= WIDE ? [] : [lines.stage]; // those are about to be hidden
      const [all, ...drawings] = [root, heatmap.stage, ...below].map((each) => each.getBoundingClientRect().height);
      const others = drawings.reduce((rest, height) => rest - height, all) / magnification(root);
      return { width, high: Math.max(LEAST_ROOM, presented - others - SAID_GAP), many: false, presented: true };
    }
    if (header.edit === null) return { width, high: null, many: false };
    const by = magnification(root);
    const taken = pair.offsetTop + this.view.controls.box.offsetHeight + AIR;
    const left = (globalThis.innerHeight - placeOnPage(root)) / by - taken;
    const screen = (globalThis.innerHeight - BAR) / by;
    return { width, ...availableHeight(header.shape[0], left, screen, taken, AIR) };
  }

  /** Shows the lines, but in the place of what is unfolded, and where a presentation would show half of them. */
  placeLines() {
    const { lines, steps, finder, drawn } = this.view;
    const isCut = this.found?.presented && this.found.width < WIDE;
    setProperty(lines.stage, "hidden", !drawn.header.lines || isCut || steps.possible || finder.painting);
  }

  /** @param {boolean} [lines] whether they are drawn at once, if they are in the window */
  use(lines = true) {
    if (this.found === null) return;
    const { view } = this;
    const { width, high, many, presented = false } = this.found;
    const { header } = view.drawn;
    const beside = header.lines && width >= WIDE && !many;
    view.pair.classList.toggle("av-beside", beside);
    const side = clamp(width * 0.29, ...SIDE);
    view.heatmap.layout(beside ? Math.floor(width - 24 - side) : width, high, presented);
    view.main.style.width = beside ? `${Math.max(LEAST_MAIN, view.heatmap.width)}px` : "";
    this.placeLines();
    view.steps.layout(beside ? width - 25 - Math.max(LEAST_MAIN, view.heatmap.width) : width);
    if (header.lines) {
      // a pixel less: where the page is magnified the width is a rounded one, and the lines would go below
      const left = width - 25 - Math.max(LEAST_MAIN, view.heatmap.width);
      view.lines.layout(beside ? left : width, beside ? view.heatmap.plot : null);
    }
    view.draw(lines);
  }
}

/** On a phone a head stands below the small pictures: who taps one wants to see it. */
/** @param {Element} root @param {boolean} tapped whether a hand chose another head */
export function bringIntoWindow(root, tapped) {
  // asking for the window's width costs a layout, in the frame in which the head is to be drawn
  if (!tapped || !globalThis.matchMedia(`(max-width: ${NARROW}px)`).matches) return;
  const { top } = root.getBoundingClientRect();
  if (top >= 0 && top < globalThis.innerHeight / 2) return;
  root.scrollIntoView({ block: "start", behavior: scrollBehaviour() });
}
