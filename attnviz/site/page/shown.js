// Heads that were just read, as the app's own drawings know them.

import { AllHeads } from "../../canvas/shared/all_heads.js";
import { fill } from "../../canvas/shared/dom.js";
import { changes, factorOf, maskOf } from "../../canvas/shared/edit.js";
import { bytesOf, inflate, packBits } from "../../canvas/shared/packing.js";
import { causal } from "../engine/model.js";

/** @import { HeadsHeader } from "../../canvas/live/heads_frame.js" */
/** @import { Group } from "../../canvas/shared/group.js" */
/** @import { HeadEdit } from "../engine/attention.js" */
/** @import { Edit, HeadHeader, RawHead } from "../../canvas/shared/types.js" */
/** @import { Card } from "./site.js" */

/** Every head of a pass. @param {Card} card @param {number} n @param {Float32Array} scores */
export function headsOf(card, n, scores) {
  const cells = n * n;
  const mask = card.family === "bert" ? new Uint8Array(cells).fill(1) : causal(n);
  const plain = { exact: true, padding: null, bias: null, softcap: null, sink: null };
  const same = { ...plain, scale: 1 / Math.sqrt(card.width), dHead: card.width, mask };
  /** @type {RawHead[]} */
  const heads = Array.from({ length: card.layers * card.heads }, (_, i) => ({
    ...same,
    shape: [n, n],
    scores: scores.subarray(i * cells, (i + 1) * cells),
  }));
  return new AllHeads(heads, layersOf(card, card.heads));
}

/** The same number for each layer. @param {Card} card @param {number} count */
const layersOf = ({ layers }, count) => Array.from({ length: layers }, () => count);

/**
 * What stands around the pictures of a sentence.
 * @template {HeadsHeader} View
 * @param {View} view of the sentence before @param {Card} card
 * @param {{ labels: string[], doc: string, tile: [number, number], edit: Edit, pins: HeadHeader["pins"] }} shown
 * @returns {View}
 */
export function headedBy(view, card, { labels, doc, tile, edit, pins }) {
  const n = labels.length;
  const titles = { template: view.words.head, share: card.heads / card.groups };
  const title = fill(titles.template, { layer: tile[0], head: tile[1] });
  const about = { doc, start: doc, look: doc, editName: doc, q: labels, k: null, pins };
  const plain = { ...edit, painted: edit.painted ? packBits(edit.painted) : "" };
  const place = { title, titles, tile, edit: plain, data: `${doc},${tile}` };
  const layers = layersOf(card, 0).map((_, layer) => layer);
  const counts = { heads: layersOf(card, card.heads), kv: layersOf(card, card.groups), layers };
  return {
    ...view,
    head: { ...view.head, ...about, ...place, shape: [n, n], segments: [[], []] },
    overview: { ...view.overview, ...counts, q: labels, k: null },
  };
}

/** What a pass changes: mask and scale as they are set, and heads that hand on nothing. */
/** @param {Group} group @param {string[]} quiet layer.head of each of these @returns {HeadEdit[]} */
export function editsOf({ selected, edit, all }, quiet) {
  const head = all?.head(selected);
  const places = quiet.map((at) => at.split(".").map(Number));
  const silenced = places.map(([layer, number]) => ({ layer, head: number, silence: true }));
  if (!selected || !head || !changes(edit)) return silenced;
  const [layer, number] = selected;
  const place = { head: { layer, head: number }, layer: { layer }, all: {} }[edit.where];
  const mask = maskOf(edit, head) ?? new Uint8Array(head.shape[0] * head.shape[1]).fill(1);
  return [{ ...place, mask: Uint8Array.from(mask), scale: factorOf(edit, head) }, ...silenced];
}

/** An example's tokens and all its heads; null where its file does not come. @param {string} file */
export async function prepared(file) {
  const made = await fetch(file).then(
    (answer) => (answer.ok ? answer.json() : null),
    () => null,
  );
  return made && { labels: made.labels, all: AllHeads.read(await inflate(bytesOf(made.heads))) };
}
