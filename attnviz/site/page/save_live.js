// The head on show, or all of them, as a file that needs no server: the page's own script and style, and the scores.

import { base64Of, deflate, writeHeader } from "../../canvas/shared/packing.js";
import { packRawScores } from "../../canvas/shared/raw_scores.js";
import { headedBy } from "./shown.js";

/** @import { Axis, RawHead } from "../../canvas/shared/types.js" */
/** @import { Explorer } from "./explorer.js" */

/** Bytes of scores: a file that a browser still opens at once, as in the app. */
const LARGEST = 24_000_000;

/** @param {Explorer} page @param {boolean} every whether all heads are in it, or the one on show */
export async function liveFile({ frame: { group, large }, card, view, words, shown }, every) {
  const { edit, cell, selected } = group;
  const { q: labels, doc, title } = large.drawn.header;
  const heads = every ? (group.all?.heads ?? []) : [/** @type {RawHead} */ (group.all?.head(selected))];
  if (4 * heads.length * labels.length ** 2 > LARGEST) throw new Error(words.live_large);
  const own = every ? card : { ...card, layers: 1, heads: 1, groups: 1 };
  const tile = /** @type {[number, number]} */ (every ? selected : [0, 0]);
  const pins = { tokens: group.pins.map(({ axis, i }) => /** @type {[Axis, number]} */ ([axis, i])), cell };
  const { head, overview, arranged } = headedBy(view, own, { labels, doc, tile, edit, pins });
  const name = card.about.split(" · ")[0];
  const header = {
    title: words.file_title.replace("{model}", name).replace("{text}", () => shown.text.slice(0, 120)),
    note: "",
    link: location.protocol.startsWith("http") ? location.href : null,
    head: { ...head, title },
    words: { open: words.whole, made: words.made, all: words.all },
    ...{ overview, arranged },
  };
  const { header: raw, payload } = packRawScores(heads);
  const packed = writeHeader({ doc, heads: overview.heads, raw }, payload);
  const [script, style, data] = await Promise.all([fileOf("site.js"), fileOf("site.css"), deflate(packed)]);
  const inert = JSON.stringify(header).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  const heading = header.title.replace(/[<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  /** @type {Record<string, string>} */
  const parts = { title: heading, style, view: inert, heads: base64Of(data), script };
  return new Blob([view.document.replace(/\{(\w+)\}/g, (_mark, part) => parts[part])], { type: "text/html" });
}

/** @param {string} name */
export const fileOf = async (name) => (await fetch(name)).text();
