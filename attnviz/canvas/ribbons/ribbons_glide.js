// One picture of ribbons becomes another: marks go to where those of their keys will be, and the matrix opens from the row.

import { marksBetween } from "../scene/glide.js";
import { mixPixels } from "../shared/colour.js";

/** @import { Box, Mark, Scene } from "./ribbons_scene.js" */

/** @param {Scene} from @param {Scene} to @returns {(share: number) => Scene} */
export function scenesBetween(from, to) {
  const texts = new Map([...from.marks, ...to.marks].map((mark) => [mark.key, "text" in mark ? mark.text : ""]));
  const way = marksBetween(withEnds(from.marks, to.marks), withEnds(to.marks, from.marks));
  return (share) => ({
    ...to,
    height: from.height + share * (to.height - from.height),
    marks: way(share).map((mark) => ("text" in mark ? { ...mark, text: texts.get(mark.key) ?? "" } : mark)),
    pixels: mixed(from, to, share),
    columns: to.pixels ? to.columns : from.columns,
  });
}

/** Marks, and those that only the other picture has where they come from: the matrix out of its row, names of rows out of words. */
/** @param {Mark[]} marks @param {Mark[]} others @returns {Mark[]} */
function withEnds(marks, others) {
  const own = new Map(marks.map((mark) => [mark.key, mark]));
  const frame = others.find(({ key }) => key === "frame");
  /** @type {Mark[]} */
  const added = [];
  for (const { key, kind } of others) {
    const word = !own.has(key) && key.startsWith("row ") && own.get(key.replace("row", "word"));
    if (word) added.push({ ...word, key, alpha: 0 });
    if (kind === "grid" && !own.has(key) && frame) added.push({ .../** @type {Box} */ (frame), key, kind, alpha: 0 });
  }
  return [...marks, ...added];
}

/** @param {Scene} from @param {Scene} to @param {number} share */
function mixed({ pixels: from }, { pixels: to }, share) {
  if (!from || !to || from.length !== to.length) return to ?? from;
  return to.map((pixel, i) => (pixel === from[i] ? pixel : mixPixels(from[i], pixel, Math.round(256 * share))));
}
