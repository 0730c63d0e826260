// One operation: the matrices that go in, the one that comes out, and where each of its numbers is from.

import { rgb, themeOf } from "../shared/colour.js";
import { lastingComponent, View } from "../shared/component.js";
import { ARROWS, radioGroup } from "../shared/controls.js";
import { around, button, el, focusedIn } from "../shared/dom.js";
import { lessMotion } from "../shared/motion.js";
import { clamp } from "../shared/numbers.js";
import { magnification } from "../shared/window.js";
import { namesRows, onOneLine } from "./board_scene.js";
import { splitName, sumElement, sumTerms, withSubscript } from "./sum_line.js";
import { nameInk, roleOf, tint } from "./tensor_tint.js";

/** @import { BoardHeader, Component, Rgb, Sheet, Tabs, TensorColours } from "../shared/types.js" */

/** Python hears of a number when the hand has rested on it for so many milliseconds. */
const REST = 200;
/** How a board becomes the next. */
const MOVE = { duration: 400, easing: "ease-out" };

/** The middle of what lies between two elements. @param {Element} first @param {Element} last */
function middle(first, last = first) {
  const [from, to] = [first.getBoundingClientRect(), last.getBoundingClientRect()];
  return [(from.left + to.right) / 2, (from.top + to.bottom) / 2];
}

/**
 * What the sheets of a board have in common.
 * @typedef {{ colours: TensorColours, background: Rgb }} Look
 */

/** @param {Sheet} sheet @param {number} index @param {boolean} isResult @param {Look} look */
function sheetTable(sheet, index, isResult, look) {
  const table = el("table", "tb-table", null, isResult ? { role: "grid", "aria-label": sheet.label } : {});
  const head = table.createTHead().insertRow();
  head.append(el("td"));
  sheet.cols.forEach((word, c) => {
    head.append(el("th", sheet.lines.includes(c) ? "tb-line" : "", word, { scope: "col", title: word }));
  });
  const body = table.createTBody();
  sheet.text.forEach((line, r) => {
    const row = body.insertRow();
    row.append(el("th", "", sheet.rows[r], { scope: "row", title: sheet.rows[r] }));
    row.append(...line.map((text, c) => sheetCell(sheet, [index, r, c], isResult, text, look)));
  });
  return table;
}

/**
 * @param {Sheet} sheet
 * @param {[number, number, number]} place sheet, row, column
 * @param {boolean} isResult @param {string} text @param {Look} look
 */
function sheetCell(sheet, place, isResult, text, { colours, background }) {
  const [, r, c] = place;
  const cell = el("td", "", text, { "data-at": place.join() });
  const share = sheet.fill[r][c];
  if (share === null) cell.classList.add("tb-hidden");
  else {
    const { fill, ink } = tint(roleOf(sheet, c), share, colours, background);
    cell.style.background = fill;
    cell.style.color = ink;
  }
  if (sheet.lines.includes(c)) cell.classList.add("tb-line");
  if (isResult) {
    cell.tabIndex = -1;
    cell.setAttribute("role", "gridcell");
  }
  return cell;
}

/** @param {Sheet} sheet @param {number} index @param {boolean} isResult @param {Look} look */
function sheetFigure(sheet, index, isResult, look) {
  const box = el("figure", `tb-sheet tb-${sheet.role}${isResult ? " tb-result" : ""}`);
  box.dataset.name = sheet.name;
  const title = el("figcaption");
  title.append(withSubscript(el("b"), splitName(sheet.name)), el("span", "", sheet.shape));
  box.append(title, around("tb-scroll", sheetTable(sheet, index, isResult, look)));
  return box;
}

/** @param {Tabs[]} tabs @param {(name: string, option: number) => void} onPick */
function tabRow(tabs, onPick) {
  const row = el("div", "av-wrap tb-tabs");
  for (const group of tabs) {
    if (group.options.length < 2) continue;
    const box = el("div", "av-wrap tb-group", null, { "aria-label": group.label });
    box.append(el("span", "", group.label));
    const buttons = group.options.map(([label, role], i) => {
      const attributes = { "data-tab": `${group.name} ${i}` };
      return button(`av-button tb-tab tb-${role || "plain"}`, label, () => onPick(group.name, i), attributes);
    });
    radioGroup(box, buttons, group.current);
    row.append(box);
  }
  return row;
}

