// Mask and scale beside the large head. They change the group's edit at once, and tell Python when the hand lets go.

import { textWidth } from "../scene/text_width.js";
import { makeHoldable, appendLabelled } from "../shared/controls.js";
import {
  addButton,
  setAttribute,
  createButton,
  el,
  fill,
  joinTexts,
  listOf,
  setName,
  setProperty,
  setText,
  visibleToken,
} from "../shared/dom.js";
import { isEdited, scaleFactor, editedMask, MASKS, NO_EDIT, SCOPES, VIEWS } from "../shared/edit.js";
import { isSameHead, tell } from "../shared/group.js";
import { formatSignificant } from "../shared/numbers.js";
import { scaleAt, largestFactor, scaleMarks, placeOf, scaleAfterStep } from "../shared/scale_slider.js";
import { emitEdit } from "./head_gestures.js";

/** @import { HeadComponent } from "./head.js" */
/** @import { Drawn, Edit, RawHead } from "../shared/types.js" */
/**
 * @typedef {{ drawn: Drawn, held: unknown, redraw(): void, announce(text: string): void, titleBox: HTMLElement,
 *   read: HTMLElement, finder: { painting: boolean, open(on: boolean): void } }} ControlledView
 */

/** Keys end a gesture when none has been pressed for so many milliseconds. */
const REST = 350;

export class HeadControls {
  /**
   * @param {ControlledView} view
   * @param {{ long?: boolean, emit?: () => void }} [options] whether the text is too long to be painted on or listed; who else tells
   * Python of a change
   */
  constructor(view, { long = false, emit = () => emitEdit(/** @type {HeadComponent} */ (view)) } = {}) {
    this.view = view;
    this.long = long;
    this.emitEdit = emit;
    this.box = el("div", "av-controls", null, { "data-testid": "controls" });
    // what is chosen less often than dragged: it lies over what is below, and closed nothing is painted
    this.summary = el("summary", "av-button");
    this.panel = el("div", "av-door-panel av-controls-row av-wrap");
    this.door = el("details", "av-door", null, { "data-testid": "mask-door" });
    this.door.append(this.summary, this.panel);
    this.door.addEventListener("toggle", () => this.door.open || !this.painting || this.paint(false));
    this.changed = el("div", "av-wrap av-controls-row av-changed");
    this.silence = createButton("av-link", "", () => this.toggleSilence(), { "data-testid": "silence" });
    this.painting = false;
    this.resting = 0;
    this.built = "";
    /** @type {string | null} the tokens that the list of keys is of */
    this.listed = null;
    /** @type {ReturnType<HeadControls["build"]> | null} */
    this.parts = null;
  }

  get group() {
    return this.view.drawn.group;
  }

  /** The head that is changed, null where none can be. */
  get raw() {
    const raw = this.view.drawn.maker?.raw;
    return raw?.exact ? raw : null;
  }

  /** What is on show just now. */
  get seen() {
    return this.group.peeking || !isEdited(this.group.edit) ? "before" : this.group.edit.seen;
  }

  /** Builds what is missing and sets all of it to the edit. */
  refresh() {
    const { header } = this.view.drawn;
    this.box.hidden = header.edit === null || header.compact;
    if (this.box.hidden) {
      this.changed.hidden = this.silence.hidden = true;
      return;
    }
    const raw = this.raw;
    const name = JSON.stringify([header.words.mask, header.words.weights_only, raw?.scale, raw?.dHead]);
    if (name !== this.built) {
      this.built = name;
      this.listed = null;
      this.changed.replaceChildren();
      this.parts = this.build(raw);
    }
    if (this.listed !== header.doc) this.listKeys();
    this.update();
  }

  /** @param {RawHead | null} raw */
  build(raw) {
    const { words } = this.view.drawn;
    const first = el("div", "av-wrap av-controls-row av-scale-row");
    const { panel } = this;
    panel.replaceChildren();
    const parts = {
      scale: new ScaleControl(this, first, this.changed, raw),
      mask: setName(this.maskSelect(), words.mask),
      window: this.windowBox(panel),
      paint: addButton(panel, words.paint, words.paint_help, () => this.paint(!this.painting)),
      hide: this.hideSelect(panel),
      compare: this.compare(this.changed),
      where: setName(
        this.select("where", SCOPES, (where) => this.set({ where }, false)),
        words.where,
      ),
      reset: createButton("av-button", "↺", () => {
        const { where, silenced } = this.group.edit;
        this.set({ ...NO_EDIT, where, silenced });
      }),
      hidden: el("div", "av-wrap av-hidden-tokens"),
    };
    this.changed.append(parts.where, setName(parts.reset, words.reset));
    panel.prepend(parts.mask);
    first.append(this.door);
    this.box.replaceChildren(first, parts.hidden);
    for (const part of [parts.paint, parts.hide, parts.compare.difference]) part.hidden = this.long;
    if (raw === null) this.box.append(el("div", "av-small", words.weights_only));
    for (const control of this.box.querySelectorAll("button, input, select")) {
      if (raw === null) control.setAttribute("disabled", "");
    }
    return parts;
  }

