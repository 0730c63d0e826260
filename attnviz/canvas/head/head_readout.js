// What a head's numbers say in words: of a cell, of a token, of the whole matrix; and what those hear who do not see it.

import { setAttribute, fill, isolateDirection, joinTexts, setText, visibleToken } from "../shared/dom.js";
import { isUnmasked } from "../shared/edit.js";
import { markToken } from "../shared/marked_text.js";
import { formatFixed, formatFourDigits, formatPercent } from "../shared/numbers.js";
import { MASKED_16, strongestCells, decodeValue } from "../shared/packing.js";

/** @import { HeadComponent } from "./head.js" */
/** @import { Axis, Drawn, HeadHeader, Hover, Pin, RowSentence } from "../shared/types.js" */

/**
 * `values` are exact where they are known.
 * @typedef {{ header: Pick<HeadHeader, "shape" | "top" | "signed" | "q" | "k" | "words" | "coarse">, codes: Uint16Array, values?: Float32Array | null }} Numbers
 */

/** @param {Numbers} numbers @param {number} q @param {number} k */
export function codeAt({ header, codes }, q, k) {
  return codes[q * header.shape[1] + k];
}

/** @param {Numbers} numbers @param {number} q @param {number} k */
export function valueAt(numbers, q, k) {
  if (numbers.values) return numbers.values[q * numbers.header.shape[1] + k];
  return decodeValue(codeAt(numbers, q, k), numbers.header.top, numbers.header.signed);
}

/** @param {Numbers} numbers @param {Axis} axis @param {number} i */
export function tokenText({ header }, axis, i) {
  return visibleToken((axis === "q" ? header.q : (header.k ?? header.q))[i]).trim();
}

/** As many digits of a value as hold; a difference says its sign. @param {Numbers} numbers @param {number} value */
export function formatValue({ header }, value) {
  const text = header.coarse ? formatFixed(value, 3) : formatFourDigits(value);
  const rises = header.signed && value > 0 && /^\d.*[1-9]|^[1-9]/.test(text);
  return rises ? `+${text}` : text.replace("-", "−");
}

/** What a query gives a key; nothing where there is no such cell. */
/** @param {Numbers} numbers @param {number} q @param {number} k */
export function cellText(numbers, q, k) {
  const { shape, words } = numbers.header;
  if (q >= shape[0] || k >= shape[1]) return "";
  const names = { query: `${tokenText(numbers, "q", q)} (${q})`, key: `${tokenText(numbers, "k", k)} (${k})` };
  if (codeAt(numbers, q, k) === MASKED_16) return fill(words.masked, names);
  return fill(words.gives, { ...names, value: formatValue(numbers, valueAt(numbers, q, k)) });
}

/**
 * The strongest others of a token in one head, or its one cell: the largest magnitude first.
 * @param {Numbers} numbers @param {Hover} about @param {number} most
 * @returns {{ axis: Axis, i: number, value: number }[]}
 */
export function strongestOf(numbers, about, most) {
  const [nq, nk] = numbers.header.shape;
  if (about.axis === "cell") {
    const { q, k } = about;
    if (q >= nq || k >= nk || numbers.codes[q * nk + k] === MASKED_16) return [];
    return [{ axis: "k", i: k, value: valueAt(numbers, q, k) }];
  }
  const { axis, i } = about;
  if (i >= (axis === "q" ? nq : nk)) return [];
  /** @type {{ axis: Axis, i: number, value: number }[]} */
  const seen = [];
  for (let j = 0; j < (axis === "q" ? nk : nq); j++) {
    const [q, k] = axis === "q" ? [i, j] : [j, i];
    if (numbers.codes[q * nk + k] === MASKED_16) continue;
    seen.push({ axis: axis === "q" ? "k" : "q", i: j, value: valueAt(numbers, q, k) });
  }
  return seen.sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, most);
}

