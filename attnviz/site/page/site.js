// The explorer without a server: a sentence is read by a model in this browser, and shown as the app shows it.

import { HeadsFrame } from "../../canvas/live/heads_frame.js";
import { begin, bytesInFile, bytesOf, onOtherTheme, textOf } from "../../canvas/live/file_page.js";
import { AllHeads } from "../../canvas/shared/all_heads.js";
import { around, el, fill } from "../../canvas/shared/dom.js";
import { changes, factorOf, maskOf } from "../../canvas/shared/edit.js";
import { tell } from "../../canvas/shared/group.js";
import { inflate } from "../../canvas/shared/packing.js";
import { causal } from "../engine/model.js";
import { Address } from "./address.js";
import { saveButtons } from "./save_head.js";
import { SiteForm } from "./site_form.js";
import { MovedHeads } from "./moved_heads.js";
import { NextTokens } from "./next_tokens.js";

/** @import { Next } from "./next_tokens.js" */
/** @import { HeadEdit } from "../engine/attention.js" */
/** @import { HeadsHeader } from "../../canvas/live/heads_frame.js" */
/** @import { RawHead, Words } from "../../canvas/shared/types.js" */
/** @typedef {import("./worker.js").Card & { about: string }} Card */
/** @typedef {HeadsHeader & { cards: Card[], words: Words, text: string, model: string, app: string | null, examples: SiteExample[] }} SiteHeader */
/** @typedef {{ text: string, model: string, at: string, shows: string, file: string }} SiteExample */

/** Milliseconds after the last change of mask or scale until the model runs again. */
const PAUSE = 120;
/** Milliseconds of a pass after which its layers are counted aloud. */
const PATIENCE = 400;

class Site {
  /** @param {SiteHeader} view @param {AllHeads} all */
  constructor(view, all) {
    this.view = view;
    this.words = view.words;
    this.address = new Address({ text: view.text, model: view.model });
    if (!view.cards.some(({ name }) => name === this.address.model)) this.address.model = view.model;
    this.worker = new Worker("worker.js");
    this.worker.addEventListener("message", ({ data }) => this.hear(data));
    this.asked = 0;
    /** @type {string | null} the model that can answer */
    this.ready = null;
    /** whether one is on its way */
    this.coming = false;
    /** @type {string | undefined} the sentence to be read, once a model is here */
    this.wanted = undefined;
    this.shown = { text: view.text, model: view.model };
    /** @type {Next[] | null} what comes after it, of the model as it is */
    this.before = null;
    /** @type {Map<string, HeadEdit>} heads that hand on nothing, by their places */
    this.silenced = new Map();
    /** the change that was run last */
    this.made = "[]";
    this.begun = 0;
    this.later = 0;
    /** the model whose heads are drawn, and how many sentences were */
    this.drawn = view.model;
    this.documents = 0;
    this.form = new SiteForm(view, this.address, {
      read: (text) => this.ask(text),
      choose: (name) => this.choose(name),
      example: (each) => void this.example(each),
      silence: (silent) => this.silence(silent),
      stop: () => this.worker.postMessage({ kind: "stop" }),
    });
    this.frame = new HeadsFrame(view, all);
    this.next = new NextTokens(this.words, (text) => this.ask(this.shown.text + text));
    this.moved = new MovedHeads(this.words, (head) => this.look(head));
    this.frame.group.listeners.add((what) => {
      if (what === "edit" || what === "selected") this.changed();
      if (what === "selected") this.form.silent = this.silenced.has(String(this.frame.group.selected));
      if (what === "selected" && this.frame.group.selected)
        this.address.put({ at: this.frame.group.selected.join(".") });
    });
    document.getElementById("attnviz")?.append(
      this.form.root,
      this.form.status,
      this.frame.root,
      saveButtons(this.words, () => this.frame.large.drawn),
      around("site-below", this.next.root, this.moved.root),
      this.foot(),
    );
    onOtherTheme(() => this.frame.draw());
    const other = this.address.text !== view.text || this.address.model !== view.model;
    if (other) this.ask(this.address.text);
    // inside another page a model is fetched once somebody types: browsers keep each page's storage apart
    else if (new URLSearchParams(location.search).get("embed") !== "true") this.choose(view.model, false);
  }

