// The heads whose weights a change moves most, each a button that shows it before, after, and the difference.

import { HeadView } from "../../canvas/head/head.js";
import { changeText } from "../../canvas/head/head_readout.js";
import { attend } from "../../canvas/shared/attend.js";
import { around, button, el, fill } from "../../canvas/shared/dom.js";
import { editFor, maskOf, VIEWS } from "../../canvas/shared/edit.js";
import { scrolling } from "../../canvas/shared/motion.js";
import { encode16 } from "../../canvas/shared/packing.js";
import { watchSize } from "../../canvas/shared/surface.js";

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
    const rows = moved.slice(0, MOST).map((each) => this.row(each));
    const list = el("ol", "site-tokens");
    list.append(...rows);
    const count = fill(moved.length ? this.words.moved_most : this.words.moved_none, { n: moved.length });
    this.root.replaceChildren(el("h2", "", this.words.moved), el("p", "", count), list);
  }

  /** @param {Moved} moved */
  row({ layer, head, share }) {
    const look = () => {
      this.looked = [layer, head];
      this.ask();
    };
    const pressed = String(String(this.looked) === String([layer, head]));
    const item = el("li");
    const name = fill(this.words.head, { layer, head });
    item.append(button("site-token", name, look, { "aria-pressed": pressed }), `${(100 * share).toFixed(1)}%`);
    return item;
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
    const masks = [raw.mask, maskOf(editFor(group.edit, this.looked, group.selected), raw)];
    const before = attend(raw, raw.mask, raw.scale);
    const minus = weights.map((weight, i) => weight - before[i]);
    const most = minus.reduce((top, change) => Math.max(top, Math.abs(change)), 0) || 1;
    const hidden = masks.map((mask) => mask?.map((open) => 1 - open) ?? null);
    const both = hidden[0]?.map((gone, i) => gone & (hidden[1]?.[i] ?? 0)) ?? null;
    if (!this.views.length) this.build(VIEWS.length);
    VIEWS.forEach((kind, i) => {
      const signed = kind === "difference";
      const top = signed ? most : 1;
      const codes = new Uint16Array(weights.length);
      encode16([before, weights, minus][i], [...hidden, both][i], top, signed, codes);
      const { words } = view.head;
      const data = `${view.head.doc} ${this.looked} ${kind} ${performance.now()}`;
      const plain = { compact: true, chips: false, lines: false, edit: null, over: null, pins: null, sentence: null };
      const about = { group: GROUP, tile: null, every: null, title: words[kind], data, signed, top };
      const unit = signed ? words.change_unit : view.head.unit;
      const header = { ...view.head, ...plain, ...about, unit, scale: { top, root: false } };
      this.views[i].take(header, { codes }, false);
      this.views[i].redraw();
    });
    this.said.textContent = changeText(this.views[2].drawn);
    if (fresh) this.below.scrollIntoView({ block: "nearest", behavior: scrolling() });
  }

  /** @param {number} count of pictures beside each other */
  build(count) {
    for (let i = 0; i < count; i++) {
      const box = el("section", "av-root");
      this.pictures.append(box);
      const view = new HeadView(box);
      this.views.push(view);
      watchSize(box, () => view.resize());
    }
  }
}
