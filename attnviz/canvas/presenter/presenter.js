// The keys of a page and the bar of the presentation mode: next and previous, light or dark, and the way out.
// Python hears how many steps were asked for in all, so that presses which arrive together all count.

import { Sequence, viewComponent } from "../shared/component.js";
import { addButton, createButton, el, focusedElement } from "../shared/dom.js";
import { scrollBehaviour } from "../shared/motion.js";
import { STOPS } from "../shared/window.js";
import { gestureOfKey, isAtFirst, stopAfter } from "./presenter_keys.js";

/** @import { Gesture } from "./presenter_keys.js" */
/** @import { Component, Presented } from "../shared/types.js" */

/** Where a section begins that does not stand at the top of its page. */
const BEGINS = ".st-key-section-begins";
const MAIN = "[data-testid=stMain]";
/** Where a step of a lesson begins. */
const STEP = `${MAIN} h3`;
/** A heading above this share of the window is in sight, with something of its step below it. */
const LOWEST = 0.75;
/** Streamlit's bar, which lies over the window's upper edge. */
const BAR = "[data-testid=stHeader]";
/** Open above the page. */
const OPEN = "[data-testid=stPopoverBody], [role=dialog], [role=listbox], [role=menu]";
/** A picture that has not come after so many milliseconds is not scrolled to. */
const PATIENCE = 8000;
/** A page that has not moved for so many looks stands still. */
const QUIET = 12;
/** Air above a picture, in pixels. */
const ABOVE = 8;

/** Says that what opens from the side is open: presenting.css. */
const DRAWER = "data-drawer";
const openDrawer = () => void document.documentElement.toggleAttribute(DRAWER);

const KEY = Symbol.for("attnviz.presenter");

/**
 * What was asked for, kept beyond a mount: Streamlit may take the component off the page and put it there again with an
 * answer that does not know of the newest press. Also beyond this module, which it may load again.
 */
const shared = /** @type {{ [KEY]?: ReturnType<typeof beginPresenting> }} */ (/** @type {unknown} */ (globalThis));
const storedPresentation = (shared[KEY] ??= beginPresenting());

/** What is kept of a presentation; from now on keys go to the newest presenter. */
function beginPresenting() {
  globalThis.addEventListener("keydown", (event) => storedPresentation.current?.key(event));
  return {
    total: 0,
    gestures: new Sequence(),
    present: false,
    /** whether the last step was one back, which ends where next left: at the last picture of the section before */
    back: false,
    here: "",
    step: "",
    session: "",
    /** @type {{ does: Gesture, page: string }[]} pressed while the component was off the page */
    waiting: [],
    /** @type {Presenter | null} the one that answers keys */
    current: null,
  };
}

