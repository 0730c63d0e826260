// The way of a token through its model as a drawing: boxes of parts, squares for layers and heads, bars of shares, and below
// them what is in the block that is lit. No page.

import { fill } from "../shared/dom.js";
import { drawWith, fillBox, frameBox, writeText } from "../shared/surface.js";
import { textWidth, wrapText } from "../scene/text_width.js";

/** @import { DrawingContext, ForFile, ModelStripHeader, Rectangle, StripPart, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */

/**
 * Squares in a box: one for each layer or head, one of them lit; those of heads are numbered.
 * @typedef {{ count: number, lit: number, numbered: boolean }} Squares
 */
/** @typedef {{ part: StripPart, squares: Squares | null, isAside: boolean }} PartBox `isAside`: no token goes on to it */
/** @typedef {PartBox & Rectangle & { lines: string[], said: string[], places: Rectangle[] }} PlacedBox */
/** @typedef {ReturnType<typeof placeStrip>} StripScene */
/**
 * What a strip has room in (Infinity: as wide as it likes to be). `touch`: squares are as large as a finger; `bar`: shares have one.
 * @typedef {{ width: number, touch: boolean, bar: boolean }} StripRoom
 */

const TYPE = 13;
const LINE = 18;
const PAD = { x: 11, above: 8, below: 10 };
/** The narrowest box, and what one with squares has where there is room. */
const [LEAST, LEAST_WITH_SQUARES] = [118, 282];
const GAP = 26;
/** Where a strip is narrower, its boxes stand below each other. */
const NARROW = 530;
/** Squares of layers narrow until they fit, those of heads go on in the next line. */
const LAYER = { pitch: 28, least: 7, high: 30 };
const HEAD = { pitch: 26, least: 26, high: 24 };
const [LAYER_OF_FINGER, HEAD_OF_FINGER] = [
  { pitch: 28, least: 26, high: 34 },
  { pitch: 36, least: 36, high: 34 },
];
const BAR = { above: 3, high: 6 };
/** Around what is inside a block, its name above it, and between it and the way. */
const [AROUND, NAME, BETWEEN] = [13, { size: 14, line: 20 }, 12];

/** A shape is not broken between lines. @param {string} text */
function joinShape(text) {
  return text.replaceAll(" × ", "\u00a0×\u00a0");
}

/** @param {string} text @param {number} room */
function wrap(text, room) {
  const lines = wrapText(joinShape(text), room, TYPE);
  return lines.map((line) => line.replaceAll("\u00a0", " "));
}

/** Pixels that a box likes to have across, and the fewest that it can do with. @param {PartBox} box */
function widthsOf({ part, squares }) {
  const texts = [...part.lines, part.shareLabel];
  const title = textWidth(part.title, TYPE, 600);
  const layers = squares && !squares.numbered ? LAYER.least * squares.count : 0;
  const likes = Math.max(title, layers, ...texts.map((text) => textWidth(text, TYPE)));
  const words = texts.flatMap((text) => joinShape(text).split(" ")).map((word) => textWidth(word, TYPE));
  const least = Math.max(title, layers, ...words.filter((width) => width < 2 * LEAST));
  return {
    likes: Math.ceil(Math.max(squares ? LEAST_WITH_SQUARES : LEAST, likes + 2 * PAD.x)),
    least: Math.ceil(Math.max(LEAST, least + 2 * PAD.x)),
  };
}

/** Squares from the upper left corner of the first. @param {Squares} squares @param {number} room @param {boolean} touch */
function placeSquares({ count, numbered }, room, touch) {
  const mouse = numbered ? HEAD : LAYER;
  const { pitch, least, high } = touch ? (numbered ? HEAD_OF_FINGER : LAYER_OF_FINGER) : mouse;
  const step = Math.max(least, Math.min(pitch, (room + 2) / count));
  const across = Math.max(1, Math.floor((room + 2) / step + 1e-6));
  return Array.from({ length: count }, (_none, i) => ({
    ...{ x: (i % across) * step, y: Math.floor(i / across) * (high + 2) },
    ...{ w: step - 2, h: high },
  }));
}

