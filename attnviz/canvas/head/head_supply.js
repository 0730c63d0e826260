// Heads that are asked for before Python answers a click: those here are drawn at once. Others are fetched ahead: the one that
// is pointed at, then its neighbours, while it is pointed at.

import { fetched } from "../shared/all_heads.js";
import { sameHead } from "../shared/group.js";
import { readHeader } from "../shared/packing.js";
import { pause } from "../shared/surface.js";
import { fromAll, sourceOf } from "./head_numbers.js";

/** @import { HeadComponent } from "./head.js" */
/** @import { Source } from "./head_numbers.js" */
/** @import { HeadHeader } from "../shared/types.js" */
/** @import { Group } from "../shared/group.js" */
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

export class HeadSupply {
  /** @param {HeadComponent} view */
  constructor(view) {
    this.view = view;
    /** @type {Map<string, Promise<void>>} heads that are being fetched */
    this.asking = new Map();
  }

  /**
   * Asks the server for a head: it is here before the script that a click starts has run.
   * @param {[number, number] | null} tile
   * @returns {Promise<void>} until it has come, or is here or asked for already
   */
  async fetch(tile) {
    const header = this.view.held?.header;
    const name = String(tile);
    if (!header?.ahead || !tile || this.view.memory.heads.has(name)) return;
    if (sameHead(header.tile, tile) || fromAll(header, this.view.drawn.group, tile)) return;
    const asking = this.asking.get(name) ?? this.ask(`${header.ahead}/${tile.join(".")}`);
    this.asking.set(name, asking);
    await asking;
    this.asking.delete(name);
  }

  /** @param {string} address */
  async ask(address) {
    await fetched(address, globalThis.fetch, async (bytes) => {
      const [fresh, payload] = /** @type {[HeadHeader, Uint8Array]} */ (readHeader(bytes));
      const source = await sourceOf(fresh, payload);
      const { group, header: now } = this.view.drawn;
      if (fresh.doc !== now.doc || fresh.look !== now.look) return;
      this.view.memory.keep({ header: fresh, source }, group.tiles);
      this.recall();
    });
  }

  /** Draws the head that was just chosen, if it is known. */
  recall() {
    const { header, group } = this.view.drawn;
    this.bring(this.view.memory.recall(header, group.selected, group.tiles) ?? fromAll(header, group));
  }

  /** @param {{ header: HeadHeader, source: Source } | null} known */
  bring(known) {
    if (!known) return;
    const { header } = this.view.drawn;
    const { session, words, edit, editName, over } = header;
    this.view.take({ ...known.header, session, words, edit, editName, over, pins: null }, known.source, false);
  }
}

/** @typedef {[number, number]} Tile layer and head */

/**
 * The heads around one, those of its own layer first, as far as they exist.
 * @param {Tile} tile
 * @param {number[]} counts heads of each layer
 * @returns {Tile[]}
 */
export function neighbours([layer, head], counts) {
  /** @type {Tile[]} */
  const around = [
    [layer, head + 1],
    [layer, head - 1],
    [layer + 1, head],
    [layer - 1, head],
  ];
  return around.filter(([l, h]) => h >= 0 && h < (counts[l] ?? 0));
}

/**
 * Fetches the head that is pointed at and, if the hand stays there, the heads around it, one at a time.
 * @param {{ pointed: Tile | null, counts: number[] }} group @param {(tile: Tile) => Promise<void>} get
 * @param {() => Promise<unknown>} rest a while in which a hand that only passes by is gone
 */
export async function fetchAround(group, get, rest = () => pause(150)) {
  const at = group.pointed;
  if (!at) return;
  await get(at);
  await rest();
  for (const near of neighbours(at, group.counts)) {
    if (group.pointed !== at) return;
    await get(near);
  }
}
