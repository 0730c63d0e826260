// A picture that Python drew, in the colours of the page: it is read as XML, so nothing in it runs.

import { rootOf } from "../shared/component.js";

/** @import { Component } from "../shared/types.js" */

/** @param {Component<{ svg: string }>} component an SVG without a colour for its words */
export default function picture(component) {
  const { svg } = component.data;
  const drawn = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  rootOf(component).replaceChildren(document.importNode(drawn, true));
}
