// One picture of ribbons becomes another: marks go to where those of their keys will be, and the matrix opens from the row.

import { marksBetween } from "../scene/glide.js";
import { mixPixels } from "../shared/colour.js";

/** @import { Box, Mark } from "./ribbons_marks.js" */
/** @import { Scene } from "./ribbons_scene.js" */

/** Milliseconds in which the matrix unfolds; the shares of the way until labels have left, and from which they come. */
const [UNFOLDING, GONE, BACK] = [600, 0.25, 0.75];
/** Ribbons become the row before the others come out of it, and back: when each goes, a little of it together. */
const EARLY = (/** @type {number} */ share) => Math.min(1, share / 0.62);
const LATE = (/** @type {number} */ share) => Math.max(0, (share - 0.5) / 0.5);
const same = (/** @type {number} */ share) => share;

/** @param {Scene} from @param {Scene} to @returns {((share: number) => Scene) & { milliseconds?: number }} */
export function scenesBetween(from, to) {
  const texts = new Map([...from.marks, ...to.marks].map((mark) => [mark.key, "text" in mark ? mark.text : ""]));
  const isUnfolding = !from.cells !== !to.cells; // labels would cross each other: they leave where they stand, and come
  const moving = (/** @type {Mark} */ { kind }) => !isUnfolding || kind !== "text";
  const [leaving, coming] = [from, to].map(({ marks }) => marks.filter((mark) => !moving(mark)));
  const [begin, end] = [from, to].map(({ marks }) => marks.filter(moving));
  const ends = [withGrid(begin, end), withGrid(end, begin)];
  const [grid, others] = [true, false].map((isGrid) => {
    const [one, other] = ends.map((marks) => marks.filter(({ kind }) => (kind === "grid") === isGrid));
    return marksBetween(one, other);
  });
  const [first, second] = isUnfolding ? [EARLY, LATE] : [same, same];
  const [gridAt, othersAt] = to.cells ? [second, first] : [first, second];
  const at = (/** @type {number} */ share) => [...grid(gridAt(share)), ...others(othersAt(share))];
  const faded = (/** @type {Mark[]} */ marks, /** @type {number} */ strength) =>
    strength > 0 ? marks.map((mark) => ({ ...mark, alpha: mark.alpha * strength })) : [];
  const scene = (/** @type {number} */ share) => ({
    ...to,
    height: from.height + share * (to.height - from.height),
    room: Math.max(from.height, to.height), // a canvas that grew in each frame would be made anew in each
    marks: [
      ...at(share).map((mark) => ("text" in mark ? { ...mark, text: texts.get(mark.key) ?? "" } : mark)),
      ...faded(leaving, 1 - share / GONE),
      ...faded(coming, (share - BACK) / (1 - BACK)),
    ],
    cells: share < 1 ? from.cells : to.cells, // who turns back on the way folds what has unfolded so far
    pixels: mixed(from, to, share),
    columns: to.pixels ? to.columns : from.columns,
  });
  return Object.assign(scene, isUnfolding ? { milliseconds: UNFOLDING } : {});
}

/** Marks, and the matrix of the other picture where it comes from: out of the row that is framed. @param {Mark[]} marks @param {Mark[]} others @returns {Mark[]} */
function withGrid(marks, others) {
  const [frame, grid] = ["frame", "grid"].map((name) => others.find(({ key }) => key === name));
  const isAdded = frame && grid && !marks.some(({ key }) => key === "grid");
  return isAdded ? [...marks, { .../** @type {Box} */ (frame), key: "grid", kind: "grid", alpha: 0 }] : marks;
}

/** @param {Scene} from @param {Scene} to @param {number} share */
function mixed({ pixels: from }, { pixels: to }, share) {
  if (!from || !to || from.length !== to.length) return to ?? from;
  return to.map((pixel, i) => (pixel === from[i] ? pixel : mixPixels(from[i], pixel, Math.round(256 * share))));
}
