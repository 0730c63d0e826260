// What stands around the scene: its headline and the tokens so far above it, the next token, the work and the memory of each
// layer beside it. All of it is as it is once the step is done. No page.

import { fill, joinTexts, visibleToken } from "../shared/dom.js";
import { formatBytes, formatDuration, formatFlop, formatPercent } from "../shared/numbers.js";
import { drawWith, fillBox, frameBox, strokePath, writeText } from "../shared/surface.js";
import { textWidth, wrapText } from "../scene/text_width.js";
import { newRows, shortenText, countSoFar } from "./step_player_scene.js";

/** @import { Weight } from "../scene/text_width.js" */
/** @import { DrawingContext, PlayedRun, Theme } from "../shared/types.js" */
/** @typedef {ReturnType<typeof sideScene>} SideScene */

const [HEAD, LINE, NOTE, APART] = [24, 20, 17, 14];
/** Pixels of a token's name, of the number behind its bar, and beside each. */
const CHOICE = { name: 92, number: 52, gap: 8, bar: 11 };
/** A line of the table, what stands around it, and between its columns. */
const TABLE = { line: 18, around: 5, gap: 12 };
const LAYERS = { most: 360, h: 46 };

/**
 * Scene beside the picture, from top to bottom: choices for the next token, table of work, memory of the layers.
 * @param {PlayedRun} header @param {number} at the step @param {number} width @param {boolean} costs whether there is room for the work
 */
export function sideScene(header, at, width, costs = true) {
  const { words, steps, colours } = header;
  const { alternatives } = steps[at];
  const nothing = isChosen(header, at) ? [] : wrapText(words.nothing, width, 12);
  const choices = HEAD + LINE * alternatives.length + NOTE * nothing.length + APART;
  const work = costs ? tableOf(countWork(header, at), width) : null;
  const below = choices + (work ? work.height + APART : 0);
  const memory = { ...countMemory(header, at), y: below, w: Math.min(LAYERS.most, width) };
  const height = below + HEAD + LAYERS.h + 1;
  return { words, colours, alternatives, nothing, choices, work, memory, width, height };
}

/** The table of the work with the place of each line; the names at its left are broken where room is short. */
/** @param {ReturnType<typeof countWork>} work @param {number} width */
function tableOf({ rows, note }, width) {
  const widest = [0, 1, 2].map((column) =>
    Math.max(...rows.map((cells, n) => textWidth(cells[column], 13, n || !column ? 400 : 600))),
  );
  const [name, first, second] = widest.map((wide) => wide + TABLE.gap);
  const room = Math.max(width / 4, Math.min(name, width - first - second));
  let y = 0;
  const lines = rows.map(([said, ...numbers], n) => {
    const named = wrapText(said, room, 13, n ? 400 : 600);
    const line = { said, named, numbers, y, h: TABLE.line * named.length + TABLE.around, weight: n ? 400 : 600 };
    y += line.h;
    return line;
  });
  const notes = wrapText(note, width, 12);
  const ends = [(width * (room + first)) / (room + first + second), width];
  return { lines, ends, note, notes, foot: y + 4, height: y + 4 + NOTE * notes.length };
}

/** All of it for those who hear it. @param {SideScene} scene */
export function sideText({ words, alternatives, nothing, work, memory }) {
  const list = (/** @type {string} */ said, /** @type {string[]} */ kept) =>
    fill(words.of, { said, kept: joinTexts(words.join_things, kept) });
  const tokens = alternatives.map(
    ([label, probability, chosen]) =>
      `${visibleToken(label)} ${formatPercent(probability)}${chosen ? ` (${words.chosen})` : ""}`,
  );
  const [heads, ...lines] = work?.lines ?? [];
  const costs = lines.map(({ said, numbers }) =>
    list(
      said,
      numbers.map((number, n) => `${number} ${heads.numbers[n]}`),
    ),
  );
  const parts = [list(words.choices, tokens), nothing.length ? words.nothing : "", ...costs];
  return joinTexts(words.join_heard, [...parts, work?.note ?? "", memory.title]);
}

