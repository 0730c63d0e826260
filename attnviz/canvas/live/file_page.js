// What the files that leave the app have in common: data that stand in them, a theme, a line at their foot.

import { el } from "../shared/dom.js";
import { bytesOf } from "../shared/packing.js";

/** @typedef {{ note: string, link: string | null, words: Record<string, string> }} Foot */

/** The text of an element of the file. @param {string} id */
export function textOf(id) {
  const text = document.getElementById(id)?.textContent;
  if (!text) throw new Error(`this file was cut short: ${id} is missing`);
  return text;
}

/** The bytes that the file carries. */
export const bytesInFile = () => bytesOf(textOf("attnviz-heads"));

/** Fills the file with these parts and a line at their foot. @param {Element[]} parts @param {Foot} view */
export function fillFile(parts, { note, link, words }) {
  const main = document.getElementById("attnviz");
  if (!main) throw new Error("this file was cut short");
  const foot = el("footer", "live-foot", note ? `${note} ` : "");
  if (link) foot.append(el("a", "", words.open, { href: link, target: "_blank", rel: "noopener" }), " · ");
  foot.append(words.made);
  main.append(...parts, foot);
}

/**
 * Begins with the theme that the address asks for, else the file's own choice; "auto" follows the system. The file's fonts
 * are loaded first: a canvas that needs one before writes in another, of other widths, and does not write again.
 * @param {() => Promise<void>} start
 */
export function begin(start) {
  const asked = /[?#&]theme=(light|dark|auto)\b/.exec(location.href)?.[1];
  if (asked) document.documentElement.dataset.theme = asked;
  const loaded = Promise.allSettled([...document.fonts].map((font) => font.load()));
  loaded.then(start).catch((problem) => {
    document.body.append(el("p", "live-problem", problem instanceof Error ? problem.message : String(problem)));
  });
}

/** Draws again when the system turns light or dark. @param {() => void} draw */
export function onOtherTheme(draw) {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
}
