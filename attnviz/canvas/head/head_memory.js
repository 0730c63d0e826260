// Heads that were on show or fetched ahead, so that choosing one of them again draws it at once.

import { sameHead } from "../shared/group.js";

/** @import { Group } from "../shared/group.js" */
/** @import { Source } from "./head_numbers.js" */
/** @import { HeadHeader } from "../shared/types.js" */
/** @typedef {{ header: HeadHeader, source: Source }} KnownHead */

/** Cells kept at most, two or four bytes each. */
const MOST_CELLS = 24e6;
/** Of a head that is kept of a sentence that was read before. */
const LARGEST_KEPT = 512 ** 2;

export class HeadMemory {
  constructor() {
    /** @type {Map<string, KnownHead>} */
    this.heads = new Map();
    this.size = 0;
    this.about = "";
  }

  /** Keeps a head. Other tokens, options or tiles (another model) make all that was kept void. */
  /** @param {KnownHead} head @param {string | null} tiles */
  keep({ header, source }, tiles) {
    if (!header.tile) return;
    const about = [header.doc, header.look, tiles].join();
    if (this.about !== about || this.size > MOST_CELLS) {
      this.heads.clear();
      this.size = 0;
    }
    this.about = about;
    this.heads.set(String(header.tile), { header, source });
    this.size += header.shape[0] * header.shape[1];
  }

  /** The head `wanted` as it was kept, if what is on show now is another head of the same stack. */
  /** @param {HeadHeader} current @param {[number, number] | null} wanted @param {string | null} tiles */
  recall(current, wanted, tiles) {
    if (!tiles || !wanted || !current.tile || sameHead(current.tile, wanted)) return null;
    if (this.about !== [current.doc, current.look, tiles].join()) return null;
    return this.heads.get(String(wanted)) ?? null;
  }
}

/**
 * Notes that a head stands beside the group's tiles: as their sentence is left, for which of the two came first is open.
 * @param {KnownHead} head @param {Group} group
 */
export function keepShown(head, { tiles, shownBefore }) {
  const { header } = head;
  if (!tiles || !header.tile) return;
  const name = [tiles, header.look, header.tile].join();
  shownBefore.delete(name);
  if (header.shape[0] * header.shape[1] <= LARGEST_KEPT) shownBefore.keep(name, head);
}

/** The head of the sentence that the tiles are of, at the place of the one on show. */
/** @param {HeadHeader} current @param {Group} group */
export function knownBefore({ look, tile }, group) {
  return group.shownBefore.get([group.tiles, look, tile].join()) ?? null;
}

/** Whether Python answers about a head that a newer click has left behind; it is not drawn. */
/** @param {HeadHeader} header @param {Group} group @param {{ header: HeadHeader } | null} held */
export function isOvertaken(header, group, held) {
  return held?.header.doc === header.doc && header.tile !== null && !sameHead(header.tile, group.selected);
}
