// The explorer without a server: a sentence is read by a model in this browser, and shown as the app shows it.

import { HeadsFrame } from "../../canvas/live/heads_frame.js";
import { onOtherTheme } from "../../canvas/live/file_page.js";
import { around, el, fill } from "../../canvas/shared/dom.js";
import { changes, NO_EDIT } from "../../canvas/shared/edit.js";
import { BrowserModel } from "./browser_model.js";
import { saveButtons } from "./save_head.js";
import { liveFile } from "./save_live.js";
import { editsOf, headedBy, headsOf, prepared } from "./shown.js";
import { SiteForm } from "./site_form.js";
import { MovedHeads } from "./moved_heads.js";
import { NextTokens } from "./next_tokens.js";
import { linkedPins } from "./pins.js";
import { PageLinks } from "./page_links.js";

/** @import { AllHeads } from "../../canvas/shared/all_heads.js" */
/** @import { Address } from "./address.js" */
/** @import { Next } from "./next_tokens.js" */
/** @import { HeadEdit } from "../engine/attention.js" */
/** @import { Card, SiteExample, SiteHeader } from "./site.js" */

/** Milliseconds after the last change of mask or scale until the model runs again. */
const PAUSE = 120;
/** Milliseconds of a pass after which its layers are counted aloud. */
const PATIENCE = 400;

export class Explorer {
  /**
   * @param {SiteHeader} view @param {AllHeads} all of the sentence that the page brings: of these one alone is here
   * @param {Uint8Array} codes of their small pictures @param {Address} address
   */
  constructor(view, all, codes, address) {
    this.view = view;
    this.words = view.words;
    this.address = address;
    this.model = new BrowserModel(view.cards, (data) => this.hear(data));
    this.links = new PageLinks(view, address.alone);
    this.address.heard = (said) => this.links.follow(said);
    this.links.follow(address.said);
    /** @type {string | undefined} the sentence to be read, once a model is here */
    this.wanted = undefined;
    this.shown = { text: view.text, model: view.model };
    /** whether the change that the link asks for is still to be made */
    this.linked = true;
    /** @type {Next[] | null} what comes after it, of the model as it is */
    this.before = null;
    /** @type {Set<string>} heads that hand on nothing, as layer.head */
    this.silenced = new Set();
    /** the change that was run last */
    this.made = "[]";
    this.later = 0;
    this.documents = 0;
    this.form = new SiteForm(view, address, {
      read: (text) => this.ask(text),
      choose: (name) => this.choose(name),
      example: (each) => void this.example(each),
      silence: (silent) => this.silence(silent),
      stop: () => this.model.stop(),
    });
    this.notes = el("div", "site-notes", null, { role: "status" });
    this.frame = new HeadsFrame(view, all, codes);
    /** whether the others are still to be fetched */
    this.partial = true;
    this.next = new NextTokens(this.words, (text) => this.ask(this.shown.text + text));
    this.moved = new MovedHeads(this.words, this.frame, () => this.run(this.edits, false));
    this.frame.group.listeners.add((what) => {
      const { selected } = this.frame.group;
      if (["edit", "selected", "pins"].includes(what)) this.changed();
      if (what === "pointed" || (what === "selected" && !this.frame.group.all?.head(selected))) void this.rest();
      if (what !== "selected" || !selected) return;
      this.form.silence.checked = this.silenced.has(selected.join("."));
      if (this.named) void this.address.put({ at: selected.join(".") });
    });
    const main = document.getElementById("attnviz");
    main?.append(
      this.form.root,
      this.form.status,
      this.notes,
      this.frame.root,
      saveButtons(
        this.words,
        () => this.frame.large.drawn,
        async (every) => {
          if (every) await this.rest();
          return liveFile(this.frame, this.card, this.view, this.shown.text, every);
        },
      ),
      around("site-below", this.next.root, this.moved.root),
      this.moved.below,
      this.links.root,
    );
    if (address.alone) document.body.classList.add("site-alone");
    onOtherTheme(() => this.frame.draw());
    addEventListener("hashchange", () => location.reload());
    this.open(all, codes);
  }

  /** What the link asks for. @param {AllHeads} all @param {Uint8Array} codes */
  open(all, codes) {
    const { text, model, embedded, alone } = this.address;
    const known = this.view.examples.find((each) => each.text === text && each.model === model);
    if (this.named) void this.take({ labels: this.view.head.q, all, codes }, false);
    else if (known) void this.example({ ...known, at: "" });
    else if (!embedded) this.ask(text);
    const unread = embedded && !this.named && !known;
    this.frame.root.hidden = unread;
    const { about } = /** @type {Card} */ (this.address.card);
    if (unread) this.form.say(fill(this.words.unread, { model: about }));
    if (!embedded) this.choose(model, false);
    else this.form.loading(false, unread || !alone);
    this.note();
  }

  /** All heads of the sentence that the page brings, fetched when the first of them is asked for. */
  async rest() {
    if (!this.partial) return;
    this.partial = false;
    const { documents } = this;
    const made = await prepared(this.view.examples[0].file);
    if (made && documents === this.documents && !this.before) await this.take(made, true);
  }

  /** Whether what is on show is what the address names. */
  get named() {
    return this.shown.text === this.address.text && this.shown.model === this.address.model;
  }

  /** Says what of the link is not used. */
  note() {
    this.notes.replaceChildren(...this.address.problems.map((said) => el("p", "", said)));
  }

