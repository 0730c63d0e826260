// Attention of one word as marks that have keys: words, strips of colour, bars and numbers. Each stage says where they are, and
// from stage to stage the same marks travel. No page.

import { readableColour } from "../shared/colour.js";
import { fill } from "../shared/dom.js";
import { formatPercent, formatTypeset, toSignificant } from "../shared/numbers.js";
import { cutToFit, SLANT } from "../shared/token_labels.js";
import { textWidth } from "../scene/text_width.js";
import { HEADING, LENS_LETTERS, NUMBER, SHOWS, storyLayout } from "./story_layout.js";
import { ROLES } from "../shared/roles.js";
import { mark, textMark } from "../scene/marks.js";
import { largestOf } from "./story_numbers.js";

/** @import { Layout, Look } from "./story_layout.js" */
/** @import { Mark } from "../scene/marks.js" */
/** @import { StoryNumbers, Vectors } from "./story_numbers.js" */
/** @import { Words } from "../shared/types.js" */
/** @typedef {{ stage: string, numbers: StoryNumbers, look: Look, layout: Layout }} Scene */

/** Letters of the sentence, at most and at least. */
const [LARGEST, SMALLEST] = [44, 15];
/** Strength of what a mask hides, and of its words, which can still be read: 4.5 to 1 on a light page and on a dark one. */
const [PALE, FAINT] = [0.35, 0.65];

/** Strong and weak numbers as shares, by roots, so that small ones are seen. @param {ArrayLike<number>} values @param {number} most */
function toShares(values, most) {
  return Float32Array.from(values, (value) => Math.sign(value) * Math.sqrt(Math.abs(value) / (most || 1)));
}

/** The largest magnitude. @param {ArrayLike<number>[]} rows */
function magnitude(...rows) {
  let most = 0;
  for (const row of rows) for (let i = 0; i < row.length; i++) most = Math.max(most, Math.abs(row[i]));
  return most;
}

/** Where everything is at a stage. @param {string} stage @param {StoryNumbers} numbers @param {Look} look @returns {Mark[]} */
export function storyMarks(stage, numbers, look) {
  if (stage === "words") return sentenceMarks(numbers, look);
  const scene = { stage, numbers, look, layout: storyLayout(stage, numbers, look) };
  const { vectors } = numbers;
  const rows = numbers.keys.flatMap((key, n) => [
    wordMark(scene, key, n),
    ...(vectors ? stripMarks(scene, vectors, key, n) : []),
    ...(SHOWS.scores.has(stage) ? scoreMarks(scene, key, n) : []),
    ...(SHOWS.weights.has(stage) ? weightMarks(scene, key, n) : []),
  ]);
  return [...rows, ...partMarks(scene), ...(vectors ? vectorMarks(scene, vectors) : []), ...headingMarks(scene)];
}

/** The sentence, as large as it fits; a strip waits below each word. @param {StoryNumbers} numbers @param {Look} look */
function sentenceMarks({ names, keys, own, vectors, starts }, { width, height, theme, colours }) {
  for (let size = LARGEST; ; size -= 1) {
    let [x, y] = [0, 0];
    const placed = keys.map((key, n) => {
      const wide = textWidth(names[key], size);
      if (n && (starts?.[key] ?? true)) x += 0.3 * size;
      if (x > 0 && x + wide > width) [x, y] = [0, y + 1.5 * size];
      const word = { key, wide, x, y };
      x += wide;
      return word;
    });
    if (y + 1.5 * size > height && size > SMALLEST) continue;
    const shift = Math.min(90, Math.max(0.75 * size, (height - y) / 3));
    return placed.flatMap((word) => {
      const at = { x: word.x, y: word.y + shift };
      const colour = word.key === own ? theme.q : theme.text;
      const text = textMark(`word-${word.key}`, names[word.key], { ...at, size, colour });
      if (!vectors) return [text];
      const values = toShares(vectors.x[word.key], magnitude(...vectors.x));
      const below = { x: at.x, y: at.y + 0.62 * size, w: word.wide, h: 3, alpha: 0 };
      return [text, mark(`strip-${word.key}`, "strip", { ...below, values, tint: colours.roles.x })];
    });
  }
}

/** @param {Scene} scene @param {number} key */
const isHidden = ({ numbers }, key) => numbers.scaled[key] === -Infinity;

/** Places of a row. @param {Layout} layout @param {number} n */
function rowBoxes({ top, row, thick }, n) {
  const y = top + (n + 0.5) * row;
  // a masked row has a line: a bar it is not
  return { y, box: { y: y - thick / 2, h: thick }, line: { y: y - 0.18 * thick, h: 0.36 * thick } };
}

