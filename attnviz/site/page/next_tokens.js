// The tokens that may come next, likeliest first, each a button that writes it; after a change both numbers.

import { around, button, el, fill } from "../../canvas/shared/dom.js";

/** @import { Words } from "../../canvas/shared/types.js" */
/** @typedef {{ token: number, text: string, label: string, p: number, was: number }} Next */

export class NextTokens {
  /** @param {Words} words @param {(text: string) => void} write */
  constructor(words, write) {
    this.words = words;
    this.write = write;
    this.root = el("section", "site-next", null, { "aria-label": words.next });
    this.root.hidden = true;
  }

  /** @param {Next[]} before of the model as it is @param {Next[] | null} after under what was changed */
  show(before, after) {
    this.root.hidden = before.length === 0;
    const list = el("ol", "site-tokens");
    for (const each of after ?? before) list.append(this.row(each, after !== null));
    const title = after ? this.words.next_changed : this.words.next;
    this.root.replaceChildren(el("h2", "", title), list);
  }

  /** @param {Next} each @param {boolean} changed whether its share before a change is said as well */
  row({ text, label, p, was }, changed) {
    const bar = el("span", "site-bar");
    bar.style.width = `${100 * p}%`;
    const said = changed ? fill(this.words.from_to, { share: percent(p), before: percent(was) }) : percent(p);
    const write = button("site-token", label, () => this.write(text), { title: this.words.write });
    write.disabled = text.includes("\ufffd");
    const item = el("li");
    item.append(write, around("site-track", bar), el("span", "site-share", said));
    return item;
  }
}

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(1)}%`;
