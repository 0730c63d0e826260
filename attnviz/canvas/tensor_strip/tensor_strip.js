// The walk: one chip a step, with a picture of its tensor and its shape.

import { lastingComponent, View } from "../shared/component.js";
import { around, button, el, focusedIn, named } from "../shared/dom.js";
import { scrolledTo, scrolling } from "../shared/motion.js";
import { clamp } from "../shared/numbers.js";
import { sized } from "../shared/surface.js";
import { backgroundOf, tint } from "../tensor_board/tensor_tint.js";

/** @import { Component, Rgb, StripHeader, TensorColours, Thumb } from "../shared/types.js" */

const CELL = 7;

/** @param {Thumb} thumb @param {TensorColours} colours @param {Rgb} background */
function thumbPicture(thumb, colours, background) {
  const canvas = el("canvas");
  const context = sized(canvas, thumb.cols * CELL, thumb.rows * CELL);
  thumb.fill.forEach((share, i) => {
    const role = thumb.roles.length ? thumb.roles[i % thumb.cols] : thumb.role;
    context.fillStyle = share === null ? colours.masked : tint(role, share, colours, background).fill;
    context.fillRect((i % thumb.cols) * CELL, Math.floor(i / thumb.cols) * CELL, CELL - 1, CELL - 1);
  });
  return canvas;
}

/**
 * @param {StripHeader["steps"][number]} step @param {number} index @param {TensorColours} colours
 * @param {Rgb} background @param {() => void} choose
 */
function stepChip(step, index, colours, background, choose) {
  const chip = button("ts-chip", null, choose, { role: "tab", "data-step": step.id });
  const pictures = el("span", "av-line ts-pictures");
  pictures.append(...step.thumbs.map((thumb) => thumbPicture(thumb, colours, background)));
  chip.append(el("span", "ts-name", `${index + 1} ${step.label}`), pictures, el("span", "ts-shape", step.shape));
  return chip;
}

/** @extends {View<StripHeader>} */
class Strip extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.row = el("div", "av-line ts-strip", null, { role: "tablist" });
    this.back = this.turnButton("‹", -1);
    this.next = this.turnButton("›", 1);
    this.drawn = false;
    this.current = 0;
    /** @type {HTMLButtonElement[]} */
    this.chips = [];
    this.row.addEventListener("keydown", (e) => this.key(e));
    root.append(around("av-line ts-bar", this.back, this.row, this.next));
  }

  /** @param {string} sign @param {number} by */
  turnButton(sign, by) {
    return button("ts-turn av-button", sign, () => this.choose(this.current + by, false));
  }

  /** @param {Component} component */
  show(component) {
    const { header } = this.receive(component);
    const focused = focusedIn(this.row) !== null;
    const scrolled = this.row.scrollLeft;
    const background = backgroundOf(this.root);
    this.row.setAttribute("aria-label", header.words.steps);
    named(this.back, header.words.back);
    named(this.next, header.words.next);
    this.chips = header.steps.map((step, i) =>
      stepChip(step, i, header.colours, background, () => this.choose(i, true)),
    );
    const arrow = () => el("span", "ts-arrow", null, { "aria-hidden": "true" });
    this.row.replaceChildren(...this.chips.flatMap((chip, i) => (i ? [arrow(), chip] : [chip])));
    this.row.scrollLeft = scrolled;
    this.stand(
      header.steps.findIndex((s) => s.id === header.current),
      focused,
    );
    this.drawn = true;
  }

  /** Shows which step is the current one, and scrolls the row to it. @param {number} index @param {boolean} focus */
  stand(index, focus) {
    this.current = clamp(index, 0, this.chips.length - 1);
    this.chips.forEach((chip, i) => {
      chip.setAttribute("aria-selected", String(i === this.current));
      chip.tabIndex = i === this.current ? 0 : -1;
    });
    this.back.disabled = this.current === 0;
    this.next.disabled = this.current === this.chips.length - 1;
    const chip = this.chips[this.current];
    if (focus) chip.focus({ preventScroll: true });
    const place = { left: chip.offsetLeft, width: chip.offsetWidth }; // measured from the row, which it lies in
    const left = scrolledTo(place, this.row.clientWidth, this.row.scrollWidth);
    this.row.scrollTo({ left, behavior: this.drawn ? scrolling() : "instant" });
  }

  /** @param {number} index @param {boolean} focus */
  choose(index, focus) {
    const before = this.current;
    this.stand(index, focus);
    if (this.current !== before) this.component?.setStateValue("step", this.header.steps[this.current].id);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    /** @type {Record<string, number>} */
    const to = { ArrowLeft: this.current - 1, ArrowRight: this.current + 1, Home: 0, End: this.chips.length - 1 };
    if (!(event.key in to)) return;
    event.preventDefault();
    this.choose(to[event.key], true);
  }
}

export default lastingComponent(Strip);
