// The whole computation, small: every tensor once, in the order in which they are made, with lines from what each is made of.
// Where three matrices are made beside each other, they lie in three lanes. No page.

import { clamp } from "../shared/numbers.js";
import { rgb } from "../shared/colour.js";
import { drawWith, fillBox, frameBox, strokePath, writeText } from "../shared/surface.js";
import { textWidth } from "../scene/text_width.js";
import { nameColour, tensorColour } from "./tensor_tint.js";

/** @import { BoardMap, DrawingContext, Rectangle, TensorColours, Theme, Thumb } from "../shared/types.js" */

/** @typedef {ReturnType<typeof placeMap>} PlacedMap */

/** Letters of a step's name, and a map that is lower has none. */
const [NAME, NAMED] = [12.5, 70];
/** Pixels around all, above and below the lanes, between lanes, between matrices, and at the sides of a step. */
const [AROUND, ABOVE, BELOW, BETWEEN, APART, PAD] = [3, 22, 11, 5, 4, 5];
/** Pixels of a number, of the widest matrix, and of the narrowest step. */
const [CELL, WIDEST, LEAST] = [7, 46, 26];
const LANES = 3;

/** Pixels of a number of a matrix that is to be so high at most. @param {Thumb} tensor @param {number} high */
function cellSize({ rows, cols }, high) {
  return Math.min(CELL, high / rows, WIDEST / cols);
}

/** Places every tensor, each step's in a column: what comes in new, then what is made of it. */
/** @param {BoardMap} map @param {number} width that it fills at least @param {number} height */
export function placeMap({ steps, tensors }, width, height) {
  const named = height > NAMED;
  const above = named ? ABOVE : AROUND + 2;
  const below = named ? BELOW : AROUND + 5;
  const lane = (height - above - below - (LANES - 1) * BETWEEN) / LANES;
  const middle = (/** @type {number} */ n) => above + lane / 2 + n * (lane + BETWEEN);
  const known = new Set();
  const columns = steps.map(({ label, boards }, i) => {
    const name = named ? `${i + 1} ${label}` : "";
    const first = boards.length < LANES - 1 ? 1 : 0; // one matrix stands in the middle
    const high = first ? 2 * lane : lane;
    const rows = boards.map((board, n) => {
      const fresh = board.filter((tensor) => !known.has(tensor));
      for (const tensor of fresh) known.add(tensor);
      let x = -APART;
      const items = fresh.map((tensor) => {
        const cell = cellSize(tensors[tensor], high);
        const [w, h] = [tensors[tensor].cols * cell, tensors[tensor].rows * cell];
        x += APART + w;
        return { tensor, x: x - w, y: middle(first + n) - h / 2, w, h };
      });
      return { items, width: x };
    });
    return {
      name,
      rows,
      wide: 2 * PAD + Math.max(LEAST - 2 * PAD, textWidth(name, NAME), ...rows.map((row) => row.width)),
    };
  });
  const least = columns.reduce((sum, { wide }) => sum + wide, 2 * AROUND);
  const more = Math.max(0, width - least) / columns.length;
  /** @type {Rectangle[]} */
  const places = [];
  let x = AROUND;
  const placed = columns.map(({ name, rows, wide }) => {
    const step = { name, x, y: AROUND, w: wide + more, h: height - 2 * AROUND };
    for (const row of rows) {
      const left = x + (step.w - row.width) / 2;
      for (const { tensor, ...item } of row.items) places[tensor] = { ...item, x: left + item.x };
    }
    x += step.w;
    return step;
  });
  const flows = steps.flatMap(({ boards }, step) =>
    boards.map((board) => flowsOf(board, step, places, placed, { last: middle(LANES - 1), under: height - below / 2 })),
  );
  return { steps: placed, places, flows: flows.flat(), width: Math.max(width, least), height };
}

