// How the chosen cell came about, unfolded beside the matrix in the place of its lines, until it is folded up again.

import { Glide, interpolateNumberArray } from "../scene/glide.js";
import { createButton, createBox, el, setAttribute, setName, setProperty, setText } from "../shared/dom.js";
import { NO_EDIT } from "../shared/edit.js";
import { clearPins, tell } from "../shared/group.js";
import { offerPicture } from "../shared/offer.js";
import { sizeCanvas } from "../shared/surface.js";
import { cellBars, cellFigure, cellHeight, cellNumbers, cellSentence, drawCell } from "./cell_scene.js";
import { emitPins } from "./head_gestures.js";
import { tokenText } from "./head_readout.js";

/** @import { HeadComponent } from "./head.js" */
/** @import { CellNumbers } from "../shared/types.js" */
/** @import { CellBars } from "./cell_scene.js" */

export class CellSteps {
  /** @param {HeadComponent} view */
  constructor(view) {
    this.view = view;
    this.title = el("div", "av-strong av-cell-title");
    this.close = createButton("av-button", "×", () => this.fold());
    this.canvas = el("canvas", "", null, { role: "img" });
    this.note = el("div", "av-small");
    this.why = createButton("av-link", "", () => view.tellPython("why", {}), { "data-testid": "why" });
    this.box = el("div", "av-cell", null, { "data-testid": "cell" });
    this.box.append(createBox("av-line av-cell-head", this.title, this.close), this.canvas, this.why, this.note);
    this.box.hidden = true;
    this.width = 0;
    /** @type {CellNumbers | null} */
    this.numbers = null;
    this.glide = new Glide(this.canvas, (/** @type {CellBars} */ bars) => this.draw(bars), barsBetween);
  }

  /** Whether how the chosen cell came about can be told here. */
  get possible() {
    const { drawn, controls } = this.view;
    const { header, group } = drawn;
    const [nq, nk] = header.shape;
    const { cell } = group;
    return (
      header.edit !== null && !header.compact && cell !== null && controls.raw !== null && cell[0] < nq && cell[1] < nk
    );
  }

  /** Unfolds, follows what is changed, or folds up. */
  light() {
    const { view, box } = this;
    const open = this.possible;
    const was = !box.hidden;
    setProperty(box, "hidden", !open);
    const taken = open || view.finder.painting;
    view.room.placeLines();
    view.side.classList.toggle("av-unfolded", taken);
    if (!open) {
      this.numbers = null;
      if (was) view.redraw();
      return;
    }
    const { words } = view.drawn;
    const numbers = this.compute();
    this.numbers = numbers;
    setText(this.title, words.cell_title);
    setName(this.close, words.cell_close);
    setText(this.why, words.cell_why ?? "");
    setProperty(this.why, "hidden", !view.drawn.header.why);
    setAttribute(this.canvas, "aria-label", cellSentence(numbers, words));
    setText(this.note, this.isMerged ? words.cell_first : "");
    const bars = cellBars(numbers);
    if (!was) this.glide.show(emptyBars(bars));
    if (view.drawn.group.editing) this.glide.show(bars);
    else this.glide.to(bars);
  }

  /** The positions among the model's tokens of the chosen cell. */
  get places() {
    const { keys, group } = this.view.drawn;
    const [row, col] = /** @type {[number, number]} */ (group.cell);
    return [keys[0][row], keys[1][col]];
  }

  /** Whether a word of several tokens is told of by its first. */
  get isMerged() {
    return this.places.some((tokens) => tokens.length > 1);
  }

  compute() {
    const { drawn, controls } = this.view;
    const { keys, header, group } = drawn;
    const raw = /** @type {NonNullable<typeof controls.raw>} */ (controls.raw);
    const [[query], [key]] = this.places;
    const names = Array.from({ length: raw.shape[1] }, (_none, position) => {
      const col = keys[1].findIndex((tokens) => tokens.includes(position));
      return col < 0 ? "·" : tokenText(drawn, "k", col);
    });
    const edit = controls.seen === "before" || header.edit === null ? NO_EDIT : group.edit;
    const row = /** @type {[number, number]} */ (group.cell)[0];
    return cellNumbers(raw, edit, [query, key], tokenText(drawn, "q", row), names);
  }

  /** @param {number} width */
  layout(width) {
    this.width = Math.max(220, Math.min(width, 440));
    if (!this.box.hidden && this.numbers) this.draw(cellBars(this.numbers));
  }

  /** @param {CellBars} bars */
  draw(bars) {
    const { numbers, width } = this;
    if (numbers === null || width === 0) return;
    const { theme, words, header } = this.view.drawn;
    const context = sizeCanvas(this.canvas, width, cellHeight(numbers));
    drawCell(context, numbers, bars, { theme, words, colours: header.colours, width });
  }

  /** Folds it up: the cell and its query are let go. */
  fold() {
    const { group } = this.view.drawn;
    clearPins(group);
    tell(group, "pins");
    emitPins(this.view);
    this.view.heatmap.stage.focus({ preventScroll: true });
  }
}

/** Offers what is unfolded, for the menu that saves it. @param {HeadComponent} view */
export function offerCell(view) {
  const { steps } = view;
  offerPicture(
    steps.box,
    () => {
      const { header, words } = view.drawn;
      const numbers = steps.numbers ?? steps.compute();
      return [
        ["cell", { ...numbers, title: cellSentence(numbers, words), colours: header.colours, words }, new Uint8Array()],
      ];
    },
    /** @type {any} */ (cellFigure),
  );
}

/** @param {CellBars} bars @returns {CellBars} */
function emptyBars({ q, k, product, weights }) {
  const none = (/** @type {number[]} */ numbers) => numbers.map(() => 0);
  return { q: none(q), k: none(k), product: none(product), weights: none(weights) };
}

/** @param {CellBars} from @param {CellBars} to */
function barsBetween(from, to) {
  if (from.q.length !== to.q.length || from.weights.length !== to.weights.length) return null;
  const ways = /** @type {const} */ (["q", "k", "product", "weights"]).map((name) => ({
    name,
    way: interpolateNumberArray(from[name], to[name]),
  }));
  return (/** @type {number} */ share) =>
    /** @type {CellBars} */ (Object.fromEntries(ways.map(({ name, way }) => [name, [...way(share)]])));
}
