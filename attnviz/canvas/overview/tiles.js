// All heads' small pictures from their weights, as Python's packing.thumbnails makes them: the largest weight of each block; and
// under the visitor's mask and scale, where all heads' scores are here.

import { fetchBytes, noteArrival } from "../shared/raw_scores.js";
import { attend } from "../shared/attend.js";
import { isEdited, editFor, scaleFactor, editedMask } from "../shared/edit.js";
import { tell } from "../shared/group.js";
import { inflate, MASKED_8 } from "../shared/packing.js";
import { oncePerFrame, pause } from "../shared/surface.js";

/** @import { Group } from "../shared/group.js" */
/** @import { Tile } from "./mosaic_geometry.js" */
/** @import { Shape } from "../shared/types.js" */
/** @typedef {Pick<Group, "all" | "doc" | "edit" | "edited" | "peeking" | "selected" | "tiles">} Edited what tells how tiles are changed */

/**
 * Codes of a picture of at most `side` x `side` cells; a cell is masked only where all it covers is.
 * @param {Float32Array} weights (Q, K), between 0 and 1
 * @param {Uint8Array | null} mask 1 = may attend; null = everywhere
 * @param {Shape} shape @param {number} side
 * @param {Uint8Array} [tile] where it is written
 */
export function thumbnail(weights, mask, [nq, nk], side, tile) {
  const [rows, cols] = [Math.min(nq, side), Math.min(nk, side)];
  const codes = tile ?? new Uint8Array(rows * cols);
  const largest = new Float32Array(rows * cols).fill(-1);
  const place = blockOfPosition(nk, cols);
  for (let r = 0; r < rows; r++) {
    for (let q = Math.floor((r * nq) / rows); q < Math.floor(((r + 1) * nq) / rows); q++) {
      for (let k = 0; k < nk; k++) {
        const i = q * nk + k;
        const at = r * cols + place[k];
        if ((mask === null || mask[i] === 1) && weights[i] > largest[at]) largest[at] = weights[i];
      }
    }
  }
  largest.forEach((weight, i) => {
    codes[i] = weight < 0 ? MASKED_8 : Math.round(Math.fround(Math.sqrt(Math.min(1, weight))) * 254);
  });
  return codes;
}

/** The block that each position lies in. @param {number} n @param {number} blocks */
function blockOfPosition(n, blocks) {
  const place = new Uint16Array(n);
  for (let b = 0; b < blocks; b++) {
    place.fill(b, Math.floor((b * n) / blocks), Math.floor(((b + 1) * n) / blocks));
  }
  return place;
}

/** Cells of a small picture along one side, as packing.THUMBNAIL_SIDE. */
export const SIDE = 32;
/** Sentences up to so many tokens follow in every frame. */
const EVERY_FRAME = 32;
/** Longer ones follow when so many milliseconds have gone by. */
const PAUSE = 80;
/** Milliseconds of a task at most: a frame has 16. */
const TASK = 8;

/** The codes of all tiles: as they came, but for those of heads that the edit reaches. */
/** @param {Edited} group @param {Tile[]} tiles @param {Uint8Array} own as they came */
export function editTiles(group, tiles, own) {
  const making = editTileByTile(group, tiles, own);
  for (;;) {
    const made = making.next();
    if (made.done) return made.value;
  }
}

/** The same, for long sentences in tasks that let a frame be drawn in between. */
/** @param {Edited} group @param {Tile[]} tiles @param {Uint8Array} own @param {number} task milliseconds at most */
export async function editTilesInTasks(group, tiles, own, task = TASK) {
  const making = editTileByTile(group, tiles, own);
  for (let end = performance.now() + task; ;) {
    const made = making.next();
    if (made.done) return made.value;
    if (performance.now() < end) continue;
    await pause(0);
    end = performance.now() + task;
  }
}

/** @param {Edited} group @param {Tile[]} tiles @param {Uint8Array} own @returns {Generator<void, Uint8Array>} */
function* editTileByTile(group, tiles, own) {
  const { all, edit, selected, peeking } = group;
  if (peeking || edit.seen === "before" || !isEdited(edit)) return own;
  if (!all) return receivedTiles(group, own.length) ?? own;
  const codes = own.slice();
  const size = own.length / tiles.length;
  let weights;
  for (const [i, { layer, head }] of tiles.entries()) {
    if (!isEdited(editFor(edit, [layer, head], selected))) continue;
    const raw = all.head([layer, head]);
    if (!raw?.exact) continue;
    const mask = editedMask(edit, raw);
    weights = attend(raw, mask, scaleFactor(edit, raw), weights);
    thumbnail(weights, mask, raw.shape, SIDE, codes.subarray(i * size, (i + 1) * size));
    yield;
  }
  return codes;
}

/**
 * The tiles that the server computed when the hand last let go, where they are of this picture. Those that were asked for
 * before the page had any picture of all heads are of its first.
 * @param {Edited} group @param {number} size
 */
function receivedTiles({ edited, edit, selected, doc, tiles }, size) {
  if (edited?.doc !== doc || (edited.tiles ?? tiles) !== tiles || edited.codes.length !== size) return null;
  return isEdited(editFor(edit, edited.at, selected)) ? edited.codes : null;
}

/** @type {WeakMap<Group, string>} the address that was asked last, for each group */
const wanted = new WeakMap();

/**
 * Fetches the tiles of a sentence whose scores are not all here, under the change that Python has heard of.
 * @param {Group} group @param {string | null} address
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
  await noteArrival(group, async () => {
    const codes = await fetchBytes(address, get, inflate);
    if (codes === null || wanted.get(group) !== address) return;
    group.edited = { at, codes, doc, tiles };
    tell(group, "all");
  });
}

/**
 * A function that has the tiles drawn: in each frame for short sentences, else after a pause, one time after the other.
 * Its `ready` waits until no drawing is due.
 * @param {() => void} draw @param {() => Promise<void>} drawInTasks
 */
export function drawAtPace(draw, drawInTasks) {
  const soonest = oncePerFrame(draw);
  let waiting = false;
  let last = Promise.resolve();
  const later = async () => {
    await pause(PAUSE);
    waiting = false;
    await drawInTasks();
  };
  const follow = (/** @type {number} */ tokens) => {
    if (tokens <= EVERY_FRAME) soonest();
    else if (!waiting) {
      waiting = true;
      last = last.then(later, later);
    }
  };
  follow.ready = async () => {
    let seen;
    do {
      seen = last;
      await seen.catch(() => {});
    } while (seen !== last);
  };
  return follow;
}
