// Which heads do this? A visitor paints cells, takes a pattern, or drags the bars of his own row below the matrix; the heads
// that come nearest are listed here and framed among all heads, with how near chance comes.

import {
  addButton,
  createButton,
  el,
  fill,
  listOf,
  setAttribute,
  setName,
  setProperty,
  setText,
} from "../shared/dom.js";
import { tell } from "../shared/group.js";
import { countByChance, nearestHeads, pairsOf, shares } from "../shared/nearest_heads.js";
import { clamp, formatFixed } from "../shared/numbers.js";
import { oncePerFrame, pause, runSoon } from "../shared/surface.js";
import { describedRow } from "./head_gestures.js";

/** @import { HeadComponent } from "./head.js" */
/** @import { NearHead, Pair } from "../shared/nearest_heads.js" */

/** Milliseconds of a task at most, and pixels that a bar is dragged from nothing to all. */
const [TASK, PULL] = [8, 80];

/**
 * What a query looks at in each pattern: keys, by tokens of the sentence.
 * @type {Record<string, (q: number, tokens: string[]) => number[]>}
 */
const PATTERNS = {
  own: () => [],
  previous: (q) => [q - 1],
  same: (q, tokens) => earlier(q, tokens),
  after: (q, tokens) => earlier(q, tokens).map((k) => k + 1),
  first: () => [0],
  itself: (q) => [q],
  next: (q) => [q + 1],
};

/** Where a token stood before. @param {number} q @param {string[]} tokens */
const earlier = (q, tokens) => tokens.flatMap((token, k) => (k < q && token === tokens[q] ? [k] : []));

export class HeadFinder {
  /** @param {HeadComponent} view */
  constructor(view) {
    this.view = view;
    this.painting = false;
    this.turn = 0;
    /** @type {Pair[]} */
    this.pairs = [];
    /** @type {NearHead[]} */
    this.nearest = [];
    this.button = createButton("av-link", "", () => this.open(!this.painting), { "data-testid": "find" });
    this.hint = el("span", "av-small");
    this.list = listOf("", [], (name) => this.take(name), { "data-testid": "find-pattern" });
    this.clear = createButton("av-button", "↺", () => this.take("own"));
    this.found = el("div", "av-wrap av-line");
    this.chance = el("div", "av-small", "", { role: "status" });
    this.box = el("div", "av-find av-wrap", null, { "data-testid": "find-box" });
    this.box.append(this.list, this.clear, this.hint, this.found, this.chance);
    this.search = oncePerFrame(() => this.draw());
    this.countSoon = runSoon(() => void this.count());
  }

  get group() {
    return this.view.drawn.group;
  }

  /** All heads of the tokens on show, where they are here. */
  get all() {
    const { header, group } = this.view.drawn;
    return group.all?.doc === header.doc ? group.all : null;
  }

  /** What is asked for, (Q, K) of the model's tokens; null before anything is. */
  get wanted() {
    const { wanted, doc } = this.group;
    return this.painting && wanted?.doc === doc ? wanted.rows : null;
  }

  /** Names everything; without all heads there is nothing to search. */
  refresh() {
    const { words, header } = this.view.drawn;
    const possible = this.all !== null && this.view.tools.isFull;
    setProperty(this.button, "hidden", !possible || !words.find);
    if (!possible && this.painting) this.open(false);
    setText(this.button, words.find ?? "");
    setAttribute(this.button, "aria-pressed", String(this.painting));
    setProperty(this.box, "hidden", !this.painting);
    if (!this.painting) return;
    setText(this.hint, words.find_hint);
    setName(this.clear, words.find_clear);
    setName(this.list, words.find);
    const options = Object.keys(PATTERNS).map((name) => new Option(words[`find_${name}`], name));
    if (this.list.options[0]?.text !== options[0].text) this.list.replaceChildren(...options);
    if (this.group.wanted && this.group.wanted.doc !== header.doc) this.list.value = "own";
  }

  /** @param {boolean} on */
  open(on) {
    this.painting = on;
    if (on) {
      this.view.controls.paint(false);
      this.view.guess.end();
    }
    this.refresh();
    this.change();
    if (on) this.view.announce(this.view.drawn.words.find_hint);
  }

  /** What is asked for has changed: it is drawn, and searched for. */
  change() {
    this.turn += 1;
    this.view.redraw();
    this.search();
  }

  /** Asks for a pattern. @param {string} name */
  take(name) {
    const { header } = this.view.drawn;
    const tokens = header.q.map((token) => token.trim().toLowerCase());
    this.group.wanted = null;
    this.paintCells(
      tokens.flatMap((_token, q) => PATTERNS[name](q, tokens).map((k) => [q, k])),
      true,
    );
    this.list.value = name;
  }

