// The explorer without a server: a sentence is read by a model in this browser, and shown as the app shows it.

import { HeadsFrame } from "../../canvas/live/heads_frame.js";
import { onOtherTheme } from "../../canvas/live/file_page.js";
import { createBox, el, fill, setText } from "../../canvas/shared/dom.js";
import { isEdited, NO_EDIT } from "../../canvas/shared/edit.js";
import { runSoon } from "../../canvas/shared/surface.js";
import { BrowserModel } from "./browser_model.js";
import { saveButtons } from "./save_head.js";
import { passEdits, sentenceHeader, headsOfPass, fetchExample } from "./shown.js";
import { SiteForm } from "./site_form.js";
import { MovedHeads } from "./moved_heads.js";
import { nextTokens } from "./next_tokens.js";
import { parsePins } from "./address.js";

/** @import { AllHeads } from "../../canvas/shared/raw_scores.js" */
/** @import { Address } from "./address.js" */
/** @import { MovedMost } from "./moved_heads.js" */
/** @import { Next } from "./next_tokens.js" */
/** @import { PassEdit } from "../engine/attention.js" */
/** @import { Card, SiteHeader } from "./site.js" */
/** @typedef {{ labels: string[], all: AllHeads, codes?: Uint8Array, next?: Next[] | null }} Read what was read of a sentence */

export class Explorer {
  /**
   * @param {SiteHeader} view @param {AllHeads} all of the sentence that the page brings: of these one alone is here
   * @param {Uint8Array} codes of their small pictures @param {Address} address
   */
  constructor(view, all, codes, address) {
    this.words = view.words;
    this.address = address;
    this.model = new BrowserModel((data) => this.hear(data));
    const [first] = view.examples;
    /** what is on show */
    this.shown = { text: first.text, model: first.model };
    /** @type {SiteHeader} what stands around the pictures of what is on show */
    this.view = sentenceHeader(view, this.card, { ...view.head, labels: view.head.q, edit: NO_EDIT, pins: null });
    /** @type {Next[] | null} what comes after it, of the model as it is: once this has read it */
    this.before = null;
    /** @type {Set<string>} heads that hand on nothing, as layer.head */
    this.silenced = new Set();
    /** the change that was run last */
    this.made = "[]";
    /** @type {ReturnType<typeof fetchExample> | null} all heads of the sentence that the page brings, on their way */
    this.others = null;
    this.form = new SiteForm(view, this);
    this.notes = el("div", "site-notes", null, { role: "status" });
    this.frame = new HeadsFrame(this.view, all, codes);
    this.next = nextTokens(this.words, (text) => void this.ask(this.shown.text + text));
    this.moved = new MovedHeads(this.words, this.frame);
    this.changed = runSoon(() => this.follow());
    const { group } = this.frame;
    group.listeners.add((what) => {
      if (["edit", "selected", "pins"].includes(what)) this.changed();
      if (what === "pointed" || what === "selected") void this.rest(group[what]);
      if (what === "selected") this.form.silence.checked = this.silenced.has(this.at);
    });
    const main = document.getElementById("attnviz");
    main?.classList.add("av-root");
    main?.append(
      this.form.root,
      this.form.status,
      this.notes,
      this.frame.root,
      saveButtons(this),
      createBox("site-below", this.next.root, this.moved.root),
      this.moved.below,
    );
    if (address.alone) document.body.classList.add("site-alone");
    onOtherTheme(() => this.frame.draw());
    addEventListener("hashchange", () => location.reload());
    this.open(all, codes);
  }

  /** What the link asks for. @param {AllHeads} all @param {Uint8Array} codes */
  open(all, codes) {
    const { text, model, embedded, alone, card } = this.address;
    const unread = embedded && !this.example(text, model);
    this.frame.root.hidden = unread;
    if (unread) setText(this.form.said, fill(this.words.unread, { model: card.about }));
    if (this.named) void this.take(this.shown, { labels: this.view.head.q, all, codes });
    else if (!unread) void this.ask(text, model);
    if (embedded) this.form.loading(false, unread || !alone);
    else this.model.choose(card);
    this.note();
  }

  /** All heads of the sentence that the page brings, fetched when one of them is asked for that is not here. */
  /** @param {[number, number] | null} [at] this one; null: all */
  async rest(at = null) {
    const { group } = this.frame;
    const partial = () => group.all?.heads.includes(/** @type {any} */ (null));
    if (group.all?.head(at) || !partial()) return;
    this.others ??= fetchExample(this.view.examples[0].file);
    const made = await this.others;
    if (made && partial()) await this.take(this.shown, made);
  }

  /** Whether what is on show is what the address names. */
  get named() {
    return this.shown.text === this.address.text && this.shown.model === this.address.model;
  }

  /** The model of what is on show. */
  get card() {
    return /** @type {Card} */ (this.address.cards.find(({ name }) => name === this.shown.model));
  }

