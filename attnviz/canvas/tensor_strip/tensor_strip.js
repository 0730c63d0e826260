// The walk: one tab a step, over a drawing of all.

import { rgb, readTheme } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import { createBox, createButton, el, focusedElement, setName } from "../shared/dom.js";
import { scrollPosition, scrollBehaviour } from "../shared/motion.js";
import { clamp } from "../shared/numbers.js";
import { drawWith, fillBox, layOver, roundedRect, sizeCanvas, writeText } from "../shared/surface.js";
import { textWidth } from "../scene/text_width.js";
import { tensorColour } from "../tensor_board/tensor_tint.js";

/** @import { Component, DrawingContext, Rectangle, StripHeader, TensorColours, Theme, Thumb } from "../shared/types.js" */
/** @typedef {Rectangle & { name: string, shape: string, thumbs: (Rectangle & { thumb: Thumb })[] }} WalkStep */

const [NAME, SHAPE] = [12.5, 11];
/** Pixels around all, of the narrowest step, inside each at its sides, and between two. */
const [AROUND, LEAST, PAD, GAP] = [3, 52, 3, 4];
const HIGH = 92;
/** Pixels of a number, of the highest picture, between two pictures, and down to the middle of all. */
const [CELL, HIGHEST, APART, MIDDLE] = [7, 44, 4, 48];

/** Places steps beside each other, each with its name, shape and thumbnails. @param {StripHeader["steps"]} steps */
function placeSteps(steps) {
  let x = AROUND;
  const placed = steps.map(({ label, shape, thumbs }, i) => {
    const name = `${i + 1} ${label}`;
    const cells = thumbs.map(({ rows }) => Math.min(CELL, HIGHEST / rows));
    const pictures = thumbs.reduce((sum, { cols }, at) => sum + cols * cells[at] + APART, -APART);
    const w = Math.max(LEAST, 2 * PAD + Math.max(textWidth(name, NAME), textWidth(shape, SHAPE), pictures));
    let left = x + (w - pictures) / 2;
    const places = thumbs.map((thumb, at) => {
      const [wide, high] = [thumb.cols * cells[at], thumb.rows * cells[at]];
      left += wide + APART;
      return { thumb, x: left - wide - APART, y: AROUND + MIDDLE - high / 2, w: wide, h: high };
    });
    const step = { name, shape, thumbs: places, x, y: AROUND, w, h: HIGH };
    x += w + GAP;
    return step;
  });
  return { steps: placed, width: x - GAP + AROUND, height: HIGH + 2 * AROUND };
}

/**
 * @param {DrawingContext} context @param {WalkStep[]} steps @param {number} current @param {Theme} theme
 * @param {TensorColours} colours
 */
function drawWalk(context, steps, current, theme, colours) {
  const background = rgb(theme.background);
  steps.forEach(({ name, shape, thumbs, x, y, w, h }, i) => {
    const [middle, isCurrent] = [x + w / 2, i === current];
    if (i) fillBox(context, { x: x - GAP, y: y + h / 2, w: GAP, h: 1 }, theme.text, 0.3);
    if (isCurrent) {
      drawWith(context, { fillStyle: theme.secondary, strokeStyle: theme.primary, lineWidth: 1 });
      roundedRect(context, { x: x + 0.5, y: y + 0.5, w: w - 1, h: h - 1 }, 8);
      context.fill();
      context.stroke();
    }
    for (const { thumb, ...place } of thumbs) drawThumb(context, thumb, place, colours, background);
    writeText(context, name, middle, y + 14, theme, `${isCurrent ? 600 : 400} ${NAME}px`, 1, "center");
    writeText(context, shape, middle, y + h - 13, theme, `${SHAPE}px`, 0.75, "center");
  });
}

/**
 * @param {DrawingContext} context @param {Thumb} thumb @param {Rectangle} place @param {TensorColours} colours
 * @param {import("../shared/types.js").Rgb} background
 */
function drawThumb(context, { cols, fill, role, roles }, { x, y, w }, colours, background) {
  const cell = w / cols;
  fill.forEach((share, i) => {
    const of = roles.length ? roles[i % cols] : role;
    context.fillStyle = share === null ? colours.masked : tensorColour(of, share, colours, background).fill;
    context.fillRect(x + (i % cols) * cell, y + Math.floor(i / cols) * cell, cell - 1, cell - 1);
  });
}

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
    root.append(createBox("av-line ts-bar", this.back, this.row, this.next));
  }

  /** @param {string} sign @param {number} by */
  turnButton(sign, by) {
    return createButton("ts-turn av-button", sign, () => this.choose(this.current + by, false));
  }

  /** @param {Component} component */
  async show(component) {
    const { header } = this.receive(component);
    const focused = focusedElement(this.row) !== null;
    const scrolled = this.row.scrollLeft;
    this.row.setAttribute("aria-label", header.words.steps);
    setName(this.back, header.words.back);
    setName(this.next, header.words.next);
    this.chips = placeSteps(header.steps).steps.map((step, i) => {
      const chip = createButton("av-words ts-chip", `${step.name} ${step.shape}`, () => this.choose(i, true));
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
    const { steps, width, height } = placeSteps(this.header.steps);
    const { colours } = this.header;
    drawWalk(sizeCanvas(this.canvas, width, height), steps, this.current, readTheme(this.root, colours), colours);
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
    const left = scrollPosition(place, this.row.clientWidth, this.row.scrollWidth);
    this.row.scrollTo({ left, behavior: this.drawn ? scrollBehaviour() : "instant" });
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