  /** Whether a stroke that begins here takes away. @param {number} row @param {number} col */
  isOpen(row, col) {
    return this.view.controls.cellsOf(row, col).some((i) => (this.wanted?.[i] ?? 0) > 0);
  }

  /** @param {number[][]} cells rows and columns of the picture @param {boolean} open */
  paintCells(cells, open) {
    const rows = this.begin();
    const { controls, drawn } = this.view;
    const [nq, nk] = drawn.header.shape;
    for (const [row, col] of cells.filter(([q, k]) => q >= 0 && q < nq && k >= 0 && k < nk)) {
      for (const i of this.openCells(controls.cellsOf(row, col))) rows[i] = Number(open);
    }
    this.change();
  }

  /** Those that the model may look at. @param {number[]} cells */
  openCells(cells) {
    const mask = this.all?.heads[0].mask ?? null;
    return cells.filter((i) => mask === null || mask[i] === 1);
  }

  /** What is asked for, to be changed: from then on it is the visitor's own. */
  begin() {
    this.list.value = "own";
    const { doc } = this.group;
    const [nq, nk] = this.all?.heads[0].shape ?? [0, 0];
    if (this.wanted === null) this.group.wanted = { doc, rows: new Float32Array(nq * nk) };
    return /** @type {Float32Array} */ (this.wanted);
  }

  /** A key's bar in the row on show becomes so long; the row's others share the rest as before, evenly at first. */
  /** @param {number} col @param {number} pixels below the matrix */
  pull(col, pixels) {
    const rows = this.begin();
    const mine = this.rowCells().flat();
    const chosen = this.rowCells()[col];
    if (mine.every((i) => rows[i] === 0)) this.openCells(mine).forEach((i) => (rows[i] = 1));
    const share = clamp(pixels / PULL, 0, 1);
    const others = mine.filter((i) => !chosen.includes(i));
    const rest = others.reduce((sum, i) => sum + rows[i], 0);
    for (const i of others) rows[i] *= rest > 0 ? (1 - share) / rest : 0;
    for (const i of this.openCells(chosen)) rows[i] = share / chosen.length;
    this.change();
  }

  /** Cells of the row on show, by columns. */
  rowCells() {
    const { drawn, controls } = this.view;
    const row = describedRow(drawn);
    return Array.from({ length: drawn.header.shape[1] }, (_none, k) => controls.cellsOf(row, k));
  }

  /** The row on show as it is asked for, as shares of each column; null where nothing is asked. */
  row() {
    const { wanted } = this;
    if (wanted === null) return null;
    const row = shares(this.rowCells().map((cells) => cells.reduce((sum, i) => sum + wanted[i], 0)));
    return row.some((share) => share > 0) ? Float32Array.from(row) : null;
  }

  /** The heads that come nearest, in this frame. */
  draw() {
    if (!this.view.held) return;
    const { all, wanted, group } = this;
    const pairs = all && wanted ? pairsOf(all, wanted) : [];
    this.pairs = pairs;
    const places = (all?.counts ?? []).flatMap((n, layer) => Array.from({ length: n }, (_none, head) => [layer, head]));
    this.nearest = pairs.length ? nearestHeads(pairs) : [];
    group.found = this.nearest.map(({ head }) => /** @type {[number, number]} */ (places[head]));
    tell(group, "found");
    setText(this.chance, "");
    this.found.replaceChildren();
    const { words } = this.view.drawn;
    this.nearest.forEach(({ divergence }, i) => {
      const [layer, head] = group.found[i];
      const name = fill(words.find_head, { head: `${layer}.${head}`, nats: formatFixed(divergence, 2) });
      addButton(this.found, name, fill(words.find_show, { layer, head }), () => {
        group.wish = [layer, head];
        tell(group, "wish");
      });
    });
    if (pairs.length) this.countSoon();
  }

  /** How near chance comes, in tasks that let frames be drawn in between. */
  async count() {
    const { turn, pairs, nearest } = this;
    if (pairs.length === 0) return;
    const counting = countByChance(pairs, nearest[0].divergence);
    let step = counting.next();
    for (let end = performance.now() + TASK; !step.done; step = counting.next()) {
      if (performance.now() < end) continue;
      await pause(0);
      if (turn !== this.turn) return;
      end = performance.now() + TASK;
    }
    const { words } = this.view.drawn;
    setText(this.chance, `${fill(words.find_rows, { n: pairs.length })} ${fill(words.find_chance, { n: step.value })}`);
  }

  // what a stroke that paints a mask tells Python: of this one nobody hears
  emit() {}
  emitSoon() {}
}
