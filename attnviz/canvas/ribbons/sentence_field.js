// The field that the sentence is typed in: the page lays it over the words, where it is seen while it has the keyboard.

/** @import { Scene } from "./ribbons_scene.js" */

/** What the page holds picture and field in. */
const BOX = ".st-key-main-picture";
/** Pixels of half of the field, which stands on top where the words have become a matrix. */
const HALF = 24;

/** The box of the field, where the page has one. @param {HTMLElement} root */
function boxOf(root) {
  const host = root.getRootNode();
  const box = host instanceof ShadowRoot ? host.host.closest(BOX) : null;
  return box instanceof HTMLElement && box.querySelector("input") ? box : null;
}

/** Says where the line of the touched word is, and gives it back on Enter and Escape; answers whether there is a field. */
/** @param {HTMLElement} root @param {Scene} scene @param {number} word */
export function placeField(root, { layout, cells }, word) {
  const box = boxOf(root);
  const field = box?.querySelector("input");
  if (!box || !field) return false;
  const middle = cells ? HALF : layout.top(layout.words[word].line) + layout.line / 2;
  box.style.setProperty("--words-middle", `${Math.round(middle)}px`);
  box.style.setProperty("--words-size", `${Math.round(0.9 * layout.size)}px`);
  field.onkeydown = ({ key }) => {
    if (key === "Enter" || key === "Escape") setTimeout(() => field.blur());
  };
  return true;
}

/** Lets the sentence be typed where it stands. @param {HTMLElement} root */
export function writeSentence(root) {
  const field = boxOf(root)?.querySelector("input");
  field?.focus();
  field?.select();
}