  foot() {
    const foot = el("footer", "live-foot", `${this.words.stays} ${this.words.more} `);
    if (this.view.app) foot.append(el("a", "", this.words.open, { href: this.view.app, rel: "noopener" }), " · ");
    foot.append(el("a", "", this.words.licences, { href: "licences.txt" }), " · ", this.words.made);
    return foot;
  }

  /** Fetch a model, and read the sentence with it. @param {string} name */
  choose(name, read = true) {
    const card = this.view.cards.find((each) => each.name === name);
    if (!card) return;
    this.ready = null;
    this.coming = true;
    this.form.loading(true);
    if (read) this.ask(this.form.text);
    this.worker.postMessage({ kind: "load", base: location.href.split("#")[0], card });
  }

  /** Read this sentence, now or once the model is here. @param {string} text */
  ask(text) {
    this.form.text = text;
    this.address.put({ text, model: this.form.model });
    this.wanted = text;
    if (this.ready) this.run([], true);
    else if (!this.coming) this.choose(this.form.model, false);
  }

  /** Show an example: it was read before, and needs no model. @param {SiteExample} example */
  async example({ text, model, at, file }) {
    this.form.text = text;
    this.form.model = model;
    this.address.put({ text, model, at });
    if (this.ready === model) {
      this.ask(text);
      return;
    }
    const { labels, heads } = await (await fetch(file)).json();
    const all = new AllHeads(await inflate(bytesOf(heads)), "inline");
    this.shown = { text, model };
    this.before = null;
    this.unchanged();
    this.take(model, { labels, all });
    this.wanted = text;
    if (this.ready || !this.coming) this.choose(model, false);
  }

  /** @param {HeadEdit[]} edits @param {boolean} whole whether other heads come of it */
  run(edits, whole) {
    clearTimeout(this.later);
    if (whole) this.made = "[]";
    this.asked += 1;
    this.begun = performance.now();
    this.worker.postMessage({
      kind: "read",
      id: this.asked,
      text: whole ? this.wanted : this.shown.text,
      edits,
      whole,
    });
  }

  /** The mask or the scale of the head on show is another one, or it is silenced: what comes next then? */
  changed() {
    clearTimeout(this.later);
    this.later = setTimeout(() => {
      const edits = this.edits();
      const made = JSON.stringify(edits.map((each) => ({ ...each, mask: each.mask?.join("") })));
      if (!this.before || this.ready !== this.shown.model || made === this.made) return;
      this.made = made;
      if (edits.length) this.run(edits, false);
      else this.unchanged();
    }, PAUSE);
  }

  /** The head on show hands on nothing, or what it has again. @param {boolean} silent */
  silence(silent) {
    const { selected } = this.frame.group;
    if (!selected) return;
    if (silent) this.silenced.set(String(selected), { layer: selected[0], head: selected[1], silence: true });
    else this.silenced.delete(String(selected));
    this.changed();
  }

  /** Show another head. @param {[number, number]} head */
  look(head) {
    this.frame.group.selected = head;
    tell(this.frame.group, "selected");
  }

  /** @returns {HeadEdit[]} */
  edits() {
    const { selected, edit, all } = this.frame.group;
    const head = all?.head(selected);
    if (!selected || !head) return [];
    const [layer, number] = selected;
    /** @type {HeadEdit[]} */
    const made = [...this.silenced.values()];
    if (!changes(edit)) return made;
    const place = { head: { layer, head: number }, layer: { layer }, all: {} }[edit.where];
    const mask = maskOf(edit, head) ?? new Uint8Array(head.shape[0] * head.shape[1]).fill(1);
    return [{ ...place, mask: Uint8Array.from(mask), scale: factorOf(edit, head) }, ...made];
  }

