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
/** Where parts are kept, on pages that browsers trust with a store. */
const STORE = "attnviz-models";

/** @type {{ card: Card, model: ReturnType<typeof model>, tokens: ReturnType<typeof tokens> } | null} */
let held = null;
let stopped = new AbortController();
/** @type {number} the newest question: older passes are given up */
let newest = 0;
/** @type {Float32Array} every head's weights of the sentence on show, of the model as it is, without those that its mask hides */
let usual = new Float32Array(0);
/** @type {Float32Array | null} the probability of each token, of the model as it is */
let likely = null;
/** A head moved whose weight went to other keys by more than this share, as the app counts it. */
const LEAST_MOVED = 5e-4;

addEventListener("message", ({ data }) => {
  if (data.kind === "stop") stopped.abort();
  else if (data.kind === "read") read(data).catch((problem) => refuse(data, problem));
  else {
    const loading = load(data);
    const mine = stopped;
    loading.catch((problem) => mine === stopped && refuse(data, problem)); // nobody waits for one that was replaced
  }
});

/** @param {{ id?: number }} asked @param {Error} problem */
function refuse({ id }, problem) {
  const kind = problem.name === "AbortError" ? "stopped" : "failed";
  postMessage({ kind, id, what: String(problem.message ?? problem) });
}

/** @param {{ base: string, manifest: string }} asked where the page is, and the manifest of a model */
async function load({ base, manifest }) {
  const earlier = stopped;
  const mine = (stopped = new AbortController());
  earlier.abort(); // of two models the one asked for last
  held = null;
  /** @type {Card} */
  const card = await (await stored(new URL(manifest, base))).json();
  mine.signal.throwIfAborted();
  const made = model(card, kernelHere());
  const into = made.memory();
  let done = 0;
  for (const part of card.parts) {
    const body = (await stored(new URL(part, base))).body;
    if (!body) throw new Error(part);
    for (const reader = body.getReader(); ;) {
      const { done: end, value } = await reader.read();
      if (end) break;
      mine.signal.throwIfAborted();
      into.set(value, done);
      done += value.length;
      postMessage({ kind: "loading", done, of: card.bytes });
    }
  }
  if (done !== card.bytes) throw new Error(`${done} of ${card.bytes} bytes`);
  const [rules, config] = await Promise.all(
    [card.tokenizer, card.config].map(async (file) => (await stored(new URL(file, base))).json()),
  );
  mine.signal.throwIfAborted();
  held = { card, model: made, tokens: tokens(rules, config) };
  postMessage({ kind: "ready", name: card.name, kernel: kernelHere() !== null });
}

/** The kernel's program, where this browser runs it. */
function kernelHere() {
  try {
    return WebAssembly.validate(kernel) ? kernel : null;
  } catch {
    return null; // the page's policy forbids it
  }
}

/** A file, fetched once where there is a store, and read out of it: read beside it, it would be held twice. */
/** @param {URL} address */
async function stored(address) {
  const store = "caches" in self ? await caches.open(STORE).catch(() => null) : null;
  const kept = await store?.match(address);
  if (kept) return kept;
  const answer = await fetch(address, { signal: stopped.signal });
  if (!answer.ok) throw new Error(`${address.pathname}: ${answer.status}`);
  const put = await store?.put(address, answer).then(
    () => store.match(address),
    () => fetch(address, { signal: stopped.signal }), // a full disk: it is fetched again each time
  );
  return put ?? answer;
}

/** @param {{ id: number, text: string, edits: HeadEdit[], whole: boolean, look: number[] | null }} asked */
async function read({ id, text, edits, whole, look }) {
  if (!held) return;
  newest = id;
  const { card, tokens: words, model: own } = held;
  const { ids, labels } = words.read(text);
  const n = ids.length;
  if (n === 0 || n > card.longest) {
    postMessage({ kind: "length", id, n, longest: card.longest });
    return;
  }
  const cells = n * n;
  const side = Math.min(SIDE, n);
  const count = card.layers * card.heads;
  const scores = whole ? new Float32Array(count * cells) : null;
  const codes = whole ? new Uint8Array(count * side * side) : null;
  const causalOnly = card.family !== "bert";
  const kept = causalOnly ? (n * (n + 1)) / 2 : cells;
  if (whole) usual = new Float32Array(count * kept);
  /** @type {{ layer: number, head: number, share: number }[]} */
  const moved = [];
  /** @type {Float32Array | null} */
  let looked = null;
  const mask = causalOnly ? causal(n) : null;
  const logits = await own.run(ids, edits, {
    head(layer, head, raw, weights) {
      const at = layer * card.heads + head;
      scores?.set(raw, at * cells);
      const before = usual.subarray(at * kept, (at + 1) * kept);
      if (whole) eachRow(n, causalOnly, (from, to, place) => before.set(weights.subarray(from, to), place));
      else moved.push({ layer, head, share: shareMoved(before, weights, n, causalOnly) });
      if (look?.[0] === layer && look[1] === head) looked = weights.slice();
      if (codes) thumbnail(weights, mask, [n, n], SIDE, codes.subarray(at * side * side, (at + 1) * side * side));
    },
    async layer(layer) {
      postMessage({ kind: "layer", id, layer, of: card.layers });
      await breath(); // a newer question may have come
      return newest === id;
    },
  });
  if (newest !== id) return;
  const shares = logits && sharesOf(logits);
  if (whole) likely = shares;
  const next = shares && likeliest(shares).map((token) => answer(words, token, shares[token], likely?.[token] ?? 0));
  const most = moved.filter(({ share }) => share > LEAST_MOVED).sort((a, b) => b.share - a.share);
  const transfer = [scores, codes].flatMap((each) => (each ? [each.buffer] : []));
  postMessage({ kind: "pass", id, text, labels, scores, codes, next, moved: most, looked }, { transfer });
}

/**
 * What of each row of a head's weights is kept, and from which place on: of a model that looks back only, what is not 0.
 * @param {number} n @param {boolean} back @param {(from: number, to: number, place: number) => void} act
 */
function eachRow(n, back, act) {
  for (let q = 0, place = 0; q < n; q++) {
    const length = back ? q + 1 : n;
    act(q * n, q * n + length, place);
    place += length;
  }
}

/** The share of a head's weight that went to other keys, mean over all rows. */
/** @param {Float32Array} before the rows that are kept @param {Float32Array} after @param {number} n @param {boolean} back */
function shareMoved(before, after, n, back) {
  let sum = after.reduce((all, weight) => all + weight, 0);
  eachRow(n, back, (from, to, place) => {
    for (let i = from; i < to; i++) sum += Math.abs(after[i] - before[place + i - from]) - after[i];
  });
  return sum / 2 / n;
}

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

/** @param {ReturnType<typeof tokens>} words @param {number} token @param {number} p @param {number} was */
const answer = (words, token, p, was) => ({ token, p, was, ...words.next(token) });