/**
 * The three strongest keys of a query, or queries of a key: those of them that are above all others, where any are.
 * @param {Numbers} numbers @param {Axis} axis @param {number} i
 * @returns {{ list: string, tied: boolean }} whether none is above the others, so that no sentence says "most"
 */
function strongestThree(numbers, axis, i) {
  const seen = strongestOf(numbers, { axis, i }, 4);
  const listed = seen.slice(0, 3);
  const rest = seen.length > 1 ? seen[seen.length - 1] : seen[0];
  const above = listed.filter(({ value }) => Math.abs(value) > Math.abs(rest.value) * (1 + 1e-5));
  const told = seen.length > 3 && above.length ? above : listed;
  const parts = told.map(({ axis: side, i: at, value }) =>
    fill(numbers.header.words.share, { token: tokenText(numbers, side, at), value: formatValue(numbers, value) }),
  );
  return { list: joinTexts(numbers.header.words.join_things, parts), tied: !above.length };
}

/** The sentence about a query or a key: what it looks at, or who looks at it. */
/** @param {Numbers} numbers @param {Axis} axis @param {number} i */
export function strongestText(numbers, axis, i) {
  const { shape, signed, words } = numbers.header;
  if (i >= shape[axis === "q" ? 0 : 1]) return "";
  const { list, tied } = strongestThree(numbers, axis, i);
  const token = `${tokenText(numbers, axis, i)} (${i})`;
  const [keys, queries] = signed
    ? [words.most_changed, words.mostby_changed]
    : tied
      ? [words.most_alike, words.mostby_alike]
      : [words.most, words.mostby];
  return axis === "q" ? fill(keys, { token, keys: list }) : fill(queries, { token, queries: list });
}

/** What is pointed at, or pinned last. @param {Drawn} drawn @param {Pin | null} lead the token that leads */
export function readoutText(drawn, lead) {
  const { sums, words, group } = drawn;
  const { hover, cell } = group;
  if (hover?.axis === "cell") return cellText(drawn, hover.q, hover.k);
  if (!hover && cell) return cellText(drawn, ...cell);
  if (!lead) return "";
  const text = strongestText(drawn, lead.axis, lead.i);
  if (lead.axis === "q" || sums === null || lead.i >= sums.cols.length) return text;
  const key = tokenText(drawn, "k", lead.i);
  return joinTexts(words.join_heard, [text, fill(words.column_sum, { key, value: formatFixed(sums.cols[lead.i], 2) })]);
}

/** The five strongest cells, for those who hear the picture. @param {Numbers} numbers */
export function summaryText(numbers) {
  const { shape, signed, words } = numbers.header;
  const pairs = strongestCells(numbers.codes, signed, 5).map((i) => {
    const [q, k] = [Math.floor(i / shape[1]), i % shape[1]];
    const names = { query: tokenText(numbers, "q", q), key: tokenText(numbers, "k", k) };
    return fill(words.gives, { ...names, value: formatValue(numbers, valueAt(numbers, q, k)) });
  });
  return fill(words.summary, { pairs: joinTexts(words.join_clauses, pairs) });
}

/** The largest change of a weight by an edit, where the numbers on show are such changes. @param {Numbers} numbers */
export function changeText(numbers) {
  const { shape, words } = numbers.header;
  const [most] = strongestCells(numbers.codes, true, 1);
  const [q, k] = [Math.floor(most / shape[1]), most % shape[1]];
  const change = most === undefined ? 0 : valueAt(numbers, q, k);
  const value = formatFixed(Math.abs(change), 2);
  if (!Number(value)) return words.no_change;
  const names = { query: tokenText(numbers, "q", q), key: tokenText(numbers, "k", k), value };
  return fill(change > 0 ? words.gives_more : words.gives_less, names);
}