class Presenter {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    /** @type {Component<Presented> | null} */
    this.component = null;
    this.waiting = undefined;
    storedPresentation.current = this;
  }

  get given() {
    if (!this.component) throw new Error("nothing has come yet");
    return this.component.data;
  }

  /** @param {Component<Presented>} component */
  show(component) {
    const { data } = component;
    this.component = component;
    document.documentElement.lang = data.language; // for screen readers, and for the shapes of Chinese characters
    const behind = storedPresentation.gestures.isBehind(`${data.session} ${data.page}`, data.ack);
    const renewed = storedPresentation.session !== data.session && storedPresentation.present; // the line was lost, and the link does not say it
    storedPresentation.session = data.session;
    if (renewed && !data.present) this.tell();
    else if (!behind) {
      storedPresentation.total = data.total;
      storedPresentation.present = data.present;
    }
    this.draw();
    this.root.dataset.ready = "true";
    const here = `${data.present} ${data.page} ${data.title}`;
    const whole = !storedPresentation.here.startsWith(`${data.present} ${data.page} `);
    if (here !== storedPresentation.here && data.present)
      this.scrollToFirstPicture(whole, storedPresentation.back && !whole);
    storedPresentation.here = here;
    const step = `${data.page} ${data.title} ${data.place}`;
    const walked =
      data.walks && storedPresentation.step.startsWith(`${data.page} `) && step !== storedPresentation.step;
    if (walked && !data.present) this.beginStep();
    storedPresentation.step = step;
    this.catchUp();
  }

  /**
   * Scrolls to the first picture of what was just opened, and keeps it at the top of the window while the page grows.
   * @param {boolean} whole whether of the whole page, not of a section of it
   * @param {boolean} last whether the last picture instead
   */
  scrollToFirstPicture(whole, last) {
    storedPresentation.back = false;
    this.keep(true, (main) => {
      const section = whole ? main : (document.querySelector(BEGINS) ?? main);
      const stop = presentationStops(section).at(last ? -1 : 0);
      return stop ? stop.getBoundingClientRect().top - ABOVE : null;
    });
  }

  /** Keeps a new step's heading in sight while the step comes: what is taken off the page and put there moves it. */
  beginStep() {
    this.keep(false, () => {
      const heading = document.querySelector(STEP)?.getBoundingClientRect().top;
      const bar = document.querySelector(BAR)?.getBoundingClientRect().bottom ?? 0;
      if (heading === undefined) return null;
      return heading > bar && heading < LOWEST * globalThis.innerHeight ? 0 : heading - bar - 2 * ABOVE;
    });
  }

  /**
   * Keeps something at its place until the page has come and stands still, or until a hand scrolls or presses.
   * @param {boolean} present whether only while the page is presented, or only while it is not
   * @param {(main: Element) => number | null} off how far it is from there, in pixels; null while it is not there yet
   */
  keep(present, off) {
    let still = 0;
    clearInterval(this.waiting);
    const end = performance.now() + PATIENCE;
    const give = () => clearInterval(this.waiting);
    for (const hand of ["wheel", "pointerdown", "keydown"]) globalThis.addEventListener(hand, give, { once: true });
    this.waiting = setInterval(() => {
      const main = document.querySelector(MAIN);
      const pixels = main ? off(main) : null;
      const over = storedPresentation.present !== present || performance.now() > end || still > QUIET;
      if (over) give();
      if (over || !main || pixels === null) return;
      const before = main.scrollTop;
      if (Math.abs(pixels) > 2) main.scrollBy({ top: pixels, behavior: "instant" });
      still = main.scrollTop === before ? still + 1 : 0;
    }, 100);
  }

  draw() {
    const { words, title, place, before, after } = this.given;
    this.root.hidden = !storedPresentation.present;
    document.documentElement.toggleAttribute("data-present", storedPresentation.present); // presenting.css
    document.documentElement.dataset.page = this.given.page;
    const held = focusedElement(this.root)?.getAttribute("data-does");
    const bar = el("div", "av-line pr-bar", null, { role: "toolbar", "aria-label": words.bar });
    const walk = el("div", "av-line pr-walk");
    const stops = presentationStops(document);
    const back = addButton(walk, "‹", words.previous, () => this.walk(-1));
    const on = addButton(walk, "›", words.next, () => this.walk(1));
    back.dataset.does = "previous";
    on.dataset.does = "next";
    on.classList.add("pr-next");
    back.toggleAttribute("disabled", !before && stops.length < 2);
    on.toggleAttribute("disabled", !after && stops.length < 2);
    back.hidden = on.hidden = !before && !after && stops.length < 2;
    walk.append(el("span", "pr-place", place), el("span", "av-strong pr-title", title));
    const ways = el("div", "av-line pr-walk");
    if (document.querySelector(".st-key-drawer")) {
      const drawer = createButton("av-button pr-drawer", words.drawer, () => openDrawer(), { "data-does": "drawer" });
      ways.append(drawer);
    }
    const dark = this.isDark();
    const theme = addButton(ways, dark ? "☀" : "☾", dark ? words.light : words.dark, () => this.switchTheme());
    const leave = addButton(ways, "✕", words.leave, () => this.leave());
    theme.dataset.does = "theme";
    leave.dataset.does = "leave";
    bar.append(walk, ways);
    this.root.replaceChildren(bar);
    const again = held && this.root.querySelector(`[data-does=${held}]`);
    if (again instanceof HTMLElement) again.focus();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!this.component) return;
    const does = gestureOfKey({ ...isKeyForPage(event), present: storedPresentation.present, walks: this.given.walks });
    if (!does) return;
    event.preventDefault();
    if (this.root.isConnected) this.do(does);
    else storedPresentation.waiting.push({ does, page: this.given.page });
  }

  /** @param {Gesture} does */
  do(does) {
    if (does === "toggle") this.set(!storedPresentation.present);
    else if (does === "leave" && document.documentElement.hasAttribute(DRAWER)) openDrawer();
    else if (does === "leave") this.leave();
    else this.walk(does === "next" ? 1 : -1);
  }

  /**
   * The next in one order, and back the same way: the steps of the first picture, the pictures below it, the section that
   * follows.
   * @param {-1 | 1} by
   */
  walk(by) {
    const main = document.querySelector(MAIN);
    const stops =
      storedPresentation.present && main
        ? presentationStops(document).map((stop) => stop.getBoundingClientRect().top)
        : [];
    const { before, after, steps, total } = this.given;
    const stepsOn = by > 0 && steps > storedPresentation.total - total && isAtFirst(stops);
    const stop = main && !stepsOn ? stopAfter(stops, by, scrollRoom(main, by)) : null;
    if (main && stop !== null) {
      main.scrollBy({ top: stop - ABOVE, behavior: scrollBehaviour() });
      return;
    }
    if (by < 0 ? !before : !after) {
      if (storedPresentation.gestures.sent === this.given.ack) return; // nothing is on its way that could have opened one
    }
    storedPresentation.total += by;
    storedPresentation.back = by < 0;
    this.tell();
  }

  leave() {
    if (storedPresentation.present) this.set(false);
  }

  /** @param {boolean} present */
  set(present) {
    storedPresentation.present = present;
    this.draw();
    this.tell();
    if (present) this.scrollToFirstPicture(true, false); // now, and when the presented page has come
  }

  isDark() {
    return getComputedStyle(this.root).colorScheme.includes("dark");
  }

  /** Switches between light and dark, in the address and in Streamlit (serve/before_streamlit.js). */
  switchTheme() {
    const theme = this.isDark() ? "light" : "dark";
    const view = new URL(globalThis.location.href);
    view.searchParams.set("theme", theme);
    globalThis.history.replaceState(globalThis.history.state, "", view);
    document.documentElement.dataset.theme = theme;
    globalThis.dispatchEvent(new Event("attnviz:theme"));
    globalThis.setTimeout(() => this.draw(), 300);
  }

  tell() {
    const stood = {
      seq: storedPresentation.gestures.next(),
      total: storedPresentation.total,
      present: storedPresentation.present,
    };
    this.component?.setStateValue("stood", stood);
  }

  /** Does what was asked for while it was off the page; what another page was asked for is forgotten. */
  catchUp() {
    const { page } = this.given;
    for (const asked of storedPresentation.waiting.splice(0)) if (asked.page === page) this.do(asked.does);
  }
}

/** @param {KeyboardEvent} event */
function isKeyForPage(event) {
  const path = event.composedPath().filter((node) => node instanceof Element);
  return {
    key: event.key,
    taken: event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey,
    open: document.querySelector(OPEN) !== null,
    within: (/** @type {string} */ selector) => path.some((node) => node.matches(selector)),
  };
}

/** @param {Element} main @param {-1 | 1} by */
function scrollRoom({ scrollTop, scrollHeight, clientHeight }, by) {
  return by > 0 ? scrollHeight - clientHeight - scrollTop : scrollTop;
}

/** Pictures that fill the window: next goes to the one below before it leaves the page. @param {ParentNode} page */
function presentationStops(page) {
  return [...page.querySelectorAll(STOPS)].filter((stop) => stop.getClientRects().length > 0);
}

export default viewComponent(Presenter);
