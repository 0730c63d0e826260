// Holds a model apart from the page's own thread: fetches its files, reads sentences, answers with heads and tokens.

import { attend } from "../../canvas/shared/attend.js";
import { SIDE, thumbnail } from "../../canvas/overview/tiles.js";
import kernel from "../../canvas/shared/kernel.wat";
import { causal, createModel } from "../engine/model.js";
import { createTokenizer } from "./tokens.js";

/** @import { PassEdit } from "../engine/attention.js" */
/** @import { Manifest } from "../engine/model.js" */
/** @import { Moved } from "./moved_heads.js" */
/** @typedef {{ name: string, parts: string[], longest: number, tokenizer: string, config: string } & Manifest} Card */

const MOST = 10;
/** Milliseconds of a pass after which its layers are counted aloud. */
const PATIENCE = 400;
/** Where parts are kept, on pages that browsers trust with a store. */
const STORE = "attnviz-models";
/** So many of the heads that moved are shown. */
const MOST_MOVED = 8;
/** A head moved whose weight went to other keys by more than this share, mean over all rows, as the app counts it. */
const LEAST_MOVED = 5e-4;

/** @type {{ card: Card, model: ReturnType<typeof createModel>, tokens: ReturnType<typeof createTokenizer> } | null} */
let held = null;
/** @type {number} the newest question: older passes are given up */
let newest = 0;
/** @type {Uint16Array[]} what is kept of each head's weights of the sentence on show, of the model as it is */
let usual = [];
/** @type {Float32Array} the probability of each token, of the model as it is */
let likely = new Float32Array();

addEventListener("message", ({ data }) => {
  const done = "manifest" in data ? load(data) : read(data);
  done.catch((problem) => postMessage({ kind: "failed", id: data.id, what: String(problem.message ?? problem) }));
});

/** @param {{ base: string, manifest: string }} asked where the page is, and the manifest of a model */
async function load({ base, manifest }) {
  const json = async (/** @type {string} */ name) => (await fetchStored(new URL(name, base))).json();
  /** @type {Card} */
  const card = await json(manifest);
  let done = 0;
  const tell = () => {
    const [had, of] = [done, card.bytes].map((bytes) => (bytes / 1e6).toFixed(0));
    postMessage({ kind: "loading", done: had, of });
  };
  tell();
  const program = globalThis.WebAssembly?.validate(kernel) ? kernel : null; // a browser that is locked down has none
  const made = createModel(card, program);
  const into = made.memory();
  for (const part of card.parts) {
    const reader = (await fetchStored(new URL(part, base))).body?.getReader();
    for (let next = await reader?.read(); next?.value; next = await reader?.read()) {
      into.set(next.value, done);
      done += next.value.length;
      tell();
    }
  }
  if (done !== card.bytes) throw new Error(`${done} of ${card.bytes} bytes`);
  held = { card, model: made, tokens: createTokenizer(await json(card.tokenizer), await json(card.config)) };
  postMessage({ kind: program ? "ready" : "slow", name: card.name });
}

/** A file, fetched once where there is a store, and read out of it: read beside it, it would be held twice. */
/** @param {URL} address */
async function fetchStored(address) {
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

/** @param {{ id: number, text: string, edits: PassEdit[] }} asked without edits all heads come of it */
async function read({ id, text, edits }) {
  if (!held) return;
  newest = id;
  const begun = performance.now();
  const { card, tokens: words, model: own } = held;
  const { ids, labels } = words.read(text);
  const n = ids.length;
  if (n === 0 || n > card.longest) {
    postMessage({ kind: n ? "long" : "empty", id, n, longest: card.longest });
    return;
  }
  const whole = edits.length === 0;
  const { heads, groups, width } = card;
  const count = whole ? card.layers * heads : 0;
  const [rows, cells] = [n * width, Math.min(SIDE, n) ** 2];
  const made = {
    queries: new Float32Array(count * rows),
    keys: new Float32Array((count / heads) * groups * rows),
    codes: new Uint8Array(count * cells),
  };
  if (whole) usual = [];
  /** @type {{ count: number, most: Moved[] }} */
  const moved = { count: 0, most: [] };
  const mask = card.family === "bert" ? null : causal(n);
  const scores = await own.run(ids, edits, {
    head(layer, head, weights, query, key) {
      const at = layer * heads + head;
      if (whole) {
        usual[at] = encodeHead(weights, mask, mask ? (n * (n + 1)) / 2 : n * n);
        made.queries.set(query, at * rows);
        made.keys.set(key, Math.floor((at * groups) / heads) * rows);
        thumbnail(weights, mask, [n, n], SIDE, made.codes.subarray(at * cells, (at + 1) * cells));
        return;
      }
      const share = distance(usual[at], weights, mask) / 2 / n;
      if (share > LEAST_MOVED) moved.count += 1;
      if (share <= Math.max(LEAST_MOVED, moved.most[MOST_MOVED - 1]?.share ?? 0)) return;
      moved.most.push({ layer, head, share, weights: weights.slice() });
      moved.most.sort((a, b) => b.share - a.share).splice(MOST_MOVED);
    },
    async layer(layer) {
      if (performance.now() - begun > PATIENCE) postMessage({ kind: "reading", id, n: layer + 1, of: card.layers });
      await letMessagesIn(); // a newer question may have come
      return newest === id;
    },
  });
  if (newest !== id) return;
  const logits = { scores: scores ?? new Float32Array(), bias: null, softcap: null, sink: null };
  const shares = attend({ ...logits, shape: [1, logits.scores.length] }, null, 1); // none where there is no vocabulary
  if (whole) likely = shares;
  const ranked = [...shares.keys()].sort((a, b) => shares[b] - shares[a]).slice(0, MOST);
  const next = ranked.map((each) => ({ p: shares[each], was: likely[each], ...words.next(each) }));
  const seconds = (performance.now() - begun) / 1000;
  const said = { kind: "pass", id, text, labels, made: whole ? made : null, next, moved, seconds };
  postMessage(said, { transfer: Object.values(made).map(({ buffer }) => buffer) });
}

/** A head's weights where its mask lets it look, in 16 bits: roots, so that small ones are as exact as they need to be. */
/** @param {Float32Array} weights @param {Uint8Array | null} mask @param {number} seen how many these are */
function encodeHead(weights, mask, seen) {
  const roots = new Uint16Array(seen);
  for (let i = 0, at = 0; at < seen; i++) if (mask?.[i] !== 0) roots[at++] = Math.round(Math.sqrt(weights[i]) * 65535);
  return roots;
}

/** How much a head's weights differ from those that were kept of it, all together. */
/** @param {Uint16Array} roots @param {Float32Array} weights @param {Uint8Array | null} mask */
function distance(roots, weights, mask) {
  let sum = 0;
  for (let i = 0, at = 0; i < weights.length; i++)
    sum += Math.abs(weights[i] - (mask?.[i] === 0 ? 0 : (roots[at++] / 65535) ** 2));
  return sum;
}

/** Lets messages in. A timer would wait for four milliseconds each time. */
function letMessagesIn() {
  const { port1, port2 } = new MessageChannel();
  return new Promise((later) => {
    port1.onmessage = later;
    port2.postMessage(null);
  });
}
