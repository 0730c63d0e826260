// Parts of a text's heads, fetched below its address and kept: overviews, tiles, rows, the wall of all heads.

import { Latest } from "../shared/component.js";
import { readHeader, toFloats } from "../shared/packing.js";
import { logCodes, TILE, tileWeights } from "./tile_numbers.js";

/** @typedef {[layer: number, head: number]} Place */
/** @typedef {{ codes: Uint8Array, rows: number, columns: number, weights?: Float32Array }} Tile */
/** @typedef {Tile & { step: number, width: number, scale: number, plain: boolean, lse: Float32Array }} Overview */

/** What a part is: the first number of its address. The same as `PARTS` of panels/long_text.py. */
const PARTS = { overview: 0, tile: 1, q: 2, k: 3, row: 4, wall: 5, answer: 6 };

export class HeadSupply {
  /** @type {Latest<Promise<Uint8Array>>} */
  kept = new Latest(400);

  /** @param {string} address @param {() => void} gone is told when the text has left the server's memory */
  constructor(address, gone) {
    this.address = address;
    this.gone = gone;
  }

  /** @param {keyof typeof PARTS} part @param {...number} numbers */
  fetch(part, ...numbers) {
    return this.fetchBelow(this.address, part, ...numbers);
  }

  /** @param {string} address @param {keyof typeof PARTS} part @param {...number} numbers */
  fetchBelow(address, part, ...numbers) {
    const path = `${address}/${[PARTS[part], ...numbers].join(".")}`;
    const known = this.kept.get(path);
    if (known) return known;
    const coming = fetch(path).then(async (answer) => {
      if (answer.status === 404) this.gone();
      if (!answer.ok) throw new Error(`${answer.status} ${path}`);
      return new Uint8Array(await answer.arrayBuffer());
    });
    coming.catch(() => this.kept.delete(path)); // the next one asks again
    return this.kept.keep(path, coming);
  }

  /** @param {Place} place @returns {Promise<Overview>} */
  async overview(place) {
    /** @type {[Overview, Uint8Array]} */
    const [header, payload] = readHeader(await this.fetch("overview", ...place));
    const cells = header.rows * header.columns;
    return { ...header, codes: payload.slice(0, cells), lse: toFloats(payload.subarray(cells)) };
  }

  /** A tile of blocks of `step` tokens a side; of single tokens it is made here. */
  /** @param {Place} place @param {Overview} head @param {number} step @param {number} i @param {number} j @returns {Promise<Tile>} */
  async tile(place, head, step, i, j) {
    if (step > 1 || !head.plain) {
      /** @type {[{ rows: number, columns: number }, Uint8Array]} */
      const [shape, codes] = readHeader(await this.fetch("tile", ...place, step, i, j));
      return { ...shape, codes };
    }
    const [q, k] = await Promise.all([this.fetch("q", ...place, i), this.fetch("k", ...place, j)]);
    const vectors = { q: toFloats(q), k: toFloats(k), width: head.width };
    const tile = tileWeights({ ...vectors, lse: head.lse, scale: head.scale, q0: i * TILE, k0: j * TILE });
    return { ...tile, codes: logCodes(tile.weights) };
  }

  /** The mean of the rows of some tokens. @param {Place} place @param {[number, number]} span */
  async row(place, [start, stop]) {
    return toFloats(await this.fetch("row", ...place, start, stop));
  }

  /**
   * The mean of what wrote some tokens of an answer.
   * @param {string} address of the answer @param {Place} place @param {[number, number]} span
   */
  async answer(address, place, [start, stop]) {
    return toFloats(await this.fetchBelow(address, "answer", ...place, start, stop));
  }
}
