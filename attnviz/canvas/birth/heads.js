// What lies over the drawing of a step of training: a button on each head, which is pointed into, too, and the words as text.

import { NAME, namesOf } from "./birth_scene.js";
import { around, attribute, button, el, fill, say, visibleToken } from "../shared/dom.js";
import { ARROWS } from "../shared/controls.js";
import { clamp, fixed, percent } from "../shared/numbers.js";
import { layOver } from "../shared/surface.js";
import { placeOn } from "../shared/window.js";

/** @import { BirthScene, PlacedHeads, Story } from "./birth_scene.js" */
/** @import { BirthHeader } from "../shared/types.js" */

export class Heads {
  /** @param {(head: number) => void} onClick */
  constructor(onClick) {
    this.onClick = onClick;
    this.grid = el("div", "bi-heads");
    this.pointed = el("div", "av-small av-readout", null, { "aria-live": "polite" });
    this.cell = [0, 0]; // query and key
    this.copies = el("div", "bi-copies");
    this.tiles = /** @type {{ control: HTMLElement, name: HTMLElement, what: HTMLElement }[]} */ ([]);
    this.chips = /** @type {{ chip: HTMLElement, below: HTMLElement }[]} */ ([]);
    /** @type {BirthScene | null} */
    this.scene = null;
  }

  /** Says a head's weight in the cell. @param {BirthHeader} header @param {number} head */
  tell({ names, tokens, words }, head) {
    const [q, k] = this.cell;
    const [query, key] = [tokens[q], tokens[k]].map(visibleToken);
    const weight = percent(this.scene?.pass.weights[head][q * tokens.length + k] ?? 0);
    say(this.pointed, fill(words.cell, { head: names[head], query, key, q: q + 1, k: k + 1, weight }));
  }

  /** @param {BirthHeader} header */
  build(header) {
    const { names, tokens, words } = header;
    const last = tokens.length - 1;
    this.cell = [last, 0];
    this.tiles = names.map((_name, head) => {
      const [name, what] = [el("b"), el("span")];
      const control = button("av-words bi-tile", null, () => this.onClick(head), { title: words.silence });
      control.append(name, what);
      control.addEventListener("pointermove", (event) => {
        const [x, y] = placeOn(control, event);
        if (y < NAME) return;
        this.cell = [y - NAME, x].map((at) => clamp(Math.floor((at / control.clientWidth) * (last + 1)), 0, last));
        this.tell(header, head);
      });
      control.addEventListener("keydown", (event) => {
        const way = ARROWS[event.key];
        if (!way) return;
        event.preventDefault();
        this.cell = this.cell.map((at, i) => clamp(at + way[i], 0, last));
        this.tell(header, head);
      });
      for (const end of ["pointerleave", "blur"]) control.addEventListener(end, () => say(this.pointed, words.rest));
      return { control, name, what };
    });
    this.grid.replaceChildren(...this.tiles.map(({ control }) => control));
    say(this.pointed, words.rest);
    this.chips = tokens.map((token) => {
      const below = el("span");
      return { chip: around("av-words bi-chip", el("b", "", visibleToken(token)), below), below };
    });
    const half = tokens.length / 2;
    const copy = (/** @type {string} */ name, /** @type {number} */ from) =>
      around("", el("span", "av-sr", name), ...this.chips.slice(from, from + half).map(({ chip }) => chip));
    this.copies.replaceChildren(copy(words.first, 0), copy(words.second, half));
  }

  /**
   * Lays all over a drawing, and says which head looks most at the token before, and which at what came next last time.
   * @param {BirthHeader} header @param {BirthScene} scene @param {Story} story @param {PlacedHeads} placed
   */
  lay(header, scene, { copies }, { places }) {
    const { names, words } = header;
    this.scene = scene;
    this.tiles.forEach(({ control, name, what }, head) => {
      layOver(control, places[head]);
      const [named, below] = namesOf(header, scene, head);
      say(name, named);
      say(what, below);
      attribute(control, "aria-pressed", String(scene.silenced.has(head)));
    });
    const chips = copies.flatMap((copy) => copy.chips);
    this.chips.forEach(({ chip, below }, i) => {
      layOver(chip, chips[i]);
      say(below, chips[i].below);
    });
    return /** @type {const} */ (["previous", "induction"]).map((what) => {
      const most = scene.scores.reduce((top, each, head, all) => (each[what] > all[top][what] ? head : top), 0);
      return fill(words[`best_${what}`], { head: names[most], score: fixed(scene.scores[most][what], 2) });
    });
  }
}
