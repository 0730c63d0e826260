// Shares one below the other, each with a button, a bar and what is said of it.

import { button, el } from "../../canvas/shared/dom.js";

/** @typedef {{ label: string, share: number, said: string, act: () => void, attributes: Record<string, string> }} Row */

/** @param {Row[]} rows */
export function shareList(rows) {
  const list = el("ol", "site-shares");
  for (const { label, share, said, act, attributes } of rows) {
    const item = el("li");
    const bar = el("progress", "", null, { value: String(share), "aria-hidden": "true" });
    item.append(button("av-button site-token", label, act, attributes), bar, el("span", "site-share", said));
    list.append(item);
  }
  return list;
}
