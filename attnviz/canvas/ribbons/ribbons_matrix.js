// The ribbons unfolded: each word's row of weights as cells, the touched word's made of its ribbons.

import { straightPath } from "./ribbons_layout.js";
import { boxMark, pillText, sideColours, textMark } from "./ribbons_marks.js";
import { textWidth } from "../scene/text_width.js";
import { css, inkOn, ramp, toRgb } from "../shared/colour.js";
import { clamp } from "../shared/numbers.js";
import { cutToFit, SLANT } from "../shared/token_labels.js";

/** @import { Layout } from "./ribbons_layout.js" */
/** @import { Mark, Ribbon } from "./ribbons_marks.js" */
/** @import { Look, RibbonsView, Scene } from "./ribbons_scene.js" */
/** @import { Head } from "./ribbons_numbers.js" */

/** Pixels of a label's letters, of the longest label, of a row at least and at most, of a column at most, and of the names of the axes. */
const [LETTERS, LONGEST, LOWEST, HIGHEST, WIDEST, AXIS] = [15, 112, 15, 30, 68, 22];
/** Pixels that all rows together may take, in a narrow window, and that a cell needs to hold its percent. */
const [MOST, TALL, HOLDS] = [340, 440, 32];
/** About how many pixels stand above the rows. */
const ABOVE = 100;

/** How column labels stand: level where they fit their columns, else leaning. @param {Layout} layout @param {number} cell */
export function columnLabels({ words }, cell) {
  const labels = words.map(({ text }) => cutToFit(text, LONGEST, (part) => textWidth(part, LETTERS)));
  const isLevel = labels.every(({ width }) => width <= cell - 4);
  const tall = isLevel ? LETTERS + 8 : Math.max(...labels.map(({ width }) => width)) * Math.sin(SLANT) + 12;
  return { labels, isLevel, tall };
}

/**
 * @param {Head} head @param {RibbonsView} view @param {(number | null)[]} shares @param {Scene} folded @param {number} width
 * @param {Look} look
 * @returns {Scene}
 */
export function matrixScene(head, view, shares, folded, width, { theme, colours, words }) {
  const { n, weights, allowed } = head;
  const { layout } = folded;
  const { own, others } = sideColours(view, theme);
  const isRow = view.axis === "q";
  const pill = pillText(head, view, words);
  const pillWidth = textWidth(pill, LETTERS, 600) + 16;
  const widest = Math.max(...layout.words.map(({ text }) => Math.min(LONGEST, textWidth(text, LETTERS))));
  const left = Math.min(Math.max(widest + 14, isRow ? pillWidth + 8 : 0), width / 2.6);
  const [w, h] = [
    Math.min(WIDEST, (width - left - 4) / n),
    clamp((layout.isNarrow ? TALL : (view.high ?? MOST + ABOVE) - ABOVE) / n, LOWEST, HIGHEST),
  ];
  const { labels, isLevel, tall } = columnLabels(layout, w);
  const top = AXIS + Math.max(tall, isRow ? 0 : LETTERS + 12);
  const grid = { x: left, y: top, w: n * w, h: n * h };
  const steps = ramp(colours.weights);
  const pixelOf = (/** @type {number} */ share) => steps[Math.round(255 * clamp(share, 0, 1))];
  const at = (/** @type {number} */ i) => ({
    x: left + (isRow ? i + 0.5 : view.word + 0.5) * w,
    y: top + (isRow ? view.word : i) * h,
  });
  /** @type {Mark[]} */
  const marks = [boxMark({ key: "grid", kind: "grid", ...grid })];
  shares.forEach((share, i) => {
    const cell = at(i);
    const colour = css(toRgb(pixelOf(share ?? 0)));
    /** @type {Ribbon} */
    const ribbon = { key: `ribbon ${i}`, kind: "ribbon", alpha: share === null ? 0 : 1, path: straightPath(cell.x, cell.y + h, cell.y), w, colour, grown: 1 }; // prettier-ignore
    marks.push(ribbon);
    if (share === null || w < HOLDS) return;
    marks.push(
      textMark({
        key: `share ${i}`,
        x: cell.x,
        y: cell.y + h / 2,
        size: 14,
        share,
        colour: inkOn(toRgb(pixelOf(share))),
      }),
    );
  });
  layout.words.forEach((_place, i) => {
    const { text, width: wide } = labels[i];
    const [isOwn, isLit] = [i === view.word, i === view.lit];
    const side = (/** @type {boolean} */ column) => (isOwn && column !== isRow ? own : isLit && column === isRow ? others : theme.text); // prettier-ignore
    const [x, lean] = [left + (i + 0.5) * w, isLevel ? 0 : -SLANT];
    const shift = isLevel ? 0 : (wide / 2 + 4) * Math.cos(SLANT);
    const up = isLevel ? LETTERS / 2 + 6 : (wide / 2 + 6) * Math.sin(SLANT) + 4;
    const pale = (/** @type {boolean} */ column) => (isOwn && column !== isRow ? 0 : 1); // the pill stands there
    marks.push(
      textMark({ key: `word ${i}`, x: x + shift, y: top - up, size: LETTERS, turn: lean, text, colour: side(true), bold: Number(isLit && isRow), alpha: pale(true) }), // prettier-ignore
      textMark({ key: `row ${i}`, x: left - 8 - wide / 2, y: top + (i + 0.5) * h, size: Math.min(LETTERS, h), text, colour: side(false), bold: Number(isLit && !isRow), alpha: pale(false) }), // prettier-ignore
    );
  });
  const band = isRow
    ? { x: left, y: top + view.word * h, w: n * w, h }
    : { x: left + view.word * w, y: top, w, h: n * h };
  marks.push(boxMark({ key: "frame", kind: "frame", ...band, colour: own }));
  for (const [key, i, colour] of /** @type {const} */ ([
    ["cell", view.lit ?? view.pinned, others],
    ["guess", view.guess ?? null, theme.primary],
  ])) {
    if (i !== null) marks.push(boxMark({ key, kind: "frame", x: at(i).x - w / 2, y: at(i).y, w, h, colour }));
  }
  const place = isRow
    ? { x: left - pillWidth - 6, y: band.y + (h - Math.min(24, h)) / 2, w: pillWidth, h: Math.min(24, h) }
    : {
        x: clamp(band.x + w / 2 - pillWidth / 2, 0, width - pillWidth),
        y: top - LETTERS - 10,
        w: pillWidth,
        h: LETTERS + 7,
      };
  marks.push(boxMark({ key: "pill", kind: "pill", ...place, size: Math.min(LETTERS, h - 2), colour: own, text: pill }));
  const name = (
    /** @type {string} */ key,
    /** @type {string} */ text,
    /** @type {number} */ x,
    /** @type {number} */ y,
    /** @type {string} */ colour,
  ) => textMark({ key, x: x + textWidth(text, 14) / 2, y, size: 14, text, colour });
  marks.push(name("columns", words.columns, left, 8, theme.k), name("rows", words.rows, 0, top - 10, theme.q));
  const pixels = new Uint32Array(n * n);
  for (let i = 0; i < pixels.length; i++) pixels[i] = allowed && !allowed[i] ? 0 : pixelOf(weights[i]);
  return { ...folded, height: Math.max(folded.height, top + n * h + 8), marks, pixels, columns: n, cells: { ...grid } };
}
