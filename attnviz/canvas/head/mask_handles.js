// Two handles on the matrix: one lifts what hides the later tokens, the other draws in how far back a token may look.

import { createButton, el, setAttribute, setProperty, setText } from "../shared/dom.js";
import { textWidth } from "../scene/text_width.js";
import { isPress, STEPS } from "../shared/controls.js";
import { clamp } from "../shared/numbers.js";
import { placeOn } from "../shared/window.js";

/** @import { HeadComponent } from "./head.js" */

/** Where along the diagonal each handle stands, as a share of the rows, and how many tokens a window may see. */
const [LATER, EARLIER, LONGEST] = [0.3, 0.7, 64];

export class MaskHandles {
  /** @param {HeadComponent} view */
  constructor(view) {
    this.view = view;
    const none = () => {};
    this.later = createButton("av-handle", "", none, { role: "switch", "data-testid": "later" });
    this.earlier = createButton("av-handle", "", none, { role: "slider", "data-testid": "earlier" });
    this.label = el("span", "av-handle-label", null, { "aria-hidden": "true" });
    view.heatmap.stage.append(this.later, this.earlier, this.label);
    this.listen(this.later, (ahead) => this.liftLater(ahead > this.tokens / 3));
    this.listen(this.earlier, (ahead) => this.drawIn(Math.round(-ahead) + 1));
    this.later.addEventListener("keydown", (e) => isPress(e) && this.end(e, () => this.liftLater(!this.isLifted)));
    this.earlier.addEventListener("keydown", (e) => {
      const by = e.key in STEPS ? STEPS[e.key] : { Home: -Infinity, End: Infinity }[e.key];
      if (by !== undefined) this.end(e, () => this.drawIn(this.width + by));
    });
  }

  get tokens() {
    return this.view.drawn.header.shape[0];
  }

  /** Which cells the model's own mask leaves open. */
  get ownKind() {
    return maskKind(this.view.controls.raw?.mask ?? null, this.tokens);
  }

  get isLifted() {
    const { mask } = this.view.controls.group.edit;
    return mask === "none" || (mask === "model" && this.ownKind !== "causal");
  }

  /** Tokens that a token may look back at, itself included. */
  get width() {
    const { edit } = this.view.controls.group;
    return edit.mask === "window" ? Math.min(edit.window, this.tokens) : this.tokens;
  }

  /** Whether the mask on show is one that they can change: of the model's own tokens, all of them in the picture. */
  get possible() {
    const { drawn, controls, tools, painter } = this.view;
    const { header, group, maker } = drawn;
    const [nq, nk] = header.shape;
    const { raw } = controls;
    if (!tools.isFull || raw === null || nq !== nk || nq < 3 || maker?.how.rows || maker?.how.cols) return false;
    return this.ownKind !== "others" && group.zoom.z === 1 && group.edit.mask !== "painted" && !painter.painting;
  }

  /** Puts them where the mask ends. */
  place() {
    const { possible } = this;
    setProperty(this.later, "hidden", !possible);
    setProperty(this.earlier, "hidden", !possible);
    const { words, header } = this.view.drawn;
    const { plot } = this.view.heatmap;
    const n = this.tokens;
    const room = plot.w * (1 - LATER) - plot.w / n - 24;
    setProperty(this.label, "hidden", !possible || this.isLifted || textWidth(words.later_hidden ?? "", 12) > room);
    if (!possible) return;
    const put = (/** @type {HTMLElement} */ handle, /** @type {number} */ row, /** @type {number} */ col) => {
      handle.style.left = `${plot.x + (plot.w * clamp(col, 0, n)) / n}px`;
      handle.style.top = `${plot.y + (plot.h * clamp(row, 0, n)) / n}px`;
    };
    const [first, second] = [Math.round(LATER * n), Math.round(EARLIER * n)];
    if (this.isLifted) put(this.later, 0, n);
    else put(this.later, first, first + 1);
    put(this.label, first, first + 1);
    setText(this.label, words.later_hidden);
    const { width } = this;
    if (width >= n) put(this.earlier, n, 0);
    else put(this.earlier, Math.max(second, width), Math.max(second, width) - width);
    setAttribute(this.later, "aria-label", words.later);
    setAttribute(this.later, "title", words.later);
    setAttribute(this.later, "aria-checked", String(!this.isLifted));
    setAttribute(this.earlier, "aria-label", words.window);
    setAttribute(this.earlier, "title", words.earlier);
    setAttribute(this.earlier, "aria-valuemin", "1");
    setAttribute(this.earlier, "aria-valuemax", String(header.shape[0]));
    setAttribute(this.earlier, "aria-valuenow", String(width));
  }

  /** Follows a pointer: by how many tokens it is ahead of the diagonal. */
  /** @param {HTMLElement} handle @param {(ahead: number) => void} move */
  listen(handle, move) {
    const { heatmap, controls } = this.view;
    let held = false;
    handle.addEventListener("pointerdown", (e) => {
      if (e.button > 0) return;
      e.stopPropagation();
      held = true;
      handle.setPointerCapture(e.pointerId);
    });
    handle.addEventListener("pointermove", (e) => {
      e.stopPropagation();
      if (!held) return;
      const [x, y] = placeOn(heatmap.stage, e);
      const { plot } = heatmap;
      move((this.tokens * (x - plot.x)) / plot.w - (this.tokens * (y - plot.y)) / plot.h);
    });
    for (const ends of ["pointerup", "pointercancel"]) {
      handle.addEventListener(ends, (e) => {
        e.stopPropagation();
        if (held) controls.emit();
        held = false;
      });
    }
  }

  /** @param {KeyboardEvent} event @param {() => void} change */
  end(event, change) {
    event.preventDefault();
    event.stopPropagation();
    change();
    this.view.controls.emitSoon();
  }

  /** @param {boolean} lifted */
  liftLater(lifted) {
    if (lifted !== this.isLifted) this.view.controls.move({ mask: lifted ? "none" : this.causal });
  }

  /** @param {number} tokens */
  drawIn(tokens) {
    const width = clamp(tokens, 1, this.tokens);
    if (width < this.tokens && width <= LONGEST) this.view.controls.move({ mask: "window", window: width });
    else if (this.width < this.tokens) this.view.controls.move({ mask: this.causal });
  }

  /** The mask that hides what comes later, and nothing else: the model's own where that does so. @returns {"model" | "causal"} */
  get causal() {
    return this.ownKind === "causal" ? "model" : "causal";
  }
}

/** Which cells a mask leaves open; kept, as it is asked in every frame of a drag. @type {WeakMap<Uint8Array, "all" | "causal" | "others">} */
const KINDS = new WeakMap();

/** @param {Uint8Array | null} mask null: all is open @param {number} n tokens */
function maskKind(mask, n) {
  if (mask === null) return "all";
  const known = KINDS.get(mask);
  if (known) return known;
  const isCausal = mask.every((open, i) => open === Number(i % n <= Math.floor(i / n)));
  const kind = isCausal ? "causal" : mask.every((open) => open === 1) ? "all" : "others";
  KINDS.set(mask, kind);
  return kind;
}
