// Heads that are asked for before Python answers a click: those here are drawn at once. Others are fetched ahead: the one that
// is pointed at, then its neighbours, while it is pointed at.

import { fetched } from "../shared/all_heads.js";
import { sameHead } from "../shared/group.js";
import { fromAll, sourceOf } from "./head_numbers.js";
import { readHeader } from "../shared/packing.js";
import { pause } from "../shared/surface.js";

/** @import { HeadView } from "./head.js" */
/** @import { Source } from "./head_numbers.js" */
/** @import { HeadHeader } from "../shared/types.js" */

export class HeadSupply {
  /** @param {HeadView} view */
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
