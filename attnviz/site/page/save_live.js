// The head on show, or all of them, as a file that needs no server: the page's own script and style, and the scores.

import { bytesOf } from "../../canvas/live/file_page.js";
import { base64Of, deflate, packBits } from "../../canvas/shared/packing.js";
import { headedBy } from "./shown.js";

/** @import { HeadsFrame } from "../../canvas/live/heads_frame.js" */
/** @import { RawHead } from "../../canvas/shared/types.js" */
/** @import { Card, SiteHeader } from "./site.js" */

/** Bytes of scores: a file that a browser still opens at once, as in the app. */
const LARGEST = 24_000_000;

/**
 * @param {HeadsFrame} frame @param {Card} card @param {SiteHeader} view @param {string} text of the sentence
 * @param {boolean} every whether all heads are in it, or the one on show
 */
export async function liveFile({ group, large, view: shown }, card, view, text, every) {
  const { all, edit, pins, cell } = group;
  const at = large.drawn.header.tile;
  const raw = all?.head(at);
  if (!all || !at || !raw) throw new Error("no head");
  if (every && 4 * all.heads.length * raw.scores.length > LARGEST) throw new Error(view.words.live_large);
  const one = { ...card, layers: 1, heads: 1, groups: 1 };
  const { q: labels, doc, title } = large.drawn.header;
  const tile = every ? at : /** @type {[number, number]} */ ([0, 0]);
  const made = headedBy(shown, every ? card : one, { labels, doc, tile, edit });
  const { words } = view;
  const name = card.about.split(" · ")[0];
  const header = {
    ...made,
    head: { ...made.head, title, pins: { tokens: pins.map(({ axis, i }) => [axis, i]), cell } },
    title: words.file_title.replace("{model}", name).replace("{text}", () => text.slice(0, 120)),
    note: "",
    link: location.protocol.startsWith("http") ? location.href : null,
    words: { open: words.whole, made: words.made, all: words.all },
  };
  for (const each of ["cards", "examples", "languages", "policy", "app"]) Reflect.deleteProperty(header, each);
  const packed = every ? packedHeads(doc, all.heads, all.counts) : packedHeads(doc, [raw], [1]);
  const [script, style, data] = await Promise.all([fileOf("site.js"), fileOf("site.css"), deflate(packed)]);
  const inert = JSON.stringify(header).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  const heading = header.title.replace(/[<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const page =
    `<!doctype html>\n<html lang="${document.documentElement.lang}" data-theme="auto"><head><meta charset="utf-8">` +
    `<meta http-equiv="Content-Security-Policy" content="${view.policy}">` +
    '<meta name="viewport" content="width=device-width,initial-scale=1">' +
    `<title>${heading}</title><style>${style}</style></head><body><main id="attnviz"></main>` +
    `<script type="application/json" id="attnviz-view">${inert}</script>` +
    `<script type="application/octet-stream" id="attnviz-heads">${base64Of(data)}</script>` +
    `<script>${script}</script></body></html>\n`;
  return new Blob([page], { type: "text/html" });
}

/** @param {string} name */
const fileOf = async (name) => (await fetch(name)).text();

/** Heads of one model and sentence, as Python's raw_scores packs them in 32 bits. */
/** @param {string} doc @param {RawHead[]} heads @param {number[]} counts */
function packedHeads(doc, heads, counts) {
  const { shape, scale, dHead, mask } = heads[0];
  const cells = shape[0] * shape[1];
  const plain = { vectors: false, exact: true, softcap: null, mask: 0, bias: null, padding: false, sinks: false };
  const raw = { bits: 32, count: heads.length, shape, scale, width: dHead, ...plain };
  const header = new TextEncoder().encode(JSON.stringify({ doc, heads: counts, raw }));
  const bits = bytesOf(packBits(mask ?? new Uint8Array(cells).fill(1)));
  const bytes = new Uint8Array(4 + header.length + 4 * cells * heads.length + bits.length);
  new DataView(bytes.buffer).setUint32(0, header.length, true);
  bytes.set(header, 4);
  let at = 4 + header.length;
  for (const { scores } of heads) {
    bytes.set(new Uint8Array(scores.buffer, scores.byteOffset, 4 * cells), at);
    at += 4 * cells;
  }
  bytes.set(bits, at);
  return bytes;
}
