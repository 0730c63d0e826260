// Parts of a text's heads: those that came with it, those that are fetched below its address, and those that a worker makes of
// q and k, under any mask and scale.

import { unpackText } from "../live/file_page.js";
import { Latest } from "../shared/component.js";
import { isEdited, scaleFactor } from "../shared/edit.js";
import { encodeBase64, readHeader, toFloats } from "../shared/packing.js";
import { fromHalves, TILE } from "./tile_numbers.js";

/** @import { Edit } from "../shared/types.js" */
/** @import { Blocks, Rule } from "./tile_numbers.js" */
/** @import { Job, Request } from "./text_worker.js" */

/** @typedef {[layer: number, head: number]} Place */
/** @typedef {Omit<Blocks, "weights"> & { weights?: Float32Array }} Tile */
/** @typedef {Tile & { place: Place, tokens: number, step: number, width: number, scale: number, plain: boolean, sums: Float32Array }} Overview */

/** What a part is: the first number of its address. The same as `PARTS` of live/long_text_file.py. */
const PARTS = { overview: 0, tile: 1, q: 2, k: 3, row: 4, wall: 5, answer: 6 };
/** The script of the worker: beside the component's own, or in a file. */
const [WORKER, IN_FILE] = ["text_worker.js", "attnviz-text_worker"];

/** What a visitor's edit comes to for a head; null: it changes nothing, or the head cannot be changed. */
/** @param {Edit} edit @param {Overview} head @returns {Rule | null} */
export function ruleOf(edit, head) {
  if (!head.plain || edit.seen === "before" || !isEdited({ ...edit, hidden: [] })) return null;
  const mask = edit.mask === "none" || edit.mask === "window" ? edit.mask : "causal";
  const factor = scaleFactor(edit, { scale: head.scale, dHead: head.width });
  return { mask, window: mask === "window" ? edit.window : 0, factor };
}

export class HeadSupply {
  /** @type {Latest<Promise<Uint8Array>>} */
  kept = new Latest(400);
  /** @type {Promise<Worker> | null} */
  worker = null;
  /** @type {{ about: Request, hear: (made: any) => void }[]} the newest last */
  jobs = [];
  /** @type {((made: any) => void) | null} who waits for what the worker makes */
  hear = null;
  /** @type {string | null} the head that the worker has, */
  sent = null;
  /** @type {Map<string, Promise<void>>} and what of it */
  taken = new Map();

  /**
   * @param {string} address @param {() => void} gone is told when the text has left the server's memory
   * @param {Map<string, Uint8Array>} parts that came with the text, where it is a file
   */
  constructor(address, gone, parts) {
    this.address = address;
    this.gone = gone;
    this.parts = parts;
  }

  /** @param {keyof typeof PARTS} part @param {number[]} numbers @param {string} address */
  async fetch(part, numbers, address = this.address) {
    const name = [PARTS[part], ...numbers].join(".");
    const came = this.parts.get(name);
    if (came) return came;
    if (this.parts.size) throw new Error(name);
    const path = `${address}/${name}`;
    try {
      return await (this.kept.get(path) ?? this.kept.keep(path, this.load(path)));
    } catch (problem) {
      this.kept.delete(path); // the next one asks again
      throw problem;
    }
  }

  /** @param {string} path */
  async load(path) {
    const answer = await fetch(path);
    if (answer.status === 404) this.gone();
    if (!answer.ok) throw new Error(`${answer.status} ${path}`);
    return new Uint8Array(await answer.arrayBuffer());
  }

  /** Whether a head can be shown here: in a file there are not all. @param {Place} place */
  has(place) {
    return !this.parts.size || this.parts.has([PARTS.overview, ...place].join("."));
  }

  /** @param {Place} place @returns {Promise<Overview>} */
  async overview(place) {
    const [header, payload] = readHeader(await this.fetch("overview", place));
    const cells = header.rows * header.columns;
    return { ...header, place, codes: payload.slice(0, cells), sums: toFloats(payload.subarray(cells)) };
  }

