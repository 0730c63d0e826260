// Ways from the page to others that show the same: in another language, in the app, and whole where a figure stands alone.

import { el } from "../../canvas/shared/dom.js";

/** @import { Address } from "./address.js" */
/** @import { SiteHeader } from "./site.js" */

/** The page's foot. @param {SiteHeader} view @param {Address} address which its links carry @returns {HTMLElement} */
export function pageLinks({ words, app, languages }, address) {
  /** @type {[HTMLAnchorElement, string][]} */
  const ways = [];
  const way = (
    /** @type {string} */ text,
    /** @type {string} */ base,
    /** @type {Record<string, string>} */ more = {},
  ) => {
    const node = el("a", "", text, { rel: "noopener", ...more });
    ways.push([node, base]);
    return node;
  };
  const others = languages.map(({ id, name, href }) =>
    way(name, `${href}${location.search}#`, { lang: id, hreflang: id }),
  );
  document.getElementById("languages")?.append(...others);
  const foot = el("footer", "live-foot");
  if (address.alone) foot.append(way(words.whole, `${location.pathname}#`, { target: "_blank" }));
  else foot.append(`${words.stays} ${words.more} `, el("a", "", words.licences, { href: "licences.txt" }));
  if (app && !address.alone) foot.append(" · ", way(words.open, `${app}/explore?`));
  foot.append(` · ${words.made}`);
  address.heard = (said) => ways.forEach(([node, base]) => (node.href = base + said));
  address.heard(address.said);
  return foot;
}
