// The explorer without a server, and the live files that leave it: both are this script.

import { openFile } from "../../canvas/live/live_file.js";
import { begin, bytesInFile, textOf } from "../../canvas/live/file_page.js";
import { AllHeads } from "../../canvas/shared/all_heads.js";
import { bytesOf, inflate } from "../../canvas/shared/packing.js";
import { placeOfHead } from "../../canvas/shared/raw_scores.js";
import { Address } from "./address.js";
import { Explorer } from "./explorer.js";

/** @import { HeadsHeader } from "../../canvas/live/heads_frame.js" */
/** @import { LiveHeader, RawHead, Words } from "../../canvas/shared/types.js" */
/** @typedef {{ name: string, about: string, manifest: string, family: string, layers: number, heads: number, groups: number, width: number }} Card */
/** @typedef {HeadsHeader & { cards: Card[], words: Words, app: string | null, languages: { id: string, name: string, href: string }[], examples: SiteExample[], codes: string, document: string }} SiteHeader */
/** @typedef {{ text: string, model: string, at: string, shows: string, file: string }} SiteExample */

/** The head that the page brings, in the place that it has among all. @param {RawHead} head @param {SiteHeader} view */
function alone(head, { head: { tile }, overview }) {
  const heads = overview.heads.flatMap((count) => Array.from({ length: count }, () => /** @type {any} */ (null)));
  heads[placeOfHead(overview.heads, .../** @type {[number, number]} */ (tile))] = head;
  return new AllHeads(heads, overview.heads);
}

begin(async () => {
  /** @type {SiteHeader | LiveHeader} */
  const view = JSON.parse(textOf("attnviz-view"));
  if (!("cards" in view)) {
    await openFile(view);
    return;
  }
  const [bytes, codes] = await Promise.all([inflate(bytesInFile()), inflate(bytesOf(view.codes))]);
  const address = new Address(view);
  await address.unpack();
  new Explorer(view, alone(AllHeads.read(bytes).heads[0], view), codes, address);
  if ("serviceWorker" in navigator) await navigator.serviceWorker.register("offline.js").catch(() => undefined);
});
