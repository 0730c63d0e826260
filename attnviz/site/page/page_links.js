// Ways from the page to others that show the same: in another language, in the app, and whole where a figure stands alone.

import { el } from "../../canvas/shared/dom.js";

/** @import { SiteHeader } from "./site.js" */

export class PageLinks {
  /** @param {SiteHeader} view @param {boolean} alone whether one figure stands alone inside another page */
  constructor({ words, app, languages }, alone) {
    /** @type {{ node: HTMLAnchorElement, base: string }[]} */
    this.ways = [];
    this.root = el("footer", "live-foot", alone ? "" : `${words.stays} ${words.more} `);
    if (alone) this.root.append(this.way(words.whole, `${location.pathname}#`, { target: "_blank" }), " · ");
    else if (app) this.root.append(this.way(words.open, `${app}/explore?`), " · ");
    if (!alone) this.root.append(el("a", "", words.licences, { href: "licences.txt" }), " · ");
    this.root.append(words.made);
    const others = languages.map(({ id, name, href }) =>
      this.way(name, `${href}${location.search}#`, { lang: id, hreflang: id }),
    );
    document.getElementById("languages")?.append(...others);
  }

  /** @param {string} text @param {string} base @param {Record<string, string>} [more] */
  way(text, base, more = {}) {
    const node = el("a", "", text, { rel: "noopener", ...more });
    this.ways.push({ node, base });
    return node;
  }

  /** They carry what the address says. @param {string} said */
  follow(said) {
    for (const { node, base } of this.ways) node.href = base + said;
  }
}
