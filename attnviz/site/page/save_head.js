// The head on show as a table and as a picture, made in the browser.

import { offerHead } from "../../canvas/head/head_offer.js";
import { pictureDocument } from "../../canvas/scene/figure.js";
import { sayingButtons } from "../../canvas/shared/component.js";
import { around, fill } from "../../canvas/shared/dom.js";
import { copy, download, png } from "../../canvas/shared/files.js";
import { fileOf, liveFile } from "./save_live.js";

/** @import { Drawn, Picture } from "../../canvas/shared/types.js" */
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
    file("CSV", "head-{at}.csv", (head) => new Blob([table(head)], { type: "text/csv" })),
    file("SVG", "head-{at}.svg", async () => new Blob([await picture(page)], { type: "image/svg+xml" })),
    file("PNG", "head-{at}.png", async () => png(await picture(page), FINE)),
    file(words.live, "head-{at}-live.html", () => liveFile(page, false)),
    file(words.live_all, "heads-live.html", () => page.rest().then(() => liveFile(page, true))),
  ];
  const [saved, copied] = [around("av-wrap"), around("av-wrap")];
  sayingButtons(saved, files, { done: words.saved }, (problem) => /** @type {Error} */ (problem).message);
  const embed = button(words.embed, () => copy(embedCode(words.embed_title), copied));
  sayingButtons(copied, [embed], { done: words.copied }, () => words.embed_failed);
  return around("av-wrap site-save", words.save, saved, copied);
}

/** A frame of the head on show, as the app writes one. @param {string} title */
function embedCode(title) {
  const address = new URL(location.href);
  address.search = "?embed=true&figure=head-out";
  const source = address.href.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<iframe src="${source}" title="${title}" width="100%" height="720" style="border:0" loading="lazy"></iframe>`;
}

/** One row for each query and key, as the notebook's view writes it. @param {Drawn} head */
function table({ header: { q }, values }) {
  const weight = (/** @type {number} */ at) => Number((values?.[at] ?? 0).toPrecision(9));
  const rows = q.flatMap((query, i) => q.map((key, j) => [i, query, j, key, weight(i * q.length + j)]));
  const lines = [["query", "query_token", "key", "key_token", "weight"], ...rows].map((row) => row.map(quoted).join());
  return [...lines, ""].join("\r\n");
}

/** @param {string | number} cell */
const quoted = (cell) => (/[",\r\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : cell);

/** The head on show as the app saves it. @param {Explorer} page */
async function picture({ frame: { large } }) {
  const { theme, header } = large.drawn;
  const { picture: shown } = /** @type {{ picture: Picture }} */ (/** @type {unknown} */ (large.root));
  const style = await fileOf("site.css").catch(() => ""); // begins with the font
  const fonts = /^(?:@font-face\{[^}]*\})+/.exec(style)?.[0] ?? "";
  const background = theme.dark ? "dark" : "white";
  return pictureDocument([shown], { background, title: header.title, caption: "", credit: "", bar: true, fonts });
}
