// What stands in the fragment of the address, under the names that the app's links have, and written as they are. What is pinned
// is held so: {"t": [["q", 3, "it"], …], "c": [3, 1, "it", "The"]}, tokens and a cell, each by its place and its label.

import { fill } from "../../canvas/shared/dom.js";
import { isEdited, MASKS, NO_EDIT, SCALES, SCOPES, VIEWS } from "../../canvas/shared/edit.js";
import { decodeBase64, packBits, packForLink, unpackBits, unpackFromLink } from "../../canvas/shared/packing.js";

/** @import { Axis, Edit, HeadHeader } from "../../canvas/shared/types.js" */
/** @import { Card, SiteHeader } from "./site.js" */
/** @import { Group } from "../../canvas/shared/group.js" */
/** @typedef {{ told: string, read: (asked: string) => string | number | null }} Allowed what a name may hold, and in words */

/** One of some names. @param {readonly string[]} names @returns {Allowed} */
const allowNames = (names) => ({ told: names.join(", "), read: (asked) => (names.includes(asked) ? asked : null) });

/** A number from one to another. @param {number} low @param {number} high @returns {Allowed} */
const allowNumber = (low, high, fits = Number.isFinite) => ({
  told: `${low}, …, ${high}`,
  read: (asked) => (asked.trim() && fits(+asked) && +asked >= low && +asked <= high ? +asked : null),
});

/** What may be said of mask and scale. */
const CHOICES = {
  mask: allowNames(Object.keys(MASKS)),
  window: allowNumber(1, 64, Number.isInteger),
  scale: allowNames(Object.keys(SCALES)),
  factor: allowNumber(0, 64),
  where: allowNames(SCOPES),
  seen: allowNames(VIEWS),
};
const PLACE = /^(\d{1,4})\.(\d{1,4})$/;
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
    /** what the browser's address says after its #, as this page last left it */
    this.said = location.hash.slice(1);
    this.turn = 0;
    this.given = new URLSearchParams(this.said);
    const query = new URLSearchParams(location.search);
    /** inside another page a model is fetched once somebody types: browsers keep each page's storage apart */
    this.embedded = query.get("embed") === "true";
    const figure = this.embedded ? query.get("figure") : null;
    /** whether one figure alone is to be seen */
    this.alone = figure === FIGURE;
    if (figure && !this.alone) this.refuse("no_figure", { figure: figure.slice(0, 40), known: FIGURE });
    const unread = [...new Set(this.given.keys())].filter((name) => !NAMES.includes(name)).slice(0, 3);
    if (unread.length) this.refuse("link_unread", { names: unread.map((name) => `“${name.slice(0, 40)}”`).join(", ") });
    this.text = this.given.get("text") ?? usual.text;
    this.model = this.chosen("model", allowNames(cards.map(({ name }) => name)), usual.model);
    const { layers, heads } = this.card;
    const places = {
      told: `0.0, …, ${layers - 1}.${heads - 1}`,
      read: (/** @type {string} */ at) => this.place(at) && at,
    };
    const known = this.text === usual.text && this.model === usual.model;
    this.at = this.chosen("at", places, known ? head.tile.join(".") : "0.0");
    const edit = Object.entries(CHOICES).map(([name, allowed]) => [name, this.chosen(name, allowed, USUAL[name])]);
    /** @type {Edit} */
    this.edit = { ...USUAL, ...Object.fromEntries(edit) };
    /** @type {string[]} layer.head of heads that hand on nothing */
    this.silenced = [];
    /** @type {LinkedPins | null} */
    this.pins = null;
    this.lead();
  }

  get card() {
    return /** @type {Card} */ (this.cards.find(({ name }) => name === this.model));
  }

  /** @param {string} template @param {Record<string, string | number>} fields */
  refuse(template, fields) {
    const name = this.words[`called_${fields.name}`]; // as the page calls it
    this.problems.push(fill(this.words[template], name ? { ...fields, name } : fields));
  }

  /** Says what is left out. @param {string} name where @param {any[]} lost */
  miss(name, lost) {
    if (lost.length) this.refuse("link_left_out", { name, names: lost.slice(0, 10).join(", ").slice(0, 200) });
  }

  /** What a name holds, if it may, else what is usual. @param {string} name @param {Allowed} allowed @param {any} usual */
  chosen(name, { told, read }, usual) {
    const asked = this.given.get(name);
    const held = asked === null ? usual : read(asked);
    if (held === null)
      this.refuse("link_listed", { name, asked: String(asked).slice(0, 40), allowed: told, shown: usual });
    return held ?? usual;
  }

  /** The head that this names, if the model has it. @param {unknown} at layer.head @returns {[number, number] | null} */
  place(at) {
    const [layer, head] = PLACE.exec(String(at))?.slice(1).map(Number) ?? [];
    return layer < this.card.layers && head < this.card.heads ? [layer, head] : null;
  }

  /** Reads what is packed: pins, the painted mask, hidden keys, silenced heads. */
  async unpack() {
    const packed = this.given.get("c");
    if (!packed) return;
    try {
      /** @type {Record<string, any>} */
      const { pins = null, mask = "", hide = [], quiet = [], ...others } = await unpackFromLink(packed);
      const bytes = decodeBase64(mask);
      this.edit.painted = mask ? unpackBits(bytes, 8 * bytes.length) : null;
      this.edit.hidden = [...new Set(hide.filter((/** @type {any} */ key) => Number.isInteger(key) && key >= 0))];
      const lost = (/** @type {unknown} */ at) => !this.place(at);
      this.silenced = quiet.map(String).filter((/** @type {string} */ at) => !lost(at));
      this.pins = pins;
      this.miss("quiet", [...quiet.filter(lost), ...Object.keys(others)]);
    } catch {
      this.refuse("link_damaged", {});
    }
  }

  /** The edit as far as a sentence of so many tokens has it. @param {number} n @returns {Edit} */
  fitted(n) {
    const { hidden, painted, mask } = this.edit;
    const fits = painted !== null && (painted.length + 7) >> 3 === (n * n + 7) >> 3;
    const misfit = mask === "painted" && !fits;
    if (misfit) this.refuse("link_unreadable", { name: "mask" });
    const [there, lost] = [hidden.filter((key) => key < n), hidden.filter((key) => key >= n)];
    this.miss("hide", lost);
    const painting = fits ? painted.slice(0, n * n) : null;
    return { ...this.edit, mask: misfit ? "model" : mask, painted: painting, hidden: there };
  }

  /** What it pins, as far as a sentence of these tokens has it. @param {string[]} labels @returns {HeadHeader["pins"]} */
  pinned(labels) {
    try {
      const { pins, lost } = resolvePins(this.pins ?? {}, labels);
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
    if (location.hash.slice(1) !== this.said) return; // another link was followed: the page is about to open it
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
    const unsaid = { window: edit.mask !== "window", factor: edit.scale !== "factor", seen: !isEdited(edit) };
    for (const name of Object.keys(CHOICES)) {
      if (edit[name] !== USUAL[name] && !(/** @type {any} */ (unsaid)[name])) said.set(name, String(edit[name]));
    }
    const held = {
      ...(pins && { pins }),
      ...(edit.mask === "painted" && edit.painted && { mask: packBits(edit.painted) }),
      ...(edit.hidden.length && { hide: edit.hidden }),
      ...(silenced.length && { quiet: silenced }),
    };
    const packed = Object.keys(held).length && (await packForLink(held));
    if (packed) said.set("c", packed);
    return String(said);
  }
}