  /** The head on show. */
  get at() {
    return String(this.frame.group.selected?.join("."));
  }

  /** Says what of the link is not used. */
  note() {
    this.notes.replaceChildren(...this.address.problems.map((said) => el("p", "", said)));
  }

  /** The example of this sentence, if there is one. @param {string} text @param {string} model */
  example(text, model) {
    return this.view.examples.find((each) => each.text === text && each.model === model);
  }

  /**
   * Read this sentence: with the model, or as it was read before until that is here; inside another page an example asks
   * for no model. Of another sentence than the address names nothing is changed yet.
   * @param {string} text @param {string} [model] @param {string} [at] the head to begin with
   */
  async ask(text, model = this.shown.model, at = this.address.at) {
    const { address } = this;
    this.form.field.value = text;
    this.form.models.value = model;
    const isWanted = () => text === address.text && model === address.model;
    if (!isWanted()) {
      address.problems = [];
      this.note();
      void address.put({ text, model, at, edit: NO_EDIT, silenced: [], pins: null });
    }
    const known = this.example(text, model);
    if (!known || !address.embedded || this.model.chosen) this.model.choose(address.card);
    if (this.model.ready === model) this.run();
    const made = this.model.ready !== model && known && (await fetchExample(known.file));
    if (made && isWanted() && !(this.named && this.before)) await this.take({ text, model }, made);
  }

  /** Has the model read: what the address names, or what is on show under a change. @param {PassEdit[]} [edits] */
  run(edits = []) {
    if (!edits.length) Object.assign(this, { made: "[]", before: null }); // what is changed meanwhile is run afterwards
    this.model.read(edits.length ? this.shown.text : this.address.text, edits);
  }

  /** The mask or the scale of the head on show is another one, or it is silenced: what comes next then? */
  follow() {
    const { group } = this.frame;
    if (isEdited(group.edit)) void this.rest();
    const pins = parsePins(group, this.view.head.q);
    if (this.named) void this.address.put({ at: this.at, edit: group.edit, silenced: [...this.silenced], pins });
    const edits = passEdits(group, [...this.silenced]);
    const made = JSON.stringify(edits.map((each) => ({ ...each, mask: each.mask?.join("") })));
    if (!this.before || this.model.ready !== this.shown.model || made === this.made) return;
    this.made = made;
    if (edits.length) this.run(edits);
    else this.show(null, null);
  }

  /** The head on show hands on nothing, or what it has again. @param {boolean} silent */
  silence(silent) {
    this.silenced[silent ? "add" : "delete"](this.at);
    this.changed();
  }

  /** What the worker says: of nearly every kind the page has words for it. @param {any} data */
  hear(data) {
    const { id, kind, name } = data;
    if (kind === "pass") void this.answered(data);
    else setText(this.form.said, fill(this.words[kind], data));
    if (id === undefined) this.form.loading(kind === "loading", kind === "stopped" || kind === "failed");
    if (name === this.address.model) this.run();
  }

  /** @param {any} data */
  async answered({ id, text, labels, made, next, moved, seconds }) {
    const { card } = this.address;
    const n = labels.length;
    if (made) {
      if (text !== this.address.text || this.model.ready !== card.name) return; // another one was chosen meanwhile
      const all = headsOfPass(card, n, made);
      await this.take({ text, model: card.name }, { labels, codes: made.codes, all, next });
    } else this.show(next, moved);
    if (id === this.model.asked) setText(this.form.said, fill(this.words.took, { n, seconds: seconds.toFixed(2) }));
  }

  /** What a change comes to. @param {Next[] | null} next null: nothing is changed @param {MovedMost | null} moved */
  show(next, moved) {
    this.next.show(this.before ?? [], next);
    this.moved.show(moved);
  }

  /**
   * Shows what was read: another sentence, or more of the one on show, of which what is changed and pinned then stays.
   * @param {{ text: string, model: string }} shown @param {Read} read
   */
  async take(shown, { labels, all, codes, next = null }) {
    const { group } = this.frame;
    const doc = `${shown.model} ${shown.text}`;
    const same = doc === this.view.head.doc;
    this.shown = shown;
    this.before = next;
    this.show(null, null);
    if (!same) {
      group.editing = false; // a hand that moves just now moves what is no longer here
      group.edit = this.address.fitted(labels.length);
      this.silenced = new Set(this.address.silenced);
    }
    this.frame.root.hidden = false;
    const tile = (same && group.selected) || (this.address.place(this.address.at) ?? [0, 0]);
    const pins = same ? null : this.address.pinned(labels);
    this.view = sentenceHeader(this.view, this.card, { labels, doc, tile, edit: group.edit, pins });
    this.form.silence.checked = this.silenced.has(tile.join("."));
    this.note();
    await this.frame.take(this.view, all, codes);
    await this.rest(tile);
    this.changed();
  }
}
