// The walk: one tab a step, over a drawing of all.

import { themeOf } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import { around, button, el, focusedIn, named } from "../shared/dom.js";
import { scrolledTo, scrolling } from "../shared/motion.js";
import { clamp } from "../shared/numbers.js";
import { layOver, sized } from "../shared/surface.js";
import { drawWalk, placeWalk } from "./walk_scene.js";

/** @import { Component, StripHeader } from "../shared/types.js" */

/** @extends {View<StripHeader>} */
class Strip extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.canvas = el("canvas");
    this.row = el("div", "ts-strip", null, { role: "tablist" });
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
  async show(component) {
    const { header } = this.receive(component);
    const focused = focusedIn(this.row) !== null;
    const scrolled = this.row.scrollLeft;
    this.row.setAttribute("aria-label", header.words.steps);
    named(this.back, header.words.back);
    named(this.next, header.words.next);
    this.chips = placeWalk(header.steps).steps.map((step, i) => {
      const chip = button("av-words ts-chip", `${step.name} ${step.shape}`, () => this.choose(i, true));
      chip.setAttribute("role", "tab");
      chip.dataset.step = header.steps[i].id;
      return layOver(chip, step);
    });
    this.row.replaceChildren(this.canvas, ...this.chips);
    this.row.scrollLeft = scrolled;
    this.stand(
      header.steps.findIndex((s) => s.id === header.current),
      focused,
    );
    this.drawn = true;
  }

  resize() {
    if (this.held) this.draw();
  }

  draw() {
    const { steps, width, height } = placeWalk(this.header.steps);
    const { colours } = this.header;
    drawWalk(sized(this.canvas, width, height), steps, this.current, themeOf(this.root, colours), colours);
  }

  /** Shows which step is the current one, and scrolls the row to it. @param {number} index @param {boolean} focus */
  stand(index, focus) {
    this.current = clamp(index, 0, this.chips.length - 1);
    this.chips.forEach((chip, i) => {
      chip.setAttribute("aria-selected", String(i === this.current));
      chip.tabIndex = i === this.current ? 0 : -1;
    });
    this.draw();
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

export default viewComponent(Strip);
