// Shares one below the other, each with a button, a bar and what is said of it.

import { button, el } from "../../canvas/shared/dom.js";
import { percent } from "../../canvas/shared/numbers.js";

/** @typedef {{ label: string, share: number, said?: string, act: () => void, attributes: Record<string, string> }} Row */

/** Fills a section with them. @param {HTMLElement} section @param {string} title @param {Row[]} rows @param {Element[]} about */
export function showShares(section, title, rows, ...about) {
  const items = rows.map(({ label, share, said = percent(share), act, attributes }) => {
    const item = el("li");
    const bar = el("progress", "", null, { value: String(share), "aria-hidden": "true" });
    item.append(button("av-button site-token", label, act, attributes), bar, el("span", "site-share", said));
    return item;
  });
  const list = el("ol", "site-shares");
  list.append(...items);
  section.replaceChildren(el("h2", "", title), ...about, list);
}
