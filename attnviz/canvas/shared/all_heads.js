// Every head of a short sentence, fetched once the first picture stands: choosing one then needs no server to be drawn.

import { tell } from "./group.js";
import { readHeader } from "./packing.js";
import { placeOfHead, readRawScores } from "./raw_scores.js";

/** @import { Group } from "./group.js" */
/** @import { RawHead, PackedHeads } from "./types.js" */
/** @typedef {{ doc: string, heads: number[], raw: PackedHeads }} EveryHeader */

export class AllHeads {
  /**
   * @param {RawHead[]} heads @param {number[]} counts of each layer
   * @param {string} [from] the address that they came from @param {string} [doc] the tokens that they are of
   */
  constructor(heads, counts, from = "inline", doc = "") {
    this.heads = heads;
    this.counts = counts;
    this.from = from;
    this.doc = doc;
  }

  /** Those that Python packed. @param {Uint8Array} bytes @param {string} [from] the address that they came from */
  static read(bytes, from) {
    const [{ raw, heads, doc }, payload] = /** @type {[EveryHeader, Uint8Array]} */ (readHeader(bytes));
    return new AllHeads(readRawScores(raw, payload), heads, from, doc);
  }

  /** The head at [layer, head], if there is one. @param {[number, number] | null} tile @returns {RawHead | null} */
  head(tile) {
    if (!tile || !(tile[1] < (this.counts[tile[0]] ?? 0))) return null;
    return this.heads[placeOfHead(this.counts, ...tile)];
  }
}

/** What is being fetched, or was asked for in vain, for each group. */
/** @type {WeakMap<Group, string>} */
const asked = new WeakMap();

/**
 * Brings all heads into the group, unless they are there, on their way, or were not to be had. What belongs to another
 * sentence is let go at once.
 * @param {Group} group @param {string | null} address @param {(address: string) => Promise<Response>} get
 */
export async function bringAllHeads(group, address, get = (from) => fetch(from, { priority: "low" })) {
  if (group.all && group.all.from !== address) {
    group.all = null;
    tell(group, "all");
  }
  if (!address) asked.delete(group);
  if (!address || group.all || asked.get(group) === address) return;
  asked.set(group, address);
  const all = await fetched(address, get, (bytes) => AllHeads.read(bytes, address));
  if (all === null || asked.get(group) !== address) return;
  group.all = all;
  tell(group, "all");
}

/**
 * What is made of the bytes at an address; null where there are none: heads and tiles then come with the script's answers.
 * @template T
 * @param {string} address
 * @param {(address: string) => Promise<Response>} get
 * @param {(bytes: Uint8Array) => T | Promise<T>} read
 */
export async function fetched(address, get, read) {
  try {
    const answer = await get(address);
    // a server without this route answers with a page
    if (!answer.ok || !answer.headers.get("content-type")?.startsWith("application/octet-stream")) return null;
    return await read(new Uint8Array(await answer.arrayBuffer()));
  } catch {
    return null; // no server at the other end
  }
}
