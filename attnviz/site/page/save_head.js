// The head on show as a table and as a picture, made in the browser.

import { css, rgbOf } from "../../canvas/shared/colour.js";
import { sayingButtons } from "../../canvas/shared/component.js";
import { around, fill } from "../../canvas/shared/dom.js";
import { copy, download, png } from "../../canvas/shared/files.js";
import { MASKED_16 } from "../../canvas/shared/packing.js";
import { liveFile } from "./save_live.js";

/** @import { Drawn } from "../../canvas/shared/types.js" */
/** @import { Explorer } from "./explorer.js" */

const CELL = 26;
const LABELS = 110;
/** Pixels of a point of the PNG. */
const FINE = 2;

/** What hands on the head on show: files of it, and the code that shows it inside another page. @param {Explorer} page */
export function saveButtons(page) {
  const { words } = page;
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
    file("SVG", "head-{at}.svg", (head) => new Blob([picture(head)], { type: "image/svg+xml" })),
    file("PNG", "head-{at}.png", (head) => png(picture(head), FINE)),
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

/** The cells with their tokens, on the page's own background. @param {Drawn} head */
function picture({ header: { q, title }, codes, table: pixels, theme }) {
  const side = LABELS + q.length * CELL + 10;
  const cells = [...codes.keys()].map((i) => {
    const ink = codes[i] === MASKED_16 ? theme.border : css(rgbOf(pixels[codes[i]]));
    const [x, y] = [LABELS + (i % q.length) * CELL, LABELS + Math.floor(i / q.length) * CELL];
    return `<rect x="${x}" y="${y}" width="${CELL}" height="${CELL}" fill="${ink}"/>`;
  });
  const rows = q.map((label, i) => written(label, LABELS - 6, LABELS + (i + 0.65) * CELL, "end", ""));
  const columns = q.map((label, i) => {
    const [x, y] = [LABELS + (i + 0.65) * CELL, LABELS - 6];
    return written(label, x, y, "start", ` transform="rotate(-60 ${x} ${y})"`);
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${side}" height="${side}" font-family="sans-serif" font-size="12" ` +
    `fill="${theme.text}"><rect width="100%" height="100%" fill="${theme.background}"/>` +
    [written(title, 8, 18, "start", ' font-weight="600"'), ...cells, ...rows, ...columns].join("") +
    "</svg>"
  );
}

/** @param {string} text @param {number} x @param {number} y @param {string} anchor @param {string} more */
function written(text, x, y, anchor, more) {
  const inert = text.replace(/[&<>]/g, (letter) => `&#${letter.charCodeAt(0)};`);
  return `<text x="${x}" y="${y}" text-anchor="${anchor}"${more}>${inert}</text>`;
}
