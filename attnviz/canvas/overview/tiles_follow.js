// All heads' small pictures under the visitor's mask and scale, where all heads' scores are here.

import { attend } from "../shared/attend.js";
import { inflate } from "../shared/blob.js";
import { changes, editFor, factorOf, maskOf } from "../shared/edit.js";
import { tell } from "../shared/group.js";
import { thumbnail } from "./tiles.js";

/** @import { Group } from "../shared/group.js" */
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
export function editedTiles(group, tiles, own) {
  const { all, edit, selected, peeking } = group;
  if (peeking || edit.seen === "before" || !changes(edit)) return own;
  if (!all) return sentTiles(group, own.length) ?? own;
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
 * The tiles that the server computed when the hand last let go, where they are of this picture.
 * @param {Group} group
 * @param {number} size
 */
function sentTiles({ edited, edit, selected, doc, tiles }, size) {
  if (edited?.doc !== doc || edited.tiles !== tiles || edited.codes.length !== size) return null;
  return changes(editFor(edit, edited.at, selected)) ? edited.codes : null;
}

/** @type {WeakMap<Group, string>} the address that was asked last, for each group */
const wanted = new WeakMap();

/**
 * Fetches the tiles of a sentence whose scores are not all here, under the change that Python has heard of.
 * @param {Group} group
 * @param {string | null} address
 * @param {[number, number]} at the head that was on show
 * @param {(address: string) => Promise<Response>} get
 */
export async function bringEditedTiles(group, address, at, get = (from) => fetch(from)) {
  if (!address) {
    wanted.delete(group);
    group.edited = null;
  }
  if (!address || wanted.get(group) === address) return;
  wanted.set(group, address);
  const { doc, tiles } = group;
  try {
    const answer = await get(address);
    if (!answer.ok || !answer.headers.get("content-type")?.startsWith("application/octet-stream")) return;
    const codes = await inflate(new Uint8Array(await answer.arrayBuffer()));
    if (wanted.get(group) !== address) return;
    group.edited = { at, codes, doc, tiles };
    tell(group, "all");
  } catch {
    // no server at the other end: the tiles stay as the model has them
  }
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
