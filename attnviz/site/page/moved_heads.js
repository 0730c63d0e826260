// The heads whose weights a change moves most, each a button that shows it before, after, and the difference.

import { HeadView } from "../../canvas/head/head.js";
import { changeText } from "../../canvas/head/head_readout.js";
import { attend } from "../../canvas/shared/attend.js";
import { around, el, fill } from "../../canvas/shared/dom.js";
import { editFor, maskOf, VIEWS } from "../../canvas/shared/edit.js";
import { scrolling } from "../../canvas/shared/motion.js";
import { percent } from "../../canvas/shared/numbers.js";
import { encode16 } from "../../canvas/shared/packing.js";
import { watchSize } from "../../canvas/shared/surface.js";
import { shareList } from "./share_list.js";

/** @import { HeadsFrame } from "../../canvas/live/heads_frame.js" */
/** @import { Words } from "../../canvas/shared/types.js" */
/** @typedef {[number, number]} Place */
/** @typedef {{ layer: number, head: number, share: number }} Moved */

const MOST = 8;
const GROUP = "moved";

export class MovedHeads {
  /** @param {Words} words @param {HeadsFrame} frame @param {() => void} ask for the weights of the head that is looked at */
  constructor(words, frame, ask) {
    this.words = words;
    this.frame = frame;
    this.ask = ask;
    /** @type {Place | null} the head that is looked at */
    this.looked = null;
    this.root = el("section", "site-moved", null, { "aria-label": words.moved });
    this.title = el("h2");
    this.said = el("p");
    /** @type {HeadView[]} */
    this.views = [];
    this.pictures = around("site-pictures");
    this.below = el("section", "site-looked", null, { "aria-label": words.moved });
    this.below.append(this.title, this.said, this.pictures);
    this.show(null);
  }

  /** @param {Moved[] | null} moved the most moved first; null: nothing changed @param {Float32Array | null} [weights] */
  show(moved, weights = null) {
    this.root.hidden = moved === null;
    if (moved === null) this.looked = null;
    this.draw(weights);
    if (moved === null) return;
    const { words } = this;
    const rows = moved.slice(0, MOST).map(({ layer, head, share }) => ({
      label: fill(words.head, { layer, head }),
      share,
      said: percent(share),
      act: () => {
        this.looked = [layer, head];
        this.ask();
      },
      attributes: { "aria-pressed": String(String(this.looked) === String([layer, head])) },
    }));
    const count = fill(moved.length ? words.moved_most : words.moved_none, { n: moved.length });
    this.root.replaceChildren(el("h2", "", words.moved), el("p", "", count), shareList(rows));
  }

  /** The head that is looked at, under the change. @param {Float32Array | null} weights */
  draw(weights) {
    const { group, view } = this.frame;
    const raw = group.all?.head(this.looked);
    const fresh = this.below.hidden;
    this.below.hidden = !this.looked || !weights || !raw;
    if (!this.looked || !weights || !raw) return;
    const [layer, head] = this.looked;
    this.title.textContent = fill(this.words.head, { layer, head });
    const closed = [raw.mask, maskOf(editFor(group.edit, this.looked, group.selected), raw)].map(
      (mask) => mask?.map((open) => 1 - open) ?? null,
    );
    const both = closed[0]?.map((gone, i) => gone & (closed[1]?.[i] ?? 0)) ?? null;
    const before = attend(raw, raw.mask, raw.scale);
    const minus = weights.map((weight, i) => weight - before[i]);
    const most = minus.reduce((top, change) => Math.max(top, Math.abs(change)), 0) || 1;
    if (!this.views.length) this.views = VIEWS.map(() => this.picture());
    VIEWS.forEach((kind, i) => {
      const signed = kind === "difference";
      const top = signed ? most : 1;
      const codes = new Uint16Array(weights.length);
      encode16([before, weights, minus][i], [...closed, both][i], top, signed, codes);
      const words = /** @type {Words} */ ({ ...view.head.words, idle: "" });
      const data = `${view.head.doc} ${this.looked} ${kind} ${performance.now()}`;
      const plain = { compact: true, chips: false, lines: false, edit: null, over: null, pins: null, sentence: null };
      const about = { group: GROUP, tile: null, every: null, title: words[kind], words, data, signed, top };
      const unit = signed ? words.change_unit : view.head.unit;
      this.views[i].take({ ...view.head, ...plain, ...about, unit, scale: { top, root: false } }, { codes }, false);
      this.views[i].redraw();
    });
    this.said.textContent = changeText(this.views[2].drawn);
    if (fresh) this.below.scrollIntoView({ block: "nearest", behavior: scrolling() });
  }

  /** A place for a picture beside the others. */
  picture() {
    const box = el("section", "av-root");
    this.pictures.append(box);
    const view = new HeadView(box);
    watchSize(box, () => view.resize());
    return view;
  }
}
