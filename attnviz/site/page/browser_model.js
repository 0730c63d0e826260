// The model of this browser, in a thread of its own: which one answers, which is on its way, and what it was asked last.

/** @import { HeadEdit } from "../engine/attention.js" */
/** @import { Card } from "./site.js" */

export class BrowserModel {
  /** @param {Card[]} cards @param {(data: any) => void} hear what it says, but for answers that nobody waits for any more */
  constructor(cards, hear) {
    this.cards = cards;
    this.hear = hear;
    /** @type {string | null} the one that can answer */
    this.ready = null;
    /** @type {string | null} the one on its way */
    this.coming = null;
    this.asked = 0;
    this.begun = 0;
    /** @type {Worker | null} a page that reads nothing asks for no model's script */
    this.thread = null;
  }

  get worker() {
    this.thread ??= this.begin();
    return this.thread;
  }

  begin() {
    const worker = new Worker("worker.js");
    worker.addEventListener("message", ({ data }) => {
      if ("id" in data && data.id !== undefined && data.id !== this.asked) return;
      if (data.kind === "ready") this.ready = data.name;
      if (["ready", "stopped", "failed"].includes(data.kind)) this.coming = null;
      this.hear(data);
    });
    return worker;
  }

  /** Fetches a model; answers whether that begins now. @param {string} name */
  choose(name) {
    const card = this.cards.find((each) => each.name === name);
    if (!card || this.coming === name) return false;
    this.ready = null;
    this.coming = name;
    this.asked += 1; // what another one is still at is no answer any more
    this.worker.postMessage({ kind: "load", base: location.href.split("#")[0], manifest: card.manifest });
    return true;
  }

  stop() {
    this.worker.postMessage({ kind: "stop" });
  }

  /**
   * Has a sentence read. @param {string} text @param {HeadEdit[]} edits @param {boolean} whole whether all heads come of it
   * @param {[number, number] | null} [look] a head whose weights come as well
   */
  read(text, edits, whole, look = null) {
    this.asked += 1;
    this.begun = performance.now();
    this.worker.postMessage({ kind: "read", id: this.asked, text, edits, whole, look });
  }

  /** Seconds since it was asked last. */
  get seconds() {
    return (performance.now() - this.begun) / 1000;
  }
}
