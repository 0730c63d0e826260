// The sentences that were read last, whole: one that is read again is drawn as its key is pressed, and the server follows.

/** @import { Group } from "../shared/group.js" */
/** @import { AskedText, OverviewHeader } from "../shared/types.js" */
/** @typedef {{ header: OverviewHeader, tiles: Uint8Array }} KnownSentence */

/** Sentences kept: as many as kept_tiles.js keeps tiles of. */
const MOST = 12;

export class KnownSentences {
  constructor() {
    /** @type {Map<string, KnownSentence>} the latest last */
    this.kept = new Map();
  }

  /** @param {KnownSentence} sentence */
  keep(sentence) {
    const { asked } = sentence.header;
    if (!asked) return;
    const name = nameOf(asked, asked.text);
    this.kept.delete(name);
    this.kept.set(name, sentence);
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= MOST) break;
      this.kept.delete(oldest);
    }
  }

  /**
   * What was drawn of `text` the last time, if all else that the page was asked for is as it was then.
   * @param {AskedText | null} asked of what is on show
   * @param {string} text
   */
  find(asked, text) {
    return (asked && text !== asked.text && this.kept.get(nameOf(asked, text))) || null;
  }
}

/** @type {WeakMap<Group, KnownSentences>} */
const kept = new WeakMap();

/**
 * What a page knows outlives its overview, which Streamlit may take down and build anew as a sentence comes.
 * @param {Group} group
 */
export function knownIn(group) {
  const known = kept.get(group) ?? new KnownSentences();
  kept.set(group, known);
  return known;
}

/**
 * Calls `read` with the text of the sentence's field when it is handed to the server: by its key, or as it is left.
 * @param {() => AskedText | null} asked
 * @param {(text: string) => void} read
 * @param {AbortSignal} signal
 */
export function onHandedOver(asked, read, signal) {
  const heard = (/** @type {Event} */ event) => {
    const { target } = event;
    if (event instanceof KeyboardEvent && (event.key !== "Enter" || !(event.ctrlKey || event.metaKey))) return;
    if (target instanceof HTMLTextAreaElement && target.ariaLabel === asked()?.label) read(target.value);
  };
  for (const kind of ["keydown", "focusout"]) globalThis.addEventListener(kind, heard, { capture: true, signal });
}

/**
 * @param {AskedText} asked
 * @param {string} text
 */
function nameOf({ besides }, text) {
  return JSON.stringify([besides, text]);
}