/** @param {Scene} scene @param {number} key @param {number} n */
function wordMark(scene, key, n) {
  const { stage, numbers, look, layout } = scene;
  const { names, own, changed } = numbers;
  const { theme, pair } = look;
  const isNew = stage === "changed" && changed?.at === key;
  const isPair = stage === "scores" && key === pair;
  const alpha = SHOWS.masked.has(stage) && isHidden(scene, key) ? FAINT : 1;
  const weight = key === own || isPair || isNew ? 600 : 400;
  const name = isNew && changed ? changed.names[key] : names[key];
  const { text, width } = cutToFit(name, layout.label, (all) => textWidth(all, layout.letters, weight));
  const isKey = isNew || isPair || (stage === "asked" && alpha === 1);
  const colour = key === own ? theme.q : isKey ? theme.k : theme.text;
  const at = { x: layout.left - 12 - width, y: rowBoxes(layout, n).y };
  return textMark(`word-${key}`, text, { ...at, size: layout.letters, weight, colour, alpha });
}

/** The strips of a token: its vector or key or row of weights, and its value. */
/** @param {Scene} scene @param {Vectors} vectors @param {number} key @param {number} n */
function stripMarks(scene, vectors, key, n) {
  const { stage, numbers, look, layout } = scene;
  const { roles } = look.colours;
  const pale = SHOWS.masked.has(stage) && isHidden(scene, key) ? PALE : 1;
  const place = { ...rowBoxes(layout, n).box, ...layout.strip };
  const marks = [];
  if (SHOWS.x.has(stage)) {
    const alpha = pale * ({ asked: 0.6, new: PALE }[stage] ?? 1);
    const values = toShares(vectors.x[key], magnitude(...vectors.x));
    marks.push(mark(`strip-${key}`, "strip", { ...place, values, tint: roles.x, alpha }));
  }
  if (SHOWS.keys.has(stage)) {
    const values = toShares(vectors.k[key], magnitude(...vectors.k));
    marks.push(mark(`strip-${key}`, "strip", { ...place, values, tint: roles.k }));
  }
  if (stage === "matrix") marks.push(...matrixRow(scene, key, n));
  if (SHOWS.values.has(stage) && (stage === "roles" || !isHidden(scene, key))) {
    const share = stage === "mixture" ? numbers.weights[key] : 1;
    const beside = stage === "roles" ? { x: place.x + place.w + 20 } : {};
    const values = toShares(
      vectors.v[key].map((value) => share * value),
      magnitude(...vectors.v),
    );
    marks.push(mark(`value-${key}`, "strip", { ...place, ...beside, values, tint: roles.v }));
  }
  return marks;
}

/** A row of all weights of the head, and the name of its column. @param {Scene} scene @param {number} key @param {number} n */
function matrixRow({ numbers, look, layout }, key, n) {
  const { keys, matrix, names } = numbers;
  const { left, row, top, column } = layout;
  const { masked } = look.colours;
  const written = (/** @type {number} */ of) =>
    cutToFit(names[of], column.widest, (all) => textWidth(all, column.letters));
  const leans = column.isLevel ? 0 : written(keys[keys.length - 1]).width * Math.cos(SLANT);
  const size = Math.min(row, (look.width - left - leans) / keys.length);
  const values = Float32Array.from(keys, (other) => (matrix[key][other] < 0 ? -0.12 : Math.sqrt(matrix[key][other])));
  const place = { x: left, y: top + n * row + 0.5, w: size * keys.length, h: row - 1 };
  const { text, width } = written(key);
  const middle = left + (n + 0.5) * size;
  const at = column.isLevel ? { x: middle - width / 2, y: top - 10 } : { x: middle, y: top - 6, turn: -SLANT };
  return [
    mark(`strip-${key}`, "strip", { ...place, values, tint: [masked, ROLES.weight] }),
    textMark(`column-${key}`, text, { ...at, size: column.letters, colour: look.theme.k }),
  ];
}

