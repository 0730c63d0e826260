// A picture with the discs of one row as a figure, with its sentence below; or the picture as it is.

import { fitted } from "./patch_geometry.js";
import { brightest } from "./patch_rows.js";
import { drawDiscs, drawMarks, FLOOR, LEFT } from "./patch_scene.js";
import { sentence } from "./patch_sentence.js";
import { fill } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { base64Of, floats } from "../shared/packing.js";
import { drawWith } from "../shared/surface.js";
import { wrapText } from "../scene/text_width.js";

/** @import { PatchScene } from "./patch_scene.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { PatchFigureHeader, Theme } from "../shared/types.js" */

const LINE = 17;
/** Luma by 0.3, 0.59 and 0.11, which is what blending away a picture's saturation leaves on screen; dimmed. */
const GREY = `${[0.3, 0.59, 0.11].map((part) => String(Math.round(part * LEFT * 1e4) / 1e4)).join(" ")} 0 ${FLOOR / 255} `;
const DIMMED = GREY.repeat(3) + "0 0 0 1 0";

/** @param {PatchFigureHeader} header @param {Uint8Array} payload @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function patchFigure(header, payload, theme, bar) {
  const { picture, parts, side, title, query, state, brief } = header;
  const size = fitted(picture, side, side);
  const place = { x: 0, y: 0, w: size.width, h: size.height };
  const href = `data:${picture.type};base64,${base64Of(payload.subarray(0, parts.picture))}`;
  if (query === null) {
    const draw = (/** @type {SvgContext} */ context) => {
      context.image(href, place, picture.smooth);
      drawWith(context, { strokeStyle: theme.border, lineWidth: 1 });
      context.strokeRect(0, 0, size.width, size.height);
    };
    return { ...size, title, draw };
  }
  const row = floats(payload.subarray(parts.picture));
  const top = brightest(row, header.grid.first);
  const name = state.pins.includes(query) ? String(state.pins.indexOf(query) + 1) : "";
  /** @type {PatchScene} */
  const scene = { header, size, theme, row, top, state, framed: [{ token: query, name }] };
  const said = [
    bar ? fill(header.light, { share: percent(top) }) : "",
    brief ? "" : sentence(header, query, row, state.shows),
  ];
  const lines = said.filter(Boolean).flatMap((text) => wrapText(text, size.width, 12));
  const draw = (/** @type {SvgContext} */ context) => {
    context.image(href, place, picture.smooth, DIMMED);
    drawDiscs(context, scene);
    if (!brief) drawMarks(context, scene);
    drawWith(context, { font: `12px ${theme.font}`, fillStyle: theme.text, textAlign: "left", textBaseline: "middle" });
    lines.forEach((line, at) => context.fillText(line, 0, size.height + 8 + (at + 0.5) * LINE));
  };
  return { width: size.width, height: size.height + 8 + lines.length * LINE, title, draw };
}
