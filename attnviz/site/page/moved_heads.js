// The heads whose weights a change moves most, each a button that shows it.

import { button, el, fill } from "../../canvas/shared/dom.js";

/** @import { Words } from "../../canvas/shared/types.js" */

const MOST = 8;

export class MovedHeads {
  /** @param {Words} words @param {(head: [number, number]) => void} look */
  constructor(words, look) {
    this.words = words;
    this.look = look;
    this.root = el("section", "site-moved", null, { "aria-label": words.moved });
    this.show(null);
  }

  /** @param {{ layer: number, head: number, share: number }[] | null} moved the most moved first; null: nothing changed */
  show(moved) {
    this.root.hidden = moved === null;
    if (moved === null) return;
    const rows = moved.slice(0, MOST).map(({ layer, head, share }) => {
      const item = el("li");
      const title = fill(this.words.head, { layer, head });
      item.append(
        button("site-token", title, () => this.look([layer, head])),
        `${(100 * share).toFixed(1)}%`,
      );
      return item;
    });
    const list = el("ol", "site-tokens");
    list.append(...rows);
    const count = fill(moved.length ? this.words.moved_most : this.words.moved_none, { n: moved.length });
    this.root.replaceChildren(el("h2", "", this.words.moved), el("p", "", count), list);
  }
}