/** A key's score: raw, scaled, or masked. @param {Scene} scene @param {number} key @param {number} n */
function scoreMarks(scene, key, n) {
  const { stage, numbers, look, layout } = scene;
  const { scores, scaled, factor } = numbers;
  const { bar, letters } = layout;
  const { y, box, line } = rowBoxes(layout, n);
  const seen = scaled.filter(Number.isFinite);
  const [low, high] = [Math.min(0, ...scores, ...seen), Math.max(0, ...scores, ...seen)];
  const out = stage === "masked" && isHidden(scene, key);
  const value = stage === "masked" ? scaled[key] : scores[key] * (stage === "scores" ? 1 : factor);
  const [long, zero] = [out ? 0 : value, -low].map((size) => (bar.w * size) / (high - low || 1));
  const isPair = key === look.pair && stage === "scores";
  const alpha = isPair || stage !== "scores" || !numbers.vectors ? 1 : 0.6;
  const number = { x: look.width - NUMBER + 8, y, size: Math.min(15, letters) };
  const marks = [
    mark(`track-${key}`, "box", { ...box, ...bar, colour: look.theme.text, alpha: out ? 0 : 0.05 }),
    mark(`bar-${key}`, "box", {
      ...{ ...box, x: bar.x + zero + Math.min(0, long), w: Math.abs(long) },
      ...{ colour: ROLES.score, alpha },
    }),
    textMark(`number-${key}`, out ? look.words.hidden : formatTypeset(value), {
      ...{ ...number, alpha: out ? FAINT : 1, weight: isPair ? 600 : 400, colour: look.theme.text },
    }),
  ];
  if (out) marks.push(mark(`hatch-${key}`, "hatch", { ...bar, ...line, colour: look.colours.masked }));
  return marks;
}

/** A key's weight, and what it was before a word was exchanged. @param {Scene} scene @param {number} key @param {number} n */
function weightMarks(scene, key, n) {
  const { stage, numbers, look, layout } = scene;
  const { bar, letters, thick } = layout;
  const { theme } = look;
  const { y, box, line } = rowBoxes(layout, n);
  const isMasked = isHidden(scene, key);
  const weight = stage === "changed" && numbers.changed ? numbers.changed.weights[key] : numbers.weights[key];
  const number = { x: bar.x + bar.w + 8, y, size: Math.min(15, letters), colour: theme.text };
  const marks = [
    mark(`track-${key}`, "box", { ...box, ...bar, colour: theme.text, alpha: isMasked ? 0 : 0.05 }),
    mark(`bar-${key}`, "box", { ...box, x: bar.x, w: bar.w * weight, colour: ROLES.weight }),
  ];
  marks.push(
    textMark(`number-${key}`, formatPercent(weight, weight ? 1 : 0), { ...number, alpha: isMasked ? FAINT : 1 }),
  );
  if (isMasked) marks.push(mark(`hatch-${key}`, "hatch", { ...bar, ...line, colour: look.colours.masked }));
  if (stage === "changed") {
    const before = { x: bar.x, w: bar.w * numbers.weights[key], y: box.y + 0.68 * thick, h: 0.32 * thick };
    marks.push(mark(`before-${key}`, "box", { ...before, colour: theme.text, alpha: 0.55 }));
  }
  return marks;
}

/** The same weights on the way to one bar, which they fill. @param {Scene} scene */
function partMarks({ stage, numbers, look, layout }) {
  const { keys, weights } = numbers;
  const { left, wide, end } = layout;
  const { theme } = look;
  if (stage !== "weights" && stage !== "shares" && stage !== "masked") return [];
  let filled = 0;
  const parts = keys.map((key, n) => {
    const long = wide * weights[key];
    const own = { x: left, w: stage === "shares" ? long : 0, ...rowBoxes(layout, n).box, alpha: 1 };
    const sum = { x: left + filled, w: Math.max(0, long - 1), y: end + 26, h: 24, alpha: n % 2 ? 0.75 : 1 };
    filled += long;
    return mark(`part-${key}`, "box", { ...(stage === "weights" ? sum : own), colour: ROLES.weight });
  });
  if (stage !== "weights") return parts;
  const sum = weights.reduce((all, weight) => all + weight, 0); // as far as 32 bits are sure of it
  const at = { x: look.width - NUMBER + 8, y: end + 38, weight: 600, size: 15, colour: theme.text };
  return [...parts, textMark("sum", `Σ ${formatPercent(toSignificant(sum, 6), 0)}`, at)];
}

