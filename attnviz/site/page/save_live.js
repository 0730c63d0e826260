// The head on show, or all of them, as a file that needs no server: the page's own script and style, and the scores.

import { base64Of, deflate, writeHeader } from "../../canvas/shared/packing.js";
import { packRawScores } from "../../canvas/shared/raw_scores.js";
import { headedBy } from "./shown.js";

/** @import { Axis } from "../../canvas/shared/types.js" */
/** @import { Explorer } from "./explorer.js" */

/** Bytes of scores: a file that a browser still opens at once, as in the app. */
const LARGEST = 24_000_000;

/** @param {Explorer} page @param {boolean} every whether all heads are in it, or the one on show */
export async function liveFile({ frame: { group, large }, card, view, words, shown }, every) {
  const { all, edit, cell } = group;
  const { q: labels, doc, title, tile: at } = large.drawn.header;
  const raw = all?.head(at);
  if (!all || !at || !raw) throw new Error("no head");
  if (every && 4 * all.heads.length * raw.scores.length > LARGEST) throw new Error(words.live_large);
  const one = { ...card, layers: 1, heads: 1, groups: 1 };
  const tile = every ? at : /** @type {[number, number]} */ ([0, 0]);
  const pins = { tokens: group.pins.map(({ axis, i }) => /** @type {[Axis, number]} */ ([axis, i])), cell };
  const { head, overview, arranged } = headedBy(view, every ? card : one, { labels, doc, tile, edit, pins });
  const name = card.about.split(" · ")[0];
  const header = {
    title: words.file_title.replace("{model}", name).replace("{text}", () => shown.text.slice(0, 120)),
    note: "",
    link: location.protocol.startsWith("http") ? location.href : null,
    arranged,
    head: { ...head, title },
    overview,
    words: { open: words.whole, made: words.made, all: words.all },
  };
  const { header: scores, payload } = packRawScores(every ? all.heads : [raw]);
  const packed = writeHeader({ doc, heads: every ? all.counts : [1], raw: scores }, payload);
  const [script, style, data] = await Promise.all([fileOf("site.js"), fileOf("site.css"), deflate(packed)]);
  const inert = JSON.stringify(header).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  const heading = header.title.replace(/[<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  /** @type {Record<string, string>} */
  const parts = { title: heading, style, view: inert, heads: base64Of(data), script };
  return new Blob([view.document.replace(/\{(\w+)\}/g, (_mark, part) => parts[part])], { type: "text/html" });
}

/** @param {string} name */
const fileOf = async (name) => (await fetch(name)).text();