/** @param {PartBox} box @param {number} x @param {number} y @param {number} w @param {StripRoom} room @returns {PlacedBox} */
function placeBox(box, x, y, w, { touch, bar }) {
  const { part, squares } = box;
  const inside = w - 2 * PAD.x;
  const lines = part.lines.flatMap((line) => wrap(line, inside));
  const said = part.share === null ? [] : wrap(part.shareLabel, inside);
  const places = squares ? placeSquares(squares, inside, touch) : [];
  const rows = places.length ? places[places.length - 1].y + places[0].h + 8 : 0;
  const share = part.share === null ? 0 : 2 + (bar ? BAR.above + BAR.high : 0);
  const h = PAD.above + LINE * (1 + lines.length + said.length) + rows + share + PAD.below;
  const [left, top] = [x + PAD.x, y + PAD.above + LINE + 4];
  const moved = places.map((place) => ({ ...place, x: left + place.x, y: top + place.y }));
  return { ...box, x, y, w, h, lines, said, places: moved };
}

/** Boxes in lines, those of a line as high as its highest; what room is left goes to one with squares, what lacks is taken */
/** from all. @param {PartBox[]} boxes @param {number} left @param {number} top @param {StripRoom} room */
function placeBoxes(boxes, left, top, room) {
  const isColumn = room.width < NARROW;
  /** @type {{ box: PartBox, likes: number, least: number }[][]} */
  const lines = [[]];
  let used = 0;
  for (const box of boxes) {
    const { likes, least } = widthsOf(box);
    if (used > 0 && (isColumn || used + least > room.width)) {
      lines.push([]);
      used = 0;
    }
    lines[lines.length - 1].push({ box, likes, least });
    used += least + GAP;
  }
  let y = top;
  return lines.flatMap((line) => {
    const spare = room.width - line.reduce((sum, { likes }) => sum + likes + GAP, -GAP);
    const slack = line.reduce((sum, { likes, least }) => sum + likes - least, 0) || 1;
    let x = left;
    const placed = line.map(({ box, likes, least }) => {
      const more = spare < 0 ? (spare * (likes - least)) / slack : box.squares ? spare : 0;
      const one = placeBox(box, x, y, isColumn ? room.width : likes + more, room);
      x += one.w + GAP;
      return one;
    });
    const h = Math.max(...placed.map((one) => one.h));
    y += h + GAP - 2;
    return placed.map((one) => ({ ...one, h }));
  });
}

/** Signs from each box to the next one of its line, or to the next line. @param {PlacedBox[]} boxes @param {boolean} isColumn */
function arrowsBetween(boxes, isColumn) {
  return boxes.flatMap((box, i) => {
    const before = boxes[i - 1];
    if (!before || box.isAside || (!isColumn && before.y !== box.y)) return [];
    if (isColumn) return [{ sign: "↓", x: box.x + box.w / 2, y: box.y - GAP / 2 + 1 }];
    return [{ sign: "→", x: box.x - GAP / 2, y: box.y + box.h / 2 }];
  });
}

/**
 * The whole strip, with a layer and a head lit.
 * @param {Omit<ModelStripHeader, "group" | "name">} header @param {[number, number]} at layer and head
 * @param {StripRoom} room
 */
