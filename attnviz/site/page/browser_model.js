// The model of this browser, in a thread of its own: which one answers, which is on its way, and what it was asked last.

/** @import { HeadEdit } from "../engine/attention.js" */
/** @import { Card } from "./site.js" */

export class BrowserModel {
  /** @param {(data: any) => void} hear what it says, but for answers that nobody waits for any more */
  constructor(hear) {
    this.hear = hear;
    /** @type {string | null} the one that can answer */
    this.ready = null;
    /** @type {string | null} the one on its way */
    this.coming = null;
    this.asked = 0;
    /** @type {Worker | null} of one model: another one has another thread, and the memory of the first is free at once */
    this.thread = null;
  }

  /** Fetches a model, unless it is here or on its way; answers whether that begins now. @param {Card} card */
  choose({ name, manifest }) {
    if (this.coming === name || this.ready === name) return false;
    this.end();
    this.coming = name;
    const thread = new Worker("worker.js");
    thread.addEventListener("message", ({ data }) => {
      if (thread !== this.thread || (data.id ?? this.asked) !== this.asked) return;
      if (data.kind === "ready") this.ready = name;
      if (["ready", "failed"].includes(data.kind)) this.coming = null;
      this.hear(data);
    });
    thread.postMessage({ base: location.href.split("#")[0], manifest });
    this.thread = thread;
    return true;
  }

  end() {
    this.thread?.terminate();
    Object.assign(this, { thread: null, ready: null, coming: null });
  }

  stop() {
    this.end();
    this.hear({ kind: "stopped" });
  }

  /**
   * Has a sentence read. @param {string} text @param {HeadEdit[]} edits where there are none, all heads come of it
   * @param {[number, number] | null} [look] a head whose weights come as well
   */
  read(text, edits, look = null) {
    this.asked += 1;
    this.thread?.postMessage({ id: this.asked, text, edits, look });
  }
}