/** The query, what it meets, and what it becomes. @param {Scene} scene @param {Vectors} vectors */
function vectorMarks(scene, vectors) {
  const { stage, numbers, look, layout } = scene;
  const { strip, top, row, thick, at, end } = layout;
  const { roles } = look.colours;
  const ownRow = { ...strip, y: top + at * row + (row - thick) / 2, h: thick };
  const query = { values: toShares(vectors.q, magnitude(vectors.q)), tint: roles.q };
  const fresh = { values: toShares(vectors.z, magnitude(...vectors.v)), tint: roles.v };
  const name = fill(look.words.new_vector, { token: numbers.token });
  const style = { size: 15, weight: 600, colour: written("value", look) };
  if (stage === "scores") return meetingMarks(scene, vectors);
  if (stage === "roles") {
    const pairRow = { ...strip, y: top + numbers.keys.indexOf(look.pair) * row + (row - thick) / 2, h: thick };
    const key = toShares(vectors.k[look.pair], magnitude(...vectors.k));
    return [
      mark("query", "strip", { ...query, ...strip, y: 22, h: 26 }),
      mark("meets", "strip", { ...pairRow, values: key, tint: roles.k, alpha: 0 }),
      mark("product", "strip", { ...pairRow, values: key, tint: roles.k, alpha: 0 }),
    ];
  }
  if ((stage === "vectors" || stage === "asked") && at >= 0) {
    return [mark("query", "strip", { ...query, ...ownRow, alpha: 0 })];
  }
  if (stage === "values") return [mark("new", "strip", { ...fresh, ...strip, y: end, h: 2, alpha: 0 })];
  if (stage === "mixture") {
    const { text, width } = cutToFit(name, strip.x - 12, (all) => textWidth(all, 15, 600));
    return [
      mark("new", "strip", { ...fresh, ...strip, y: end + 26, h: 32 }),
      textMark("new-name", text, { ...style, x: strip.x - 12 - width, y: end + 42 }),
    ];
  }
  return stage === "new" && at >= 0 ? [mark("new", "strip", { ...fresh, ...ownRow })] : [];
}

/** Query and key large, number by number, and their products with the sum. @param {Scene} scene @param {Vectors} vectors */
function meetingMarks({ numbers, look, layout }, vectors) {
  const { pair, terms, theme, colours } = look;
  const { left, wide, lens } = layout;
  const line = (lens - 20) / 3;
  const place = (/** @type {number} */ n) => ({ x: left, w: wide, y: n * line, h: 0.72 * line });
  const key = vectors.k[pair];
  const products = Float32Array.from(key, (value, i) => (i < terms ? value * vectors.q[i] : 0));
  /** @param {string} name @param {string} words @param {number} n @param {string} colour */
  const beside = (name, words, n, colour) => {
    const { text, width } = cutToFit(words, left - 12, (all) => textWidth(all, LENS_LETTERS, 600));
    const at = { x: left - 12 - width, y: (n + 0.36) * line };
    return textMark(name, text, { ...at, size: LENS_LETTERS, weight: 600, colour });
  };
  const total = { x: look.width - NUMBER + 2, y: 2.36 * line, size: LENS_LETTERS, weight: 600, colour: theme.text };
  return [
    mark("query", "strip", { ...place(0), values: toShares(vectors.q, magnitude(vectors.q)), tint: colours.roles.q }),
    mark("meets", "strip", { ...place(1), values: toShares(key, magnitude(...vectors.k)), tint: colours.roles.k }),
    mark("product", "strip", {
      ...{ ...place(2), values: toShares(products, magnitude(products)), tint: [ROLES.reference, ROLES.score] },
    }),
    beside("side-query", numbers.token, 0, theme.q),
    beside("side-key", `× ${numbers.names[pair]}`, 1, theme.k),
    beside("side-product", "=", 2, theme.text),
    textMark("total", `Σ ${formatTypeset(numbers.scores[pair])}`, total),
  ];
}

/** The colour of a role as text in it can be read. @param {keyof typeof ROLES} role @param {Look} look */
const written = (role, { theme }) => readableColour(ROLES[role], theme.background);

/** What stands above the columns, in the colour of its object. @param {Scene} scene */
function headingMarks({ stage, numbers, look, layout }) {
  const { theme, words } = look;
  const { bar, strip, top, end } = layout;
  /** @param {string} key @param {string} text @param {number} x @param {string} colour */
  const heading = (key, text, x, colour, y = top - HEADING / 2) =>
    textMark(`heading-${key}`, text, { x, y, size: 14, weight: 600, colour });
  const { changed, names } = numbers;
  if (stage === "changed" && changed) {
    const now = fill(words.with_new, { token: changed.names[changed.at] });
    const before = fill(words.with_old, { token: names[changed.at] });
    return [
      heading("weight", now, bar.x, written("weight", look)),
      heading("before", before, bar.x, theme.text, end + 20),
    ];
  }
  const marks = [];
  if (stage === "roles") {
    marks.push(heading("query", words.query, strip.x, theme.q, 10), heading("key", words.key, strip.x, theme.k));
    marks.push(heading("value", words.value, strip.x + strip.w + 20, written("value", look)));
  }
  if (stage === "scaled" || stage === "masked")
    marks.push(heading("score", words.score, bar.x, written("score", look)));
  if (SHOWS.weights.has(stage)) marks.push(heading("weight", words.weight, bar.x, written("weight", look)));
  if (stage === "values" || stage === "mixture") {
    marks.push(heading("value", words.value, strip.x, written("value", look)));
  }
  return marks;
}