  /** Fetch a model, and read the sentence with it. @param {string} name */
  choose(name, read = true) {
    if (this.model.choose(name)) this.form.loading(true);
    if (read) this.ask(this.form.field.value);
  }

  /** Read this sentence, now or once the model is here. @param {string} text */
  ask(text) {
    this.form.field.value = text;
    this.turnTo(text, this.form.models.value);
    this.wanted = text;
    if (this.model.ready === this.form.models.value) this.run([], true);
    else this.choose(this.form.models.value, false);
  }

  /** The address names another sentence, of which nothing is changed yet. @param {string} text @param {string} model */
  turnTo(text, model) {
    if (text === this.address.text && model === this.address.model) return;
    this.linked = false;
    this.address.problems = [];
    this.note();
    void this.address.put({ text, model, edit: NO_EDIT, silenced: [], pins: null });
  }

  /** Show an example: it was read before, and needs no model. @param {SiteExample} example */
  async example({ text, model, at, file }) {
    this.form.field.value = text;
    this.form.models.value = model;
    this.turnTo(text, model);
    if (at) void this.address.put({ at });
    if (this.model.ready === model) {
      this.ask(text);
      return;
    }
    const made = await prepared(file);
    if (text !== this.address.text || model !== this.address.model) return; // another one was chosen meanwhile
    if (!made) {
      this.ask(text);
      return;
    }
    const same = this.named;
    if (same && this.before) return; // the model has read it meanwhile
    this.shown = { text, model };
    this.before = null;
    this.unchanged();
    this.wanted = text;
    if (!this.address.embedded) this.choose(model, false);
    await this.take(made, same);
  }

  /** @param {HeadEdit[]} edits @param {boolean} whole whether other heads come of it */
  run(edits, whole) {
    clearTimeout(this.later);
    if (whole) this.made = "[]";
    const text = whole ? (this.wanted ?? this.shown.text) : this.shown.text;
    this.model.read(text, edits, whole, whole ? null : this.moved.looked);
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
      if (edits.length) this.run(edits, false);
      else this.unchanged();
    }, PAUSE);
  }

  /** The head on show hands on nothing, or what it has again. @param {boolean} silent */
  silence(silent) {
    const { selected } = this.frame.group;
    if (silent) this.silenced.add(String(selected?.join(".")));
    else this.silenced.delete(String(selected?.join(".")));
    this.changed();
  }

  /** What is changed of the model. */
  get edits() {
    return editsOf(this.frame.group, [...this.silenced]);
  }

  /** @param {any} data what the worker says */
  hear(data) {
    const { words, form } = this;
    if (data.kind === "loading") {
      form.say(fill(words.loading, { done: (data.done / 1e6).toFixed(0), of: (data.of / 1e6).toFixed(0) }));
    } else if (data.kind === "ready") {
      form.loading(false);
      form.say(data.kernel ? words.ready : words.slow);
      this.wanted ??= this.shown.text; // what comes after the sentence that stood here before the model did
      if (this.form.models.value === data.name) this.run([], true);
    } else if (data.kind === "stopped" || data.kind === "failed") {
      form.loading(false, true);
      form.say(data.kind === "stopped" ? words.stopped : fill(words.failed, { what: data.what }));
    } else if (data.kind === "length") {
      form.say(fill(data.n ? words.long : words.empty, { n: data.n, longest: data.longest }));
    } else if (data.kind === "layer") {
      if (1000 * this.model.seconds > PATIENCE) form.say(fill(words.reading, { n: data.layer + 1, of: data.of }));
    } else if (data.kind === "pass") void this.answered(data);
  }

  /** @param {any} data */
  async answered(data) {
    const took = { n: data.labels.length, seconds: this.model.seconds.toFixed(2) };
    if (data.scores) {
      const { text } = data;
      const model = this.model.ready ?? "";
      const same = this.shown.text === text && this.shown.model === model;
      this.shown = { text, model };
      this.before = data.next ?? [];
      this.unchanged();
      await this.take({ ...data, all: headsOf(this.card, data.labels.length, data.scores) }, same);
    } else {
      this.next.show(this.before ?? [], data.next);
      this.moved.show(data.moved, data.looked);
    }
    if (data.id === this.model.asked) this.form.say(fill(this.words.took, took));
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
   * Other heads, of the sentence on show.
   * @param {{ labels: string[], all: AllHeads, codes?: Uint8Array }} made
   * @param {boolean} same whether it was on show before: what is changed and pinned then stays
   */
  async take({ labels, all, codes }, same) {
    const { group } = this.frame;
    const linked = this.linked && this.named && !same;
    if (!same) {
      this.documents += 1;
      group.editing = false; // a hand that moves just now moves what is no longer here
      this.linked = false;
      this.silenced = new Set(linked ? this.address.silenced : []);
    }
    this.frame.root.hidden = false;
    this.partial &&= all.heads.includes(/** @type {any} */ (null));
    const doc = same ? this.view.head.doc : `${this.shown.model} ${this.documents}`;
    const edit = same ? group.edit : linked ? this.address.fitted(labels.length) : NO_EDIT;
    group.edit = edit;
    const tile = (same && group.selected) || (this.address.head() ?? [0, 0]);
    const pins = linked ? this.address.pinned(labels) : null;
    this.view = headedBy(this.view, this.card, { labels, doc, tile, edit, pins });
    this.form.silence.checked = this.silenced.has(tile.join("."));
    this.note();
    await this.frame.take(this.view, all, codes);
    this.changed();
  }
}
