// The head on show, or all of them, as a file that needs no server: the page's own script and style, and the scores.

import { base64Of, deflate, writeHeader } from "../../canvas/shared/packing.js";
import { packRawScores } from "../../canvas/shared/raw_scores.js";
import { headedBy } from "./shown.js";

/** @import { HeadsFrame } from "../../canvas/live/heads_frame.js" */
/** @import { Axis } from "../../canvas/shared/types.js" */
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
  const pinned = { tokens: pins.map(({ axis, i }) => /** @type {[Axis, number]} */ ([axis, i])), cell };
  const made = headedBy(shown, every ? card : one, { labels, doc, tile, edit, pins: pinned });
  const { words } = view;
  const name = card.about.split(" · ")[0];
  const header = {
    ...made,
    head: { ...made.head, title },
    title: words.file_title.replace("{model}", name).replace("{text}", () => text.slice(0, 120)),
    note: "",
    link: location.protocol.startsWith("http") ? location.href : null,
    words: { open: words.whole, made: words.made, all: words.all },
  };
  for (const each of ["cards", "examples", "languages", "document", "app"]) Reflect.deleteProperty(header, each);
  const { header: scores, payload } = packRawScores(every ? all.heads : [raw]);
  const packed = writeHeader({ doc, heads: every ? all.counts : [1], raw: scores }, payload);
  const [script, style, data] = await Promise.all([fileOf("site.js"), fileOf("site.css"), deflate(packed)]);
  const inert = JSON.stringify(header).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  const heading = header.title.replace(/[<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  /** @type {Record<string, string>} */
  const parts = { title: heading, style, view: inert, heads: base64Of(data), script };
  const page = view.document.replace(/\{(\w+)\}/g, (_mark, part) => parts[part]);
  return new Blob([page], { type: "text/html" });
}

/** @param {string} name */
const fileOf = async (name) => (await fetch(name)).text();