/** Lines to what an operation makes from what was made in steps before it. */
/** @param {number[]} board @param {number} step @param {Rectangle[]} places @param {Rectangle[]} steps @param {{ last: number, under: number }} ways */
function flowsOf(board, step, places, steps, { last, under }) {
  const result = board[board.length - 1];
  const isHere = (/** @type {number} */ tensor) => places[tensor].x >= steps[step].x;
  const entry = Math.min(...board.filter(isHere).map((tensor) => places[tensor].x)) - 1;
  const goal = places[result].y + places[result].h / 2;
  return board.slice(0, -1).flatMap((tensor) => {
    const { x, y, w, h } = places[tensor];
    const isInLine = Math.abs(y + h / 2 - goal) < 1;
    if (isHere(tensor)) {
      if (isInLine) return [];
      const to = places[result]; // the three of an FFN stand below each other
      const path = [
        [x + w / 2, y + h],
        [to.x + to.w / 2, to.y],
      ];
      return [{ step, tensor, result, path }];
    }
    const [from, start] = [x + w + 1, y + h / 2];
    const before = step ? steps[step - 1] : steps[0];
    const isFar = x < before.x;
    const way = !isFar ? goal : Math.abs(start - last) < 1 ? last : under;
    const bend = isFar
      ? [
          [from + 5, way],
          [entry - 7, way],
        ]
      : [[Math.max(from, steps[step].x - 2), start]];
    return [{ step, tensor, result, path: [[from, start], ...bend, [entry, goal]] }];
  });
}

/**
 * @param {DrawingContext} context
 * @param {{ map: BoardMap, placed: PlacedMap, at: number, board: number[], theme: Theme, colours: TensorColours }} scene
 * `at`: the step on show, between two while it moves; `board`: the tensors on show
 */
export function drawMap(context, { map, placed, at, board, theme, colours }) {
  const background = rgb(theme.background);
  const box = frameAt(placed, at);
  const current = Math.round(at);
  fillBox(context, box, theme.secondary, 1, 8);
  frameBox(context, box, 8, theme.primary);
  for (const { step, tensor, result, path } of placed.flows) {
    const isLit = board.includes(result) && board.includes(tensor) && step === current;
    const line = { strokeStyle: nameColour(map.tensors[tensor].role, colours, theme.text), lineWidth: isLit ? 2 : 1 };
    drawWith(context, { ...line, globalAlpha: isLit ? 1 : 0.4 });
    strokePath(context, .../** @type {[number, number][]} */ (path));
  }
  context.globalAlpha = 1;
  map.tensors.forEach((tensor, n) => {
    const place = placed.places[n];
    drawThumb(context, tensor, place, colours, background);
    if (!board.includes(n)) return;
    const { x, y, w, h } = place;
    frameBox(context, { x: x - 2, y: y - 2, w: w + 3, h: h + 3 }, 2, theme.text, 1.5);
  });
  placed.steps.forEach(({ name, x, y, w }, i) => {
    if (name) writeText(context, name, x + w / 2, y + 9, theme, `${i === current ? 600 : 400} ${NAME}px`, 1, "center");
  });
}

/** Around a step's column; between two of them while it moves. @param {PlacedMap} placed @param {number} at @returns {Rectangle} */
export function frameAt({ steps }, at) {
  const place = clamp(at, 0, steps.length - 1);
  const [one, next, share] = [steps[Math.floor(place)], steps[Math.ceil(place)], place % 1];
  return { x: one.x + share * (next.x - one.x), y: one.y, w: one.w + share * (next.w - one.w), h: one.h };
}

/**
 * @param {DrawingContext} context @param {Thumb} thumb @param {Rectangle} place @param {TensorColours} colours
 * @param {import("../shared/types.js").Rgb} background
 */
function drawThumb(context, { cols, fill, role, roles }, { x, y, w }, colours, background) {
  const cell = w / cols;
  const gap = Math.min(1, cell / 5);
  fill.forEach((share, i) => {
    const of = roles.length ? roles[i % cols] : role;
    context.fillStyle = share === null ? colours.masked : tensorColour(of, share, colours, background).fill;
    context.fillRect(x + (i % cols) * cell, y + Math.floor(i / cols) * cell, cell - gap, cell - gap);
  });
}
