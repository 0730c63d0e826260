// Heads that are asked for before Python answers a click: those here are drawn at once. Others are fetched ahead: the one that
// is pointed at, then its neighbours, while it is pointed at.

import { fetchBytes } from "../shared/raw_scores.js";
import { isSameHead } from "../shared/group.js";
import { readHeader } from "../shared/packing.js";
import { pause } from "../shared/surface.js";
import { otherHeadHeader, readSource } from "./head_numbers.js";

/** @import { HeadComponent } from "./head.js" */
/** @import { Source } from "./head_numbers.js" */
/** @import { HeadHeader } from "../shared/types.js" */
/** @typedef {{ header: HeadHeader, source: Source }} KnownHead */
/** @typedef {[number, number]} Tile layer and head */

/** Cells kept at most, two or four bytes each. */
const MOST_CELLS = 24e6;
/** Of a head that is kept of a sentence that was read before. */
const LARGEST_KEPT = 512 ** 2;

export class HeadSupply {
  /** @type {Map<string, KnownHead>} heads that were on show or fetched ahead, of the tokens, options and tiles that `about` names */
  heads = new Map();
  size = 0;
  about = "";
  /** @type {Map<string, Promise<void>>} heads that are being fetched */
  asking = new Map();

  /** @param {HeadComponent} view */
  constructor(view) {
    this.view = view;
  }

  /** Keeps a head. Other tokens, options or tiles (another model) make all that was kept void. */
  /** @param {HeadHeader} header @param {Source} source @param {string | null} tiles */
  keep(header, source, tiles) {
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

  /** Another head than the one on show, if it is here. @param {Tile | null} tile @returns {KnownHead | null} */
  known(tile) {
    const { header, group } = this.view.drawn;
    if (!tile || !header.tile || isSameHead(header.tile, tile)) return null;
    const isSame = group.tiles && this.about === [header.doc, header.look, group.tiles].join();
    return (isSame && this.heads.get(String(tile))) || this.fromAll(tile);
  }

  /**
   * A head from among all heads of the sentence, where these look as the one on show does. Its scores have 16 bits, so that
   * read-outs have fewer digits until the head itself has come.
   * @param {Tile} tile
   */
  fromAll(tile) {
    const { header, group, source } = this.view.drawn;
    const { all } = group;
    if (!("raw" in source) || source.how.norms !== null) return null;
    if (all?.doc !== header.doc || all.from !== header.every) return null; // another model may have the same tokens
    const raw = all.head(tile);
    const mine = { ...otherHeadHeader(header, tile), data: `all ${tile}`, coarse: true };
    return raw && { header: mine, source: { raw, how: source.how } };
  }

  /** Asks the server for a head: it is here before the script that a click starts has run. */
  /** @param {Tile | null} tile @returns {Promise<void>} until it has come, or is here or asked for already */
  async fetch(tile) {
    const header = this.view.held?.header;
    if (!header?.ahead || !tile || isSameHead(header.tile, tile) || this.known(tile)) return;
    const name = String(tile);
    const asking = this.asking.get(name) ?? this.ask(`${header.ahead}/${tile.join(".")}`);
    this.asking.set(name, asking);
    await asking;
    this.asking.delete(name);
  }

  /** @param {string} address */
  async ask(address) {
    await fetchBytes(address, globalThis.fetch, async (bytes) => {
      const [fresh, payload] = /** @type {[HeadHeader, Uint8Array]} */ (readHeader(bytes));
      const source = await readSource(fresh, payload);
      const { group, header: now } = this.view.drawn;
      if (fresh.doc !== now.doc || fresh.look !== now.look) return;
      this.keep(fresh, source, group.tiles);
      this.bring(this.known(group.selected));
    });
  }

  /** Draws a head that is known. @param {KnownHead | null} known */
  bring(known) {
    if (!known) return;
    const { session, words, edit, editName, over } = this.view.drawn.header;
    this.view.take({ ...known.header, session, words, edit, editName, over, pins: null }, known.source, false);
  }

  /** What a head on show is called beside the group's tiles. */
  get placeNow() {
    const { header, group } = this.view.drawn;
    return [group.tiles, header.look, header.tile].join();
  }

  /** Notes that the head stands beside the group's tiles: as their sentence is left, for which of the two came first is open. */
  keepShown() {
    const { header, source, group } = this.view.drawn;
    if (!group.tiles || !header.tile) return;
    group.shownBefore.delete(this.placeNow);
    if (header.shape[0] * header.shape[1] <= LARGEST_KEPT) group.shownBefore.keep(this.placeNow, { header, source });
  }

  /** Draws the head of the sentence that the tiles are of, at the place of the one on show. */
  bringShownBefore() {
    this.bring(this.view.drawn.group.shownBefore.get(this.placeNow) ?? null);
  }
}

/** The heads around one, those of its own layer first, as far as they exist. */
/** @param {Tile} tile @param {number[]} counts heads of each layer @returns {Tile[]} */
export function neighbouringHeads([layer, head], counts) {
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
  for (const near of neighbouringHeads(at, group.counts)) {
    if (group.pointed !== at) return;
    await get(near);
  }
}
