// All tensors of a computation, small, and one operation of it, large: the matrices that go in, the one that comes out, and
// where each of its numbers is from. What is large comes out of its small picture and goes back there. Over the drawing lie
// tabs and tables of the same numbers, which cannot be seen: for those who hear the page, and for hands and keys.

import { readTheme } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import { ARROWS } from "../shared/controls.js";
import { createBox, el, fill, focusedElement } from "../shared/dom.js";
import { film, prefersReducedMotion } from "../shared/motion.js";
import { clamp } from "../shared/numbers.js";
import { offerPicture } from "../shared/offer.js";
import { clipTo, drawWith, oncePerFrame, sizeCanvas, strokePath } from "../shared/surface.js";
import { magnification } from "../shared/window.js";
import { boardFigure, boardPart, drawBoard } from "./board_scene.js";
import { longestSum, NAME, onOneLine, placeBoard, sheetStart, startOf, sumText } from "./board_geometry.js";
import { createSheet, fillTabs } from "./board_tables.js";
import { drawMap, frameAt } from "./map_scene.js";
import { MapStrip } from "./map_strip.js";
import { NumberHand } from "./number_hand.js";

/** @import { PlacedBoard } from "./board_geometry.js" */
/** @import { Moving } from "./board_scene.js" */
/** @import { PlacedMap } from "./map_scene.js" */
/** @import { BoardHeader, BoardMap, Component, DrawingContext, Theme } from "../shared/types.js" */

/** Python hears of a number when the hand has rested on it for so many milliseconds. */
const REST = 200;
/** Milliseconds in which a board becomes the next; the part of it in which matrices move, and when new numbers begin to. */
const [MOVE, GOING, BORN] = [900, 0.65, 0.5];
/** Milliseconds in which the frame goes to a step that Python has not answered. */
const GO = 600;
/** Milliseconds in which a sum is made of its numbers. */
const ADDING = 1100;

/** Slowly at both ends. @param {number} share */
function ease(share) {
  const left = 1 - clamp(share, 0, 1);
  return 1 - left * left * (3 - 2 * left);
}

