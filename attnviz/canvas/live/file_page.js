// What the files that leave the app have in common: data that stand in them, a theme, a line at their foot.

import { readTheme } from "../shared/colour.js";
import { el } from "../shared/dom.js";
import { decodeBase64, inflate } from "../shared/packing.js";

/** @import { Picture, Words } from "../shared/types.js" */
/** @typedef {{ note: string, link: string | null, words: Record<string, string> }} Foot */

/** The text of an element of the file. @param {string} id */
export function elementText(id) {
  const text = document.getElementById(id)?.textContent;
  if (!text) throw new Error(`this file was cut short: ${id} is missing`);
  return text;
}

/** The text that an element holds packed. @param {string} id */
export const unpackText = async (id) => new TextDecoder().decode(await inflate(decodeBase64(elementText(id))));

/** The bytes that the file carries. */
export const embeddedBytes = () => decodeBase64(elementText("attnviz-heads"));

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
 * A part that opens to what the film of a picture is saved with: as GIF, in the file's own colours.
 * @param {HTMLElement & { picture?: Picture }} root @param {typeof import("../shared/film_menu.js").filmMenu} filmMenu
 * @param {{ title: string, words: Words, film: Words }} file
 */
export function filmPart(root, filmMenu, { title, words, film }) {
  const [section, box, menu] = [el("section", "live-film"), el("details"), el("div", "av-film")];
  box.append(el("summary", "", film.film), menu);
  section.append(box);
  const name = title.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 80) || "attnviz";
  box.addEventListener("toggle", () => {
    const { picture } = root;
    if (!box.open || !picture) return;
    const saving = () => {
      const { dark } = readTheme(root, picture.parts()[0][1].colours);
      const background = /** @type {"dark" | "white"} */ (dark ? "dark" : "white");
      return { name, title: "", caption: words.made, background, bar: true, videoScript: null };
    };
    filmMenu(menu, picture, saving, film);
  });
  return section;
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
