// The head on show as a table and as a picture, made in the browser.

import { css, rgbOf } from "../../canvas/shared/colour.js";
import { around, button, el } from "../../canvas/shared/dom.js";
import { copy, download, png } from "../../canvas/shared/files.js";
import { MASKED_16 } from "../../canvas/shared/packing.js";

/** @import { Drawn, Words } from "../../canvas/shared/types.js" */

const CELL = 26;
const LABELS = 110;
/** Pixels of a point of the PNG. */
const FINE = 2;

/**
 * What hands the head on: files of it, and the code that shows it inside another page.
 * @param {Words} words @param {() => Drawn} drawn what is on show
 * @param {(every: boolean) => Promise<Blob>} live of this head, or of all
 */
export function saveButtons(words, drawn, live) {
  const said = el("span", "", "", { role: "status" });
  const act = (/** @type {string} */ name, /** @type {() => Promise<void>} */ make) =>
    button("site-stop", name, () => void make().catch((problem) => (said.textContent = String(problem.message))));
  const file = (/** @type {string} */ kind, /** @type {(head: Drawn) => Blob | Promise<Blob>} */ make) =>
    act(kind.toUpperCase(), async () => download(await make(drawn()), `${nameOf(drawn())}.${kind}`));
  const page = (/** @type {boolean} */ every) => async () =>
    download(await live(every), every ? "heads-live.html" : `${nameOf(drawn())}-live.html`);
  const box = around(
    "site-save",
    el("span", "", words.save),
    file("csv", (head) => new Blob([table(head)], { type: "text/csv" })),
    file("svg", (head) => new Blob([picture(head)], { type: "image/svg+xml" })),
    file("png", (head) => png(picture(head), FINE)),
    act(words.live, page(false)),
    act(words.live_all, page(true)),
    act(words.embed, async () => {
      await copy(embedCode(words.embed_title), box).catch(() => Promise.reject(new Error(words.embed_failed)));
      said.textContent = words.copied;
    }),
    said,
  );
  return box;
}

/** A frame of the head on show, as the app writes one. @param {string} title */
function embedCode(title) {
  const address = new URL(location.href);
  address.search = "?embed=true&figure=head-out";
  const source = address.href.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
  return `<iframe src="${source}" title="${title}" width="100%" height="720" style="border:0" loading="lazy"></iframe>`;
}

/** @param {Drawn} head */
const nameOf = ({ header: { tile } }) => `head-${(tile ?? [0, 0]).join("-")}`;

/** One row for each query and key, as the notebook's view writes it. @param {Drawn} head */
export function table({ header: { q, k, shape }, values }) {
  const rows = ["query,query_token,key,key_token,weight"];
  const [nq, nk] = shape;
  for (let i = 0; i < nq * nk; i++) {
    const [query, key] = [Math.floor(i / nk), i % nk];
    rows.push(
      `${query},${quoted(q[query])},${key},${quoted((k ?? q)[key])},${Number((values?.[i] ?? 0).toPrecision(9))}`,
    );
  }
  return `${rows.join("\r\n")}\r\n`;
}

/** @param {string} text */
const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** The cells with their tokens, on the page's own background. @param {Drawn} head */
export function picture({ header: { q, k, shape, title }, codes, table: pixels, theme }) {
  const [nq, nk] = shape;
  const [width, height] = [LABELS + nk * CELL + 10, LABELS + nq * CELL + 10];
  const cells = [...codes.keys()].map((i) => {
    const fill = codes[i] === MASKED_16 ? theme.border : css(rgbOf(pixels[codes[i]]));
    const [x, y] = [LABELS + (i % nk) * CELL, LABELS + Math.floor(i / nk) * CELL];
    return `<rect x="${x}" y="${y}" width="${CELL}" height="${CELL}" fill="${fill}"/>`;
  });
  const rows = q.map((label, i) => written(label, LABELS - 6, LABELS + (i + 0.65) * CELL, "end", ""));
  const columns = (k ?? q).map((label, i) => {
    const [x, y] = [LABELS + (i + 0.65) * CELL, LABELS - 6];
    return written(label, x, y, "start", ` transform="rotate(-60 ${x} ${y})"`);
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="12" ` +
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
