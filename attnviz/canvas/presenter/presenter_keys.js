// Which key means what, and which picture comes next. Nothing here draws.

/** @typedef {"next" | "previous" | "toggle" | "leave"} Gesture */

/** What answers keys itself: in there an arrow moves something else. */
const OWN_KEYS =
  "input, textarea, select, [contenteditable=true], [role=slider], [role=radiogroup], [role=tablist], [role=listbox], " +
  "[role=menu], [role=grid], [role=combobox], [role=application]";
const TYPING = "input:not([type=range], [type=checkbox], [type=radio]), textarea, select, [contenteditable=true]";

/** @type {Record<string, Gesture>} */
const ALWAYS = { ArrowRight: "next", ArrowLeft: "previous" };
/** The keys of a remote control, too. @type {Record<string, Gesture>} */
const PRESENTING = { ...ALWAYS, PageDown: "next", PageUp: "previous" };

/**
 * @typedef {object} Pressed
 * @property {string} key
 * @property {boolean} taken whether something has answered it, or it means something to the browser
 * @property {boolean} open whether something is open above the page, which Escape closes first
 * @property {boolean} present whether the presentation mode is on
 * @property {boolean} walks whether arrows walk this page outside of it, too
 * @property {(selector: string) => boolean} within whether it was pressed inside of such an element
 */

/** What a key asks for; null where it belongs to something else. @param {Pressed} pressed @returns {Gesture | null} */
export function gestureOfKey({ key, taken, open, present, walks, within }) {
  if (taken || within(TYPING)) return null;
  if (key === "Escape") return present && !open ? "leave" : null;
  if (key === "p") return "toggle";
  const keys = present ? PRESENTING : walks ? ALWAYS : {};
  if (!(key in keys)) return null;
  return key.startsWith("Arrow") && within(OWN_KEYS) ? null : keys[key];
}

/** Pictures whose tops are this near to each other stand side by side, in pixels; one so near to the window's is there. */
const NEAR = 70;

/** Whether the page stands at the first of its pictures. @param {number[]} tops of the pictures, below the window's top */
export function isAtFirst(tops) {
  return Math.min(...tops) > -NEAR;
}

/**
 * How far to scroll to the next picture; null where there is none on this side, or where the page ends before it.
 * @param {number[]} tops of the pictures, below the window's top
 * @param {-1 | 1} by
 * @param {number} room how far the page can still be scrolled to this side
 */
export function stopAfter(tops, by, room) {
  if (tops.length < 2 || room < 2) return null;
  const beyond = tops.filter((top) => (by > 0 ? top > NEAR : top < -NEAR));
  if (!beyond.length) return null;
  return by > 0 ? Math.min(...beyond) : Math.max(...beyond);
}
