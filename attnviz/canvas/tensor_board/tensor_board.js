// One operation: the matrices that go in, the one that comes out, and where each of its numbers is from. Over the drawing lie
// tables of the same numbers, which cannot be seen: for those who hear the page, and for hands and keys.

import { readTheme } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import { ARROWS, radioGroup } from "../shared/controls.js";
import { createButton, el, fill, focusedElement } from "../shared/dom.js";
import { film, prefersReducedMotion } from "../shared/motion.js";
import { clamp } from "../shared/numbers.js";
import { offerPicture } from "../shared/offer.js";
import { layOver, oncePerFrame, sizeCanvas } from "../shared/surface.js";
import { boardFigure, boardPart, drawBoard } from "./board_scene.js";
import { editBoard, readNumber } from "./board_edit.js";
import { NAME, onOneLine, placeBoard, placeOfNumber, sumText, startOf } from "./board_geometry.js";
import { nameColour } from "./tensor_tint.js";

/** @import { BoardStart, PlacedBoard, StandingSheet } from "./board_geometry.js" */
/** @import { BoardHeader, Component, Rectangle, Tabs, TensorColours, Theme } from "../shared/types.js" */

/** Python hears of a number when the hand has rested on it for so many milliseconds. */
const REST = 200;
/** Milliseconds in which a board becomes the next. */
const MOVE = 400;
/** Milliseconds in which a sum is made of its numbers. */
const ADDING = 1100;
/** Pixels that a hand moves a number by a step, and the step. */
const [PULL, STEP] = [6, 0.1];

/** @param {string} role @param {string} text @param {Rectangle} place @param {Record<string, string>} [more] */
function createCell(role, text, place, more = {}) {
  return layOver(el("div", "", text, { role, ...more }), place);
}

/**
 * The table of a matrix, over its drawing. @param {StandingSheet} one @param {number} index @param {boolean} isResult
 * @param {string} edit how its numbers are changed; "": they are not
 */
function createTable({ placed }, index, isResult, edit) {
  const { sheet, cols, lefts, cell, sizes } = placed;
  const table = el("div", "av-words tb-table", null, { role: isResult || edit ? "grid" : "table" });
  if (isResult || edit) table.setAttribute("aria-label", edit || sheet.label);
  table.classList.toggle("tb-edited", edit !== "");
  layOver(table, { x: 0, y: 0, w: placed.width, h: placed.height });
  table.style.fontSize = `${sizes.number}px`;
  const row = (/** @type {HTMLElement[]} */ cells) => {
    const line = el("div", "", null, { role: "row" });
    line.append(...cells);
    table.append(line);
  };
  const above = placeOfNumber(placed, 0, 0).y;
  row(
    cols.map((_cut, c) => {
      const place = { x: lefts[c], y: above - sizes.label - 8, w: cell, h: sizes.label + 8 };
      return createCell("columnheader", sheet.cols[c], place, { title: sheet.cols[c] });
    }),
  );
  sheet.text.forEach((line, r) => {
    const { y, h } = placeOfNumber(placed, r, 0);
    const cells = line.map((text, c) => {
      const number = createCell(isResult || edit ? "gridcell" : "cell", text, placeOfNumber(placed, r, c));
      number.dataset.at = [index, r, c].join();
      if (isResult || edit) number.tabIndex = edit && !r && !c ? 0 : -1;
      return number;
    });
    row([createCell("rowheader", sheet.rows[r], { x: 0, y, w: lefts[0], h }, { title: sheet.rows[r] }), ...cells]);
  });
  return table;
}

/** @param {StandingSheet} one @param {number} index @param {boolean} isResult @param {string} edit */
function createSheet(one, index, isResult, edit) {
  const { placed, x, y, seen } = one;
  const { name, shape } = placed.sheet;
  const box = layOver(el("figure", "tb-sheet"), { x, y, w: seen, h: placed.height });
  box.dataset.name = name;
  const title = `${name.replace("_", "")} ${shape}`;
  const byKeys = seen < placed.width && !isResult && !edit; // no key leads into it otherwise
  const scroll = el("div", "tb-scroll", null, byKeys ? { tabindex: "0", role: "group", "aria-label": title } : {});
  scroll.append(createTable(one, index, isResult, edit));
  box.append(el("figcaption", "av-sr", title), scroll);
  return { box, scroll };
}

