// The tokens that may come next, likeliest first, each a button that writes it; after a change both numbers.

import { el, fill } from "../../canvas/shared/dom.js";

/** @import { Words } from "../../canvas/shared/types.js" */
/** @typedef {{ token: number, text: string, label: string, p: number }} Next */

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
    const rows = after ?? before;
    for (const each of rows) {
      const own = before.find(({ token }) => token === each.token);
      list.append(this.row(each, after ? (own?.p ?? null) : undefined));
    }
    const title = after ? this.words.next_changed : this.words.next;
    this.root.replaceChildren(el("h2", "", title), list);
  }

  /** @param {Next} each @param {number | null} [old] its share before; null: it was not among the likeliest */
  row({ text, label, p }, old) {
    const bar = el("span", "site-bar");
    bar.style.width = `${100 * p}%`;
    const shares = { share: percent(p), before: old === null || old === undefined ? "–" : percent(old) };
    const said = old === undefined ? shares.share : fill(this.words.from_to, shares);
    const write = el("button", "site-token", label, { type: "button", title: this.words.write });
    write.disabled = text.includes("\ufffd");
    write.addEventListener("click", () => this.write(text));
    const item = el("li");
    const track = el("span", "site-track");
    track.append(bar);
    item.append(write, track, el("span", "site-share", said));
    return item;
  }
}

/** @param {number} share */
const percent = (share) => `${(100 * share).toFixed(1)}%`;
