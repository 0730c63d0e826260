// The model of this browser, in a thread of its own: which one is chosen, whether it can answer, and what it was asked last.

/** @import { PassEdit } from "../engine/attention.js" */
/** @import { Card } from "./site.js" */

export class BrowserModel {
  /** @param {(data: any) => void} hear what it says, but for answers that nobody waits for any more */
  constructor(hear) {
    this.hear = hear;
    /** @type {string | null} the one that can answer */
    this.ready = null;
    /** @type {string | null} the one that can, or is on its way */
    this.chosen = null;
    this.asked = 0;
    /** @type {Worker | null} of one model: another one has another thread, and the memory of the first is free at once */
    this.thread = null;
  }

  /** Fetches a model, unless it is here or on its way. @param {Card} card */
  choose({ name, manifest }) {
    if (this.chosen === name) return;
    this.end(name);
    const thread = new Worker("worker.js");
    thread.addEventListener("message", ({ data }) => {
      if (thread !== this.thread || (data.id ?? this.asked) !== this.asked) return;
      if (data.name) this.ready = name;
      if (data.kind === "failed") this.chosen = this.ready;
      this.hear(data);
    });
    thread.postMessage({ base: location.href.split("#")[0], manifest });
    this.thread = thread;
  }

  /** Ends the thread that is. @param {string | null} chosen what comes in its place */
  end(chosen) {
    this.thread?.terminate();
    Object.assign(this, { thread: null, ready: null, chosen });
  }

  stop() {
    this.end(null);
    this.hear({ kind: "stopped" });
  }

  /** Has a sentence read. @param {string} text @param {PassEdit[]} edits where there are none, all heads come of it */
  read(text, edits) {
    this.asked += 1;
    this.thread?.postMessage({ id: this.asked, text, edits });
  }
}
