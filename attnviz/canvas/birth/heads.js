// All heads on the visitor's words, one small picture each, and what the model predicts of the second copy.

import { guesses, headColour, headPixels, headText, labelsApart } from "./birth_scene.js";
import { ramp } from "../shared/colour.js";
import { around, attribute, button, el, fill, say, visibleToken } from "../shared/dom.js";
import { clamp, fixed, percent } from "../shared/numbers.js";
import { pixelCanvas } from "../scene/canvas_context.js";
import { scoresOn } from "./forward.js";

/** @import { BirthHeader, Theme } from "../shared/types.js" */
/** @import { Pass } from "./forward.js" */

/** @type {Record<string, [number, number]>} */
const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

export class Heads {
  /** @param {(head: number) => void} onClick */
  constructor(onClick) {
    this.onClick = onClick;
    this.grid = el("div", "bi-heads");
    this.pointed = el("div", "av-small av-readout", null, { "aria-live": "polite" });
    this.cell = [0, 0]; // query and key
    this.copies = el("div", "bi-copies");
    this.tiles = /** @type {{ control: HTMLElement, canvas: HTMLCanvasElement, what: HTMLElement }[]} */ ([]);
    this.labels = /** @type {HTMLElement[]} */ ([]); // the words beside each layer
    this.guessed = /** @type {HTMLElement[]} */ ([]); // what stands below each word of the second copy
    /** @type {Pass | null} */
    this.pass = null;
  }

  /** Says a head's weight in the cell. @param {BirthHeader} header @param {number} head */
  tell({ names, tokens, words }, head) {
    const [q, k] = this.cell;
    const [query, key] = [tokens[q], tokens[k]].map(visibleToken);
    const weight = percent(this.pass?.weights[head][q * tokens.length + k] ?? 0);
    say(this.pointed, fill(words.cell, { head: names[head], query, key, q: q + 1, k: k + 1, weight }));
  }

  /** @param {BirthHeader} header */
  build(header) {
    const { sizes, names, tokens, ids, words } = header;
    this.cell = [tokens.length - 1, 0];
    this.grid.style.setProperty("--heads", String(sizes.heads));
    this.tiles = names.map((name, head) => {
      const [canvas, what] = [el("canvas", "bi-map"), el("span", "av-small")];
      const control = button("av-square bi-tile", null, () => this.onClick(head), { title: words.silence });
      control.append(around("bi-name", el("b", "", fill(words.head, { head: name })), what), canvas);
      const last = tokens.length - 1;
      canvas.addEventListener("pointermove", ({ offsetX, offsetY }) => {
        const cells = [offsetY / canvas.clientHeight, offsetX / canvas.clientWidth];
        this.cell = cells.map((share) => clamp(Math.floor(share * tokens.length), 0, last));
        this.tell(header, head);
      });
      control.addEventListener("keydown", (event) => {
        const [down, right] = MOVES[event.key] ?? [0, 0];
        if (!down && !right) return;
        event.preventDefault();
        this.cell = [clamp(this.cell[0] + down, 0, last), clamp(this.cell[1] + right, 0, last)];
        this.tell(header, head);
      });
      for (const end of ["pointerleave", "blur"]) control.addEventListener(end, () => say(this.pointed, words.rest));
      return { control, canvas, what };
    });
    this.labels = Array.from({ length: sizes.layers }, () =>
      around("bi-labels", ...tokens.map((token) => el("span", "", visibleToken(token)))),
    );
    const tiles = this.tiles.map(({ control }) => control);
    const rows = this.labels.flatMap((beside) => [beside, ...tiles.splice(0, sizes.heads)]);
    this.grid.replaceChildren(...rows);
    this.label();
    say(this.pointed, words.rest);
    const half = tokens.length / 2;
    this.guessed = ids.slice(half).map(() => el("span", "av-small"));
    const copy = (/** @type {string} */ name, /** @type {HTMLElement[]} */ below) => {
      const chips = below.map((each, i) => around("bi-chip", el("b", "", visibleToken(tokens[i])), each));
      return around("av-wrap av-tools av-line", el("span", "av-strong", name), ...chips);
    };
    const numbers = ids.slice(0, half).map((number) => el("span", "av-small", fill(words.number, { number })));
    this.copies.replaceChildren(copy(words.first, numbers), copy(words.second, this.guessed));
  }

  /** Writes as many words beside the pictures as there is room for. */
  label() {
    const high = this.tiles[0]?.canvas.clientHeight ?? 0;
    for (const { children } of this.labels) {
      const apart = labelsApart(children.length, high);
      [...children].forEach((word, i) => word.classList.toggle("bi-left-out", i % apart > 0));
    }
  }

  /**
   * Draws them, and says which head looks most at the token before, and which at what came next last time.
   * @param {Pass} pass @param {BirthHeader} header @param {Theme} theme @param {ReadonlySet<number>} silenced
   */
  draw(pass, { ids, sizes, names, words, colours }, theme, silenced) {
    this.pass = pass;
    const steps = ramp(colours.weights);
    const told = pass.weights.map((weights) => scoresOn(weights, ids));
    this.tiles.forEach(({ control, canvas, what }, head) => {
      const pixels = headPixels(pass.weights[head], ids.length, sizes, steps);
      pixelCanvas(pixels, ids.length, canvas);
      const off = silenced.has(head);
      say(what, headText(told[head], off, words));
      control.style.setProperty("--colour", headColour(colours, head, theme.dark));
      attribute(control, "aria-pressed", String(off));
    });
    guesses(pass).forEach(({ text, good }, i) => {
      say(this.guessed[i], text);
      this.guessed[i].parentElement?.classList.toggle("bi-good", good);
    });
    return /** @type {const} */ (["previous", "induction"]).map((what) => {
      const most = told.reduce((top, each, head) => (each[what] > told[top][what] ? head : top), 0);
      return fill(words[`best_${what}`], { head: names[most], score: fixed(told[most][what], 2) });
    });
  }
}
