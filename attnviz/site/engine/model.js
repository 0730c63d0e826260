// The two forward passes: Llama's (RMSNorm, rotary positions, shared keys, SwiGLU) and BERT's. Token ids in, arrays out.

import { attendAllHeads, allocateHead, editOf } from "./attention.js";
import { add, gelu, layerNorm, rmsNorm, rotate, swiglu } from "./layers.js";
import { createMemory, unpack } from "../../canvas/shared/matmul.js";

/** @import { PassEdit, SeenHead } from "./attention.js" */
/** @import { Room, Weight } from "../../canvas/shared/matmul.js" */

/** What the files call the tokens' vectors, and a weight that has a row for each number of the wider layer. */
const NAMES = {
  llama: { tokens: "token_embd", up: "blk.0.ffn_up" },
  bert: { tokens: "embeddings.word_embeddings", up: "encoder.layer.0.intermediate.dense" },
};

/**
 * @typedef {object} Manifest what stands beside a model's files
 * @property {"llama" | "bert"} family
 * @property {number} bytes of all files together
 * @property {number} layers @property {number} heads @property {number} groups @property {number} width of a head
 * @property {number} eps @property {number} [base] of rotary positions
 * @property {Record<string, Weight>} weights as the files call them
 *
 * @typedef {object} Watch
 * @property {(layer: number, ...seen: Parameters<SeenHead>) => void} [head] is shown each head
 * @property {(layer: number) => boolean | Promise<boolean>} [layer] is told of each layer that is done; false: give up
 */

/** A model whose files' bytes are still to be written into `memory`, one file after the other. */
/** @param {Manifest} manifest @param {BufferSource | null} kernel */
export function createModel(manifest, kernel) {
  const place = createMemory(manifest.bytes, kernel);
  return {
    memory: () => new Uint8Array(place.buffer, 0, manifest.bytes),
    /** The logits of what follows the last token; null where the model has no vocabulary, or the pass was given up. */
    /** @param {readonly number[]} ids @param {readonly PassEdit[]} [edits] @param {Watch} [watch] */
    run: (ids, edits = [], watch = {}) => new Forward(manifest, place, ids, edits, watch).run(),
  };
}

/** What one pass works with. */
class Forward {
  /**
   * @param {Manifest} manifest @param {Room} place @param {readonly number[]} ids @param {readonly PassEdit[]} edits
   * @param {Watch} watch
   */
  constructor(manifest, place, ids, edits, watch) {
    this.manifest = manifest;
    this.place = place;
    this.ids = ids;
    this.edits = edits;
    this.watch = watch;
    const { heads, groups, width } = manifest;
    const { tokens, up } = NAMES[manifest.family];
    this.t = ids.length;
    const [vocabulary, m] = this.weight(tokens).shape;
    this.m = m;
    this.f = this.weight(up).shape[0];
    const rows = 4 * this.m + 2 * this.f + (2 * heads + 2 * groups) * width;
    place.rewind((this.t + 4) * (rows + 3 * width + 2 * this.t + 16) + vocabulary + 8 * Math.max(this.f, this.m));
    const take = (/** @type {number} */ each) => place.take(this.t * each);
    this.x = take(this.m);
    this.h = take(this.m);
    this.o = take(this.m);
    this.at = { q: take(heads * width), k: take(groups * width), v: take(groups * width), z: take(heads * width) };
    this.desk = allocateHead(place, this.t, width);
    this.gate = take(this.f);
    this.up = take(this.f);
    this.allowed = manifest.family === "bert" ? null : causal(this.t);
  }

  /** A weight of the model. @param {string} name */
  weight(name, part = "weight") {
    return this.manifest.weights[`${name}.${part}`];
  }

  /** A vector of the model. @param {string} name */
  vector(name, part = "weight") {
    const { at, shape } = this.weight(name, part);
    return this.place.floats(at, shape[0]);
  }

  /** @param {number} at @param {number} each numbers of a token */
  rows(at, each) {
    return this.place.floats(at, this.t * each);
  }

  /** @param {string} name @param {number} from @param {number} to */
  times(name, from, to) {
    this.place.multiply(this.weight(name), from, to, this.t);
    if (this.weight(name, "bias")) add(this.rows(to, this.weight(name).shape[0]), this.vector(name, "bias"));
  }