/** @extends {View<BoardHeader>} */
class TensorBoard extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.sheets = el("div", "av-wrap tb-sheets");
    this.line = el("div", "av-wrap tb-line-out", null, { "aria-live": "polite" });
    this.part = this.row = this.col = 0;
    this.resting = 0;
    this.listen();
  }

  get board() {
    return this.header.boards[this.part];
  }

  /** @param {Component} component */
  show(component) {
    const focused = Boolean(this.focused()?.dataset.at);
    const { header, before } = this.receive(component);
    const behind = this.gestures.isBehind(header.session, header.ack);
    if (before?.name !== header.name || !behind) {
      Object.assign(this, { part: header.part, row: header.row, col: header.col });
    }
    const { text } = themeOf(this.root, header.colours);
    for (const role of ["q", "k", "v"]) {
      this.root.style.setProperty(`--tb-${role}`, nameInk(role, header.colours, text));
    }
    const stood = new Map(this.figures().map((figure) => [figure.dataset.name, middle(figure)]));
    this.draw(focused);
    if (before && before.step !== header.step && !lessMotion()) this.move(stood);
  }

  figures() {
    return [...this.sheets.querySelectorAll("figure")];
  }

  /** A matrix that `stood` on the last board glides from there, a new number comes out of those it is made of. */
  /** @param {Map<string | undefined, number[]>} stood */
  move(stood) {
    const { sheets, cells } = this.board;
    /** @type {[Element, number[][]][]} what moves, and between which places it begins */
    const moves = this.figures().flatMap((figure) => {
      const from = stood.get(figure.dataset.name);
      return from ? [[figure, [from]]] : [];
    });
    if (!stood.has(sheets[sheets.length - 1].name)) {
      cells.forEach((line, r) =>
        line.forEach(({ a }, c) => {
          const from = a.map(([i, r0, r1, c0, c1]) => middle(this.cell(i, r0, c0), this.cell(i, r1 - 1, c1 - 1)));
          if (from.length) moves.push([this.cell(sheets.length - 1, r, c), from]);
        }),
      );
    }
    const zoom = magnification(this.sheets);
    const steps = moves.map(([one, from]) => {
      const by = middle(one).map((to, i) => (from.reduce((sum, at) => sum + at[i], 0) / from.length - to) / zoom);
      return { one, translate: `${by[0]}px ${by[1]}px`, opacity: one.matches("td") ? 0 : 1 };
    });
    for (const { one, ...begin } of steps) one.animate([begin, {}], MOVE);
  }

  /** What of the board the keyboard is on. */
  focused() {
    const active = focusedIn(this.root);
    return active instanceof HTMLElement ? active : null;
  }

  /** Tells Python which number is chosen, when the hand rests. */
  tell() {
    clearTimeout(this.resting);
    const { part, row, col } = this;
    const told = { step: this.header.step, part, row, col };
    const seq = this.gestures.next();
    this.gestures.keep(this, "pick", told);
    this.resting = setTimeout(() => this.component?.setStateValue("pick", { ...told, seq }), REST);
  }

  /** @param {boolean} focus */
  draw(focus) {
    const { boards, tabs, colours } = this.header;
    this.part = clamp(this.part, 0, boards.length - 1);
    const { sheets, signs } = this.board;
    const last = sheets.length - 1;
    this.row = clamp(this.row, 0, sheets[last].rows.length - 1);
    this.col = clamp(this.col, 0, sheets[last].cols.length - 1);
    const look = { colours, background: rgb(themeOf(this.root, colours).background) };
    const figures = sheets.flatMap((sheet, i) => {
      const figure = sheetFigure(sheet, i, i === last, look);
      return i < last ? [figure, el("span", "tb-sign", signs[i])] : [figure];
    });
    this.sheets.replaceChildren(...figures, this.line);
    const { fits, columns, beside } = onOneLine(sheets);
    this.sheets.style.cssText = `--tb-cells: ${columns}; --tb-sheets: ${beside}`;
    this.sheets.toggleAttribute("data-wide", !fits);
    this.sheets.toggleAttribute("data-named", namesRows(sheets));
    const shown = tabs.map((group) => (group.name === "part" ? { ...group, current: this.part } : group));
    const tab = this.focused()?.dataset.tab;
    this.root.replaceChildren(
      tabRow(shown, (name, option) => this.pickTab(name, option)),
      this.sheets,
    );
    const again = tab && this.root.querySelector(`[data-tab="${tab}"]`); // the row was built anew
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
    this.light(this.row, this.col, focus);
  }

  /** @param {string} name @param {number} option */
  pickTab(name, option) {
    if (name !== "part") {
      this.component?.setStateValue(name, option);
      return;
    }
    this.part = option;
    this.draw(false);
    this.tell();
  }

  /** @param {number} sheet @param {number} r @param {number} c */
  cell(sheet, r, c) {
    const found = this.sheets.querySelector(`[data-at="${sheet},${r},${c}"]`);
    if (!(found instanceof HTMLElement)) throw new Error(`the board has no cell ${sheet},${r},${c}`);
    return found;
  }

  /** Lights a number of the result and all it was computed from, and writes the sum out. */
  /** @param {number} r @param {number} c @param {boolean} focus */
  light(r, c, focus) {
    const { board, sheets } = this;
    const last = board.sheets.length - 1;
    for (const old of sheets.querySelectorAll(".tb-lit, .tb-from")) old.classList.remove("tb-lit", "tb-from");
    for (const old of sheets.querySelectorAll('[tabindex="0"]')) old.setAttribute("tabindex", "-1");
    const cell = this.cell(last, r, c);
    cell.classList.add("tb-lit");
    this.cell(last, this.row, this.col).tabIndex = 0;
    for (const [sheet, r0, r1, c0, c1] of board.cells[r][c].a) {
      for (let i = r0; i < r1; i++) {
        for (let j = c0; j < c1; j++) this.cell(sheet, i, j).classList.add("tb-from");
      }
    }
    this.line.replaceChildren(...sumTerms(board.sheets, board.cells[r][c], r, c).map(sumElement));
    if (focus) cell.focus({ preventScroll: false });
  }

  /** The row and column of a number of the result. */
  /** @param {EventTarget | null} target @returns {[number, number] | null} */
  placeOf(target) {
    const at = target instanceof HTMLElement ? target.dataset.at : undefined;
    if (!at) return null;
    const [sheet, r, c] = at.split(",").map(Number);
    return sheet === this.board.sheets.length - 1 ? [r, c] : null;
  }

  listen() {
    this.sheets.addEventListener("pointerover", (event) => {
      const at = event.pointerType === "mouse" ? this.placeOf(event.target) : null;
      if (at) this.light(...at, false);
    });
    this.sheets.addEventListener("pointerleave", () => this.light(this.row, this.col, false));
    this.sheets.addEventListener("click", (event) => {
      const at = this.placeOf(event.target);
      if (at) this.choose(...at);
    });
    this.sheets.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param {number} r @param {number} c */
  choose(r, c) {
    const { cells } = this.board;
    this.row = clamp(r, 0, cells.length - 1);
    this.col = clamp(c, 0, cells[0].length - 1);
    this.light(this.row, this.col, true);
    this.tell();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key in ARROWS) this.choose(this.row + ARROWS[event.key][0], this.col + ARROWS[event.key][1]);
    else if (event.key === "Home") this.choose(this.row, 0);
    else if (event.key === "End") this.choose(this.row, Infinity);
    else return;
    event.preventDefault();
  }
}

export default lastingComponent(TensorBoard);
