// The sentence as chips: a list box in which a token is pointed at, walked to, pinned, and tinted by its weight.

import { css, inkOn, placeOnScale, toRgb } from "../shared/colour.js";
import { isPress, radioGroup, STEPS, focusedButton } from "../shared/controls.js";
import { createButton, el, isRightToLeft, visibleToken } from "../shared/dom.js";
import { hoverOn } from "../shared/group.js";
import { codeAt } from "./head_readout.js";
import { clamp } from "../shared/numbers.js";
import { MASKED_16, decodeValue } from "../shared/packing.js";
import { scrollWithin } from "../shared/window.js";

/** @import { HeadComponent } from "./head.js" */
/** @import { Axis, Pin } from "../shared/types.js" */
/** @typedef {{ axis: Axis, row: HTMLElement, chips: HTMLElement[] }} Row */

/** Tokens up to so many characters fit into any row; a longer one is cut, for which the page keeps a layer of its own. */
const WHOLE = 14;

export class Chips {
  /** @param {HeadComponent} view */
  constructor(view) {
    this.view = view;
    this.box = el("div", "av-sentence");
    /** @type {Row[]} */
    this.rows = [];
    /** @type {HTMLElement[]} */
    this.tinted = [];
    /** @type {Axis} which side a chip stands for, where one sentence looks at itself */
    this.axis = "q";
    /** @type {HTMLElement | null} the switch between the two */
    this.sides = null;
  }

  build() {
    const { header, words } = this.view.drawn;
    this.box.replaceChildren();
    this.rows = [];
    if (header.k === null) {
      this.box.append(this.direction());
      this.add("q", header.q, words.sentence, false);
    } else {
      this.add("q", header.q, words.queries, true);
      this.add("k", header.k, words.keys, true);
    }
  }

  /** One sentence looking at itself: a chip asks either what it looks at or what looks at it. */
  direction() {
    const { words } = this.view.drawn;
    const group = el("div", "av-direction", null, { "aria-label": words.sentence });
    const sides = /** @type {const} */ (["q", "k"]);
    const buttons = sides.map((axis) => {
      const take = () => {
        this.take(axis);
        this.light();
      };
      return createButton("av-toggle", axis === "q" ? words.looks : words.lookedat, take, { "data-axis": axis });
    });
    radioGroup(group, buttons, sides.indexOf(this.axis));
    this.sides = group;
    return group;
  }

  /** Shows which side a chip stands for. @param {Axis} axis */
  take(axis) {
    if (axis === this.axis) return;
    this.axis = axis;
    if (this.sides) focusedButton(this.sides, Number(axis === "k"));
  }

  /** @param {Axis} axis @param {string[]} tokens @param {string} name @param {boolean} titled */
  add(axis, tokens, name, titled) {
    const row = el("div", "av-wrap av-chips", null, {
      role: "listbox",
      "aria-multiselectable": "true",
      "aria-label": name,
      "data-axis": axis,
      dir: isRightToLeft(tokens) ? "rtl" : "ltr",
    });
    const segments = new Set(this.view.drawn.header.segments[axis === "q" ? 0 : 1]);
    const chips = tokens.map((token, i) => {
      const text = visibleToken(token);
      const look = text.length > WHOLE ? "av-chip av-cut" : "av-chip";
      const chip = el("span", look, text, { role: "option", "aria-selected": "false" });
      chip.tabIndex = i === 0 ? 0 : -1;
      chip.dataset.i = String(i);
      if (segments.has(i)) row.append(el("span", "av-segment", null, { "aria-hidden": "true" }));
      row.append(chip);
      return chip;
    });
    if (titled) this.box.append(el("div", `av-strong av-row-name av-name-${axis}`, name));
    this.box.append(row);
    const entry = { axis, row, chips };
    this.rows.push(entry);
    this.listen(entry);
  }

  /** In one sentence the direction says which axis a chip stands for; in two, its row does. @param {Row} entry */
  axisOf(entry) {
    return this.view.drawn.header.k === null ? this.axis : entry.axis;
  }

