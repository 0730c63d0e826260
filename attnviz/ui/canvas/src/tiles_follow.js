// All heads' small pictures under the visitor's mask and scale, where all heads' scores are here.

import { attend } from "./attend.js";
import { changes, editFor, factorOf, maskOf } from "./edit.js";
import { thumbnail } from "./tiles.js";

/** @import { Group } from "./group.js" */
/** @import { Tile } from "./mosaic_geometry.js" */

/** Cells of a small picture along one side, as packing.THUMBNAIL_SIDE. */
const SIDE = 32;
/** Sentences up to so many tokens follow in every frame. */
const EVERY_FRAME = 32;
/** Longer ones follow when so many milliseconds have gone by. */
const PAUSE = 80;

/**
 * The codes of all tiles: as they came, but for those of heads that the edit reaches.
 * @param {Group} group
 * @param {Tile[]} tiles
 * @param {Uint8Array} own as they came
 */
export function editedTiles({ all, edit, selected, peeking }, tiles, own) {
  if (!all || peeking || edit.seen === "before" || !changes(edit)) return own;
  const codes = own.slice();
  const size = own.length / tiles.length;
  /** @type {Float32Array | undefined} */
  let weights;
  tiles.forEach(({ layer, head }, i) => {
    if (!changes(editFor(edit, [layer, head], selected))) return;
    const raw = all.head([layer, head]);
    if (!raw?.exact) return;
    const mask = maskOf(edit, raw);
    weights = attend(raw, mask, factorOf(edit, raw), weights);
    thumbnail(weights, mask, raw.shape, SIDE, codes.subarray(i * size, (i + 1) * size));
  });
  return codes;
}

/**
 * A function that has the tiles drawn: in each frame for short sentences, else after a pause.
 * @param {() => void} draw
 */
export function atItsPace(draw) {
  let asked = 0;
  let waiting = 0;
  return (/** @type {number} */ tokens) => {
    if (tokens <= EVERY_FRAME) {
      asked ||= requestAnimationFrame(() => {
        asked = 0;
        draw();
      });
    } else {
      waiting ||= window.setTimeout(() => {
        waiting = 0;
        draw();
      }, PAUSE);
    }
  };
}
