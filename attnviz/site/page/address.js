// What stands in the fragment of the address, under the names that the app's links have, and written as they are.

import { fill } from "../../canvas/shared/dom.js";
import { MASKS, NO_EDIT, SCALES, SCOPES, VIEWS } from "../../canvas/shared/edit.js";
import { bytesOf, packBits, packForLink, unpackBits, unpackFromLink } from "../../canvas/shared/packing.js";
import { pinsOf } from "./pins.js";

/** @import { Edit, Words } from "../../canvas/shared/types.js" */
/** @import { LinkedPins } from "./pins.js" */
/** @typedef {{ name: string, layers: number, heads: number }} Size */

const PLACE = /^(\d{1,4})\.(\d{1,4})$/;

/** What may be said of mask and scale: one of some names, or a number from one to another. */
const CHOICES = /** @type {Record<string, readonly string[] | [number, number]>} */ ({
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
/** What a link means that does not say. @type {Edit} */
const USUAL = { ...NO_EDIT, seen: VIEWS[0] };

export class Address {
  /** @param {{ text: string, model: string, at: string }} usual @param {Size[]} cards @param {Words} words */
  constructor(usual, cards, words) {
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
    const shown = this.text === usual.text && this.model === usual.model ? usual.at : "0.0";
    this.at = given.get("at") ?? shown;
    if (!this.head()) {
      const { layers, heads } = this.card;
      this.chosen("at", this.at, ["0.0", "…", `${layers - 1}.${heads - 1}`], shown);
      this.at = shown;
    }
    /** @type {Edit} */
    this.edit = { ...USUAL };
    for (const [name, allowed] of Object.entries(CHOICES)) {
      Object.assign(this.edit, { [name]: this.chosen(name, given.get(name), allowed, usualOf(name)) });
    }
    this.packed = given.get("c") ?? "";
    /** @type {string[]} layer.head of heads that hand on nothing */
    this.silenced = [];
    /** @type {LinkedPins | null} */
    this.pins = null;
    /** @type {Uint8Array | null} */
    this.bits = null;
    /** @type {(said: string) => void} hears what the address says now */
    this.heard = () => {};
    this.said = location.hash.slice(1);
    this.turn = 0;
  }

  get card() {
    return /** @type {Size} */ (this.cards.find(({ name }) => name === this.model));
  }

  /** @param {string} template @param {Record<string, string | number>} fields */
  refuse(template, fields) {
    this.problems.push(fill(this.words[template], fields));
  }

  /**
   * What a name holds, if it may, else what is usual.
   * @param {string} name @param {string | null} asked @param {readonly string[] | [number, number]} allowed @param {any} shown
   */
  chosen(name, asked, allowed, shown) {
    if (asked === null) return shown;
    const [low, high] = allowed;
    if (typeof low === "number") {
      const whole = name === "factor" || Number.isInteger(Number(asked));
      if (asked.trim() !== "" && whole && Number(asked) >= low && Number(asked) <= Number(high)) return Number(asked);
    } else if (asked !== "…" && /** @type {readonly string[]} */ (allowed).includes(asked)) return asked;
    const said = typeof low === "number" ? `${low}, …, ${high}` : allowed.join(", ");
    this.refuse("link_listed", { name, asked: asked.slice(0, 40), allowed: said, shown });
    return shown;
  }

  /** Reads what is packed: pins, the painted mask, hidden keys, silenced heads. */
  async unpack() {
    if (!this.packed) return;
    try {
      const { pins, mask, hide, quiet, ...others } = await unpackFromLink(this.packed);
      const { layers, heads } = this.card;
      const place = (/** @type {any} */ each) => {
        const found = PLACE.exec(String(each));
        return found !== null && Number(found[1]) < layers && Number(found[2]) < heads;
      };
      this.pins = pins ?? null;
      this.bits = mask ? bytesOf(mask) : null;
      this.edit.hidden = [...new Set(list(hide))].filter((key) => Number.isInteger(key) && key >= 0);
      this.silenced = list(quiet).map(String).filter(place);
      const lost = [...list(quiet).filter((each) => !place(each)), ...Object.keys(others)].slice(0, 10);
      if (lost.length) this.refuse("link_left_out", { name: "c", names: lost.join(", ").slice(0, 200) });
    } catch {
      this.refuse("link_unreadable", { name: "c" });
    }
  }

  /** The edit as far as a sentence of so many tokens has it. @param {number} n @returns {Edit} */
  fitted(n) {
    const { bits, edit } = this;
    const fits = bits !== null && bits.length === (n * n + 7) >> 3;
    if (edit.mask === "painted" && !fits) this.refuse("link_unreadable", { name: "mask" });
    const lost = edit.hidden.filter((key) => key >= n).slice(0, 10);
    if (lost.length) this.refuse("link_left_out", { name: "hide", names: lost.join(", ") });
    return {
      ...edit,
      mask: edit.mask === "painted" && !fits ? "model" : edit.mask,
      painted: fits ? unpackBits(bits, n * n) : null,
      hidden: edit.hidden.filter((key) => key < n),
    };
  }

  /** What it pins, as far as a sentence of these tokens has it. @param {string[]} labels */
  pinned(labels) {
    try {
      const { pins, lost } = pinsOf(this.pins ?? {}, labels);
      if (lost.length)
        this.refuse("link_left_out", { name: "pins", names: lost.slice(0, 10).join(", ").slice(0, 200) });
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
    this.heard(said);
  }

  /** What is not usual, as a link says it. */
  async written() {
    const { text, model, at, edit, silenced, pins } = this;
    const said = new URLSearchParams({ model, text, at });
    const { mask, scale } = edit;
    const tells = /** @type {Record<string, boolean>} */ ({ window: mask === "window", factor: scale === "factor" });
    for (const name of /** @type {(keyof Edit)[]} */ (Object.keys(CHOICES))) {
      if (edit[name] !== USUAL[name] && (tells[name] ?? true)) said.set(name, String(edit[name]));
    }
    if (mask === "model" && scale === "model" && edit.hidden.length === 0) said.delete("seen");
    const held = {
      ...(pins ? { pins } : {}),
      ...(mask === "painted" && edit.painted ? { mask: packBits(edit.painted) } : {}),
      ...(edit.hidden.length ? { hide: edit.hidden } : {}),
      ...(silenced.length ? { quiet: silenced } : {}),
    };
    const packed = Object.keys(held).length ? await packForLink(held) : "";
    if (packed) said.set("c", packed);
    return String(said);
  }

  /** The head it names, if the model has it. @returns {[number, number] | null} */
  head() {
    const found = PLACE.exec(this.at);
    const { layers, heads } = this.card;
    if (!found || !(Number(found[1]) < layers && Number(found[2]) < heads)) return null;
    return [Number(found[1]), Number(found[2])];
  }
}

/** @param {string} name */
const usualOf = (name) => USUAL[/** @type {keyof Edit} */ (name)];

/** @param {unknown} value @returns {any[]} */
function list(value) {
  if (value !== undefined && !Array.isArray(value)) throw new TypeError("a list");
  return value ?? [];
}
