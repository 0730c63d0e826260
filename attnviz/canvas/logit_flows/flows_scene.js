// What parts of a model add, as flows: each begins at its layer, as thick as its logits, turns up and runs to the word that it is
// for. Those of lower layers run outside, so that no two cross. No page.

import { filmOfSteps } from "../scene/film.js";
import { textWidth } from "../scene/text_width.js";
import { shortenText } from "../step_player/step_player_scene.js";
import { fill } from "../shared/dom.js";
import { clamp, formatFixed, formatSigned } from "../shared/numbers.js";
import { drawWith, fillBox, strokePath, writeText } from "../shared/surface.js";

/** @import { DrawingContext, ForFile, LogitFlowsHeader, Rectangle, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @typedef {ReturnType<typeof flowsScene>} FlowsScene */
/** @typedef {{ i: number, side: -1 | 1, w: number, h: number, label: Rectangle, from: number, y: number, lane: number, isCut: boolean }} Placed */

/** Pixels above the layers, of a line below them, of a layer without anything, of a line of text, from a flow's corner on. */
const [TOP, BELOW, BASE, LINE, BEND] = [78, 19, 2, 16, 10];
/** Pixels of the whole, of a width from which on values stand beside names, and how much wider than high a flow may be. */
const [HIGH, NARROW, STRETCH] = [450, 560, 3.2];

/** Those beside a layer's number, where names stand. @param {number} width */
const nameWidth = (width) => (width < NARROW ? 62 : 104);

/**
 * @param {Pick<LogitFlowsHeader, "flows" | "layers" | "targets" | "prompt" | "kinds" | "pair" | "words" | "head">} header
 * @param {readonly number[]} values what each flow carries now, on its way to `header`'s
 * @param {{ at: number, pointed: number | null, cut: boolean, high?: number }} view layers so far, whether the chosen head is cut, and the least height
 * @param {number} width @param {Theme} theme
 */
export function flowsScene(header, values, { at, pointed, cut, high = HIGH }, width, theme) {
  const { flows, layers, head } = header;
  const names = nameWidth(width);
  const middle = width / 2;
  const room = middle - 16 - names - 2 * BEND;
  const isLegendBeside = textWidth(header.words.rest, 12) < middle - 40; // the axis' name, else below both lines
  const foot = BELOW * (isLegendBeside ? 2 : 3);
  const rows = Array.from({ length: layers + 1 }, (_none, row) =>
    flows.flatMap(([, , layer], i) => (layer === row - 1 ? [i] : [])),
  );
  const isNamed = (/** @type {number} */ i) => flows[i][1] !== "rest";
  const sideOf = (/** @type {number} */ i) => ((values[i] || flows[i][4]) < 0 ? 1 : -1);
  /** The size of a flow now, as it came and as it was: none of these may be too wide or too high. */
  const sizes = [values, flows.map((flow) => flow[3]), flows.map((flow) => flow[4])];
  const most = Math.max(...sizes.slice(1).flatMap((each) => [1, -1].map((sign) => each.reduce((sum, v) => sum + Math.max(0, sign * v), 0))), 1e-6); // prettier-ignore
  const slotOf = (/** @type {number} */ i, /** @type {number} */ value, /** @type {number} */ unit) =>
    Math.max(isNamed(i) ? LINE : 0, Math.abs(value) * unit + 0.5);
  const rowHeight = (/** @type {number[]} */ row, /** @type {readonly number[]} */ each, /** @type {number} */ unit) =>
    BASE + Math.max(...[1, -1].map((side) => row.reduce((sum, i) => sum + (sideOf(i) === side ? slotOf(i, each[i], unit) : 0), 0))); // prettier-ignore
  const whole = (/** @type {readonly number[]} */ each, /** @type {number} */ unit) => rows.reduce((sum, row) => sum + rowHeight(row, each, unit), 0); // prettier-ignore
  let unit = 0;
  for (let step = 100 / most, n = 0; n < 24; n++, step /= 2)
    if (sizes.slice(1).every((each) => whole(each, unit + step) <= high - TOP - foot)) unit += step;
  const across = Math.min(room / most, STRETCH * unit);
  const heights = rows.map((row) => rowHeight(row, values, unit));
  const height = Math.max(high, Math.ceil(whole(values, unit) + TOP + foot));
  /** @type {Placed[]} */
  const placed = [];
  const lanes = { [-1]: 0, [1]: 0 };
  const banks = { [-1]: 0, [1]: 0 };
  const ticks = [];
  let low = height - foot;
  for (const [row, members] of rows.entries()) {
    for (const side of /** @type {const} */ ([-1, 1])) {
      let y = low - BASE / 2;
      for (const i of members.filter((each) => sideOf(each) === side)) {
        const size = Math.abs(values[i]);
        const [tall, w, h] = [slotOf(i, values[i], unit), size * across * (row <= at ? 1 : 0), size * unit];
        const x = side < 0 ? middle - 14 - names : middle + 14;
        placed.push({ i, side, w, h, label: { x, y: y - tall, w: names, h: tall }, from: middle + side * (14 + names), y: y - tall / 2, lane: lanes[side], isCut: cut && flows[i][0] === head }); // prettier-ignore
        lanes[side] += w;
        banks[side] += size * across;
        y -= tall;
      }
    }
    if (row > 0) ticks.push({ layer: row - 1, y: low - heights[row] / 2, h: heights[row] });
    low -= heights[row];
  }
  const [plus, minus] = [1, -1].map((sign) =>
    values.reduce((sum, value, i) => sum + (flows[i][2] < at ? Math.max(0, sign * value) : 0), 0),
  );
  // lanes are counted from outside: what came in lower runs farther out
  const edges = { [-1]: middle - 14 - names - BEND - banks[-1], [1]: middle + 14 + names + BEND + banks[1] };
  return {
    header,
    values,
    at,
    pointed,
    width,
    height,
    middle,
    placed,
    edges,
    lanes,
    banks,
    ticks,
    plus,
    minus,
    names,
    theme,
    low: height - foot,
    isLegendBeside,
  };
}