/** @param {DrawingContext} context @param {SideScene} scene @param {Theme} theme */
export function drawSide(context, scene, theme) {
  drawChoices(context, scene, theme);
  context.save();
  context.translate(0, scene.choices);
  drawWork(context, scene, theme);
  context.restore();
  drawMemory(context, scene, theme);
}

/** @param {DrawingContext} context @param {SideScene} scene @param {Theme} theme */
function drawChoices(context, { words, alternatives, nothing, width }, theme) {
  writeText(context, words.choices, 0, 10, theme, "600 14px");
  const track = { x: CHOICE.name + CHOICE.gap, w: width - CHOICE.name - CHOICE.number - 2 * CHOICE.gap, h: CHOICE.bar };
  alternatives.forEach(([label, probability, chosen], n) => {
    const y = HEAD + LINE * (n + 0.5);
    const weight = /** @type {Weight} */ (chosen ? 600 : 400);
    writeText(context, shortenText(visibleToken(label), CHOICE.name, 13, weight), 0, y, theme, `${weight} 13px`);
    writeText(context, formatPercent(probability), width, y, theme, `${weight} 13px`, 1, "right");
    const place = { ...track, y: y - CHOICE.bar / 2 };
    fillBox(context, place, theme.text, 0.08);
    const share = { ...place, w: Math.max(1, place.w * probability) };
    fillBox(context, share, chosen ? theme.primary : theme.text, chosen ? 1 : 0.45);
  });
  const below = HEAD + LINE * alternatives.length;
  nothing.forEach((line, n) => writeText(context, line, 0, below + NOTE * (n + 0.5), theme, "12px", 0.85));
}

/** @param {DrawingContext} context @param {SideScene} scene @param {Theme} theme */
function drawWork(context, { work, width }, theme) {
  if (!work) return;
  for (const { named, numbers, y, h, weight } of work.lines) {
    const alpha = weight === 600 ? 1 : 0.85;
    named.forEach((line, n) =>
      writeText(context, line, 0, y + 2 + TABLE.line * (n + 0.5), theme, `${weight} 13px`, alpha),
    );
    numbers.forEach((number, n) =>
      writeText(context, number, work.ends[n], y + 2 + TABLE.line / 2, theme, `${weight} 13px`, 1, "right"),
    );
    drawWith(context, { strokeStyle: theme.text, globalAlpha: 0.12, lineWidth: 1 });
    strokePath(context, [0, y + h - 0.5], [width, y + h - 0.5]);
    context.globalAlpha = 1;
  }
  work.notes.forEach((line, n) => writeText(context, line, 0, work.foot + NOTE * (n + 0.5), theme, "12px", 0.85));
}

/** Keys and values of each layer, one half each. @param {DrawingContext} context @param {SideScene} scene @param {Theme} theme */
function drawMemory(context, { memory: { title, layers, y, w }, colours }, theme) {
  writeText(context, title, 0, y + 10, theme, "600 14px");
  const wide = w / layers.length;
  const foot = y + HEAD + LAYERS.h;
  layers.forEach(({ share }, layer) => {
    const bar = { x: layer * wide, w: Math.max(0.5, wide - 1), h: (share * LAYERS.h) / 2 };
    fillBox(context, { ...bar, y: foot - 2 * bar.h }, colours.k);
    fillBox(context, { ...bar, y: foot - bar.h }, colours.v);
  });
  drawWith(context, { strokeStyle: theme.text, globalAlpha: 0.4, lineWidth: 1 });
  strokePath(context, [0, foot + 0.5], [w, foot + 0.5]);
  context.globalAlpha = 1;
}

/** The layer whose bar is under a point, in words; "" beside the bars. @param {SideScene} scene @param {number} x @param {number} y */
export function layerUnder({ memory: { layers, y: top, w } }, x, y) {
  if (y < top + HEAD || y > top + HEAD + LAYERS.h) return "";
  return layers[Math.floor((x / w) * layers.length)]?.text ?? "";
}

/** The step in a sentence. @param {PlayedRun} header @param {number} at */
export function stepSentence({ labels, steps, total, words }, at) {
  const { context } = steps[at];
  const values = { step: at + 1, total, new: context, token: visibleToken(labels[context - 1]), cached: context };
  return fill(at ? words.decode : words.prefill, values);
}

