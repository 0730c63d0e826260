// What stands in the fragment of the address, under the names that the app's links have, and written as they are.

import { fill } from "../../canvas/shared/dom.js";
import { changes, MASKS, NO_EDIT, SCALES, SCOPES, VIEWS } from "../../canvas/shared/edit.js";
import { bytesOf, packBits, packForLink, unpackBits, unpackFromLink } from "../../canvas/shared/packing.js";
import { pinsOf } from "./pins.js";

/** @import { Edit } from "../../canvas/shared/types.js" */
/** @import { LinkedPins } from "./pins.js" */
/** @import { Card, SiteHeader } from "./site.js" */

const PLACE = /^(\d{1,4})\.(\d{1,4})$/;

/** What may be said of mask and scale: one of some names, or a number from one to another. */
const CHOICES = /** @type {Record<string, readonly (string | number)[]>} */ ({
  mask: Object.keys(MASKS),
  window: [1, 64],
  scale: Object.keys(SCALES),
  factor: [0, 64],
  where: SCOPES,
  seen: VIEWS,
});
/** What stands alone inside another page, by its name in the app. */
const FIGURE = "head-out";
const NAMES = ["text", "model", "at", "c", ...Object.keys(CHOICES)];
/** What a link means that does not say. @type {Record<string, any> & Edit} */
const USUAL = { ...NO_EDIT, seen: VIEWS[0] };

export class Address {
  /** @param {SiteHeader} view what the page shows first */
  constructor({ cards, words, head, examples: [usual] }) {
    this.cards = cards;
    this.words = words;
    /** @type {string[]} what of it is not used, and what is allowed */
    this.problems = [];
    const [given, query] = [location.hash.slice(1), location.search].map((part) => new URLSearchParams(part));
    /** inside another page a model is fetched once somebody types: browsers keep each page's storage apart */
    this.embedded = query.get("embed") === "true";
    const figure = this.embedded ? query.get("figure") : null;
    /** whether one figure alone is to be seen */
    this.alone = figure === FIGURE;
    if (figure && !this.alone) this.refuse("no_figure", { figure: figure.slice(0, 40), known: FIGURE });
    const unread = [...new Set(given.keys())].filter((name) => !NAMES.includes(name)).slice(0, 3);
    if (unread.length) this.refuse("link_unread", { names: unread.map((name) => `“${name.slice(0, 40)}”`).join(", ") });
    this.text = given.get("text") ?? usual.text;
    const names = cards.map(({ name }) => name);
    this.model = this.chosen("model", given.get("model"), names, usual.model);
    const shown = this.text === usual.text && this.model === usual.model ? head.tile.join(".") : "0.0";
    const { layers, heads } = this.card;
    this.at = given.get("at") ?? shown;
    if (!this.place(this.at)) this.at = this.wrong("at", this.at, ["0.0", "…", `${layers - 1}.${heads - 1}`], shown);
    /** @type {Edit} */
    this.edit = { ...USUAL };
    for (const [name, allowed] of Object.entries(CHOICES)) {
      Object.assign(this.edit, { [name]: this.chosen(name, given.get(name), allowed, USUAL[name]) });
    }
    /** @type {string[]} layer.head of heads that hand on nothing */
    this.silenced = [];
    /** @type {LinkedPins | null} */
    this.pins = null;
    this.said = location.hash.slice(1);
    this.turn = 0;
    this.lead();
  }

  get card() {
    return /** @type {Card} */ (this.cards.find(({ name }) => name === this.model));
  }

  /** @param {string} template @param {Record<string, string | number>} fields */
  refuse(template, fields) {
    this.problems.push(fill(this.words[template], fields));
  }

  /** Says what is left out. @param {string} name where @param {any[]} lost */
  miss(name, lost) {
    if (lost.length) this.refuse("link_left_out", { name, names: lost.slice(0, 10).join(", ").slice(0, 200) });
  }

  /**
   * Says that a name may not hold this; answers what is shown instead.
   * @param {string} name @param {string} asked @param {readonly (string | number)[]} allowed @param {any} shown
   */
  wrong(name, asked, allowed, shown) {
    this.refuse("link_listed", { name, asked: asked.slice(0, 40), allowed: allowed.join(", "), shown });
    return shown;
  }

