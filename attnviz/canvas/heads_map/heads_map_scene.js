// All heads of a model, each the smallest picture of what it does: eight tokens, four words twice, whose first column, diagonals
// and stripes are as bright as their mean weight. In the model's order, or by kind; its area is what the head costs. No page.

import { interpolateNumber, marksBetween } from "../scene/glide.js";
import { filmOfSteps } from "../scene/film.js";
import { textWidth, wrapText } from "../scene/text_width.js";
import { colourAt, css } from "../shared/colour.js";
import { clamp, formatFixed } from "../shared/numbers.js";
import { toFloats } from "../shared/packing.js";
import { drawWith, fillBox, outline, writeText } from "../shared/surface.js";

/** @import { DrawingContext, ForFile, HeadsMapHeader, Rectangle, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @typedef {{ key: number, alpha: number, x: number, y: number, side: number }} TileMark */
/** @typedef {ReturnType<typeof readHeads>} Heads */
/** @typedef {ReturnType<typeof mapScene>} MapScene */

const WORDS = 4;
/** Tokens of a small picture, between two pictures, groups and shelves, a group's name, what numbers of heads stand on. */
const [N, GAP, APART, BELOW, NAME, EDGE] = [2 * WORDS, 3, 30, 20, 26, 30];
/** The largest side and the smallest, as a share of it; a side where no cost is known. */
const [LARGEST, LEAST, ALIKE] = [84, 0.34, 0.5];
/** The smallest where each has a cell of its own. */
const LEAST_IN_MODEL = 0.6;
const [WIDE, HIGH, LOW] = [640, 465, 640];

/** What is known of each head, of the numbers that came. @param {Pick<HeadsMapHeader, "patterns">} header @param {Uint8Array} payload */
export function readHeads({ patterns }, payload) {
  const numbers = toFloats(payload);
  const wide = 8 + patterns.length + 10;
  return Array.from({ length: numbers.length / wide }, (_none, i) => {
    const [layer, head, pattern, named, stderr, cost, explained, best] = numbers.subarray(i * wide, i * wide + 8);
    const means = numbers.subarray(i * wide + 8, i * wide + 8 + patterns.length);
    const tenths = numbers.subarray(i * wide + 8 + patterns.length, (i + 1) * wide).filter((score) => !isNaN(score));
    return { layer, head, pattern, named: named === 1, stderr, cost, explained, best, means, tenths };
  });
}

/** A share from 0 to 1, eased at both ends. @param {number} share */
export function smoothstep(share) {
  const at = clamp(share, 0, 1);
  return at * at * (3 - 2 * at);
}

/** How large each is: its area is its cost, and those that cost next to nothing are as large as the smallest. @param {Heads} heads @param {number} largest */
function sides(heads, largest, least = LEAST) {
  const most = Math.max(...heads.map(({ cost }) => (isNaN(cost) ? 0 : cost)));
  const share = (/** @type {number} */ cost) => Math.max(least, Math.sqrt(Math.max(0, isNaN(cost) ? 0 : cost) / most));
  return heads.map(({ cost }) => largest * (most > 0 ? share(cost) : ALIKE));
}

/** Rows of these heads in so much room, the largest first. @param {number[]} members @param {number[]} side @param {number} room */
function flow(members, side, room) {
  let [x, y, high] = [0, 0, 0];
  const places = members.map((key) => {
    if (x && x + side[key] > room) [x, y, high] = [0, y + high + GAP, 0];
    high = Math.max(high, side[key]);
    const place = { key, x, y, side: side[key], alpha: 1 };
    x += side[key] + GAP;
    return place;
  });
  return { places, height: y + high };
}

/** @param {HeadsMapHeader} header @param {Heads} heads @param {number} width @param {number} largest */
function placeByKind({ kinds }, heads, width, largest) {
  const side = sides(heads, largest);
  const blocks = kinds.flatMap((name, kind) => {
    const members = heads.flatMap((head, key) =>
      (head.named ? head.pattern : kinds.length - 1) === kind ? [key] : [],
    );
    if (!members.length) return [];
    members.sort((a, b) => side[b] - side[a] || a - b);
    const area = members.reduce((sum, key) => sum + (side[key] + GAP) ** 2, 0);
    const label = { name, count: String(members.length) };
    const least = Math.max(textWidth(name, 14, 600) + textWidth(label.count, 14) + 10, side[members[0]]);
    return [{ label, members, wide: Math.min(width, Math.max(least, Math.sqrt(1.9 * area))) }];
  });
  /** @type {(typeof blocks)[]} */
  const shelves = [];
  let room = 0;
  for (const block of blocks) {
    if (block.wide + APART > room) [room] = [width + APART, shelves.push([])];
    shelves[shelves.length - 1].push(block);
    room -= block.wide + APART;
  }
  let y = 0;
  /** @type {TileMark[]} */
  const tiles = [];
  const labels = shelves.flatMap((shelf) => {
    const free = width + APART - shelf.reduce((sum, { wide }) => sum + wide + APART, 0);
    let [x, high] = [0, 0];
    const named = shelf.map(({ label, members, wide }) => {
      const block = wide + (free * wide) / (width - (shelf.length - 1) * APART - free);
      const { places, height } = flow(members, side, block);
      tiles.push(...places.map((place) => ({ ...place, x: place.x + x, y: place.y + y + NAME })));
      high = Math.max(high, height);
      const at = { ...label, x, y: y + NAME / 2 - 2 };
      x += block + APART;
      return at;
    });
    y += NAME + high + BELOW;
    return named;
  });
  return { tiles, labels, height: Math.max(0, y - BELOW) };
}