/** What of a role is drawn, by the keys of its marks; the words of a row's own vector. */
const OF_ROLE = {
  query: /^(side-)?query/,
  key: /^(meets|side-key|strip)/,
  value: /^(value|new)/,
  score: /^(bar|product|total)/,
  weight: /^(bar|part|number|sum)/,
};

/** Marks of what the text speaks of as they are, all others paler: a token's, or those of a role. */
/** @param {Mark[]} marks @param {string} spoken @param {StoryNumbers} numbers @param {Words} words */
export function lightSpoken(marks, spoken, { names, own }, words) {
  const rows = names.flatMap((name, key) => (name === spoken ? [key] : []));
  const role = /** @type {(keyof typeof OF_ROLE)[]} */ (Object.keys(OF_ROLE)).find((one) =>
    spoken.toLowerCase().startsWith(words[one]),
  );
  const ofRow = new RegExp(`-(${rows.join("|")})$${own !== null && rows.includes(own) ? "|query|new" : ""}`);
  const lit = rows.length ? ofRow : role && OF_ROLE[role];
  if (!lit || !marks.some(({ key }) => lit.test(key))) return marks;
  return marks.map((each) => (lit.test(each.key) ? each : { ...each, alpha: 0.3 * each.alpha }));
}

/** Whether a mark lies under a point. @param {Mark} mark @param {number} px @param {number} py */
function liesUnder({ kind, alpha, x, y, w, h, text, size, weight }, px, py) {
  const box =
    kind === "text"
      ? { x, y: y - size / 2, w: textWidth(text, size, weight > 500 ? 600 : 400), h: size }
      : { x, y, w, h };
  return alpha > 0.1 && px >= box.x - 3 && px <= box.x + box.w + 3 && py >= box.y - 3 && py <= box.y + box.h + 3;
}

/**
 * What the text calls the marks under a point: the names of their tokens and, by which such names begin, their roles.
 * @param {Mark[]} marks @param {[number, number]} point @param {StoryNumbers} numbers @param {Words} words
 */
export function namesAt(marks, [px, py], { names, own }, words) {
  const keys = marks.filter((each) => liesUnder(each, px, py)).map(({ key }) => key);
  const tokens = keys.flatMap(
    (key) => names[/^(query|new)/.test(key) && own !== null ? own : Number(/\d+$/.exec(key)?.[0])] ?? [],
  );
  const roles = Object.entries(OF_ROLE).flatMap(([role, of]) =>
    keys.some((key) => of.test(key)) ? [words[role]] : [],
  );
  return { tokens, roles };
}

/** So many keys that share alike would be as undecided. @param {Float32Array} weights */
function effectiveKeys(weights) {
  return Math.exp(weights.reduce((sum, weight) => (weight > 0 ? sum - weight * Math.log(weight) : sum), 0));
}

/** What is seen at a stage, in a sentence. */
/** @param {string} stage @param {StoryNumbers} numbers @param {Pick<Look, "pair" | "terms" | "words">} look */
export function stageSentence(stage, numbers, { pair, terms, words }) {
  const { token, names, scores, weights, factor, changed } = numbers;
  const best = largestOf(weights);
  const effective = String(toSignificant(effectiveKeys(weights), 2));
  const times = String(toSignificant(factor, 3));
  const named = { token, terms, count: names.length, key: names[pair], factor: times, best: names[best], effective };
  const percent = (/** @type {ArrayLike<number>} */ of) => formatPercent(of[changed?.at ?? 0], 0);
  const exchanged = changed && {
    old: names[changed.at],
    fresh: changed.names[changed.at],
    before: percent(weights),
    after: percent(changed.weights),
  };
  const value = formatTypeset(stage === "scores" ? scores[pair] : scores[pair] * factor);
  return fill(words[`story_${stage}`] ?? "", { ...named, ...exchanged, share: formatPercent(weights[best], 0), value });
}
