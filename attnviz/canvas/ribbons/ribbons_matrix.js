// The ribbons unfolded: each word's row of weights as cells, the touched word's made of its ribbons.

import { straightPath } from "./ribbons_layout.js";
import { boxMark, pillText, sideColours, textMark } from "./ribbons_marks.js";
import { textWidth } from "../scene/text_width.js";
import { css, inkOn, ramp, toRgb } from "../shared/colour.js";
import { clamp } from "../shared/numbers.js";
import { cutToFit, SLANT } from "../shared/token_labels.js";

/** @import { Layout } from "./ribbons_layout.js" */
/** @import { Mark } from "./ribbons_marks.js" */
/** @import { Words } from "../shared/types.js" */
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

/** @typedef {ReturnType<typeof placeMatrix>} MatrixPlan where rows, columns and what stands beside them are, in pixels */

/** @param {Head} head @param {RibbonsView} view @param {Layout} layout @param {number} width @param {Words} words */
function placeMatrix(head, view, layout, width, words) {
  const { n } = head;
  const isRow = view.axis === "q";
  const pill = pillText(head, view, words);
  const pillWidth = textWidth(pill, LETTERS, 600) + 16;
  const widest = Math.max(...layout.words.map(({ text }) => Math.min(LONGEST, textWidth(text, LETTERS))));
  const left = Math.min(Math.max(widest + 14, isRow ? pillWidth + 8 : 0), width / 2.6);
  const w = Math.min(WIDEST, (width - left - 4) / n);
  const high = layout.isNarrow ? TALL : (view.high ?? MOST + ABOVE) - ABOVE;
  const h = clamp(high / n, LOWEST, HIGHEST);
  const { labels, isLevel, tall } = columnLabels(layout, w);
  const top = AXIS + Math.max(tall, isRow ? 0 : LETTERS + 12);
  const band = isRow
    ? { x: left, y: top + view.word * h, w: n * w, h }
    : { x: left + view.word * w, y: top, w, h: n * h };
  /** The cell of the touched row or column that word `i` shares with it: its middle from the left, and its top. */
  const cellOf = (/** @type {number} */ i) => ({
    x: left + (isRow ? i + 0.5 : view.word + 0.5) * w,
    y: top + (isRow ? view.word : i) * h,
  });
  return { n, isRow, left, top, w, h, width, labels, isLevel, pill, pillWidth, band, cellOf };
}

/**
 * The matrix with the touched word's row or column as its ribbons.
 * @param {Head} head @param {RibbonsView} view @param {(number | null)[]} shares @param {Scene} folded @param {number} width
 * @param {Look} look @returns {Scene}
 */
export function matrixScene(head, view, shares, folded, width, { theme, colours, words }) {
  const { n, weights, allowed } = head;
  const { own, others } = sideColours(view, theme);
  const plan = placeMatrix(head, view, folded.layout, width, words);
  const { left, top, w, h, band, cellOf } = plan;
  const steps = ramp(colours.weights);
  const pixelOf = (/** @type {number} */ share) => steps[Math.round(255 * clamp(share, 0, 1))];
  const grid = { x: left, y: top, w: n * w, h: n * h };
  const frames = /** @type {const} */ ([
    ["cell", view.lit ?? view.pinned, others],
    ["guess", view.guess ?? null, theme.primary],
  ]);
  const marks = [
    boxMark({ key: "grid", kind: "grid", ...grid }),
    ...shares.flatMap((share, i) => shareMarks(share, i, plan, pixelOf(share ?? 0))),
    ...plan.labels.flatMap((label, i) => wordMarks(label, i, view, plan, { own, others, plain: theme.text })),
    boxMark({ key: "frame", kind: "frame", ...band, colour: own }),
    ...frames.flatMap(([key, i, colour]) =>
      i === null ? [] : boxMark({ key, kind: "frame", x: cellOf(i).x - w / 2, y: cellOf(i).y, w, h, colour }),
    ),
    pillMark(plan, own),
    axisMark("columns", words.columns, left, 8, theme.k),
    axisMark("rows", words.rows, 0, top - 10, theme.q),
  ];
  const pixels = new Uint32Array(n * n);
  for (let i = 0; i < pixels.length; i++) pixels[i] = allowed && !allowed[i] ? 0 : pixelOf(weights[i]);
  return { ...folded, height: Math.max(folded.height, top + n * h + 8), marks, pixels, columns: n, cells: grid };
}

/** A cell of the touched word, and its percent where there is room. */
/** @param {number | null} share null: hidden @param {number} i @param {MatrixPlan} plan @param {number} pixel its colour @returns {Mark[]} */
function shareMarks(share, i, { cellOf, w, h }, pixel) {
  const { x, y } = cellOf(i);
  const rgb = toRgb(pixel);
  const path = straightPath(x, y + h, y);
  /** @type {Mark} */
  const ribbon = {
    key: `ribbon ${i}`,
    kind: "ribbon",
    alpha: share === null ? 0 : 1,
    path,
    w,
    colour: css(rgb),
    grown: 1,
  };
  if (share === null || w < HOLDS) return [ribbon];
  return [ribbon, textMark({ key: `share ${i}`, x, y: y + h / 2, size: 14, share, colour: inkOn(rgb) })];
}

/** A word above its column and beside its row; not where the pill stands. */
/**
 * @param {{ text: string, width: number }} label @param {number} i @param {RibbonsView} view @param {MatrixPlan} plan
 * @param {{ own: string, others: string, plain: string }} colours
 */
function wordMarks({ text, width }, i, view, { isRow, isLevel, left, top, w, h }, { own, others, plain }) {
  const [isTouched, isLit] = [i === view.word, i === view.lit];
  const lean = isLevel ? 0 : -SLANT;
  const [shift, up] = isLevel
    ? [0, LETTERS / 2 + 6]
    : [(width / 2 + 4) * Math.cos(SLANT), (width / 2 + 6) * Math.sin(SLANT) + 4];
  const above = { x: left + (i + 0.5) * w + shift, y: top - up, size: LETTERS, turn: lean };
  const beside = { x: left - 8 - width / 2, y: top + (i + 0.5) * h, size: Math.min(LETTERS, h) };
  const sides = /** @type {const} */ ([
    ["word", above, true],
    ["row", beside, false],
  ]);
  return sides.map(([name, place, isColumn]) => {
    const isTouchedSide = isTouched && isColumn !== isRow;
    const isLitSide = isLit && isColumn === isRow;
    return textMark({
      ...{ key: `${name} ${i}`, ...place, text },
      ...{
        colour: isTouchedSide ? own : isLitSide ? others : plain,
        bold: Number(isLitSide),
        alpha: isTouchedSide ? 0 : 1,
      },
    });
  });
}

/** The touched word, beside its row or above its column. @param {MatrixPlan} plan @param {string} colour */
function pillMark({ isRow, left, top, h, width, band, pill, pillWidth }, colour) {
  const high = isRow ? Math.min(24, h) : LETTERS + 7;
  const place = isRow
    ? { x: left - pillWidth - 6, y: band.y + (h - high) / 2 }
    : { x: clamp(band.x + band.w / 2 - pillWidth / 2, 0, width - pillWidth), y: top - LETTERS - 10 };
  const size = Math.min(LETTERS, h - 2);
  return boxMark({ key: "pill", kind: "pill", ...place, w: pillWidth, h: high, size, colour, text: pill });
}

/** The name of an axis. @param {string} key @param {string} text @param {number} left @param {number} y @param {string} colour */
function axisMark(key, text, left, y, colour) {
  return textMark({ key, x: left + textWidth(text, 14) / 2, y, size: 14, text, colour });
}
