// The explorer without a server, and the live files that leave it: both are this script.

import { openFile } from "../../canvas/live/heads_frame.js";
import { begin, embeddedBytes, elementText } from "../../canvas/live/file_page.js";
import { AllHeads, placeOfHead } from "../../canvas/shared/raw_scores.js";
import { decodeBase64, inflate } from "../../canvas/shared/packing.js";
import { Address } from "./address.js";
import { Explorer } from "./explorer.js";

/** @import { HeadsHeader, LiveHeader } from "../../canvas/live/heads_frame.js" */
/** @import { HeadHeader, Words } from "../../canvas/shared/types.js" */
/** @typedef {{ name: string, about: string, manifest: string, family: string, layers: number, heads: number, groups: number, width: number }} Card */
/** @typedef {HeadsHeader & { head: HeadHeader & { tile: [number, number] }, cards: Card[], words: Words, examples: SiteExample[], codes: string, document: string }} SiteHeader */
/** @typedef {{ text: string, model: string, at: string, shows: string, file: string }} SiteExample */

begin(async () => {
  /** @type {SiteHeader | LiveHeader} */
  const view = JSON.parse(elementText("attnviz-view"));
  if (!("cards" in view)) {
    await openFile(view);
    return;
  }
  const [bytes, codes] = await Promise.all([inflate(embeddedBytes()), inflate(decodeBase64(view.codes))]);
  const address = new Address(view);
  await address.unpack();
  const counts = view.overview.heads;
  const heads = Array.from({ length: placeOfHead(counts, counts.length, 0) }, () => /** @type {any} */ (null));
  heads[placeOfHead(counts, ...view.head.tile)] = AllHeads.read(bytes).heads[0]; // of the others the pictures alone are here
  new Explorer(view, new AllHeads(heads, counts), codes, address);
  if ("serviceWorker" in navigator) await navigator.serviceWorker.register("offline.js").catch(() => undefined);
});
