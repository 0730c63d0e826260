// The head on show as a table and as a picture, and it or all heads as a file that needs no server: the page's own script and
// style, and the scores. All is made in the browser.

import { offerHead } from "../../canvas/head/head_offer.js";
import { pictureDocument } from "../../canvas/scene/figure.js";
import { reportingButtons } from "../../canvas/shared/component.js";
import { createBox, fill } from "../../canvas/shared/dom.js";
import { copy, download, renderPng } from "../../canvas/shared/files.js";
import { encodeBase64, deflate, writeHeader } from "../../canvas/shared/packing.js";
import { packRawScores } from "../../canvas/shared/raw_scores.js";
import { sentenceHeader } from "./shown.js";

/** @import { Axis, Drawn, Picture, RawHead } from "../../canvas/shared/types.js" */
/** @import { Explorer } from "./explorer.js" */

/** Pixels of a point of the PNG. */
const FINE = 2;

/** What hands on the head on show: files of it, and the code that shows it inside another page. @param {Explorer} page */
export function saveButtons(page) {
  const { words } = page;
  offerHead(page.frame.large);
  const button = (/** @type {string} */ label, /** @type {() => Promise<void>} */ act) => {
    return { label, act, attributes: { class: "av-button" } };
  };
  /** @param {string} label @param {string} name of the file @param {(head: Drawn) => Blob | Promise<Blob>} make */
  const file = (label, name, make) =>
    button(label, async () => {
      const head = page.frame.large.drawn;
      download(await make(head), fill(name, { at: String(head.header.tile?.join("-")) }));
    });
  const files = [
    file("CSV", "head-{at}.csv", (head) => new Blob([headTable(head)], { type: "text/csv" })),
    file("SVG", "head-{at}.svg", async () => new Blob([await headPicture(page)], { type: "image/svg+xml" })),
    file("PNG", "head-{at}.png", async () => renderPng(await headPicture(page), FINE)),
    file(words.live, "head-{at}-live.html", () => liveFile(page, false)),
    file(words.live_all, "heads-live.html", () => page.rest().then(() => liveFile(page, true))),
  ];
  const [saved, copied] = [createBox("av-wrap"), createBox("av-wrap")];
  reportingButtons(saved, files, { done: words.saved }, (problem) => /** @type {Error} */ (problem).message);
  const embed = button(words.embed, () => copy(embedCode(words.embed_title), copied));
  reportingButtons(copied, [embed], { done: words.copied }, () => words.embed_failed);
  return createBox("av-wrap site-save", words.save, saved, copied);
}

/** A frame of the head on show, as the app writes one. @param {string} title */
function embedCode(title) {
  const address = new URL(location.href);
  address.search = "?embed=true&figure=head-out";
  const source = address.href.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<iframe src="${source}" title="${title}" width="100%" height="720" style="border:0" loading="lazy"></iframe>`;
}

/** One row for each query and key, as the notebook's view writes it. @param {Drawn} head */
function headTable({ header: { q }, values }) {
  const weight = (/** @type {number} */ at) => Number((values?.[at] ?? 0).toPrecision(9));
  const rows = q.flatMap((query, i) => q.map((key, j) => [i, query, j, key, weight(i * q.length + j)]));
  const lines = [["query", "query_token", "key", "key_token", "weight"], ...rows].map((row) =>
    row.map(quoteCsv).join(),
  );
  return [...lines, ""].join("\r\n");
}

/** @param {string | number} cell */
const quoteCsv = (cell) => (/[",\r\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : cell);

/** The head on show as the app saves it. @param {Explorer} page */
async function headPicture({ frame: { large } }) {
  const { theme, header } = large.drawn;
  const { picture: shown } = /** @type {{ picture: Picture }} */ (/** @type {unknown} */ (large.root));
  const style = await headFile("site.css").catch(() => ""); // begins with the font
  const fonts = /^(?:@font-face\{[^}]*\})+/.exec(style)?.[0] ?? "";
  const background = theme.dark ? "dark" : "white";
  return pictureDocument([shown], { background, title: header.title, caption: "", credit: "", bar: true, fonts });
}

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
  const { head, overview, arranged } = sentenceHeader(view, own, { labels, doc, tile, edit, pins });
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
  const [script, style, data] = await Promise.all([headFile("site.js"), headFile("site.css"), deflate(packed)]);
  const inert = JSON.stringify(header).replace(/[<>&]/g, (sign) => `\\u00${sign.charCodeAt(0).toString(16)}`);
  const heading = header.title.replace(/[<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  /** @type {Record<string, string>} */
  const parts = { title: heading, style, view: inert, heads: encodeBase64(data), script };
  return new Blob([view.document.replace(/\{(\w+)\}/g, (_mark, part) => parts[part])], { type: "text/html" });
}

/** @param {string} name */
export const headFile = async (name) => (await fetch(name)).text();