export function placeStrip({ before, blocks, after, heads, words }, [layer, head], room) {
  const { attention, mlp, norms } = blocks.of[layer];
  const plain = (/** @type {StripPart} */ part) => ({ part, squares: null, isAside: part === norms });
  const layers = { count: blocks.of.length, lit: layer, numbered: false };
  const way = [...before.map(plain), { part: blocks, squares: layers, isAside: false }, ...after.map(plain)];
  const numbered = { count: heads[layer], lit: head, numbered: true };
  const inside = [{ part: attention, squares: numbered, isAside: false }, plain(mlp), plain(norms)];
  const named = fill(words.inside, { layer, head });
  const across = (/** @type {PartBox[]} */ boxes) => boxes.reduce((sum, box) => sum + widthsOf(box).likes + GAP, -GAP);
  const likes = Math.max(across(way), across(inside) + 2 * AROUND, textWidth(named, NAME.size, 600) + 2 * AROUND);
  const width = Math.min(room.width, likes);
  const whole = Number.isFinite(room.width) ? room.width : width;
  const above = placeBoxes(way, 0, 0, { ...room, width: whole });
  const y = Math.max(...above.map((box) => box.y + box.h)) + BETWEEN;
  const names = wrapText(named, whole - 2 * AROUND, NAME.size, 600);
  const top = y + 14 + names.length * NAME.line;
  const isColumn = whole < NARROW;
  const below = placeBoxes(inside, AROUND, top, { ...room, width: whole - 2 * AROUND });
  const height = Math.max(...below.map((box) => box.y + box.h)) + AROUND;
  const arrows = [...arrowsBetween(above, isColumn), ...arrowsBetween(below, isColumn)];
  const dashed = { x: 0, y, w: whole, h: height - y };
  return { above, below, arrows, dashed, names, width: whole, height, bar: room.bar };
}

/** @param {DrawingContext} context @param {StripScene} scene @param {Theme} theme */
export function drawStrip(context, { above, below, arrows, dashed, names, bar }, theme) {
  for (const box of [...above, ...below]) drawBox(context, box, theme, bar);
  context.setLineDash([4, 3]);
  frameBox(context, dashed, 8, theme.primary);
  context.setLineDash([]);
  names.forEach((line, i) =>
    writeText(context, line, AROUND, dashed.y + 18 + i * NAME.line, theme, `600 ${NAME.size}px`),
  );
  for (const { sign, x, y } of arrows) writeText(context, sign, x, y, theme, "14px", 0.7, "center");
}

/** @param {DrawingContext} context @param {PlacedBox} box @param {Theme} theme @param {boolean} bar */
function drawBox(context, box, theme, bar) {
  const { part, squares, w, places } = box;
  const heads = squares?.numbered ?? false;
  fillBox(context, box, theme.secondary, 1, 8);
  frameBox(context, box, 8, heads ? theme.primary : theme.border, heads ? 2 : 1);
  const x = box.x + PAD.x;
  let y = box.y + PAD.above + LINE / 2;
  const write = (/** @type {string} */ text, weight = 400, alpha = 1) => {
    writeText(context, text, x, y, theme, `${weight} ${TYPE}px`, alpha);
    y += LINE;
  };
  write(part.title, 600);
  if (squares) {
    drawSquares(context, squares, places, theme);
    y += places[places.length - 1].y + places[0].h - places[0].y + 8;
  }
  for (const line of box.lines) write(line);
  if (part.share === null) return;
  y += 2;
  for (const line of box.said) write(line, 400, 0.85);
  if (!bar) return;
  const place = { x, y: y - LINE / 2 + BAR.above, w: w - 2 * PAD.x, h: BAR.high };
  fillBox(context, place, theme.text, 0.14, 3);
  // what is there at all is seen
  if (part.share > 0) fillBox(context, { ...place, w: place.w * Math.max(part.share, 0.006) }, theme.primary, 1, 3);
}

/** @param {DrawingContext} context @param {Squares} squares @param {Rectangle[]} places @param {Theme} theme */
function drawSquares(context, squares, places, theme) {
  drawWith(context, { font: `11px ${theme.font}`, textAlign: "center", textBaseline: "middle" });
  places.forEach((place, i) => {
    const lit = i === squares.lit;
    fillBox(context, place, lit ? theme.primary : theme.background, 1, 3);
    frameBox(context, place, 3, lit ? theme.primary : theme.border);
    if (!squares.numbered) return;
    context.fillStyle = lit ? "#ffffff" : theme.text;
    context.fillText(String(i), place.x + place.w / 2, place.y + place.h / 2);
  });
}

/** @param {ForFile<Omit<ModelStripHeader, "group" | "name">>} header @param {Uint8Array} _payload @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function modelStripFigure(header, _payload, theme, bar) {
  const scene = placeStrip(header, header.at, { width: Infinity, touch: false, bar });
  const { width, height } = scene;
  return { width, height, title: header.title, draw: (context) => drawStrip(context, scene, theme) };
}
