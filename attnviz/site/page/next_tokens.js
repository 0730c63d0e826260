// The tokens that may come next, likeliest first, each a button that writes it; after a change both numbers. They stand one
// below the other, each with a bar and what is said of it, as do heads that moved.

import { createButton, el, fill } from "../../canvas/shared/dom.js";
import { formatPercent } from "../../canvas/shared/numbers.js";

/** @import { Words } from "../../canvas/shared/types.js" */
/** @typedef {{ text: string, label: string, p: number, was: number }} Next */

/** @param {Words} words @param {(text: string) => void} write */
export function nextTokens(words, write) {
  const root = el("section", "site-next", null, { "aria-label": words.next });
  /** @param {Next[]} before of the model as it is @param {Next[] | null} after under what was changed */
  const show = (before, after) => {
    root.hidden = before.length === 0;
    const rows = (after ?? before).map(({ text, label, p, was }) => ({
      label,
      share: p,
      ...(after && { said: fill(words.from_to, { share: formatPercent(p), before: formatPercent(was) }) }),
      act: () => write(text),
      attributes: { title: words.write, ...(text.includes("\ufffd") && { disabled: "" }) },
    }));
    showShares(root, after ? words.next_changed : words.next, rows);
  };
  return { root, show };
}

/** @typedef {{ label: string, share: number, said?: string, act: () => void, attributes: Record<string, string> }} Row */

/** Fills a section with them. @param {HTMLElement} section @param {string} title @param {Row[]} rows @param {Element[]} about */
export function showShares(section, title, rows, ...about) {
  const items = rows.map(({ label, share, said = formatPercent(share), act, attributes }) => {
    const item = el("li");
    const bar = el("progress", "", null, { value: String(share), "aria-hidden": "true" });
    item.append(createButton("av-button site-token", label, act, attributes), bar, el("span", "site-share", said));
    return item;
  });
  const list = el("ol", "site-shares");
  list.append(...items);
  section.replaceChildren(el("h2", "", title), ...about, list);
}
