// The heads whose weights a change moves most, each a button that shows it before, after, and the difference.

import { arrange, largestMagnitude, subtractHeads, PLAIN } from "../../canvas/head/head_numbers.js";
import { HeadComponent } from "../../canvas/head/head.js";
import { changeText } from "../../canvas/head/head_readout.js";
import { attend } from "../../canvas/shared/attend.js";
import { createBox, el, fill } from "../../canvas/shared/dom.js";
import { editFor, editedMask, VIEWS } from "../../canvas/shared/edit.js";
import { scrollBehaviour } from "../../canvas/shared/motion.js";
import { encode16 } from "../../canvas/shared/packing.js";
import { watchSize } from "../../canvas/shared/surface.js";
import { showShares } from "./next_tokens.js";

/** @import { HeadsFrame } from "../../canvas/live/heads_frame.js" */
/** @import { RawHead, Words } from "../../canvas/shared/types.js" */
/** @typedef {{ layer: number, head: number, share: number, weights: Float32Array }} Moved */
/** @typedef {{ count: number, most: Moved[] }} MovedMost how many moved, and of the most moved ones the first */

/** What the three pictures are, other than the large one. */
const SMALL = { group: "moved", tile: null, every: null, edit: null, over: null, pins: null, sentence: null };
const BARE = { compact: true, chips: false, lines: false };

export class MovedHeads {
  /** @param {Words} words @param {HeadsFrame} frame */
  constructor(words, frame) {
    this.words = words;
    this.frame = frame;
    /** the name of the head that is looked at */
    this.looked = "";
    this.root = el("section", "site-moved", null, { "aria-label": words.moved });
    this.title = el("h2");
    this.said = el("p");
    this.pictures = createBox("site-pictures");
    this.below = el("section", "site-looked", null, { "aria-label": words.moved });
    this.below.append(this.title, this.said, this.pictures);
    /** @type {HeadComponent[]} */
    this.views = [];
    this.show(null);
  }

  /** @param {MovedMost | null} moved null: nothing is changed */
  show(moved) {
    const { words } = this;
    const { most, count } = moved ?? { most: [], count: 0 };
    const rows = most.map((each) => {
      const label = fill(this.frame.view.overview.words.tile, { layer: each.layer, head: each.head });
      const act = () => {
        this.looked = label;
        this.show(moved);
      };
      return { ...each, label, act, attributes: { "aria-pressed": String(label === this.looked) } };
    });
    const said = fill(count ? words.moved_most : words.moved_none, { n: count });
    showShares(this.root, words.moved, rows, el("p", "", said));
    this.root.hidden = moved === null;
    const looked = rows.find(({ label }) => label === this.looked);
    const fresh = this.below.hidden;
    this.below.hidden = !looked;
    if (looked) this.draw(looked);
    else this.looked = "";
    if (looked && fresh) this.below.scrollIntoView({ block: "nearest", behavior: scrollBehaviour() });
  }

  /** A head as it was, as it is and the difference. @param {Moved & { label: string }} looked */
  draw({ layer, head, weights, label }) {
    const { group, view } = this.frame;
    this.title.textContent = label;
    const raw = /** @type {RawHead} */ (group.all?.head([layer, head]));
    const how = { ...PLAIN, shape: raw.shape };
    const before = arrange(attend(raw, raw.mask, raw.scale), raw.mask, how);
    const after = arrange(weights, editedMask(editFor(group.edit, [layer, head], group.selected), raw), how);
    const looks = { before, after, difference: subtractHeads(after, before) };
    const words = /** @type {Words} */ ({ ...view.head.words, idle: "" });
    VIEWS.forEach((kind, i) => {
      const { values, hidden } = looks[kind];
      const signed = kind === "difference";
      const top = (signed && largestMagnitude(looks[kind])) || 1;
      const codes = new Uint16Array(values.length);
      encode16(values, hidden, top, signed, codes);
      const unit = signed ? words.change_unit : view.head.unit;
      const scale = { signed, top, unit, scale: { top, root: false } };
      const about = { words, title: words[kind], data: `${view.head.doc} ${label} ${kind} ${performance.now()}` };
      this.views[i] ??= this.picture();
      this.views[i].take({ ...view.head, ...SMALL, ...BARE, ...scale, ...about }, { codes }, false);
      this.views[i].redraw();
    });
    this.said.textContent = changeText(this.views[2].drawn);
  }

  /** A place for a picture beside the others. */
  picture() {
    const box = el("section", "av-root");
    this.pictures.append(box);
    const view = new HeadComponent(box);
    watchSize(box, () => view.resize());
    return view;
  }
}
