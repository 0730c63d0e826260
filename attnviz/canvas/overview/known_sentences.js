// The sentences that were read last, whole, and their small pictures, unpacked: one that is read again is drawn as its key is
// pressed, and the server follows.

import { Latest } from "../shared/component.js";
import { MOST_SENTENCES } from "../shared/group.js";
import { inflate } from "../shared/packing.js";

/** @import { Group } from "../shared/group.js" */
/** @import { RequestedText, OverviewHeader } from "../shared/types.js" */
/** @typedef {{ header: OverviewHeader, tiles: Uint8Array }} KnownSentence */

/** @type {Latest<Uint8Array>} tiles by the fingerprint of what was sent */
const unpacked = new Latest(MOST_SENTENCES);

/** The bytes that were packed into `payload`, which `name` is the fingerprint of: at once where they are known. */
/** @param {string} name @param {Uint8Array} payload @returns {Uint8Array | Promise<Uint8Array>} */
export function unpackTiles(name, payload) {
  const known = unpacked.get(name);
  return known ? unpacked.keep(name, known) : inflate(payload).then((tiles) => unpacked.keep(name, tiles));
}

/** @param {Group["readBefore"]} before @param {KnownSentence} sentence */
export function keepSentence(before, sentence) {
  const { asked } = sentence.header;
  if (asked) before.keep(sentenceName(asked, asked.text), sentence);
}

/** What was drawn of `text` the last time, if all else that the page was asked for is as it was then. */
/** @param {Group["readBefore"]} before @param {RequestedText | null} asked of what is on show @param {string} text */
export function findSentence(before, asked, text) {
  return (asked && text !== asked.text && before.get(sentenceName(asked, text))) || null;
}

/** Calls `read` with the text of the sentence's field when it is handed to the server: by its key, or as it is left. */
/** @param {() => RequestedText | null} asked @param {(text: string) => void} read @param {AbortSignal} signal */
export function onHandedOver(asked, read, signal) {
  const heard = (/** @type {Event} */ event) => {
    const { target } = event;
    if (event instanceof KeyboardEvent && (event.key !== "Enter" || !(event.ctrlKey || event.metaKey))) return;
    if (target instanceof HTMLTextAreaElement && target.ariaLabel === asked()?.label) read(target.value);
  };
  for (const kind of ["keydown", "focusout"]) globalThis.addEventListener(kind, heard, { capture: true, signal });
}

/** @param {RequestedText} asked @param {string} text */
function sentenceName({ besides }, text) {
  return JSON.stringify([besides, text]);
}