/** @extends {View<BoardHeader>} */
export class TensorBoard extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.sheets = el("div", "tb-sheets");
    this.canvas = el("canvas", "av-drawn");
    this.line = el("div", "av-sr tb-line-out", null, { "aria-live": "polite" });
    this.strip = new MapStrip((step, part) => this.go(step, part));
    this.tabs = el("div", "av-wrap tb-tabs");
    this.stage = createBox("tb-stage", this.canvas, this.strip.bar, this.tabs, this.sheets, this.line);
    root.append(this.stage);
    this.part = this.row = this.col = 0;
    /** Where the frame is on the way to the step that is chosen. */
    this.at = 0;
    /** @type {(number | string)[]} what the matrices are: their numbers among all, or their names */
    this.keys = [];
    /** @type {[number, number]} the number that is lit: the chosen one, or one that is pointed at */
    this.lit = [0, 0];
    this.resting = 0;
    /** @type {PlacedBoard | null} */
    this.placed = null;
    /** @type {HTMLElement[]} each may be scrolled to its right end */
    this.scrolls = [];
    /** @type {Moving | null} */
    this.moving = null;
    /** @type {number | null} how much of the film of a sum is over */
    this.summing = null;
    this.stopFilm = () => {};
    /** @type {import("../shared/types.js").Board | null} with a number that a hand has changed, until Python answers */
    this.edited = null;
    this.turns = 0;
    this.hand = new NumberHand(this);
    this.paint = oncePerFrame(() => this.draw());
    this.listen();
    const part = () =>
      boardPart(this.board, [this.row, this.col], this.header.colours, this.header.map, [this.strip.step, this.part]);
    offerPicture(root, () => [part()], boardFigure);
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
    if (before?.name !== header.name) this.edited = null;
    const stood = before ? this.stand() : null;
    this.build();
    if (!prefersReducedMotion() && (!before || before.step !== header.step)) this.move(stood);
  }

  resize() {
    if (this.held) this.build();
  }

  /** Goes to a step, which Python sends. @param {number} step @param {number} part */
  go(step, part) {
    this.turns += 1;
    this.component?.setStateValue("step", { id: this.header.map?.steps[step].id, part, turns: this.turns });
    const from = this.at; // the frame leaves at once
    if (!prefersReducedMotion()) this.play(GO, (share) => (this.at = from + ease(share) * (step - from)), this.paint);
  }

  /** Where the matrices of the board stand, by what they are. */
  stand() {
    const { placed, keys } = this;
    return (
      placed && { y: this.origin().y, at: this.at, ones: new Map(placed.standing.map((one, i) => [keys[i], one])) }
    );
  }

  /** Where the large matrices begin on the stage, and how large one of their pixels is there. */
  origin() {
    const size = magnification(this.sheets) / magnification(this.stage);
    return { y: this.sheets.offsetTop * (this.sheets.offsetParent === this.stage ? size : 1), size };
  }

  /** Where a tensor's small picture is, as the large matrices count. @param {number | string} key */
  homeOf(key) {
    const place = typeof key === "number" ? this.strip.placed?.places[key] : null;
    if (!place) return null;
    const { y, size } = this.origin();
    const { left, top } = this.strip.corner;
    return { x: (place.x + left) / size, y: (place.y + top - y) / size, w: place.w / size, h: place.h / size };
  }

  /** What `stood` glides, the rest comes out of its small picture or goes there; new numbers come out of what they are made of. */
  /** @param {ReturnType<TensorBoard["stand"]>} stood */
  move(stood) {
    const { placed, keys } = this;
    if (!placed || !this.root.clientWidth) return;
    const down = (stood?.y ?? 0) - this.origin().y;
    const before = new Map([...(stood?.ones ?? [])].map(([key, one]) => [key, { ...one, y: one.y + down }]));
    const start = startOf(
      before,
      placed.standing,
      keys,
      keys.map((key) => this.homeOf(key)),
      this.board.cells,
    );
    const gone = [...before].filter(([key]) => !keys.includes(key) && this.homeOf(key));
    const leaving = gone.map(([key, one]) => ({ one, to: sheetStart(undefined, one, this.homeOf(key)) }));
    const from = stood?.at ?? this.at;
    this.play(
      MOVE,
      (share) => {
        const going = ease(share / GOING);
        this.at = from + going * (this.strip.step - from);
        this.moving = { start, leaving, share: going, born: ease((share - BORN) / (1 - BORN)) };
      },
      () => {
        this.rest();
        this.addUp();
      },
    );
  }

  /** The numbers that the lit one is made of fly together, and their sum appears. */
  addUp() {
    if (prefersReducedMotion()) return;
    this.play(
      ADDING,
      (share) => (this.summing = share < 1 ? share : null),
      () => this.rest(),
    );
  }

  /** Plays a film, in the place of one that still runs. @param {number} whole @param {(share: number) => void} set @param {() => void} then */
  play(whole, set, then) {
    this.stopFilm();
    this.stage.dataset.gliding = "";
    const draw = (/** @type {number} */ share) => {
      set(share);
      this.draw();
    };
    draw(0);
    this.stopFilm = film(this.canvas, whole, draw, then);
  }

  /** The board stands. */
  rest() {
    this.stopFilm();
    this.moving = this.summing = null;
    this.at = this.strip.step;
    delete this.stage.dataset.gliding;
    this.paint();
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
    const { boards, tabs, colours, map } = this.header;
    if (!this.root.clientWidth) return;
    this.strip.show(this.header, this.component?.key === undefined);
    const focused = this.focused()?.dataset.at;
    const isEdited = this.hand.numberAt(this.focused()) !== null;
    const tab = this.focused()?.dataset.tab;
    this.part = clamp(this.part, 0, boards.length - 1);
    const { sheets } = this.board;
    const last = sheets.length - 1;
    this.keys = map?.steps[this.strip.step].boards[this.part] ?? sheets.map(({ name }) => name);
    this.row = clamp(this.row, 0, sheets[last].rows.length - 1);
    this.col = clamp(this.col, 0, sheets[last].cols.length - 1);
    this.sheets.toggleAttribute("data-wide", !onOneLine(sheets).fits);
    const shown = tabs.map((group) => (group.name === "part" ? { ...group, current: this.part } : group));
    fillTabs(this.tabs, shown, colours, readTheme(this.root, colours), (name, option) => this.pickTab(name, option));
    this.lit = [this.row, this.col];
    this.longest = longestSum(this.board);
    const over = this.place().standing.map((one, i) => createSheet(one, i, i === last, this.editOf(i)));
    this.scrolls = over.map(({ scroll }) => scroll);
    this.sheets.replaceChildren(...over.map(({ box }) => box));
    const again = tab && this.root.querySelector(`[data-tab="${tab}"]`); // the row was built anew
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
    this.light(this.row, this.col, Boolean(focused) && !isEdited);
    const number = isEdited && this.sheets.querySelector(`[data-at="${focused}"]`);
    if (number instanceof HTMLElement) number.focus({ preventScroll: true });
    const font = `italic 600 ${NAME.size}px ${NAME.family}`;
    if (!document.fonts.check(font)) void document.fonts.load(font).then(this.paint);
  }

  /** Where everything is while this number is lit. */
  place() {
    const [r, c] = this.lit;
    const room = {
      ...{ width: this.sheets.clientWidth, most: Math.max(46, 0.044 * innerWidth), isFile: false },
      longest: this.longest,
    };
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
    placed.standing.forEach((one, i) => (one.scrolled = this.scrolls[i]?.scrollLeft ?? 0));
    const { colours, editable: names, map, words } = this.header;
    const theme = readTheme(this.root, colours);
    const context = sizeCanvas(this.canvas, this.stage.clientWidth, this.stage.clientHeight);
    const { y, size } = this.origin();
    if (map && this.strip.placed) this.drawMap(context, map, this.strip.placed, theme);
    const cell = board.cells[lit[0]][lit[1]];
    const summing = this.summing === null ? null : { cell, share: this.summing };
    const edited = { names, text: words.drag };
    context.save();
    context.translate(0, y);
    context.scale(size, size);
    drawBoard(context, { board: placed, theme, colours, lit, areas: cell.a, moving, summing, edited });
    context.restore();
  }

  /** All tensors, and lines from the step's frame to what is large of it. */
  /** @param {DrawingContext} context @param {BoardMap} map @param {PlacedMap} placed @param {Theme} theme */
  drawMap(context, map, placed, theme) {
    const { left, top, seen } = this.strip.corner;
    clipTo(context, seen, 0);
    context.translate(left, top);
    const board = /** @type {number[]} */ (this.keys);
    drawMap(context, { map, placed, at: this.at, board, theme, colours: this.header.colours });
    context.restore();
    const frame = frameAt(placed, this.at);
    const [from, to] = [
      top + frame.y + frame.h,
      this.tabs.childElementCount ? this.tabs.offsetTop - 2 : this.origin().y,
    ];
    drawWith(context, { strokeStyle: theme.primary, lineWidth: 1, globalAlpha: 0.35 });
    const side = (/** @type {number} */ x) => clamp(x, seen.x, seen.x + seen.w);
    strokePath(context, [side(left + frame.x + 8), from], [0, to]);
    strokePath(context, [side(left + frame.x + frame.w - 8), from], [this.stage.clientWidth, to]);
    context.globalAlpha = 1;
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
    this.lit = [r, c];
    this.place();
    this.rest();
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
    this.stage.addEventListener("scroll", () => this.paint(), true);
    this.sheets.addEventListener("click", (event) => {
      const at = this.placeOf(event.target);
      if (!at) return;
      this.choose(...at);
      this.addUp();
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
    const number = this.hand.numberAt(event.target);
    if (number) {
      this.hand.key(event, number);
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
