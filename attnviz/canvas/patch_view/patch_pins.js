// The rows that are held, each over a small picture of its own, to be compared.

import { el, fill } from "../shared/dom.js";
import { frame } from "./patch_drawing.js";
import { fitted } from "./patch_geometry.js";
import { queryName } from "./patch_sentence.js";

/** @import { PatchView } from "./patch_view.js" */
/** @import { Theme } from "../shared/types.js" */

const SIDE = 110;

/**
 * @param {PatchView} view
 * @param {Theme} theme
 */
export function drawPins(view, theme) {
  const { header, state, pinned } = view;
  pinned.hidden = state.pins.length === 0;
  pinned.replaceChildren(
    ...state.pins.map((token, i) => {
      const name = queryName(header, token);
      const label = fill(header.labels.unpin, { token: name });
      const box = el("button", "pv-pin", null, { type: "button", title: label, "aria-label": label });
      const canvas = el("canvas");
      const size = fitted(header.picture, SIDE, SIDE);
      const ink = view.light(canvas, size, view.rowOf(token));
      if (header.words === null && token >= header.grid.first) {
        frame(ink, token - header.grid.first, header, size, theme.q, "", theme);
      }
      box.append(canvas, el("span", "", `${i + 1}: ${name}\u00a0×`));
      box.addEventListener("click", () => view.pin(token));
      return box;
    }),
  );
}