/** The title, which says so when what is on show is the head with its mask off, or what an edit changes of it. */
/** @param {Drawn} drawn @param {string} seen */
export function titleText({ header, words, group }, seen) {
  if (header.edit !== null && seen === "difference") return fill(words.change, { title: header.title });
  const off = header.edit !== null && isUnmasked(group.edit, seen);
  return off ? fill(words.maskoff, { title: header.title }) : header.title;
}

/** What the heatmap is called: its title, which may be a sentence of its own, and what it is. @param {HeadComponent} view */
export function nameStage({ drawn, heatmap }) {
  const title = (drawn.header.title || "").replace(/[.。]$/, "");
  heatmap.stage.setAttribute("aria-label", joinTexts(drawn.words.join_heard, [title, drawn.words.label]));
}

/** What the pictures show as a whole. @param {HeadComponent} view */
export function sumUp({ drawn, help, lines }) {
  const { words } = drawn;
  const summary = summaryText(drawn);
  setText(help, joinTexts(words.join_sentences, [summary, words.help]));
  setAttribute(lines.stage, "aria-label", joinTexts(words.join_heard, [words.lines, summary]));
}

/** The sentence about a row, its tokens marked. */
/** @param {Numbers} numbers @param {RowSentence} about @param {number} row */
export function rowSentence(numbers, about, row) {
  const { header } = numbers;
  const [rows, cols] = [header.q, header.k ?? header.q];
  const token = markToken("q", labelWithPosition(rows, about.places[0], row));
  const seen = strongestOf(numbers, { axis: "q", i: row }, 3);
  const [, , , masked, faint] = about.templates;
  if (!seen.length) return fillNumbers(masked, { token });
  const worth = seen.filter(({ value }) => value >= about.least);
  if (!worth.length) return fillNumbers(faint, { token });
  /** @type {Record<string, string | number>} */
  const fields = { token };
  worth.forEach(({ value, i: k }, place) => {
    fields[`key${place + 1}`] = markToken("k", labelWithPosition(cols, about.places[1], k));
    fields[`share${place + 1}`] = value;
  });
  return fillNumbers(about.templates[worth.length - 1], fields);
}

const ALIKE = 0.999; // of the largest: numbers as near as this may be one number, sent as a code

/**
 * The row that tells most: the one with the largest, farthest weight; the last where none is. The first token, on which
 * heads rest their attention, is left out. Python's side is Matrix.telling_row in analysis/head_matrix.py.
 */
/** @param {Numbers} numbers */
export function mostTellingRow(numbers) {
  const [nq, nk] = numbers.header.shape;
  const far = Float64Array.from({ length: Math.max(nq, nk) }, (_, distance) => Math.log1p(distance));
  const rows = Array.from({ length: nq }, (_, q) => {
    let most = 0;
    for (let k = 1; k < nk; k++) {
      if (numbers.codes[q * nk + k] === MASKED_16) continue;
      most = Math.max(most, valueAt(numbers, q, k) * far[Math.abs(q - k)]);
    }
    return most;
  });
  const most = Math.max(0, ...rows);
  return most > 0 ? rows.findIndex((tells) => tells >= ALIKE * most) : nq - 1;
}

/** A token, with its position where the same occurs more than once. */
/** @param {string[]} labels @param {number[]} places @param {number} i */
export function labelWithPosition(labels, places, i) {
  const label = labels[i];
  return labels.indexOf(label) === labels.lastIndexOf(label) ? label : `${label} (${places[i]})`;
}

/** A Python template filled in: {name}, {name:.0%} and {name:.2f}. */
/** @param {string} template @param {Record<string, string | number>} fields */
export function fillNumbers(template, fields) {
  return template.replace(/\{(\w+)(?::\.(\d)([%f]))?\}/g, (whole, name, places, kind) => {
    if (!(name in fields)) return whole;
    if (kind === undefined) return isolateDirection(fields[name]);
    return (kind === "%" ? formatPercent : formatFixed)(Number(fields[name]), Number(places));
  });
}
