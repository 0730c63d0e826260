// Heads before their softmax, as raw_scores.py packs them; and every head of a short sentence, fetched once the first picture
// stands: choosing one then needs no server to be drawn. No page: used by views, by a file that left the app, by tests.

import { tell } from "./group.js";
import { packCells, toFloats, readHeader, unpackBits } from "./packing.js";

/** @import { PackedHeads, RawHead } from "./types.js" */
/** @import { Group } from "./group.js" */

/** Reads the sections of a payload one after the other. */
class Sections {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /** @param {number} count */
  take(count) {
    const found = this.bytes.subarray(this.at, this.at + count);
    if (found.length !== count) throw new Error(`${this.bytes.length} bytes end before ${this.at + count}`);
    this.at += count;
    return found;
  }

  /** @param {number} count */
  floats(count) {
    return toFloats(this.take(4 * count));
  }

  /** Numbers of which only the first half of a float32 was sent. @param {number} count */
  shortFloats(count) {
    const halves = new Uint16Array(this.take(2 * count).slice().buffer);
    return new Float32Array(Uint32Array.from(halves, (half) => half << 16).buffer);
  }

  /** @param {number} count */
  bits(count) {
    return unpackBits(this.take((count + 7) >> 3), count);
  }
}

/** The heads of a payload. A head's scores are unpacked when they are first asked for. */
/** @param {PackedHeads} header @param {Uint8Array} payload @returns {RawHead[]} */
export function readRawScores(header, payload) {
  const { count, shape } = header;
  const cells = shape[0] * shape[1];
  const sections = new Sections(payload);
  const vectors = header.bits === 32 && header.vectors ? readVectors(header, sections) : null;
  const scoresOf = vectors
    ? () => products(vectors.q, vectors.k, of(header.width, 0))
    : header.bits === 16
      ? readCoded(header, sections)
      : readExact(header, sections);
  const masks = Array.from({ length: 1 + largest(header.mask) }, () => sections.bits(cells));
  const padding = header.padding ? sections.bits(shape[1]) : null;
  const biases = Array.from({ length: 1 + largest(header.bias) }, () => sections.floats(cells));
  const sinks = header.sinks ? sections.floats(count) : null;
  return Array.from({ length: count }, (_, i) => {
    const bias = of(header.bias, i);
    const about = {
      shape,
      exact: of(header.exact, i),
      scale: of(header.scale, i),
      dHead: of(header.width, i),
      mask: masks[of(header.mask, i)],
      padding,
      bias: bias === null ? null : biases[bias],
      softcap: of(header.softcap, i),
      sink: sinks ? sinks[i] : null,
      vectors,
    };
    return lazyHead(about, () => scoresOf(i));
  });
}

/** A head whose scores are unpacked when they are first asked for. */
/** @param {Omit<RawHead, "scores">} about @param {() => Float32Array} unpack @returns {RawHead} */
export function lazyHead(about, unpack) {
  /** @type {Float32Array | null} */
  let scores = null;
  return {
    ...about,
    get scores() {
      scores ??= unpack();
      return scores;
    },
  };
}

/** Heads of one model and sentence, which share mask and scale, as Python packs them in 32 bits. @param {RawHead[]} heads */
export function packRawScores(heads) {
  const [{ shape, scale, dHead: width, mask }] = heads;
  const cells = shape[0] * shape[1];
  const same = { vectors: false, exact: true, softcap: null, mask: 0, bias: null, padding: false, sinks: false };
  const bits = packCells(mask ?? new Uint8Array(cells).fill(1));
  const payload = new Uint8Array(4 * cells * heads.length + bits.length);
  heads.forEach(({ scores }, i) => {
    payload.set(new Uint8Array(scores.buffer, scores.byteOffset, 4 * cells), 4 * cells * i);
  });
  payload.set(bits, payload.length - bits.length);
  return { header: { bits: 32, count: heads.length, shape, scale, width, ...same }, payload };
}

/** The place of a head among all heads of its stack. */
/** @param {number[]} heads @param {number} layer @param {number} head */
export function placeOfHead(heads, layer, head) {
  return heads.slice(0, layer).reduce((sum, count) => sum + count, 0) + head;
}

