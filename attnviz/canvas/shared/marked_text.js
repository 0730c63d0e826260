// Names of tokens in a sentence, marked so that they are written in the colours of their side.

import { el } from "./dom.js";

/** @import { Axis } from "./types.js" */

/** Letters that no font has, around a token: whose colour it has. */
const MARKS = { q: "\uE000", k: "\uE001", end: "\uE002" };

/** @param {Axis} axis @param {string} text */
export const markToken = (axis, text) => `${MARKS[axis]}${text}${MARKS.end}`;

/** A sentence without the marks of its tokens. @param {string} text */
export const unmarked = (text) => text.replace(/[\uE000-\uE002]/g, "");

/** Writes a sentence whose marked tokens have their colours; answers whether it is another one. */
/** @param {HTMLElement} node @param {string} text */
export function setMarkedText(node, text) {
  if (node.dataset.text === text) return false;
  node.dataset.text = text;
  const parts = text.split(/([\uE000\uE001][^\uE002]*\uE002|\n)/);
  node.replaceChildren(
    ...parts.map((part) => {
      if (part === "\n") return el("br");
      if (!/^[\uE000\uE001]/.test(part)) return document.createTextNode(unmarked(part));
      return el("b", part[0] === MARKS.q ? "av-name-q" : "av-name-k", unmarked(part));
    }),
  );
  return true;
}
