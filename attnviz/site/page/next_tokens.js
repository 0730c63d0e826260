// The tokens that may come next, likeliest first, each a button that writes it; after a change both numbers.

import { el, fill } from "../../canvas/shared/dom.js";
import { percent } from "../../canvas/shared/numbers.js";
import { showShares } from "./share_list.js";

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
      ...(after && { said: fill(words.from_to, { share: percent(p), before: percent(was) }) }),
      act: () => write(text),
      attributes: { title: words.write, ...(text.includes("\ufffd") && { disabled: "" }) },
    }));
    showShares(root, after ? words.next_changed : words.next, rows);
  };
  return { root, show };
}