  async run() {
    this.embed();
    for (let layer = 0; layer < this.manifest.layers; layer++) {
      if (this.manifest.family === "bert") this.bert(layer);
      else this.llama(layer);
      if (!((await this.watch.layer?.(layer)) ?? true)) return null;
    }
    return this.logits();
  }

  embed() {
    const x = this.rows(this.x, this.m);
    const rows = (/** @type {string} */ name, /** @type {(t: number) => number} */ which) => {
      const row = new Float32Array(this.m);
      for (let t = 0; t < this.t; t++) {
        unpack(this.place.buffer, this.weight(name), which(t), row);
        add(x.subarray(t * this.m, (t + 1) * this.m), row);
      }
    };
    x.fill(0);
    rows(NAMES[this.manifest.family].tokens, (t) => this.ids[t]);
    if (this.manifest.family === "llama") return;
    rows("embeddings.token_type_embeddings", () => 0);
    rows("embeddings.position_embeddings", (t) => t);
    this.normed("embeddings.LayerNorm");
  }

  /** BERT's norm of the stream. @param {string} name */
  normed(name) {
    layerNorm(this.rows(this.x, this.m), this.vector(name), this.vector(name, "bias"), this.manifest.eps);
  }

  /** @param {number} layer */
  attention(layer) {
    const { heads, groups, width } = this.manifest;
    attendAllHeads(
      this.place,
      this.at,
      this.desk,
      { tokens: this.t, heads, groups, width },
      this.allowed,
      (head) => editOf(this.edits, layer, head),
      (...seen) => this.watch.head?.(layer, ...seen),
    );
  }

  /** @param {number} layer */
  llama(layer) {
    const { heads, groups, width, eps, base = 10000 } = this.manifest;
    const [x, h] = [this.rows(this.x, this.m), this.rows(this.h, this.m)];
    const block = `blk.${layer}`;
    rmsNorm(x, this.vector(`${block}.attn_norm`), eps, h);
    for (const each of /** @type {const} */ (["q", "k", "v"]))
      this.times(`${block}.attn_${each}`, this.h, this.at[each]);
    rotate(this.rows(this.at.q, heads * width), width, this.t, base);
    rotate(this.rows(this.at.k, groups * width), width, this.t, base);
    this.attention(layer);
    this.times(`${block}.attn_output`, this.at.z, this.o);
    add(x, this.rows(this.o, this.m));
    rmsNorm(x, this.vector(`${block}.ffn_norm`), eps, h);
    this.times(`${block}.ffn_gate`, this.h, this.gate);
    this.times(`${block}.ffn_up`, this.h, this.up);
    swiglu(this.rows(this.gate, this.f), this.rows(this.up, this.f));
    this.times(`${block}.ffn_down`, this.gate, this.o);
    add(x, this.rows(this.o, this.m));
  }

  /** @param {number} layer */
  bert(layer) {
    const block = `encoder.layer.${layer}`;
    this.times(`${block}.attention.self.query`, this.x, this.at.q);
    this.times(`${block}.attention.self.key`, this.x, this.at.k);
    this.times(`${block}.attention.self.value`, this.x, this.at.v);
    this.attention(layer);
    this.times(`${block}.attention.output.dense`, this.at.z, this.o);
    add(this.rows(this.x, this.m), this.rows(this.o, this.m));
    this.normed(`${block}.attention.output.LayerNorm`);
    this.times(`${block}.intermediate.dense`, this.x, this.up);
    gelu(this.rows(this.up, this.f));
    this.times(`${block}.output.dense`, this.up, this.o);
    add(this.rows(this.x, this.m), this.rows(this.o, this.m));
    this.normed(`${block}.output.LayerNorm`);
  }

  logits() {
    if (this.manifest.family === "bert") return null;
    const last = this.rows(this.x, this.m).subarray((this.t - 1) * this.m);
    rmsNorm(last, this.vector("output_norm"), this.manifest.eps, this.place.floats(this.h, this.m));
    const vectors = this.weight(NAMES.llama.tokens);
    const at = this.place.take(vectors.shape[0]);
    this.place.multiply(vectors, this.h, at, 1);
    return this.place.floats(at, vectors.shape[0]).slice();
  }
}

/** A query may look at itself and at what stands before it. @param {number} t */
export function causal(t) {
  const mask = new Uint8Array(t * t);
  for (let q = 0; q < t; q++) mask.fill(1, q * t, q * t + q + 1);
  return mask;
}
