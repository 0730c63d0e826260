// The explorer without a server: a sentence is read by a model in this browser, and shown as the app shows it.

import { HeadsFrame } from "../../canvas/live/heads_frame.js";
import { onOtherTheme } from "../../canvas/live/file_page.js";
import { around, el, fill } from "../../canvas/shared/dom.js";
import { changes, NO_EDIT } from "../../canvas/shared/edit.js";
import { BrowserModel } from "./browser_model.js";
import { saveButtons } from "./save_head.js";
import { editsOf, headedBy, headsOf, prepared } from "./shown.js";
import { SiteForm } from "./site_form.js";
import { MovedHeads } from "./moved_heads.js";
import { NextTokens } from "./next_tokens.js";
import { linkedPins } from "./pins.js";

/** @import { AllHeads } from "../../canvas/shared/all_heads.js" */
/** @import { Address } from "./address.js" */
/** @import { Next } from "./next_tokens.js" */
/** @import { HeadEdit } from "../engine/attention.js" */
/** @import { Card, SiteExample, SiteHeader } from "./site.js" */

/** Milliseconds after the last change of mask or scale until the model runs again. */
const PAUSE = 120;

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
    /** what is on show; and how many sentences were until now */
    this.shown = { text: first.text, model: first.model };
    this.documents = 0;
    const { q: labels, doc, tile } = view.head;
    /** @type {SiteHeader} what stands around the pictures of what is on show */
    this.view = view;
    this.view = headedBy(view, this.card, { labels, doc, tile, edit: NO_EDIT, pins: null });
    /** @type {Next[] | null} what comes after it, of the model as it is: once this has read it */
    this.before = null;
    /** @type {Set<string>} heads that hand on nothing, as layer.head */
    this.silenced = new Set();
    /** the change that was run last */
    this.made = "[]";
    this.later = 0;
    /** @type {ReturnType<typeof prepared> | null} all heads of the sentence that the page brings, on their way */
    this.others = null;
    this.form = new SiteForm(view, this);
    this.notes = el("div", "site-notes", null, { role: "status" });
    this.frame = new HeadsFrame(this.view, all, codes);
    this.next = new NextTokens(this.words, (text) => this.ask(this.shown.text + text));
    this.moved = new MovedHeads(this.words, this.frame, () => this.run(this.edits));
    this.frame.group.listeners.add((what) => {
      const { selected } = this.frame.group;
      if (["edit", "selected", "pins"].includes(what)) this.changed();
      if (what === "pointed" || (what === "selected" && !this.frame.group.all?.head(selected))) void this.rest();
      if (what !== "selected" || !selected) return;
      this.form.silence.checked = this.silenced.has(selected.join("."));
      if (this.named) void this.address.put({ at: selected.join(".") });
    });
    const main = document.getElementById("attnviz");
    main?.classList.add("av-root");
    main?.append(
      this.form.root,
      this.form.status,
      this.notes,
      this.frame.root,
      saveButtons(this),
      around("site-below", this.next.root, this.moved.root),
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
    const known = this.view.examples.find((each) => each.text === text && each.model === model);
    if (this.named) void this.take({ ...this.shown, labels: this.view.head.q, all, codes });
    else if (known) void this.example(known, false);
    else if (!embedded) this.ask(text);
    const unread = embedded && !known;
    this.frame.root.hidden = unread;
    if (unread) this.form.say(fill(this.words.unread, { model: card.about }));
    if (!embedded) this.fetch();
    else this.form.loading(false, unread || !alone);
    this.note();
  }

  /** All heads of the sentence that the page brings, fetched when the first of them is asked for. */
  async rest() {
    if (!this.partial) return;
    this.others ??= prepared(this.view.examples[0].file);
    const made = await this.others;
    if (made && this.partial) await this.take({ ...this.shown, ...made });
  }

  /** Whether of the heads on show one alone is here. */
  get partial() {
    return this.frame.group.all?.heads.includes(/** @type {any} */ (null));
  }

  /** Whether what is on show is what the address names. */
  get named() {
    return this.shown.text === this.address.text && this.shown.model === this.address.model;
  }

  /** Says what of the link is not used. */
  note() {
    this.notes.replaceChildren(...this.address.problems.map((said) => el("p", "", said)));
  }

  /** Fetches the model that the address names. */
  fetch() {
    if (this.model.choose(this.address.card)) this.form.loading(true);
  }

  /** Read this sentence, now or once the model is here. @param {string} text */
  ask(text) {
    this.turnTo(text, this.form.models.value);
    if (this.model.ready === this.address.model) this.run();
    this.fetch();
  }

  /** The address names another sentence, of which nothing is changed yet. @param {string} text @param {string} model */
  turnTo(text, model) {
    this.form.field.value = text;
    this.form.models.value = model;
    if (text === this.address.text && model === this.address.model) return;
    this.address.problems = [];
    this.note();
    void this.address.put({ text, model, edit: NO_EDIT, silenced: [], pins: null });
  }

  /** Show an example: it was read before, and needs no model. @param {SiteExample} example @param {boolean} begin at its head */
  async example({ text, model, at, file }, begin) {
    this.turnTo(text, model);
    if (at && begin) void this.address.put({ at });
    const made = this.model.ready === model ? null : await prepared(file);
    if (text !== this.address.text || model !== this.address.model) return; // another one was chosen meanwhile
    if (this.named && this.before) return; // the model has read it meanwhile
    if (!made) this.ask(text);
    else await this.take({ text, model, ...made });
    if (!this.address.embedded) this.fetch();
  }

  /** Has the model read: what the address names, or what is on show under a change. @param {HeadEdit[]} [edits] */
  run(edits = []) {
    clearTimeout(this.later);
    if (edits.length) this.model.read(this.shown.text, edits, this.moved.looked);
    else {
      Object.assign(this, { made: "[]", before: null }); // what is changed meanwhile is run afterwards
      this.model.read(this.address.text, []);
    }
  }

  /** The mask or the scale of the head on show is another one, or it is silenced: what comes next then? */
  changed() {
    clearTimeout(this.later);
    this.later = setTimeout(() => {
      const { group } = this.frame;
      if (changes(group.edit)) void this.rest();
      const pins = linkedPins(group, this.view.head.q);
      if (this.named) void this.address.put({ edit: group.edit, silenced: [...this.silenced], pins });
      const { edits } = this;
      const made = JSON.stringify(edits.map((each) => ({ ...each, mask: each.mask?.join("") })));
      if (!this.before || this.model.ready !== this.shown.model || made === this.made) return;
      this.made = made;
      if (edits.length) this.run(edits);
      else this.unchanged();
    }, PAUSE);
  }

  /** The head on show hands on nothing, or what it has again. @param {boolean} silent */
  silence(silent) {
    const at = String(this.frame.group.selected?.join("."));
    if (silent) this.silenced.add(at);
    else this.silenced.delete(at);
    this.changed();
  }

  /** What is changed of the model. */
  get edits() {
    return editsOf(this.frame.group, [...this.silenced]);
  }

  /** What the worker says: of nearly every kind the page has words for it. @param {any} data */
  hear(data) {
    const { kind } = data;
    if (kind === "pass") void this.answered(data);
    else this.form.say(fill(this.words[kind === "ready" && !data.kernel ? "slow" : kind], data));
    if (kind === "ready" && this.address.model === data.name) this.run();
    if (["ready", "stopped", "failed"].includes(kind)) this.form.loading(false, kind !== "ready");
  }

  /** @param {any} data */
  async answered({ id, text, labels, scores, codes, next, moved, looked, seconds }) {
    const n = labels.length;
    const { card } = this.address;
    if (scores) {
      if (text !== this.address.text || this.model.ready !== card.name) return; // another one was chosen meanwhile
      await this.take({ text, model: card.name, labels, codes, all: headsOf(card, n, scores), next: next ?? [] });
    } else {
      this.next.show(this.before ?? [], next);
      this.moved.show(moved, looked);
    }
    if (id === this.model.asked) this.form.say(fill(this.words.took, { n, seconds: seconds.toFixed(2) }));
  }

  /** What comes next of the model as it is. */
  unchanged() {
    this.next.show(this.before ?? [], null);
    this.moved.show(null);
  }

  /** The model of what is on show. */
  get card() {
    return /** @type {Card} */ (this.view.cards.find(({ name }) => name === this.shown.model));
  }

  /**
   * Shows what was read: another sentence, or more of the one on show, of which what is changed and pinned then stays.
   * @param {{ text: string, model: string, labels: string[], all: AllHeads, codes?: Uint8Array, next?: Next[] | null }} made
   */
  async take({ text, model, labels, all, codes, next = null }) {
    const { group } = this.frame;
    const same = this.documents > 0 && text === this.shown.text && model === this.shown.model;
    this.shown = { text, model };
    this.before = next;
    this.unchanged();
    if (!same) {
      this.documents += 1;
      group.editing = false; // a hand that moves just now moves what is no longer here
      group.edit = this.address.fitted(labels.length);
      this.silenced = new Set(this.address.silenced);
    }
    this.frame.root.hidden = false;
    const tile = (same && group.selected) || (this.address.place(this.address.at) ?? [0, 0]);
    const pins = same ? null : this.address.pinned(labels);
    const doc = `${model} ${this.documents}`;
    this.view = headedBy(this.view, this.card, { labels, doc, tile, edit: group.edit, pins });
    this.form.silence.checked = this.silenced.has(tile.join("."));
    this.note();
    await this.frame.take(this.view, all, codes);
    if (!all.head(tile)) await this.rest();
    this.changed();
  }
}
