// What a visitor changes of a head: another mask, another scale. Python's side is attnviz.base.head_edit with
// attnviz.analysis.what_if, and tests/js/cases/edits.json holds the two together: their choices, and what each comes to.

/** @import { Edit, RawHead, Shape } from "./types.js" */
/** @typedef {(into: Uint8Array, edit: Edit, head: Pick<RawHead, "shape" | "mask">) => void} WriteMask */
/** @typedef {(head: Pick<RawHead, "scale" | "dHead">, edit: Edit) => number} Factor */

/** Each mask, written as ones and zeros, one a cell: 1 = may attend. @satisfies {Record<string, WriteMask>} */
export const MASKS = {
  model: (into, _edit, { mask }) => fillGiven(into, mask),
  none: (into) => void into.fill(1),
  causal: (into, _edit, { shape }) => fillWindow(into, shape, Infinity),
  window: (into, { window }, { shape }) => fillWindow(into, shape, window),
  painted: (into, { painted }) => fillGiven(into, painted),
};

/** What multiplies q·k under each scale. @satisfies {Record<string, Factor>} */
export const SCALES = {
  model: ({ scale }) => scale,
  none: () => 1,
  inverse: ({ dHead }) => 1 / dHead,
  factor: ({ scale }, { factor }) => scale * factor,
};

/** Where the change is made. */
export const SCOPES = /** @type {const} */ (["head", "layer", "all"]);
/** What of it is on show. */
export const VIEWS = /** @type {const} */ (["before", "after", "difference"]);

/** @type {Readonly<Edit>} changes nothing */
export const NO_EDIT = Object.freeze({
  mask: "model",
  window: 4,
  hidden: [],
  painted: null,
  scale: "model",
  factor: 1,
  where: "head",
  seen: "after",
  silenced: [],
});

/** Whether mask or scale differ from the model's. @param {Edit} edit */
export function isEdited({ mask, hidden, scale, factor }) {
  return mask !== "model" || hidden.length > 0 || (scale === "factor" ? factor !== 1 : scale !== "model");
}

/** Whether the edit takes the mask away, and its outcome is what is looked at. */
/** @param {Edit} edit @param {string} seen "before", "after" or "difference" */
export function isUnmasked({ mask, hidden }, seen) {
  return mask === "none" && hidden.length === 0 && seen === "after";
}

/** What multiplies q·k under this edit. @param {Edit} edit @param {Pick<RawHead, "scale" | "dHead">} head */
export function scaleFactor(edit, head) {
  return SCALES[edit.scale](head, edit);
}

/**
 * The mask under this edit, one a cell, 1 = may attend; null = every cell may. What is padding stays hidden.
 * @param {Edit} edit @param {Pick<RawHead, "shape" | "mask" | "padding">} head
 * @param {Uint8Array} [into] where it is written, if there is anything to write
 */
export function editedMask(edit, head, into) {
  if (edit.mask === "model" && edit.hidden.length === 0) return head.mask;
  if (edit.mask === "none" && edit.hidden.length === 0 && head.padding === null) return null;
  const mask = into ?? new Uint8Array(head.shape[0] * head.shape[1]);
  MASKS[edit.mask](mask, edit, head);
  for (const k of edit.hidden) hideKey(mask, k, head.shape);
  head.padding?.forEach((real, k) => real || hideKey(mask, k, head.shape));
  return mask;
}

/** @param {Uint8Array} mask @param {number} k @param {Shape} shape */
function hideKey(mask, k, [nq, nk]) {
  if (k < nk) for (let q = 0; q < nq; q++) mask[q * nk + k] = 0;
}

/** The mask that is given, all ones where none is. @param {Uint8Array} into @param {Uint8Array | null} mask */
function fillGiven(into, mask) {
  if (mask !== null && mask.length === into.length) into.set(mask);
  else into.fill(1);
}

/** The last `window` keys up to the query's own place; the last query stands at the last key. */
/** @param {Uint8Array} mask @param {Shape} shape @param {number} window */
function fillWindow(mask, [nq, nk], window) {
  mask.fill(0);
  for (let q = 0; q < nq; q++) {
    const last = q + nk - nq;
    if (last < 0) continue;
    mask.fill(1, q * nk + Math.max(0, last - window + 1), q * nk + Math.min(nk, last + 1));
  }
}

/**
 * The edit as it applies to one head: itself, or none where it is about others.
 * @param {Edit} edit
 * @param {[number, number]} place layer and head
 * @param {[number, number] | null} shown the head on show
 */
export function editFor(edit, place, shown) {
  const here = edit.where === "all" || (shown !== null && place[0] === shown[0]);
  const mine = edit.where === "head" ? here && shown !== null && place[1] === shown[1] : here;
  return mine ? edit : NO_EDIT;
}
