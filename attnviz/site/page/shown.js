// Heads that were just read, as the app's own drawings know them.

import { otherHeadHeader } from "../../canvas/head/head_numbers.js";
import { AllHeads, products, lazyHead } from "../../canvas/shared/raw_scores.js";
import { isEdited, scaleFactor, editedMask } from "../../canvas/shared/edit.js";
import { decodeBase64, inflate, packBits } from "../../canvas/shared/packing.js";
import { causal } from "../engine/model.js";

/** @import { HeadsHeader } from "../../canvas/live/heads_frame.js" */
/** @import { Group } from "../../canvas/shared/group.js" */
/** @import { PassEdit } from "../engine/attention.js" */
/** @import { Edit, HeadHeader, Shape } from "../../canvas/shared/types.js" */
/** @import { Card } from "./site.js" */

/**
 * Every head of a pass. Queries and keys take less room than the scores of all heads, and a head's come when it is asked for.
 * @param {Card} card @param {number} n @param {Record<"queries" | "keys", Float32Array>} made one head's after the other's
 */
export function headsOfPass({ family, layers, heads, groups, width }, n, { queries, keys }) {
  const mask = family === "bert" ? new Uint8Array(n * n).fill(1) : causal(n);
  const plain = { exact: true, padding: null, bias: null, softcap: null, sink: null };
  const same = { ...plain, scale: 1 / Math.sqrt(width), dHead: width, mask, shape: /** @type {Shape} */ ([n, n]) };
  const rows = (/** @type {Float32Array} */ of, /** @type {number} */ i) =>
    of.subarray(i * n * width, (i + 1) * n * width);
  const all = Array.from({ length: layers * heads }, (_, i) =>
    lazyHead(same, () => products(rows(queries, i), rows(keys, Math.floor((i * groups) / heads)), width)),
  );
  return new AllHeads(all, Array(layers).fill(heads));
}

/**
 * What stands around the pictures of a sentence.
 * @template {HeadsHeader} View
 * @param {View} view of the sentence before @param {Card} card
 * @param {{ labels: string[], doc: string, tile: [number, number], edit: Edit, pins: HeadHeader["pins"] }} shown
 * @returns {View}
 */
export function sentenceHeader(view, { layers, heads, groups }, { labels, doc, tile, edit, pins }) {
  const names = { doc, start: doc, look: doc, editName: doc, data: `${doc},${tile}` };
  const tokens = { q: labels, shape: /** @type {Shape} */ ([labels.length, labels.length]) };
  const titles = view.overview.words.tile;
  const plain = { ...edit, painted: edit.painted ? packBits(edit.painted) : "" };
  const each = (/** @type {number} */ count) => Array(layers).fill(count);
  return {
    ...view,
    head: otherHeadHeader({ ...view.head, ...names, ...tokens, titles, edit: plain, pins }, tile),
    overview: { ...view.overview, heads: each(heads), kv: each(groups), layers: [...each(0).keys()], q: labels },
  };
}

/** What a pass changes: mask and scale as they are set, and heads that hand on nothing. */
/** @param {Group} group @param {string[]} quiet layer.head of each of these @returns {PassEdit[]} */
export function passEdits({ selected, edit, all }, quiet) {
  const raw = all?.head(selected);
  const places = quiet.map((at) => at.split(".").map(Number));
  const silenced = places.map(([layer, head]) => ({ layer, head, silence: true }));
  if (!selected || !raw || !isEdited(edit)) return silenced;
  const [layer, head] = selected;
  const mask = editedMask(edit, raw) ?? new Uint8Array(raw.mask.length).fill(1);
  const place = { head: { layer, head }, layer: { layer }, all: {} }[edit.where];
  return [{ ...place, mask, scale: scaleFactor(edit, raw) }, ...silenced];
}

/** An example's tokens and all its heads; null where its file does not come. @param {string} file */
export async function fetchExample(file) {
  const answer = await fetch(file).catch(() => null);
  if (!answer?.ok) return null;
  const { labels, heads } = await answer.json();
  return { labels, all: AllHeads.read(await inflate(decodeBase64(heads))) };
}