  /**
   * What a name holds, if it may, else what is usual.
   * @param {string} name @param {string | null} asked @param {readonly (string | number)[]} allowed @param {any} shown
   */
  chosen(name, asked, allowed, shown) {
    if (asked === null) return shown;
    const [low, high] = allowed;
    if (typeof low === "string") return allowed.includes(asked) ? asked : this.wrong(name, asked, allowed, shown);
    const number = asked.trim() ? Number(asked) : NaN;
    const fits = number >= low && number <= Number(high) && (name === "factor" || Number.isInteger(number));
    return fits ? number : this.wrong(name, asked, [low, "…", high], shown);
  }

  /** The head that this names, if the model has it. @param {unknown} at layer.head @returns {[number, number] | null} */
  place(at) {
    const [layer, head] = PLACE.exec(String(at))?.slice(1).map(Number) ?? [];
    return layer < this.card.layers && head < this.card.heads ? [layer, head] : null;
  }

  /** Reads what is packed: pins, the painted mask, hidden keys, silenced heads. */
  async unpack() {
    const packed = new URLSearchParams(this.said).get("c");
    if (!packed) return;
    try {
      const { pins = null, mask = "", hide = [], quiet = [], ...others } = await unpackFromLink(packed);
      const bytes = bytesOf(mask);
      this.edit.painted = mask ? unpackBits(bytes, 8 * bytes.length) : null;
      this.edit.hidden = [...new Set(listed(hide))].filter((key) => Number.isInteger(key) && key >= 0);
      const heads = listed(quiet).map(String);
      this.silenced = heads.filter((at) => this.place(at));
      this.pins = pins;
      this.miss("c", [...heads.filter((at) => !this.place(at)), ...Object.keys(others)]);
    } catch {
      this.refuse("link_unreadable", { name: "c" });
    }
  }

  /** The edit as far as a sentence of so many tokens has it. @param {number} n @returns {Edit} */
  fitted(n) {
    const { hidden, painted, mask, ...edit } = this.edit;
    const fits = painted !== null && (painted.length + 7) >> 3 === (n * n + 7) >> 3;
    if (mask === "painted" && !fits) this.refuse("link_unreadable", { name: "mask" });
    const lost = hidden.filter((key) => key >= n);
    this.miss("hide", lost);
    return {
      ...edit,
      mask: mask === "painted" && !fits ? "model" : mask,
      painted: fits ? painted.slice(0, n * n) : null,
      hidden: hidden.filter((key) => key < n),
    };
  }

  /** What it pins, as far as a sentence of these tokens has it. @param {string[]} labels */
  pinned(labels) {
    try {
      const { pins, lost } = pinsOf(this.pins ?? {}, labels);
      this.miss("pins", lost);
      return pins;
    } catch {
      this.refuse("link_unreadable", { name: "pins" });
      return null;
    }
  }

  /**
   * Takes note of what is on show, and says it.
   * @param {{ text?: string, model?: string, at?: string, edit?: Edit, silenced?: string[], pins?: LinkedPins | null }} now
   */
  async put(now) {
    Object.assign(this, now);
    const turn = ++this.turn;
    const said = await this.written();
    if (turn !== this.turn || said === this.said) return;
    this.said = said;
    history.replaceState(null, "", `#${said}`);
    this.lead();
  }

  /** Ways to pages that show the same, in another language or in the app, carry what it says. */
  lead() {
    for (const way of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("[data-way]"))) {
      way.href = String(way.dataset.way).replace("{search}", location.search) + this.said;
    }
  }

  /** What is not usual, as a link says it. */
  async written() {
    const { text, model, at, silenced, pins } = this;
    const edit = /** @type {Record<string, any> & Edit} */ (this.edit);
    const said = new URLSearchParams({ model, text, at });
    const unsaid = { window: edit.mask !== "window", factor: edit.scale !== "factor", seen: !changes(edit) };
    for (const name of Object.keys(CHOICES)) {
      if (edit[name] !== USUAL[name] && !(/** @type {any} */ (unsaid)[name])) said.set(name, String(edit[name]));
    }
    const held = {
      ...(pins && { pins }),
      ...(edit.mask === "painted" && edit.painted && { mask: packBits(edit.painted) }),
      ...(edit.hidden.length && { hide: edit.hidden }),
      ...(silenced.length && { quiet: silenced }),
    };
    const packed = Object.keys(held).length ? await packForLink(held) : "";
    if (packed) said.set("c", packed);
    return String(said);
  }
}

/** @param {any} value @returns {any[]} */
function listed(value) {
  if (!Array.isArray(value)) throw new TypeError("a list");
  return value;
}