/** Layers beside each other, heads below; in a narrow window layers below each other. @param {Heads} heads @param {number} width @param {number} high */
function placeByLayer(heads, width, high) {
  const across = width >= WIDE;
  const [layers, most] = [Math.max(...heads.map(({ layer }) => layer)), Math.max(...heads.map(({ head }) => head))].map(
    (last) => last + 1,
  );
  const [columns, rows] = across ? [layers, most] : [most, layers];
  const cell = Math.min((width - EDGE) / columns, high / rows, LARGEST);
  const side = sides(heads, cell - GAP, LEAST_IN_MODEL);
  const tiles = heads.map(({ layer, head }, key) => {
    const [column, row] = across ? [layer, head] : [head, layer];
    const [x, y] = [EDGE + (column + 0.5) * cell, NAME + (row + 0.5) * cell];
    return { key, alpha: 1, side: side[key], x: x - side[key] / 2, y: y - side[key] / 2 };
  });
  return { tiles, labels: [], across, cell, columns, rows, height: NAME + rows * cell };
}

/**
 * @param {HeadsMapHeader} header @param {Heads} heads @param {{ by: string, at: number | null, pointed?: number | null, high?: number }} view
 * @param {number} width @param {Theme} theme
 */
export function mapScene(header, heads, { by, at, pointed = null, ...room }, width, theme) {
  const { high = width >= WIDE ? HIGH : LOW } = room;
  let placed = placeByLayer(heads, width, high);
  if (by === "kind") {
    let largest = LARGEST;
    const fit = () => (placed = /** @type {any} */ (placeByKind(header, heads, width, largest)));
    while (fit().height > high && largest > 28) largest -= 2;
  }
  return { ...placed, header, heads, by, at, pointed, width, theme };
}

/** @param {DrawingContext} context @param {MapScene} scene @param {TileMark[]} tiles on their way to others */
export function drawMap(context, { header, heads, labels, at, pointed, theme, ...scene }, tiles = scene.tiles) {
  for (const { name, count, x, y } of labels) {
    writeText(context, name, x, y, theme, "600 14px");
    writeText(context, count, x + textWidth(name, 14, 600) + 7, y, theme, "14px", 0.8);
  }
  if (scene.by !== "kind") {
    const { words } = header;
    const [columns, rows] = scene.across ? [words.layer, words.head] : [words.head, words.layer];
    writeText(context, `${columns} →`, EDGE, 8, theme, "12px", 0.8);
    const step = Math.max(1, Math.ceil(22 / scene.cell));
    for (let n = 0; n < scene.columns; n += step)
      writeText(context, String(n), EDGE + (n + 0.5) * scene.cell, 20, theme, "11px", 0.8, "center");
    for (let n = 0; n < scene.rows; n += step)
      writeText(context, String(n), EDGE - 8, NAME + (n + 0.5) * scene.cell, theme, "11px", 0.8, "right");
    context.save();
    context.translate(7, NAME);
    context.rotate(Math.PI / 2);
    writeText(context, `${rows} →`, 0, 0, theme, "12px", 0.8);
    context.restore();
  }
  const headOf = (/** @type {TileMark} */ { key }) => Math.round(key); // on its way a number is rounded
  for (const tile of tiles)
    drawHead(context, header, heads[headOf(tile)].means, { x: tile.x, y: tile.y, w: tile.side, h: tile.side });
  for (const key of [at, pointed]) {
    const tile = tiles.find((each) => headOf(each) === key);
    if (!tile) continue;
    const box = { x: tile.x - 2, y: tile.y - 2, w: tile.side + 4, h: tile.side + 4 };
    outline(context, box, key === pointed ? theme.text : theme.primary, key === pointed ? 2 : 3, theme.background);
  }
}

