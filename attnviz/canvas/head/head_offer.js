// The head on show, its matrix and its lines, as parts of a figure.

import { headFigure } from "./head_figure.js";
import { queryFilm } from "./head_film.js";
import { linesFigure } from "../lines/lines_figure.js";
import { NO_EDIT } from "../shared/edit.js";
import { offerPicture } from "../shared/offer.js";
import { MASKED_16, decodeValue } from "../shared/packing.js";
import { describedRow } from "./head_gestures.js";

/** @import { HeadComponent } from "./head.js" */
/** @import { LineLayer } from "./overlay.js" */
/** @import { Axis, Drawn, Edit, FigurePart, HeadFigureHeader } from "../shared/types.js" */
/** @typedef {Pick<LineLayer, "codes" | "values" | "header">} Matrix */

/** Offers the matrix and the lines of a view. @param {HeadComponent} view */
export function offerHead(view) {
  const { root, lines } = view;
  offerPicture(
    root,
    () => [headPart(view.drawn, view.guess.cell)],
    headFigure,
    () => filmOf(view.drawn, view.controls.seen),
  );
  offerPicture(lines.stage, () => [linesPart(view.drawn, lines.overlay.refresh())], linesFigure);
}

/** The matrix, with what is pinned in it and what somebody guessed. */
/** @param {Drawn} drawn @param {[number, number] | null} [guess] @returns {FigurePart} */
export function headPart(drawn, guess = null) {
  const header = headerOf(drawn, [drawn.header.tile?.[1] ?? 0], drawn.header.top);
  return ["head", { ...header, guess }, bytesOf([drawn])];
}

/** The row on show, from its words to a mixture; null where no row is told of, or its tokens are not the model's. */
/** @param {Drawn} drawn @param {Edit["seen"]} seen */
function filmOf(drawn, seen) {
  const { header, maker, group } = drawn;
  const { raw, how } = maker ?? {};
  const plain = raw?.exact && how?.rows === null && how.cols === null && header.kind === "weights" && !header.signed;
  if (!plain) return null;
  const edit = header.edit === null || seen === "before" ? NO_EDIT : group.edit;
  return queryFilm({ ...header, row: describedRow(drawn) }, raw, edit);
}

/** The lines of the head on show and of those laid over it. @param {Drawn} drawn @param {LineLayer[]} layers @returns {FigurePart} */
export function linesPart(drawn, layers) {
  const heads = layers.map(({ head }) => head);
  const top = Math.max(...layers.map(({ header }) => header.top));
  return ["lines", headerOf(drawn, heads, top), bytesOf(layers)];
}

/** @param {Drawn} drawn @param {number[]} heads @param {number} top @returns {HeadFigureHeader} */
function headerOf(drawn, heads, top) {
  const { header, group, words } = drawn;
  const { signed, kind } = header;
  const unit = signed && kind !== "diff" && kind !== "scores" ? words.change_unit : header.unit;
  const pins = { tokens: group.pins.map(({ axis, i }) => /** @type {[Axis, number]} */ ([axis, i])), cell: group.cell };
  const sentence = header.sentence && { ...header.sentence, row: describedRow(drawn) };
  return { ...header, top, unit, pins, heads, sentence, words };
}

/** The numbers of these heads, NaN where masked. @param {Matrix[]} matrices */
function bytesOf(matrices) {
  const numbers = matrices.flatMap(({ codes, values, header: { top, signed } }) =>
    Array.from(codes, (code, i) => {
      if (code === MASKED_16) return NaN;
      return values === null ? decodeValue(code, top, signed) : values[i];
    }),
  );
  return new Uint8Array(Float32Array.from(numbers).buffer);
}