/** The tokens so far, and the one that was chosen. @param {PlayedRun} header @param {number} at */
export function makeTape(header, at) {
  const { labels, prompt, steps } = header;
  const [, end] = newRows(steps, at);
  return labels.slice(0, end + Number(isChosen(header, at))).map((label, i) => {
    const kind = i === end ? "chosen" : i === end - 1 ? "newest" : i < prompt ? "prompt" : "written";
    return { text: visibleToken(label), kind };
  });
}

/** Whether a token was chosen at this step. @param {PlayedRun} header @param {number} at */
export function isChosen({ steps }, at) {
  return steps[at].alternatives.some(([, , chosen]) => chosen);
}

/** What the step took with a cache and without, as a table below its heads, and a note. */
/** @param {PlayedRun} header @param {number} at */
export function countWork({ words, steps }, at) {
  const { flops, seconds, difference } = countSoFar(steps, at);
  const { tokens, difference: now } = steps[at];
  const rows = [
    [words.work, words.cache, words.anew],
    [words.tokens, ...tokens.map(String)],
    [words.flops, ...flops.map(formatFlop)],
    [words.time, ...seconds.map(formatDuration)],
  ];
  return { rows, note: fill(words.same, { now: formatTiny(now), all: formatTiny(difference) }) };
}

/** The bytes of each layer's cache: in all, and each with its share of the most that any layer comes to hold. */
/** @param {PlayedRun} header @param {number} at */
export function countMemory({ words, steps }, at) {
  const held = steps[at].layer_bytes;
  const most = Math.max(1, ...steps[steps.length - 1].layer_bytes);
  const total = held.reduce((sum, bytes) => sum + bytes, 0);
  const layers = held.map((bytes, layer) => ({
    share: bytes / most,
    text: fill(words.layer, { layer, bytes: formatBytes(bytes) }),
  }));
  return { title: fill(words.bytes, { bytes: formatBytes(total), layers: held.length }), layers };
}

/** @param {number} value */
function formatTiny(value) {
  return value === 0 ? "0" : value.toExponential(1);
}

/** @typedef {ReturnType<typeof placeTape>} Tape */

/** A token's box, and around it what a finger may touch, which leaves no gap. */
const TOKEN = { h: 23, room: 7, gap: 3, least: 21 };

/** @param {PlayedRun} header @param {number} at @param {number} width */
export function placeTape(header, at, width) {
  let [x, y] = [0, 0];
  const tokens = makeTape(header, at).map(({ text, kind }) => {
    const weight = /** @type {Weight} */ (kind === "newest" ? 600 : 400);
    const label = shortenText(text, width - 2 * TOKEN.room, 13, weight);
    const w = Math.max(TOKEN.least, textWidth(label, 13, weight) + 2 * TOKEN.room);
    if (x > 0 && x + w > width) [x, y] = [0, y + TOKEN.h + TOKEN.gap];
    const token = { text, label, kind, weight, x, y, w, h: TOKEN.h };
    x += w + TOKEN.gap;
    return token;
  });
  return { tokens, width, height: y + TOKEN.h + TOKEN.gap };
}

/** What a hand touches of a token. @param {Tape["tokens"][number]} token */
export function touchedToken({ x, y, w, h }) {
  return { x: x - TOKEN.gap / 2, y: y - TOKEN.gap / 2, w: w + TOKEN.gap, h: h + TOKEN.gap };
}

/** @param {DrawingContext} context @param {Tape} tape @param {Theme} theme */
export function drawTape(context, { tokens }, theme) {
  for (const { label, kind, weight, ...box } of tokens) {
    if (kind === "written") fillBox(context, box, theme.primary, 0.16, 4);
    else if (kind !== "chosen") fillBox(context, box, theme.text, 0.07, 4);
    context.setLineDash(kind === "chosen" ? [3, 3] : []);
    if (kind === "chosen" || kind === "newest") frameBox(context, box, 4, theme.primary);
    writeText(context, label, box.x + box.w / 2, box.y + box.h / 2, theme, `${weight} 13px`, 1, "center");
  }
  context.setLineDash([]);
}