/** From where to where a flow runs up. @param {FlowsScene} scene @param {Placed} flow @returns {[number, number]} */
function laneOf({ edges }, { side, lane, w }) {
  const outer = edges[side] - side * lane;
  return side < 0 ? [outer, outer + w] : [outer - w, outer];
}

/** The flow under a point; its name counts, too. @param {FlowsScene} scene @param {number} x @param {number} y */
export function flowAt(scene, x, y) {
  const isIn = (/** @type {Rectangle} */ box) => x >= box.x && x <= box.x + box.w && y >= box.y && y <= box.y + box.h;
  const hit = scene.placed.find((flow) => {
    const [left, right] = laneOf(scene, flow);
    const [top, half] = [flow.y - flow.h / 2, Math.max(3, flow.h / 2)];
    const across = { x: Math.min(left, flow.from), y: flow.y - half, w: Math.abs(flow.from - (flow.side < 0 ? left : right)), h: 2 * half }; // prettier-ignore
    if (flow.side > 0) across.x = flow.from;
    return (
      isIn(flow.label) || isIn(across) || isIn({ x: left, y: TOP - 8, w: Math.max(2, right - left), h: top - TOP + 8 })
    );
  });
  return hit ? hit.i : null;
}

/** Sum and two sums that are written so that they add up. @param {FlowsScene} scene */
export function writtenSums({ plus, minus }) {
  const [lead, more] = [plus - minus, plus].map((each) => Math.round(each * 100) / 100);
  return { lead, plus: more, minus: more - lead };
}

/** @param {DrawingContext} context @param {FlowsScene} scene */
export function drawFlows(context, scene) {
  const { header, placed, ticks, middle, theme, pointed, low, width, at } = scene;
  const { flows, kinds, words, head } = header;
  const isPlain = pointed === null || placed.some(({ i, isCut }) => i === pointed && isCut);
  for (const flow of placed) {
    const [, kind] = flows[flow.i];
    const isLit = flow.i === pointed || flows[flow.i][0] === head;
    const alpha = isPlain || flow.i === pointed ? (kind === "rest" ? 0.45 : 0.9) : 0.3;
    drawWith(context, { fillStyle: kinds[kind], strokeStyle: theme.text, lineWidth: 1.5, globalAlpha: alpha });
    if (flow.w > 0.15) drawRibbon(context, scene, flow, isLit);
    context.globalAlpha = 1;
  }
  for (const { layer, y, h } of ticks) {
    if (layer % (h > 11 ? 1 : 5) && h < 14) continue;
    writeText(context, String(layer), middle, y, theme, "12px", layer < at ? 0.85 : 0.35, "center");
  }
  writeText(context, words.layer, middle, low + 8, theme, "12px", 0.85, "center");
  writeText(context, shortenText(`“${header.prompt}”`, width, 15, 600), middle, low + 27, theme, "600 15px", 1, "center");
  drawNames(context, scene);
  drawSums(context, scene);
  writeText(context, words.rest, 0, low + (scene.isLegendBeside ? 8 : 47), theme, "12px", 0.85);
} // prettier-ignore