/** @typedef {{ t?: any[], c?: any[] | null }} LinkedPins */

/** What a link says of what is pinned. @param {Group} group @param {string[]} labels @returns {LinkedPins | null} */
export function parsePins({ pins, cell }, labels) {
  const t = pins.map(({ axis, i }) => [axis, i, labels[i]]);
  if (cell) return { t, c: [...cell, ...cell.map((i) => labels[i])] };
  return t.length ? { t } : null;
}

/**
 * What a link pins of these tokens, and what it names that is not among them. A TypeError where it says something else.
 * @param {LinkedPins} linked @param {string[]} labels
 * @returns {{ pins: NonNullable<HeadHeader["pins"]>, lost: string[] }}
 */
export function resolvePins(linked, labels) {
  if (linked.constructor !== Object) throw new TypeError(String(linked));
  const { t = [], c = null } = linked;
  const tokens = t.map(([side, at, label]) => {
    if (side !== "q" && side !== "k") throw new TypeError(side);
    return /** @type {[Axis, number]} */ ([side, placeOf(at, label, labels)]);
  });
  const cell = c && /** @type {[number, number]} */ ([placeOf(c[0], c[2], labels), placeOf(c[1], c[3], labels)]);
  const there = cell !== null && !cell.includes(-1);
  const lost = t.filter((_pin, i) => tokens[i][1] < 0).concat(c && !there ? [c] : []);
  return {
    pins: { tokens: tokens.filter(([, at]) => at >= 0), cell: there ? cell : null },
    lost: lost.map((each) => each.join(" ")),
  };
}

/**
 * Where a token of a link stands: the nearest one of its label, if it has one; -1 is the last one. Answers -1 for nowhere.
 * @param {unknown} at @param {unknown} label @param {string[]} labels
 */
function placeOf(at, label, labels) {
  if (!Number.isInteger(at) || Number(at) < -1 || (label !== undefined && typeof label !== "string")) {
    throw new TypeError(String(at));
  }
  const place = at === -1 ? labels.length - 1 : Number(at);
  if (label === undefined || at === -1) return place < labels.length ? place : -1;
  const same = [...labels.keys()].filter((i) => labels[i] === label);
  return same.toSorted((a, b) => Math.abs(a - place) - Math.abs(b - place))[0] ?? -1;
}
