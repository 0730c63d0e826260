// The tabs over the small pictures of all tensors, one a step, and the buttons beside them.

import { createBox, createButton, el, focusedElement, setName } from "../shared/dom.js";
import { scrollBehaviour, scrollPosition } from "../shared/motion.js";
import { clamp } from "../shared/numbers.js";
import { layOver } from "../shared/surface.js";
import { magnification } from "../shared/window.js";
import { placeMap } from "./map_scene.js";

/** @import { PlacedMap } from "./map_scene.js" */
/** @import { BoardHeader } from "../shared/types.js" */

export class MapStrip {
  /** @param {(step: number, part: number) => void} choose is told of a step and which of its operations */
  constructor(choose) {
    this.choose = choose;
    this.row = el("div", "tb-strip", null, { role: "tablist" });
    this.back = createButton("tb-turn av-button", "‹", () => this.go(this.step - 1));
    this.next = createButton("tb-turn av-button", "›", () => this.go(this.step + 1));
    this.bar = createBox("av-line tb-bar", this.back, this.row, this.next);
    this.row.addEventListener("keydown", (event) => this.key(event));
    this.step = 0;
    this.isAlone = false;
    /** @type {PlacedMap | null} */
    this.placed = null;
    /** @type {HTMLButtonElement[]} */
    this.chips = [];
  }

  /** @param {BoardHeader} header @param {boolean} isAlone in a file or on a phone, where nobody sends another step */
  show({ map, step, words }, isAlone) {
    this.isAlone = isAlone;
    this.bar.hidden = !map;
    if (!map) return;
    const focused = focusedElement(this.row) !== null;
    const scrolled = this.row.scrollLeft;
    this.row.setAttribute("aria-label", words.steps);
    setName(this.back, words.back);
    setName(this.next, words.next);
    const isFirst = !this.placed;
    this.placed = placeMap(map, this.row.clientWidth, this.row.clientHeight);
    const before = this.chips;
    this.chips = this.placed.steps.map((place, i) => {
      const { label, shape, id, boards } = map.steps[i];
      const text = `${i + 1} ${label} ${shape}`;
      const isKept = before[i]?.textContent === text; // a chip that has the focus is not read out again
      const chip = isKept ? before[i] : createButton("av-words tb-chip", text, null, { role: "tab" });
      chip.dataset.step = id;
      chip.disabled = isAlone;
      chip.onclick = (event) => this.go(i, event.detail ? this.nearest(boards, event) : 0);
      return layOver(chip, place);
    });
    if (before.length !== this.chips.length || before.some((chip, i) => chip !== this.chips[i])) {
      this.row.replaceChildren(...this.chips);
      this.row.scrollLeft = scrolled;
    }
    const at = map.steps.findIndex(({ id }) => id === step);
    this.stand(at, focused, isFirst);
  }

  /** Where the pictures begin on the stage, and what of them is seen. */
  get corner() {
    const { offsetLeft, offsetTop: top, clientWidth: w, clientHeight: h, scrollLeft } = this.row;
    return { left: offsetLeft - scrollLeft, top, seen: { x: offsetLeft, y: top, w, h } };
  }

  /** Which operation of a step a pointer is on, by the matrix that it makes. @param {number[][]} boards @param {MouseEvent} event */
  nearest(boards, event) {
    const y = (event.clientY - this.row.getBoundingClientRect().top) / magnification(this.row);
    const far = boards.map((board) => {
      const place = this.placed?.places[board[board.length - 1]];
      return place ? Math.abs(place.y + place.h / 2 - y) : Infinity;
    });
    return far.indexOf(Math.min(...far));
  }

  /** Marks the step that is chosen, and scrolls to it. @param {number} step @param {boolean} focus @param {boolean} [atOnce] */
  stand(step, focus, atOnce = false) {
    const last = this.chips.length - 1;
    this.step = clamp(step, 0, last);
    this.chips.forEach((chip, i) => {
      chip.setAttribute("aria-selected", String(i === this.step));
      chip.tabIndex = i === this.step ? 0 : -1;
    });
    this.back.disabled = this.isAlone || this.step === 0;
    this.next.disabled = this.isAlone || this.step === last;
    const chip = this.chips[this.step];
    if (focus) chip.focus({ preventScroll: true });
    const place = { left: chip.offsetLeft, width: chip.offsetWidth }; // measured from the row, which it lies in
    const left = scrollPosition(place, this.row.clientWidth, this.row.scrollWidth);
    this.row.scrollTo({ left, behavior: atOnce ? "instant" : scrollBehaviour() });
  }

  /** @param {number} step @param {number} part */
  go(step, part = 0, focus = false) {
    this.stand(step, focus);
    this.choose(this.step, part);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    /** @type {Record<string, number>} */
    const to = { ArrowLeft: this.step - 1, ArrowRight: this.step + 1, Home: 0, End: Infinity };
    if (!(event.key in to)) return;
    event.preventDefault();
    this.go(to[event.key], 0, true);
  }
}
