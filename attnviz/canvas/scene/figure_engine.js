// Figures without a page: what Python's `live/scene_figure.py` calls, in an engine that has neither a document nor a clock.

import { headFigure } from "../head/head_figure.js";
import { linesFigure } from "../lines/lines_figure.js";
import { figureDocument, themeOfFile } from "./figure.js";

/** @import { FigureLook } from "./figure.js" */
/** @typedef {"head" | "lines"} FigureKind */
/** @typedef {[kind: FigureKind, header: import("../shared/types.js").HeadFigureHeader, payload: Uint8Array]} FigurePart */

const KINDS = { head: headFigure, lines: linesFigure };

/** A file of these pictures, side by side. @param {FigurePart[]} parts @param {FigureLook} look */
export function figureSvg(parts, look) {
  const theme = themeOfFile(look.background, parts[0][1].colours);
  const figures = parts.map(([kind, header, payload]) => KINDS[kind](header, payload, theme, look.bar));
  return figureDocument(figures, theme, look);
}

/** The bytes of a text of which each letter is one. @param {string} text */
function bytesOf(text) {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

Object.assign(globalThis, {
  /** @param {string} parts JSON of kinds and headers @param {string} payloads of all, one after the other @param {string} look */
  attnvizFigure(parts, payloads, look) {
    const bytes = bytesOf(payloads);
    let at = 0;
    const whole = /** @type {{ kind: FigureKind, header: FigurePart[1], size: number }[]} */ (JSON.parse(parts)).map(
      ({ kind, header, size }) => /** @type {FigurePart} */ ([kind, header, bytes.subarray(at, (at += size))]),
    );
    return figureSvg(whole, JSON.parse(look)).split("").join(""); // a rope of pieces cannot be handed over
  },
});