/**
 * One head's picture. What no pattern has is spread evenly over the keys that it may see.
 * @param {DrawingContext} context @param {Pick<HeadsMapHeader, "cells" | "causal" | "colours">} header @param {Float32Array} means
 * @param {Rectangle} place
 */
export function drawHead(context, { cells, causal, colours }, means, { x, y, w }) {
  const cell = w / N;
  const known = cells.map((of, i) => ({ of, mean: isNaN(means[i]) ? 0 : means[i] }));
  const left = Math.max(0, 1 - known.reduce((sum, { mean }) => sum + mean, 0)) / (causal ? (N + 1) / 2 : N);
  const paint = (/** @type {number} */ weight) =>
    drawWith(context, { fillStyle: css(colourAt(colours.weights, Math.sqrt(Math.min(1, weight)))) });
  paint(left);
  context.beginPath();
  for (let q = 0; q < N; q++) context.rect(x, y + q * cell, (causal ? q + 1 : N) * cell, cell);
  context.fill();
  for (const { of, mean } of known.toSorted((a, b) => a.mean - b.mean)) {
    paint(mean);
    context.beginPath();
    for (const [k, q] of of) context.rect(x + k * cell, y + q * cell, cell, cell);
    context.fill();
  }
}

/** The same with its words: queries beside it, keys above. */
/** @param {DrawingContext} context @param {Pick<HeadsMapHeader, "cells" | "causal" | "colours">} header @param {Float32Array} means @param {Rectangle} place @param {Theme} theme */
export function drawLargeHead(context, header, means, place, theme) {
  drawHead(context, header, means, place);
  const cell = place.w / N;
  for (let i = 0; i < N; i++) {
    const word = "abcd"[i % WORDS];
    writeText(
      context,
      word,
      place.x + (i + 0.5) * cell,
      place.y - 8,
      { ...theme, text: theme.k },
      "600 13px",
      1,
      "center",
    );
    writeText(
      context,
      word,
      place.x - 6,
      place.y + (i + 0.5) * cell,
      { ...theme, text: theme.q },
      "600 13px",
      1,
      "right",
    );
  }
}

/** How a head's texts are spread, from the tenth that shows its pattern most to the one that shows it least. */
/** @param {DrawingContext} context @param {Float32Array} tenths @param {Rectangle} place @param {Theme} theme */
export function drawTenths(context, tenths, { x, y, w, h }, theme) {
  const step = w / 10;
  fillBox(context, { x, y: y + h, w, h: 1 }, theme.text, 0.5);
  tenths.forEach((score, i) => {
    const high = Math.max(1, score * h);
    fillBox(context, { x: x + i * step, y: y + h - high, w: step - 3, h: high }, theme.primary);
    if (i && i < tenths.length - 1) return;
    const at = i ? x + (i + 1) * step - 3 : x;
    writeText(context, formatFixed(score, 2), at, y + h - high - 8, theme, "11px", 1, i ? "right" : "left");
  });
}

/** @param {ForFile<HeadsMapHeader>} header @param {Uint8Array} payload @param {Theme} theme @returns {Figure} */
export function mapFigure(header, payload, theme) {
  const scene = mapScene(/** @type {any} */ (header), readHeads(header, payload), header, 900, theme);
  return finishFigure(header, scene, scene.tiles);
}

/** @param {ForFile<HeadsMapHeader>} header @param {MapScene} scene @param {TileMark[]} tiles @returns {Figure} */
function finishFigure({ title, words }, scene, tiles, height = scene.height) {
  const legend = wrapText(words.legend, scene.width, 13);
  const draw = (/** @type {DrawingContext} */ context) => {
    drawMap(context, scene, tiles);
    legend.forEach((line, n) => writeText(context, line, 0, height + 18 + 18 * n, scene.theme, "13px", 0.85));
  };
  return { width: scene.width, height: height + 12 + 18 * legend.length, title, draw };
}

/** Heads leave their place in the model for others of their kind. @param {ForFile<HeadsMapHeader>} header @param {Uint8Array} payload */
export function mapFilm(header, payload) {
  const heads = readHeads(header, payload);
  return filmOfSteps(header.words.film, 40, 5, (stop, theme) => {
    const [from, to] = ["layer", "kind"].map((by) =>
      mapScene(/** @type {any} */ (header), heads, { by, at: header.at }, 900, theme),
    );
    const share = clamp((stop - 6) / 26, 0, 1);
    const eased = smoothstep(share);
    const scene = share < 1 ? { ...from, by: share ? "kind" : "layer", labels: [] } : to;
    const height = Math.max(from.height, to.height, interpolateNumber(from.height, to.height)(eased));
    return finishFigure({ ...header, title: "" }, scene, marksBetween(from.tiles, to.tiles)(eased), height);
  });
}
