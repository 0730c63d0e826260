// A number of a matrix in a hand: it is dragged, counted up and down by keys, or typed.

import { ARROWS } from "../shared/controls.js";
import { el } from "../shared/dom.js";
import { clamp } from "../shared/numbers.js";
import { editBoard, readNumber } from "./board_edit.js";

/** @import { TensorBoard } from "./tensor_board.js" */

/** Digits after the point of a number that is typed. */
const EXACT = 4;
/** Pixels that a hand moves a number by a step, and the step. */
const [PULL, STEP] = [6, 0.1];

export class NumberHand {
  /** @param {TensorBoard} view */
  constructor(view) {
    this.view = view;
    this.edits = 0;
    /** @type {{ x: number, at: [number, number, number], value: number, now?: number } | null} the number in a hand, and where it was taken */
    this.pulled = null;
    view.sheets.addEventListener("pointerdown", (event) => this.grab(event));
    view.sheets.addEventListener("pointermove", (event) => {
      if (this.pulled) this.pull(this.pulled.value + STEP * Math.round((event.clientX - this.pulled.x) / PULL));
    });
    view.sheets.addEventListener("pointercancel", () => this.letGo());
    view.sheets.addEventListener("pointerup", () => {
      const at = this.pulled?.now === undefined ? this.pulled?.at : null;
      this.letGo();
      if (at) this.openField(at.join());
    });
  }

  /** A number that may be changed, and what it is. @param {EventTarget | null} target */
  numberAt(target) {
    const text = target instanceof HTMLElement ? target.dataset.at : undefined;
    if (!text) return null;
    const at = /** @type {[number, number, number]} */ (text.split(",").map(Number));
    return this.view.editOf(at[0]) ? { at, value: readNumber(this.view.board.sheets[at[0]].text[at[1]][at[2]]) } : null;
  }

  /** Takes a number, whose products are lit while it is changed. @param {PointerEvent} event */
  grab(event) {
    const number = this.numberAt(event.target);
    if (!number) return;
    this.pulled = { ...number, x: event.clientX };
    this.view.sheets.setPointerCapture(event.pointerId);
    this.view.row = this.view.lit[0];
    this.view.col = number.at[2];
    this.view.light(this.view.row, this.view.col, false);
  }

  /** Gives the number in hand another value, and shows what follows from it. @param {number} value @param {number} digits */
  pull(value, digits = 2) {
    if (!this.pulled) return;
    const { at, value: before } = this.pulled;
    const now = Number(clamp(value, -this.view.header.largest, this.view.header.largest).toFixed(digits));
    if (now === (this.pulled.now ?? before)) return;
    this.pulled.now = now;
    this.view.edited = editBoard(this.view.board, at, now);
    this.view.edited.sheets.forEach((sheet, n) =>
      sheet.text.forEach((row, r) => {
        const cell = this.view.sheets.querySelector(`[data-at="${[n, r, at[2]]}"]`);
        if (cell) cell.textContent = row[at[2]] ?? cell.textContent;
      }),
    );
    this.view.light(this.view.row, this.view.col, false);
  }

  /** Tells Python the number that the hand has left. */
  letGo() {
    if (!this.pulled) return;
    const { at, value, now = value } = this.pulled;
    this.pulled = null;
    if (now === value) return;
    const { name } = this.view.board.sheets[at[0]];
    this.edits += 1;
    this.view.component?.setStateValue("edit", { name, row: at[1], col: at[2], value: now, edits: this.edits });
  }

  /** Opens a field over a number that may be changed, to type another. @param {string} place @param {string} [text] typed already */
  openField(place, text) {
    const cell = this.view.sheets.querySelector(`[data-at="${place}"]`);
    const number = this.numberAt(cell);
    if (!(cell instanceof HTMLElement) || !number) return;
    const label = this.view.editOf(number.at[0]);
    const field = el("input", "tb-field", null, { type: "text", inputmode: "decimal", "aria-label": label });
    field.value = text ?? String(number.value);
    let isOpen = true; // a field that is taken away says that it has lost the keyboard
    const close = (/** @type {boolean} */ keep) => {
      if (!isOpen) return;
      isOpen = false;
      const typed = Number(field.value.replace("−", "-").replace(",", "."));
      field.remove();
      if (keep && field.value.trim() && Number.isFinite(typed)) this.change(number, typed, EXACT);
    };
    field.addEventListener("blur", () => close(true));
    field.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      close(event.key === "Enter");
      const again = this.view.sheets.querySelector(`[data-at="${place}"]`);
      if (again instanceof HTMLElement) again.focus();
    });
    cell.append(field);
    field.focus();
    if (text === undefined) field.select();
  }

  /** Gives a number another value, for good. @param {NonNullable<ReturnType<NumberHand["numberAt"]>>} number @param {number} to @param {number} [digits] */
  change({ at, value }, to, digits) {
    this.pulled = { x: 0, at, value };
    this.view.col = at[2];
    this.pull(to, digits);
    this.letGo();
  }

  /** Arrows go through a matrix that is changed, + and − change a number, a digit begins another. @param {KeyboardEvent} event @param {NonNullable<ReturnType<NumberHand["numberAt"]>>} number */
  key(event, number) {
    const { at, value } = number;
    const [dr, dc] = ARROWS[event.key] ?? [0, 0];
    const by = { "+": STEP, "=": STEP, "-": -STEP, "−": -STEP }[event.key];
    if (by) this.change(number, value + by);
    else if (/^[\d.,]$/.test(event.key)) this.openField(at.join(), event.key);
    else if (event.key === "Enter") this.openField(at.join());
    else if (dr || dc) {
      const next = this.view.sheets.querySelector(`[data-at="${[at[0], at[1] + dr, at[2] + dc]}"]`);
      if (next instanceof HTMLElement) next.focus();
    } else return;
    event.preventDefault();
  }
}
