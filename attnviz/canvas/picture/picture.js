// Pictures that Python drew, side by side, in the colours of the page: they are read as XML, so nothing in them runs.

import { rootOf } from "../shared/component.js";
import { el } from "../shared/dom.js";

/** @import { Component } from "../shared/types.js" */

/** @param {Component<string[]>} component SVGs without a colour for their words */
export default function picture(component) {
  const boxes = component.data.map((svg) => {
    const box = el("div", "column");
    const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
    box.append(document.importNode(drawn, true));
    return box;
  });
  rootOf(component).replaceChildren(...boxes);
}