  /** @param {Row} entry */
  listen(entry) {
    const { row } = entry;
    row.addEventListener("pointerover", (e) => {
      const i = chipNumber(e);
      if (i !== null && e.pointerType !== "touch") this.point({ axis: this.axisOf(entry), i });
    });
    row.addEventListener("pointerleave", () => this.point(null));
    row.addEventListener("click", (e) => {
      const i = chipNumber(e);
      if (i !== null) this.view.press({ axis: this.axisOf(entry), i });
    });
    row.addEventListener("keydown", (e) => this.key(e, entry));
    row.addEventListener("focusin", (e) => {
      const i = chipNumber(e);
      if (i === null || !(e.target instanceof Element) || !e.target.matches(":focus-visible")) return;
      this.point({ axis: this.axisOf(entry), i });
      this.view.announce(this.view.readout());
    });
    row.addEventListener("focusout", () => this.point(null));
  }

  /** @param {Pin | null} hover */
  point(hover) {
    hoverOn(this.view.drawn.group, hover);
  }

  /** @param {KeyboardEvent} event @param {Row} entry */
  key(event, entry) {
    const i = chipNumber(event);
    if (i === null) return;
    const last = entry.chips.length - 1;
    const sideways = event.key === "ArrowLeft" || event.key === "ArrowRight";
    const step = sideways && entry.row.dir === "rtl" ? -STEPS[event.key] : STEPS[event.key];
    if (event.key in STEPS) this.go(entry, clamp(i + step, 0, last));
    else if (event.key === "Home") this.go(entry, 0);
    else if (event.key === "End") this.go(entry, last);
    else if (isPress(event)) this.view.press({ axis: this.axisOf(entry), i });
    else if (event.key !== "Escape" || !this.view.release()) return;
    event.preventDefault();
  }

  /** @param {Row} entry @param {number} i */
  go(entry, i) {
    for (const chip of entry.chips) if (chip.tabIndex === 0) chip.tabIndex = -1;
    entry.chips[i].tabIndex = 0;
    entry.chips[i].focus();
  }

  /** @param {Axis} axis @param {number} i */
  chip(axis, i) {
    const one = this.view.drawn.header.k === null;
    const entry = one ? this.rows[0] : this.rows.find((row) => row.axis === axis);
    return entry?.chips[i];
  }

  light() {
    this.clear();
    if (!this.rows.length) return;
    const lead = this.view.lead();
    if (lead) {
      this.tint(lead);
      const chip = this.chip(lead.axis, lead.i);
      const box = chip?.parentElement;
      if (box) scrollWithin(box, chip.offsetTop - box.offsetTop, chip.offsetHeight, 3);
    }
    for (const { axis, i, pin } of this.view.lit()) {
      const chip = this.chip(axis, i);
      if (!chip) continue;
      chip.classList.add(axis === "q" ? "av-lit-q" : "av-lit-k");
      this.tinted.push(chip);
      if (pin) {
        chip.classList.add("av-pinned");
        chip.setAttribute("aria-selected", "true");
      }
    }
  }

  clear() {
    for (const chip of this.tinted) {
      chip.style.background = "";
      chip.style.color = "";
      chip.classList.remove("av-lit-q", "av-lit-k", "av-pinned");
      chip.setAttribute("aria-selected", "false");
    }
    this.tinted = [];
  }

  /** Every token in the colour of the weight between it and `lead`. @param {Pin} lead */
  tint(lead) {
    const { header, table } = this.view.drawn;
    const [nq, nk] = header.shape;
    const axis = lead.axis === "q" ? "k" : "q";
    for (let j = 0; j < (axis === "k" ? nk : nq); j++) {
      const code = axis === "k" ? codeAt(this.view.drawn, lead.i, j) : codeAt(this.view.drawn, j, lead.i);
      const chip = this.chip(axis, j);
      if (code === MASKED_16 || !chip) continue;
      const t = placeOnScale(decodeValue(code, header.top, header.signed), header.scale, header.signed);
      if (Math.abs(header.signed ? t - 0.5 : t) < 0.02) continue;
      const colour = toRgb(table[code]);
      chip.style.background = css(colour);
      chip.style.color = inkOn(colour);
      this.tinted.push(chip);
    }
  }
}

/** The number of the chip that an event happened on, null beside the chips. @param {Event} event */
function chipNumber(event) {
  const chip = event.target instanceof Element ? event.target.closest(".av-chip") : null;
  return chip instanceof HTMLElement ? Number(chip.dataset.i) : null;
}