/** Scores of 16 bits, and of 24 in wide rows: steps above a row's lowest. */
/** @param {PackedHeads} header @param {Sections} sections */
function readCoded({ count, shape: [nq, nk] }, sections) {
  const rows = count * nq;
  const low = sections.shortFloats(rows);
  const step = sections.shortFloats(rows);
  const wide = sections.bits(rows);
  const high = sections.take(rows * nk);
  const middle = sections.take(rows * nk);
  const before = new Uint32Array(rows + 1); // wide rows before each row
  for (let r = 0; r < rows; r++) before[r + 1] = before[r] + wide[r];
  const last = sections.take(before[rows] * nk);
  return (/** @type {number} */ head) => {
    const scores = new Float32Array(nq * nk);
    for (let q = 0; q < nq; q++) {
      const r = head * nq + q;
      const [from, to, size] = [r * nk, q * nk, step[r]];
      for (let k = 0; k < nk; k++) {
        const code = (high[from + k] << 8) | middle[from + k];
        scores[to + k] = low[r] + (wide[r] ? (code << 8) | last[before[r] * nk + k] : code) * size;
      }
    }
    return scores;
  };
}

/** Scores of 32 bits. @param {PackedHeads} header @param {Sections} sections */
function readExact({ count, shape: [nq, nk] }, sections) {
  const all = sections.floats(count * nq * nk);
  return (/** @type {number} */ head) => all.subarray(head * nq * nk, (head + 1) * nq * nk);
}

/** q and k of one head, in place of its scores. @param {PackedHeads} header @param {Sections} sections */
function readVectors({ shape: [nq, nk], width }, sections) {
  const d = of(width, 0);
  return { q: sections.floats(nq * d), k: sections.floats(nk * d) };
}

/** Each row of q times each row of k, both `d` wide. */
/** @param {Float32Array} q @param {Float32Array} k @param {number} d */
export function products(q, k, d) {
  const [nq, nk] = [q.length / d, k.length / d];
  const scores = new Float32Array(nq * nk);
  for (let i = 0; i < nq; i++) {
    const row = q.subarray(i * d, (i + 1) * d);
    for (let j = 0; j < nk; j++) {
      let sum = 0;
      for (let c = 0, b = j * d; c < d; c++, b++) sum += row[c] * k[b];
      scores[i * nk + j] = sum;
    }
  }
  return scores;
}

/**
 * What a header says of head `i`: one value for all heads, or a list of each head's.
 * @template T
 * @param {T | T[]} said
 * @param {number} i
 * @returns {T}
 */
function of(said, i) {
  return Array.isArray(said) ? said[i] : said;
}

/** @param {number | null | (number | null)[]} said */
function largest(said) {
  return [said].flat().reduce((/** @type {number} */ top, value) => Math.max(top, value ?? -1), -1);
}

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
  await noteArrival(group, async () => {
    const all = await fetchBytes(address, get, (bytes) => AllHeads.read(bytes, address));
    if (all === null || asked.get(group) !== address) return;
    group.all = all;
    tell(group, "all");
  });
}

/** @type {WeakMap<Group, Promise<unknown>>} what the server was asked for, of each group */
const arrivals = new WeakMap();

/** @param {Group} group @param {() => Promise<void>} bring */
export function noteArrival(group, bring) {
  const coming = bring();
  arrivals.set(group, Promise.allSettled([arrivals.get(group), coming]));
  return coming;
}

/** Waits until heads and tiles that the server was asked for are here. @param {Group} group */
export const awaitArrivals = (group) => arrivals.get(group) ?? Promise.resolve();

/**
 * What is made of the bytes at an address; null where there are none: heads and tiles then come with the script's answers.
 * @template T
 * @param {string} address
 * @param {(address: string) => Promise<Response>} get
 * @param {(bytes: Uint8Array) => T | Promise<T>} read
 */
export async function fetchBytes(address, get, read) {
  try {
    const answer = await get(address);
    // a server without this route answers with a page
    if (!answer.ok || !answer.headers.get("content-type")?.startsWith("application/octet-stream")) return null;
    return await read(new Uint8Array(await answer.arrayBuffer()));
  } catch {
    return null; // no server at the other end
  }
}