/** What stands beside the layers: a name and what it adds, struck through where it is cut. @param {DrawingContext} context @param {FlowsScene} scene */
function drawNames(context, scene) {
  const { header, placed, theme, pointed, width, at } = scene;
  const { flows, head } = header;
  for (const flow of placed) {
    const [name, kind, layer, , before] = flows[flow.i];
    if (kind === "rest" || layer >= at) continue;
    const { side, label, isCut, y } = flow;
    const isLit = flow.i === pointed || name === head;
    const text = width < NARROW ? name : `${name}  ${formatSigned(isCut ? before : scene.values[flow.i], 2)}`;
    const x = side < 0 ? label.x + label.w - 4 : label.x + 4;
    writeText(context, text, x, y, theme, isLit ? "600 13px" : "13px", isCut ? 0.7 : 1, side < 0 ? "right" : "left");
    if (!isCut) continue;
    const long = textWidth(text, 13, 600);
    drawWith(context, { strokeStyle: theme.primary, lineWidth: 2 });
    strokePath(context, [side < 0 ? x - long : x, y], [side < 0 ? x : x + long, y]);
    strokePath(context, [flow.from - 5, y - 6], [flow.from + 5, y + 6]);
    strokePath(context, [flow.from - 5, y + 6], [flow.from + 5, y - 6]);
  }
} // prettier-ignore

/** Both words above what flows to them, and how far the first is ahead. @param {DrawingContext} context @param {FlowsScene} scene */
function drawSums(context, scene) {
  const { header, middle, theme, width, at, edges, lanes, banks } = scene;
  const { flows, targets, pair, words } = header;
  const { lead, plus, minus } = writtenSums(scene);
  const sums = [plus, minus];
  targets.forEach((token, i) => {
    const side = i ? 1 : -1;
    const [near, far] = [edges[side] - side * lanes[/** @type {-1 | 1} */ (side)], edges[side]];
    const from = Math.min(near, far);
    fillBox(context, { x: from, y: TOP - 14, w: Math.max(1, Math.abs(far - near)), h: 6 }, i ? theme.text : pair[1], i ? 0.6 : 1);
    const long = Math.max(textWidth(token, 26, 600), 60);
    const centre = clamp(far - (side * banks[/** @type {-1 | 1} */ (side)]) / 2, long / 2, width - long / 2);
    const look = i ? theme : { ...theme, text: theme.primary };
    writeText(context, token, centre, 18, look, "600 26px", 1, "center");
    writeText(context, formatFixed(sums[i], 2), centre, TOP - 28, theme, "15px", 0.9, "center");
  });
  const all = header.layers <= at;
  writeText(context, formatSigned(lead, 2), middle, 18, theme, "600 24px", 1, "center");
  const before = flows.reduce((sum, flow) => sum + flow[4], 0);
  const isChanged = flows.some((flow) => flow[3] !== flow[4]);
  const about = !all ? words.so_far : isChanged ? fill(words.before, { lead: formatSigned(before, 2) }) : words.lead;
  writeText(context, about, middle, TOP - 28, theme, "13px", 0.9, "center");
} // prettier-ignore

/** A flow: across from its layer, around a corner, and up. @param {DrawingContext} context @param {FlowsScene} scene @param {Placed} flow @param {boolean} isLit */
function drawRibbon(context, scene, flow, isLit) {
  const { side, from, y, w, h } = flow;
  const [left, right] = laneOf(scene, flow);
  const [outer, inner] = side < 0 ? [left, right] : [right, left];
  const [low, high, bend] = [y + h / 2, y - h / 2, BEND];
  context.beginPath();
  context.moveTo(from, low);
  context.lineTo(outer - side * (bend + w), low);
  context.bezierCurveTo(outer, low, outer, low, outer, low - bend - h);
  context.lineTo(outer, TOP - 8);
  context.lineTo(inner, TOP - 8);
  context.lineTo(inner, high - bend);
  context.bezierCurveTo(inner, high, inner, high, inner - side * bend, high);
  context.lineTo(from, high);
  context.fill();
  if (isLit) context.stroke();
}

/** @param {ForFile<LogitFlowsHeader>} header @param {Uint8Array} _payload @param {Theme} theme @returns {Figure} */
export function flowsFigure(header, _payload, theme) {
  return figureAt(header, header.layers, theme, header.title);
}

/** @param {ForFile<LogitFlowsHeader>} header @param {number} at @param {Theme} theme @param {string} title @returns {Figure} */
function figureAt(header, at, theme, title) {
  const values = header.flows.map((flow) => flow[3]);
  const scene = flowsScene(header, values, { at, pointed: null, cut: header.cut }, 880, theme);
  const draw = (/** @type {DrawingContext} */ context) => drawFlows(context, scene);
  return { width: scene.width, height: scene.height, title, draw };
}

/** Layer after layer. @param {ForFile<LogitFlowsHeader>} header */
export function flowsFilm(header) {
  return filmOfSteps(header.words.film, header.layers + 1, 6, (at, theme) =>
    figureAt(header, at, theme, `${header.words.step}: ${at}`),
  );
}