  maskSelect() {
    const names = /** @type {Edit["mask"][]} */ (Object.keys(MASKS)).filter((name) => !this.long || name !== "painted");
    return this.select("mask", names, (mask) => {
      this.set(mask === "painted" ? { mask, painted: this.currentMask() } : { mask });
      if (mask === "painted") this.paint(true);
    });
  }

  /**
   * A list of these names, as the words call them.
   * @template {string} Name
   * @param {string} what
   * @param {readonly Name[]} names
   * @param {(name: Name) => void} taken
   */
  select(what, names, taken) {
    const { words } = this.view.drawn;
    const options = names.map((name) => new Option(words[`${what}${name}`], name));
    return listOf("", options, (name) => taken(/** @type {Name} */ (name)), { "data-testid": what });
  }

  /** @param {HTMLElement} host */
  windowBox(host) {
    const box = el("span", "av-window");
    const attributes = { type: "range", min: "1", max: "64", step: "1", "data-testid": "window" };
    const input = setName(el("input", "av-range", null, attributes), this.view.drawn.words.window);
    const number = el("span", "av-number");
    input.addEventListener("input", () => this.move({ mask: "window", window: Number(input.value) }));
    input.addEventListener("change", () => this.emitSoon());
    box.append(input, number);
    host.append(box);
    return { box, input, number };
  }

  /** @param {HTMLElement} host */
  hideSelect(host) {
    const taken = (/** @type {string} */ key) => {
      if (key !== "") this.hide(Number(key), true);
      select.value = "";
    };
    const select = listOf("av-hide", [], taken, { "data-testid": "hide" });
    host.append(setName(select, this.view.drawn.words.hide));
    return select;
  }

  /** The keys that can be hidden: other ones for another sentence. */
  listKeys() {
    const { words, header, maker } = this.view.drawn;
    this.listed = header.doc;
    const names = maker ? (header.k ?? header.q) : [];
    const keys = names.map((token, i) => new Option(`${visibleToken(token)} (${i})`, String(i)));
    this.parts?.hide.replaceChildren(new Option(words.nothing_hidden, ""), ...keys);
    delete this.parts?.hidden.dataset.cols;
  }

  /** Before, after and their difference; "before" can be held. @param {HTMLElement} host */
  compare(host) {
    const { words } = this.view.drawn;
    const group = el("span", "av-direction av-compare", null, { role: "group" });
    const buttons = /** @type {Record<Edit["seen"], HTMLButtonElement>} */ ({});
    for (const name of VIEWS) {
      const see = () => this.set({ seen: name }, false);
      buttons[name] = createButton("av-toggle", words[name], name === "before" ? null : see, {
        "data-testid": `seen-${name}`,
      });
      group.append(buttons[name]);
    }
    // a short press on "before" switches to it and back
    const turn = () => this.set({ seen: this.group.edit.seen === "before" ? "after" : "before" }, false);
    const peek = (/** @type {boolean} */ on) => {
      this.group.peeking = on;
      tell(this.group, "edit");
    };
    makeHoldable(buttons.before, peek, turn);
    buttons.before.title = words.hold;
    host.append(group);
    return buttons;
  }

  /** @param {boolean} on */
  paint(on) {
    this.painting = on && this.raw !== null;
    if (this.painting && this.view.finder.painting) this.view.finder.open(false);
    this.update();
    this.view.redraw();
    if (this.painting) this.view.announce(this.view.drawn.words.painting);
  }

  /** The mask as it is now, to go on painting from. */
  currentMask() {
    const { raw } = this;
    if (!raw) return null;
    const mask = editedMask(this.group.edit, raw);
    return mask ? mask.slice() : new Uint8Array(raw.shape[0] * raw.shape[1]).fill(1);
  }

  /** Whether a cell of the picture may be looked at: any of what it covers. @param {number} row @param {number} col */
  isOpen(row, col) {
    const mask = this.currentMask();
    return mask !== null && this.cellsOf(row, col).some((i) => mask[i] === 1);
  }