  /** @param {any} data what the worker says */
  hear(data) {
    const { words, form } = this;
    if (data.kind === "loading") {
      form.say(fill(words.loading, { done: (data.done / 1e6).toFixed(0), of: (data.of / 1e6).toFixed(0) }));
    } else if (data.kind === "ready") {
      this.ready = data.name;
      this.coming = false;
      form.loading(false);
      form.say(data.kernel ? words.ready : words.slow);
      if (this.wanted !== undefined) this.run([], true);
      else this.first();
    } else if (data.kind === "stopped" || data.kind === "failed") {
      this.coming = false;
      form.loading(false, true);
      form.say(data.kind === "stopped" ? words.stopped : fill(words.failed, { what: data.what }));
    } else if (data.kind === "length") {
      form.say(fill(data.n ? words.long : words.empty, { n: data.n, longest: data.longest }));
    } else if (data.kind === "layer" && data.id === this.asked) {
      if (performance.now() - this.begun > PATIENCE) form.say(fill(words.reading, { n: data.layer + 1, of: data.of }));
    } else if (data.kind === "pass" && data.id === this.asked) this.answered(data);
  }

  /** What comes after the sentence that stood here before the model did. */
  first() {
    this.wanted = this.shown.text;
    if (this.shown.model === this.ready) this.run([], true);
  }

  /** @param {any} data */
  answered(data) {
    if (data.scores) {
      this.shown = { text: data.text, model: this.ready ?? "" };
      this.before = data.next ?? [];
      const card = /** @type {Card} */ (this.view.cards.find(({ name }) => name === this.ready));
      this.take(card.name, { ...data, all: headsOf(card, data.labels.length, data.scores) });
      this.unchanged();
    } else {
      this.next.show(this.before ?? [], data.next);
      this.moved.show(data.moved);
    }
    const took = { n: data.labels.length, seconds: ((performance.now() - this.begun) / 1000).toFixed(2) };
    this.form.say(fill(this.words.took, took));
  }

  /** What comes next of the model as it is. */
  unchanged() {
    this.next.show(this.before ?? [], null);
    this.moved.show(null);
  }

  /**
   * Other heads, of this sentence. @param {string} model
   * @param {{ labels: string[], all: AllHeads, codes?: Uint8Array }} made
   */
  take(model, { labels, all, codes }) {
    const card = /** @type {Card} */ (this.view.cards.find((each) => each.name === model));
    const same = this.drawn === model;
    this.drawn = model;
    this.documents += 1;
    const old = this.frame.group.selected;
    const tile = this.address.head(card) ?? /** @type {[number, number]} */ (same && old ? old : [0, 0]);
    const doc = `${card.name} ${this.documents}`;
    const n = labels.length;
    const titles = { template: this.words.head, share: card.heads / card.groups };
    const title = fill(titles.template, { layer: tile[0], head: tile[1] });
    const about = { doc, start: doc, look: doc, editName: doc, q: labels, k: null, segments: [[], []], pins: null };
    const head = { ...this.view.head, ...about, title, titles, tile, shape: [n, n], data: `${doc},${tile}` };
    const layers = Array.from({ length: card.layers }, (_, layer) => layer);
    const counts = { heads: layers.map(() => card.heads), kv: layers.map(() => card.groups), layers };
    const overview = { ...this.view.overview, ...counts, q: labels, k: null };
    this.view = { ...this.view, head: /** @type {any} */ (head), overview };
    this.form.silent = false;
    this.silenced.clear();
    this.frame.take(this.view, all, codes);
  }
}

/** Every head as the drawings know them. @param {Card} card @param {number} n @param {Float32Array} scores */
function headsOf(card, n, scores) {
  const cells = n * n;
  const mask = card.family === "bert" ? new Uint8Array(cells).fill(1) : causal(n);
  const same = { exact: true, scale: 1 / Math.sqrt(card.width), dHead: card.width, mask };
  const none = { padding: null, bias: null, softcap: null, sink: null };
  /** @type {RawHead[]} */
  const heads = Array.from({ length: card.layers * card.heads }, (_, i) => ({
    shape: [n, n],
    scores: scores.subarray(i * cells, (i + 1) * cells),
    ...same,
    ...none,
  }));
  return AllHeads.of(
    heads,
    Array.from({ length: card.layers }, () => card.heads),
  );
}

begin(async () => {
  const bytes = await inflate(bytesInFile());
  new Site(JSON.parse(textOf("attnviz-view")), new AllHeads(bytes, "inline"));
  if ("serviceWorker" in navigator) await navigator.serviceWorker.register("offline.js").catch(() => undefined);
});
