// Holds a model apart from the page's own thread: fetches its files, reads sentences, answers with scores and tokens.

import { attend } from "../../canvas/shared/attend.js";
import { SIDE, thumbnail } from "../../canvas/overview/tiles.js";
import kernel from "../engine/kernel.wat";
import { causal, model } from "../engine/model.js";
import { tokens } from "./tokens.js";

/** @import { HeadEdit } from "../engine/attention.js" */
/** @import { Manifest } from "../engine/model.js" */
/** @typedef {{ name: string, parts: string[], longest: number, tokenizer: string, config: string } & Manifest} Card */

const MOST = 10;
/** Milliseconds of a pass after which its layers are counted aloud. */
const PATIENCE = 400;
/** Where parts are kept, on pages that browsers trust with a store. */
const STORE = "attnviz-models";

/** @type {{ card: Card, model: ReturnType<typeof model>, tokens: ReturnType<typeof tokens> } | null} */
let held = null;
/** @type {number} the newest question: older passes are given up */
let newest = 0;
/** @type {Float32Array[]} each head's weights of the sentence on show, of the model as it is, without those that its mask hides */
let usual = [];
/** @type {Float32Array | null} the probability of each token, of the model as it is */
let likely = null;
/** A head moved whose weight went to other keys by more than this share, mean over all rows, as the app counts it. */
const LEAST_MOVED = 5e-4;

addEventListener("message", ({ data }) => {
  const done = "manifest" in data ? load(data) : read(data);
  done.catch((problem) => postMessage({ kind: "failed", id: data.id, what: String(problem.message ?? problem) }));
});

/** @param {{ base: string, manifest: string }} asked where the page is, and the manifest of a model */
async function load({ base, manifest }) {
  /** @type {Card} */
  const card = await (await stored(new URL(manifest, base))).json();
  const made = model(card, kernelHere());
  const into = made.memory();
  let done = 0;
  for (const part of card.parts) {
    const body = (await stored(new URL(part, base))).body;
    if (!body) throw new Error(part);
    for (const reader = body.getReader(); ;) {
      const { done: end, value } = await reader.read();
      if (end) break;
      into.set(value, done);
      done += value.length;
      postMessage({ kind: "loading", done: megabytes(done), of: megabytes(card.bytes) });
    }
  }
  if (done !== card.bytes) throw new Error(`${done} of ${card.bytes} bytes`);
  const [rules, config] = await Promise.all(
    [card.tokenizer, card.config].map(async (file) => (await stored(new URL(file, base))).json()),
  );
  held = { card, model: made, tokens: tokens(rules, config) };
  postMessage({ kind: "ready", name: card.name, kernel: kernelHere() !== null });
}

/** @param {number} bytes */
const megabytes = (bytes) => (bytes / 1e6).toFixed(0);

/** The kernel's program, where this browser runs it. */
function kernelHere() {
  try {
    return WebAssembly.validate(kernel) ? kernel : null;
  } catch {
    return null; // it has no WebAssembly, or may not run it
  }
}

/** A file, fetched once where there is a store, and read out of it: read beside it, it would be held twice. */
/** @param {URL} address */
async function stored(address) {
  const store = "caches" in self ? await caches.open(STORE).catch(() => null) : null;
  const kept = await store?.match(address);
  if (kept) return kept;
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address.pathname}: ${answer.status}`);
  const put = await store?.put(address, answer).then(
    () => store.match(address),
    () => fetch(address), // a full disk: it is fetched again each time
  );
  return put ?? answer;
}

/** @param {{ id: number, text: string, edits: HeadEdit[], look: number[] | null }} asked without edits all heads come of it */
async function read({ id, text, edits, look }) {
  if (!held) return;
  newest = id;
  const begun = performance.now();
  const whole = edits.length === 0;
  const { card, tokens: words, model: own } = held;
  const { ids, labels } = words.read(text);
  const n = ids.length;
  if (n === 0 || n > card.longest) {
    postMessage({ kind: n ? "long" : "empty", id, n, longest: card.longest });
    return;
  }
  const cells = n * n;
  const side = Math.min(SIDE, n);
  const count = card.layers * card.heads;
  const scores = whole ? new Float32Array(count * cells) : null;
  const codes = new Uint8Array(whole ? count * side * side : 0);
  if (whole) usual = [];
  /** @type {{ layer: number, head: number, share: number }[]} */
  const moved = [];
  /** @type {Float32Array | null} */
  let looked = null;
  const mask = card.family === "bert" ? null : causal(n);
  const logits = await own.run(ids, edits, {
    head(layer, head, raw, weights) {
      const at = layer * card.heads + head;
      const visible = mask ? triangleOf(weights, n) : weights.slice();
      if (scores) {
        usual[at] = visible;
        scores.set(raw, at * cells);
        thumbnail(weights, mask, [n, n], SIDE, codes.subarray(at * side * side, (at + 1) * side * side));
      } else moved.push({ layer, head, share: (sum(weights) - sum(visible) + distance(usual[at], visible)) / 2 / n });
      if (look?.[0] === layer && look[1] === head) looked = weights.slice();
    },
    async layer(layer) {
      if (performance.now() - begun > PATIENCE) postMessage({ kind: "reading", id, n: layer + 1, of: card.layers });
      await breath(); // a newer question may have come
      return newest === id;
    },
  });
  if (newest !== id) return;
  const shares = logits && sharesOf(logits);
  if (whole) likely = shares;
  const next =
    shares && likeliest(shares).map((each) => ({ p: shares[each], was: likely?.[each] ?? 0, ...words.next(each) }));
  const most = moved.filter(({ share }) => share > LEAST_MOVED).sort((a, b) => b.share - a.share);
  const seconds = (performance.now() - begun) / 1000;
  const said = { kind: "pass", id, text, labels, scores, codes, next, moved: most, looked, seconds };
  postMessage(said, { transfer: scores ? [scores.buffer, codes.buffer] : [] });
}

/** The rows of a head's weights up to the query's own place: of a model that looks back only, all that is not 0. */
/** @param {Float32Array} weights @param {number} n */
function triangleOf(weights, n) {
  const kept = new Float32Array((n * (n + 1)) / 2);
  for (let q = 0, place = 0; q < n; q++, place += q) kept.set(weights.subarray(q * n, q * n + q + 1), place);
  return kept;
}

/** @param {Float32Array} numbers */
const sum = (numbers) => numbers.reduce((all, each) => all + each, 0);

/** How much the numbers differ, all together. @param {Float32Array} before @param {Float32Array} after */
const distance = (before, after) => after.reduce((all, each, i) => all + Math.abs(each - before[i]), 0);

/** Lets messages in. A timer would wait for four milliseconds each time. */
function breath() {
  const { port1, port2 } = new MessageChannel();
  return new Promise((later) => {
    port1.onmessage = later;
    port2.postMessage(null);
  });
}

/** The probability of each token. @param {Float32Array} logits */
function sharesOf(logits) {
  const shape = /** @type {[number, number]} */ ([1, logits.length]);
  return attend({ shape, scores: logits, bias: null, softcap: null, sink: null }, null, 1);
}

/** The likeliest tokens. @param {Float32Array} shares */
const likeliest = (shares) => [...shares.keys()].sort((a, b) => shares[b] - shares[a]).slice(0, MOST);