  /** @param {[number, number][]} cells rows and columns of the picture @param {boolean} open */
  paintCells(cells, open) {
    const { mask, painted: before } = this.group.edit;
    const painted = (mask === "painted" && before?.slice()) || this.currentMask();
    if (!painted) return;
    for (const [row, col] of cells) for (const i of this.cellsOf(row, col)) painted[i] = Number(open);
    this.move({ mask: "painted", painted });
  }

  /** @param {number} row @param {number} col */
  cellsOf(row, col) {
    const { how } = this.view.drawn.maker ?? {};
    if (!how) return [];
    const queries = how.rows ? how.rows[row] : [row];
    return queries.flatMap((q) => this.keysOf(col).map((k) => q * how.shape[1] + k));
  }

  /** @param {number} col */
  keysOf(col) {
    const { how } = this.view.drawn.maker ?? {};
    return how?.cols ? how.cols[col] : [col];
  }

  /** @param {number} col @param {boolean} gone */
  hide(col, gone) {
    const keys = new Set(this.group.edit.hidden);
    for (const k of this.keysOf(col)) {
      if (gone) keys.add(k);
      else keys.delete(k);
    }
    this.set({ hidden: [...keys].sort((a, b) => a - b) });
  }

  /** Changes the edit while a hand moves. Whoever changes something while "before" is on show wants to see it. */
  /** @param {Partial<Edit>} more */
  move(more, shows = true) {
    const { edit } = this.group;
    const seen = shows && edit.seen === "before" ? "after" : edit.seen;
    Object.assign(this.group, { edit: { ...edit, seen, ...more }, editing: true });
    tell(this.group, "edit");
  }

  /** Changes the edit in one step. @param {Partial<Edit>} more */
  set(more, shows = true) {
    this.move(more, shows);
    this.update(); // a control that the step brings, as the window's width, takes the very next key
    this.emit();
  }

  /** Whether the head on show is switched off: its output is zeros. */
  get isSilenced() {
    const { tile } = this.view.drawn.header;
    return this.group.edit.silenced.some((place) => isSameHead(place, tile));
  }

  toggleSilence() {
    const { tile } = this.view.drawn.header;
    if (tile === null) return;
    const others = this.group.edit.silenced.filter((place) => !isSameHead(place, tile));
    this.set({ silenced: this.isSilenced ? others : [...others, tile] }, false);
    const { words } = this.view.drawn;
    this.view.announce(this.isSilenced ? words.silenced : words.silence_on);
  }

  nameSilence() {
    const { header, words } = this.view.drawn;
    setProperty(this.silence, "hidden", this.raw === null || header.tile === null || header.session === "");
    setText(this.silence, this.isSilenced ? words.silence_on : words.silence);
    setAttribute(this.silence, "aria-pressed", String(this.isSilenced));
    setAttribute(this.silence, "title", words.silence_help);
    this.view.titleBox.classList.toggle("av-struck", this.isSilenced);
  }

  emitSoon() {
    clearTimeout(this.resting);
    this.resting = window.setTimeout(() => this.emit(), REST);
  }

  emit() {
    clearTimeout(this.resting);
    this.emitEdit();
  }

  /** Sets every control to the edit. */
  update() {
    if (!this.parts || !this.view.held) return;
    const { edit } = this.group;
    const { words } = this.view.drawn;
    const { mask, window, paint, compare, scale, where, reset } = this.parts;
    const { raw } = this;
    const changed = raw !== null && isEdited(edit);
    if (mask.value !== edit.mask) mask.value = edit.mask;
    const maskName = edit.mask === "model" ? "" : words[`mask${edit.mask}`];
    setText(this.summary, maskName ? joinTexts("{first}: {next}", [words.mask, maskName]) : words.mask);
    setProperty(window.box, "hidden", edit.mask !== "window");
    if (window.input.value !== String(edit.window)) window.input.value = String(edit.window);
    setText(window.number, String(edit.window));
    setAttribute(paint, "aria-pressed", String(this.painting));
    if (where.value !== edit.where) where.value = edit.where;
    setProperty(where, "hidden", this.long || this.view.drawn.header.tile === null);
    setProperty(reset, "disabled", !changed);
    setProperty(this.changed, "hidden", !changed);
    for (const [name, view] of Object.entries(compare)) {
      setAttribute(view, "aria-pressed", String(changed && this.seen === name));
    }
    this.nameSilence();
    scale.update(edit, raw);
    this.listHidden(edit);
    this.box.dataset.edit = JSON.stringify([edit.mask, edit.window, edit.hidden, edit.scale, edit.factor, this.seen]);
    if (raw !== null && this.painting) this.view.read.dataset.hint = words.painting;
  }