  /**
   * A tile of blocks of `step` tokens a side; null where nobody waits for it any more.
   * @param {Overview} head @param {Rule | null} rule @param {number} step @param {number} i @param {number} j
   * @returns {Promise<Tile | null>}
   */
  async tile(head, rule, step, i, j) {
    const isLocal = head.plain && (rule || step === 1 || this.parts.size);
    if (isLocal) return this.compute(head, rule, "tile", [step, i, j], step === 1 ? { q: i, k: j } : {});
    const [shape, codes] = readHeader(await this.fetch("tile", [...head.place, step, i, j]));
    return { ...shape, codes };
  }

  /** The mean of the rows of some tokens. @param {Overview} head @param {Rule | null} rule @param {[number, number]} span */
  async row(head, rule, span) {
    if (rule || this.parts.size) return this.compute(head, rule, "meanRow", span);
    return toFloats(await this.fetch("row", [...head.place, ...span]));
  }

  /** The mean of what wrote some tokens of an answer. @param {string} address of the answer @param {Place} place @param {[number, number]} span */
  async answer(address, place, span) {
    return toFloats(await this.fetch("answer", [...place, ...span], address));
  }

  /**
   * What the worker makes of a head's q and k; null where nobody waits for it any more.
   * @param {Overview} head @param {Rule | null} rule @param {Job} job @param {number[]} numbers
   * @param {{ q?: number, k?: number }} [blocks] of 256 queries and keys, which do where the sums of rows are known
   */
  async compute(head, rule, job, numbers, blocks = {}) {
    const { width, place, sums, scale, tokens: n } = head;
    const [name, own] = [place.join("."), /** @type {Rule} */ ({ mask: "causal", window: 0, factor: scale })];
    const about = { name, n, width };
    this.worker ??= startWorker((made) => this.take(made));
    if (this.sent !== name) {
      this.sent = name;
      this.forget();
      this.taken.clear();
      if (sums.length) this.post({ ...about, sums, numbers: [own] });
    }
    const few = rule || !sums.length || this.parts.size ? {} : blocks;
    await Promise.all([this.bring("q", few.q, place, about), this.bring("k", few.k, place, about)]);
    if (this.sent !== name) return null;
    return new Promise((hear) => {
      this.jobs.push({ about: { ...about, job, numbers: [rule ?? own, ...numbers] }, hear });
      this.next();
    });
  }

  /**
   * Gives the worker queries or keys of a head, once: a block of them, or all.
   * @param {"q" | "k"} kind @param {number | undefined} block @param {Place} place
   * @param {Pick<Request, "name" | "n" | "width">} about
   */
  async bring(kind, block, place, about) {
    const name = `${kind}${block ?? ""}`;
    const send = async () => {
      const bytes = await this.fetch(kind, block === undefined ? place : [...place, block]);
      const vectors = this.parts.size ? fromHalves(bytes) : toFloats(bytes);
      if (this.sent === about.name) this.post({ ...about, vectors: [kind, (block ?? 0) * TILE, vectors] });
    };
    const coming = this.taken.get(kind) ?? this.taken.get(name) ?? send();
    this.taken.set(name, coming);
    coming.catch(() => this.taken.delete(name));
    return coming;
  }

  /** Lets go of what is waited for: something else is on show. */
  forget() {
    for (const { hear } of this.jobs.splice(0)) hear(null);
  }

  /** Has the newest job done, where none is. */
  next() {
    const job = this.hear ? undefined : this.jobs.pop();
    if (!job) return;
    this.hear = job.hear;
    this.post(job.about);
  }

  /** @param {any} made */
  take(made) {
    this.hear?.(made);
    this.hear = null;
    this.next();
  }

  /** @param {Request} message */
  post(message) {
    void this.worker?.then((worker) => worker.postMessage(message));
  }

  leave() {
    this.forget();
    void this.worker?.then((worker) => worker.terminate());
  }
}

/** @param {(made: any) => void} hear */
async function startWorker(hear) {
  const inside = document.getElementById(IN_FILE);
  const script = inside && encodeBase64(new TextEncoder().encode(await unpackText(IN_FILE)));
  const worker = new Worker(script ? `data:text/javascript;base64,${script}` : new URL(WORKER, import.meta.url));
  worker.addEventListener("message", ({ data }) => hear(data.made));
  return worker;
}