/** @param {Tabs[]} tabs @param {TensorColours} colours @param {Theme} theme @param {(name: string, option: number) => void} onPick */
function tabRow(tabs, colours, theme, onPick) {
  const row = el("div", "av-wrap tb-tabs");
  for (const group of tabs) {
    if (group.options.length < 2) continue;
    const box = el("div", "av-wrap tb-group", null, { "aria-label": group.label });
    box.append(el("span", "", group.label));
    const buttons = group.options.map(([label, role], i) => {
      const attributes = { "data-tab": `${group.name} ${i}` };
      const tab = createButton("av-button tb-tab", label, () => onPick(group.name, i), attributes);
      tab.style.color = nameColour(role, colours, theme.text);
      return tab;
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
    this.sheets = el("div", "tb-sheets");
    this.canvas = el("canvas", "av-drawn");
    this.line = el("div", "av-sr tb-line-out", null, { "aria-live": "polite" });
    this.part = this.row = this.col = 0;
    /** @type {[number, number]} the number that is lit: the chosen one, or one that is pointed at */
    this.lit = [0, 0];
    this.resting = 0;
    /** @type {PlacedBoard | null} */
    this.placed = null;
    /** @type {HTMLElement[]} each may be scrolled to its right end */
    this.scrolls = [];
    /** @type {{ start: BoardStart, share: number } | null} */
    this.moving = null;
    this.stopMoving = () => {};
    /** @type {number | null} how much of the film of a sum is over */
    this.summing = null;
    this.stopSumming = () => {};
    /** @type {import("../shared/types.js").Board | null} with a number that a hand has changed, until Python answers */
    this.edited = null;
    this.edits = 0;
    /** @type {{ x: number, at: [number, number, number], value: number } | null} the number in a hand, and where it was taken */
    this.pulled = null;
    this.paint = oncePerFrame(() => this.draw());
    this.listen();
    offerPicture(root, () => [boardPart(this.board, [this.row, this.col], this.header.colours)], boardFigure);
  }

  get board() {
    return this.edited ?? this.header.boards[this.part];
  }

  /** @param {Component} component */
  async show(component) {
    const { header, before } = this.receive(component);
    const behind = this.gestures.isBehind(header.session, header.ack);
    if (before?.name !== header.name || !behind) {
      Object.assign(this, { part: header.part, row: header.row, col: header.col });
    }
    const stood = this.placed;
    if (before?.name !== header.name) this.edited = null;
    this.build();
    if (!before) this.addUp();
    if (stood && before && before.step !== header.step && !prefersReducedMotion()) this.move(stood);
  }

  resize() {
    if (this.held) this.build();
  }

  /** A matrix that `stood` on the last board glides from there, a new number comes out of those it is made of. */
  /** @param {PlacedBoard} stood */
  move({ standing }) {
    if (!this.placed) return;
    const start = startOf(standing, this.placed.standing, this.board.cells);
    const stays = this.board.sheets.filter((_sheet, i) => start.sheets[i]).map(({ name }) => name);
    this.sheets.dataset.moving = JSON.stringify({ stays, numbers: start.cells?.flat().length ?? 0 });
    const draw = (/** @type {number} */ done) => {
      this.moving = { start, share: 1 - (1 - done) ** 2 };
      this.draw();
    };
    draw(0);
    this.stopMoving = film(this.canvas, MOVE, draw, () => {
      this.rest();
      this.addUp();
    });
  }

  /** The numbers that the lit one is made of fly together, and their sum appears. */
  addUp() {
    this.stopSumming();
    if (prefersReducedMotion()) return;
    const draw = (/** @type {number} */ share) => {
      this.summing = share < 1 ? share : null;
      this.draw();
    };
    this.stopSumming = film(this.canvas, ADDING, draw, () => {});
  }

  /** The board stands. */
  rest() {
    this.stopMoving();
    this.moving = null;
    delete this.sheets.dataset.moving;
    this.draw();
  }

  /** What of the board the keyboard is on. */
  focused() {
    const active = focusedElement(this.root);
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

  build() {
    const { boards, tabs, colours } = this.header;
    if (!this.root.clientWidth) return;
    const focused = this.focused()?.dataset.at;
    const isEdited = this.numberAt(this.focused()) !== null;
    const tab = this.focused()?.dataset.tab;
    this.part = clamp(this.part, 0, boards.length - 1);
    const { sheets } = this.board;
    const last = sheets.length - 1;
    this.row = clamp(this.row, 0, sheets[last].rows.length - 1);
    this.col = clamp(this.col, 0, sheets[last].cols.length - 1);
    this.sheets.toggleAttribute("data-wide", !onOneLine(sheets).fits);
    const shown = tabs.map((group) => (group.name === "part" ? { ...group, current: this.part } : group));
    this.root.replaceChildren(
      tabRow(shown, colours, readTheme(this.root, colours), (name, option) => this.pickTab(name, option)),
      this.sheets,
    );
    this.lit = [this.row, this.col];
    const over = this.place().standing.map((one, i) => createSheet(one, i, i === last, this.editOf(i)));
    this.scrolls = over.map(({ scroll }) => scroll);
    this.sheets.replaceChildren(this.canvas, ...over.map(({ box }) => box), this.line);
    const again = tab && this.root.querySelector(`[data-tab="${tab}"]`); // the row was built anew
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
    this.rest();
    this.light(this.row, this.col, Boolean(focused) && !isEdited);
    const number = isEdited && this.sheets.querySelector(`[data-at="${focused}"]`);
    if (number instanceof HTMLElement) number.focus({ preventScroll: true });
    const font = `italic 600 ${NAME.size}px ${NAME.family}`;
    if (!document.fonts.check(font)) void document.fonts.load(font).then(this.paint);
  }

  /** Where everything is while this number is lit. */
  place() {
    const [r, c] = this.lit;
    const room = { width: this.sheets.clientWidth, most: Math.max(46, 0.044 * innerWidth), isFile: false };
    this.placed = placeBoard(this.board, this.board.cells[r][c], this.lit, room);
    this.sheets.style.height = `${this.placed.height}px`;
    return this.placed;
  }

  /** How a matrix's numbers are changed; "" where they are not. @param {number} sheet */
  editOf(sheet) {
    const { editable, words } = this.header;
    const { name } = this.board.sheets[sheet];
    return editable.includes(name) ? fill(words.edit, { name: name.replace("_", "") }) : "";
  }

  draw() {
    const { board, lit, moving, placed } = this;
    if (!placed) return;
    placed.standing.forEach((one, i) => (one.scrolled = this.scrolls[i].scrollLeft));
    const { colours } = this.header;
    const theme = readTheme(this.root, colours);
    const context = sizeCanvas(this.canvas, this.sheets.clientWidth, placed.height);
    const cell = board.cells[lit[0]][lit[1]];
    const summing = this.summing === null ? null : { cell, share: this.summing };
    const { editable: names, words } = this.header;
    const edited = { names, text: words.drag };
    drawBoard(context, { board: placed, theme, colours, lit, areas: cell.a, moving, summing, edited });
  }

  /** @param {string} name @param {number} option */
  pickTab(name, option) {
    if (name !== "part") {
      this.component?.setStateValue(name, option);
      return;
    }
    this.part = option;
    this.edited = null;
    this.build();
    this.tell();
  }

  /** Lights a number of the result and all it was computed from, and writes the sum out. */
  /** @param {number} r @param {number} c @param {boolean} focus */
  light(r, c, focus) {
    const { board, sheets } = this;
    const last = board.sheets.length - 1;
    this.stopSumming();
    this.summing = null;
    this.lit = [r, c];
    this.place();
    this.paint();
    sheets.dataset.lit = [last, r, c].join();
    sheets.dataset.from = JSON.stringify(board.cells[r][c].a);
    for (const old of sheets.querySelectorAll(`[data-at^="${last},"][tabindex="0"]`))
      old.setAttribute("tabindex", "-1");
    const cell = sheets.querySelector(`[data-at="${[last, this.row, this.col]}"]`);
    if (cell instanceof HTMLElement) {
      cell.tabIndex = 0;
      if (focus) cell.focus();
    }
    this.line.textContent = sumText(board.sheets, board.cells[r][c], r, c);
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
    this.sheets.addEventListener("scroll", () => this.paint(), true);
    this.sheets.addEventListener("click", (event) => {
      const at = this.placeOf(event.target);
      if (!at) return;
      this.choose(...at);
      this.addUp();
    });
    this.sheets.addEventListener("pointerdown", (event) => this.grab(event));
    this.sheets.addEventListener("pointermove", (event) => {
      if (this.pulled) this.pull(this.pulled.value + STEP * Math.round((event.clientX - this.pulled.x) / PULL));
    });
    for (const end of ["pointerup", "pointercancel"]) this.sheets.addEventListener(end, () => this.letGo());
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

  /** A number that may be changed, and what it is. @param {EventTarget | null} target */
  numberAt(target) {
    const text = target instanceof HTMLElement ? target.dataset.at : undefined;
    if (!text) return null;
    const at = /** @type {[number, number, number]} */ (text.split(",").map(Number));
    return this.editOf(at[0]) ? { at, value: readNumber(this.board.sheets[at[0]].text[at[1]][at[2]]) } : null;
  }

  /** Takes a number, whose products are lit while it is changed. @param {PointerEvent} event */
  grab(event) {
    const number = this.numberAt(event.target);
    if (!number) return;
    this.pulled = { ...number, x: event.clientX };
    this.sheets.setPointerCapture(event.pointerId);
    this.row = this.lit[0];
    this.col = number.at[2];
    this.light(this.row, this.col, false);
  }

  /** Gives the number in hand another value, and shows what follows from it. @param {number} value */
  pull(value) {
    if (!this.pulled) return;
    const { at } = this.pulled;
    const now = Number(clamp(value, -this.header.largest, this.header.largest).toFixed(2));
    this.edited = editBoard(this.board, at, now);
    this.edited.sheets.forEach((sheet, n) =>
      sheet.text.forEach((row, r) => {
        const cell = this.sheets.querySelector(`[data-at="${[n, r, at[2]]}"]`);
        if (cell) cell.textContent = row[at[2]] ?? cell.textContent;
      }),
    );
    this.light(this.row, this.col, false);
  }

  /** Tells Python the number that the hand has left. */
  letGo() {
    if (!this.pulled) return;
    const { at, value } = this.pulled;
    this.pulled = null;
    const { name, text } = this.board.sheets[at[0]];
    const now = readNumber(text[at[1]][at[2]]);
    if (now === value) return;
    this.edits += 1;
    this.component?.setStateValue("edit", { name, row: at[1], col: at[2], value: now, edits: this.edits });
  }

  /** Arrows go through a matrix that is changed, + and − change a number. @param {KeyboardEvent} event @param {NonNullable<ReturnType<TensorBoard["numberAt"]>>} number */
  editKey(event, { at, value }) {
    const [dr, dc] = ARROWS[event.key] ?? [0, 0];
    const by = { "+": STEP, "=": STEP, "-": -STEP, "−": -STEP }[event.key];
    if (by) {
      this.pulled = { x: 0, at, value };
      this.col = at[2];
      this.pull(value + by);
      this.letGo();
    } else if (dr || dc) {
      const next = this.sheets.querySelector(`[data-at="${[at[0], at[1] + dr, at[2] + dc]}"]`);
      if (next instanceof HTMLElement) next.focus();
    } else return;
    event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const number = this.numberAt(event.target);
    if (number) {
      this.editKey(event, number);
      return;
    }
    if (event.key in ARROWS) this.choose(this.row + ARROWS[event.key][0], this.col + ARROWS[event.key][1]);
    else if (event.key === "Home") this.choose(this.row, 0);
    else if (event.key === "End") this.choose(this.row, Infinity);
    else return;
    event.preventDefault();
  }
}

export default viewComponent(TensorBoard);