  /** @param {Edit} edit */
  listHidden(edit) {
    const { hidden } = /** @type {NonNullable<typeof this.parts>} */ (this.parts);
    const { header, words } = this.view.drawn;
    const gone = new Set(edit.hidden);
    const names = header.k ?? header.q;
    const cols = gone.size === 0 ? [] : names.map((_, c) => c).filter((c) => this.keysOf(c).every((k) => gone.has(k)));
    const wanted = cols.join();
    if (hidden.dataset.cols === wanted) return;
    hidden.dataset.cols = wanted;
    hidden.replaceChildren();
    for (const c of cols) {
      const token = `${visibleToken(names[c])} (${c})`;
      addButton(hidden, `${token} ×`, fill(words.show_again, { token }), () => this.hide(c, false));
    }
  }
}

const STEPS = 1000;
/** @type {Record<string, number>} */
const KEYS = { ArrowRight: 0.05, ArrowUp: 0.05, ArrowLeft: -0.05, ArrowDown: -0.05, PageUp: 0.5, PageDown: -0.5 };

export class ScaleControl {
  /**
   * @param {HeadControls} controls @param {HTMLElement} host @param {HTMLElement} changed where its number stands
   * @param {RawHead | null} raw
   */
  constructor(controls, host, changed, raw) {
    this.controls = controls;
    const { words } = this.controls.view.drawn;
    const box = el("span", "av-scale");
    const attributes = { type: "range", min: "0", max: String(STEPS), step: "1", "data-testid": "scale" };
    this.input = el("input", "av-range", null, attributes);
    const marks = el("span", "av-marks", null, { "aria-hidden": "true" });
    this.value = el("span", "av-number", null, { "data-testid": "scale-value" });
    for (const mark of raw ? scaleMarks(raw) : []) this.mark(marks, mark, raw);
    box.append(this.input, marks);
    appendLabelled(host, words.scale, this.input, box);
    changed.append(this.value);
    // room for any usual scale: its words change as the hand moves, and the slider must not change its length below it
    const longest = fill(words.scale_short, { factor: "0.000", number: "0.0000", temperature: "0.000" });
    this.value.style.minWidth = `min(${Math.ceil(textWidth(longest, 12))}px, 100%)`;
    this.input.addEventListener("input", () => {
      if (controls.raw) controls.move(scaleAt(Number(this.input.value) / STEPS, controls.raw));
    });
    this.input.addEventListener("change", () => controls.emit());
    this.input.addEventListener("pointerup", () => controls.emitSoon()); // a hand that comes back to where it began changes nothing
    this.input.addEventListener("keydown", (e) => this.key(e));
  }

  /** @param {HTMLElement} host @param {{ scale: Edit["scale"], factor: number }} mark @param {RawHead | null} raw */
  mark(host, { scale, factor }, raw) {
    if (!raw) return;
    const { words } = this.controls.view.drawn;
    const names = { model: words.mark_own, none: words.mark_none, inverse: words.mark_inverse, factor: "" };
    const press = () => this.controls.set({ scale, factor: 1 });
    const node = createButton("av-mark", names[scale], press, { tabindex: "-1", "data-mark": scale });
    node.style.left = `${placeOf(factor, largestFactor(raw)) * 100}%`;
    host.append(node);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { raw, group } = this.controls;
    if (!raw || event.altKey || event.ctrlKey || event.metaKey) return;
    const factor = scaleFactor(group.edit, raw) / raw.scale;
    const by = event.key in KEYS ? KEYS[event.key] * (event.shiftKey ? 10 : 1) : { Home: -1e9, End: 1e9 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    this.controls.move(scaleAfterStep(factor, by, raw));
    this.controls.emitSoon();
  }

  /** Sets slider and words to the edit. @param {Edit} edit @param {RawHead | null} raw */
  update(edit, raw) {
    const { input, value } = this;
    if (!raw) {
      setText(value, "");
      return;
    }
    const { words } = this.controls.view.drawn;
    const number = scaleFactor(edit, raw);
    const factor = number / raw.scale;
    const fields = {
      factor: formatSignificant(factor),
      number: formatSignificant(number),
      temperature: factor === 0 ? "∞" : formatSignificant(1 / factor),
    };
    if (document.activeElement !== input || edit.scale !== "factor") {
      input.value = String(Math.round(placeOf(factor, largestFactor(raw)) * STEPS));
    }
    setAttribute(input, "aria-valuetext", fill(words.scale_value, fields));
    setAttribute(input, "title", fill(words.scale_value, fields));
    setText(value, fill(words.scale_short, fields));
  }
}
