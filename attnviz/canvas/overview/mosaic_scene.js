// The mosaic of all heads as a drawing knows it: where tiles are, their numbers, brackets and outlines. No page.

import { AllHeads } from "../shared/raw_scores.js";
import { mixPixels, toPixel, placeOnScale, ramp, rgb } from "../shared/colour.js";
import { BAR_ROOM, barWidth, drawBarInFile } from "../shared/colour_bar.js";
import { unpackEdit } from "../shared/group.js";
import { formatFixed } from "../shared/numbers.js";
import { MASKED_8 } from "../shared/packing.js";
import { drawWith, fillBox, roundedRect, strokePath } from "../shared/surface.js";
import { labelStep } from "../shared/token_labels.js";
import { EDGE, GAP, mosaicLayout, relativeMeasure, tileNumber, tileOrder, listTiles } from "./mosaic_geometry.js";
import { editTiles } from "./tiles.js";

/** @import { Mosaic, Tile } from "./mosaic_geometry.js" */
/** @import { DrawingContext, HeadEdit, MosaicFigureHeader, OverviewHeader, Rectangle, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */

/**
 * @typedef {object} MosaicScene
 * @property {Pick<OverviewHeader, "shape" | "heads" | "layers" | "measure" | "words" | "colours" | "scale" | "silenced">} header
 * @property {number[] | null} measured from 0 to 1, where tiles are dimmed by it
 * @property {Tile[]} tiles
 * @property {Mosaic} mosaic where they are
 * @property {Theme} theme
 * @property {[number, number] | null} selected layer and head on show
 * @property {[number, number][]} [found] layer and head of those that do what is asked for most
 * @property {number | null} at the tile that is pointed at
 * @property {boolean} [quiet] most tiles paler: nobody points at them, and a large head stands beside them
 */

/** How much of the page lies over a quiet tile. */
const VEIL = 0.4;

/** Pixels of all 8-bit codes. @param {MosaicScene["header"]} header @param {Theme} theme */
export function tilePixels({ colours, scale }, theme) {
  const steps = ramp(colours.weights);
  const table = new Uint32Array(256);
  for (let code = 0; code < MASKED_8; code++) {
    table[code] = steps[Math.round(placeOnScale((code / 254) ** 2, scale, false) * 255)];
  }
  table[MASKED_8] = toPixel(rgb(colours.masked), theme.dark ? 70 : 95);
  return table;
}

/** Tiles and their numbers. @param {DrawingContext} context @param {MosaicScene} scene @param {Board} board */
export function drawMosaic(context, scene, { pixels, columns, place }) {
  drawMosaicLabels(context, scene);
  context.cells(pixels, columns, place);
  drawSilenced(context, scene);
}

/** The numbers of layers and heads, or of each tile where they stand in order of a measure. */
/** @param {DrawingContext} context @param {MosaicScene} scene */
function drawMosaicLabels(context, scene) {
  const { theme, mosaic } = scene;
  drawWith(context, { font: `11px ${theme.font}`, fillStyle: theme.text, textBaseline: "middle", globalAlpha: 0.75 });
  if (mosaic.gridded) {
    drawNumbers(context, scene);
    drawBrackets(context, scene);
  } else drawRanks(context, scene);
  context.globalAlpha = 1;
}

/** Under each tile of the ranking: layer · head, and the measure if there is room. */
/** @param {DrawingContext} context @param {MosaicScene} scene */
function drawRanks(context, { header, tiles, theme, mosaic: { places, tw, th } }) {
  context.font = `10px ${theme.font}`;
  tiles.forEach(({ layer, head }, i) => {
    const [x, y] = [places[i][0], places[i][1] + th + 8];
    context.textAlign = "left";
    context.fillText(`${header.layers[layer]}·${head}`, x, y);
    const value = header.measure?.[i] ?? null;
    if (tw < 46 || value === null) return;
    context.textAlign = "right";
    context.fillText(formatFixed(value, Math.abs(value) >= 10 ? 0 : 2), x + tw, y);
  });
}

/** @param {DrawingContext} context @param {MosaicScene} scene */
function drawNumbers(context, { header, tiles, theme, mosaic }) {
  const { words, layers, heads } = header;
  const { across, places, tw, th, sharing } = mosaic;
  const [halfW, halfH] = [tw / 2, th / 2];
  const stepLayer = labelStep((across ? tw : th) + GAP, across ? 18 : 14);
  layers.forEach((id, layer) => {
    if (layer % stepLayer) return;
    const [x, y] = places[tileNumber(tiles, layer, 0)];
    context.textAlign = across ? "center" : "right";
    context.fillText(String(id), across ? x + halfW : EDGE - 8, across ? 17 : y + halfH);
  });
  const most = Math.max(...heads);
  const first = tileNumber(tiles, heads.indexOf(most), 0);
  const stepHead = labelStep((across ? th : tw) + GAP, across ? 14 : 18);
  const offset = sharing > 1 ? 12 : 6;
  for (let head = 0; head < most; head += stepHead) {
    const [x, y] = places[first + head];
    context.textAlign = across ? "right" : "center";
    if (across) context.fillText(String(head), EDGE - offset, y + halfH);
    else context.fillText(String(head), x + halfW, offset > 6 ? 15 : 18);
  }
  drawWith(context, { font: `10px ${theme.font}`, globalAlpha: 0.6, textAlign: "left" });
  context.fillText(`${across ? words.layer : words.head} →`, EDGE, 5);
  context.save();
  context.translate(6, across ? 26 : 34);
  context.rotate(Math.PI / 2);
  context.fillText(`${across ? words.head : words.layer} →`, 0, 0);
  context.restore();
}

/** Heads that share keys and values: a bracket along the head axis, in the colour of K. */
/** @param {DrawingContext} context @param {MosaicScene} scene */
function drawBrackets(context, { header, theme, mosaic: { across, places, tw, th, sharing } }) {
  if (sharing < 2) return;
  drawWith(context, { globalAlpha: 1, strokeStyle: theme.k, lineWidth: 2, lineCap: "round" });
  for (let head = 0; head < header.heads[0]; head += sharing) {
    const last = Math.min(header.heads[0], head + sharing) - 1;
    const [x0, y0] = places[head];
    const [x1, y1] = places[last];
    const [from, to] = across ? [y0 + 1, y1 + th - 1] : [x0 + 1, x1 + tw - 1];
    const [tip, back] = across ? [EDGE - 5, EDGE - 8] : [27, 24];
    if (across) strokePath(context, [tip, from], [back, from], [back, to], [tip, to]);
    else strokePath(context, [from, tip], [from, back], [to, back], [to, tip]);
  }
}

/** Crosses out the heads that are silenced. @param {DrawingContext} context @param {MosaicScene} scene */
function drawSilenced(context, { header, tiles, theme, mosaic: { places, tw, th } }) {
  for (const [layer, head] of header.silenced ?? []) {
    const [x, y] = places[tileNumber(tiles, layer, head)];
    for (const [strokeStyle, lineWidth] of /** @type {[string, number][]} */ ([
      [theme.background, 5],
      [theme.text, 2],
    ])) {
      drawWith(context, { strokeStyle, lineWidth, lineCap: "round" });
      strokePath(context, [x + 3, y + 3], [x + tw - 3, y + th - 3]);
      strokePath(context, [x + tw - 3, y + 3], [x + 3, y + th - 3]);
    }
  }
}

/** A veil over all heads but those on show, found or switched off. */
/** @param {DrawingContext} context @param {MosaicScene} scene */
function drawVeil(context, { header, tiles, theme, selected, found = [], mosaic: { places, tw, th } }) {
  const clear = [...found, ...(header.silenced ?? [])];
  if (selected) clear.push(selected);
  const strong = new Set(clear.map((place) => tileNumber(tiles, ...place)));
  places.forEach(([x, y], i) => {
    if (!strong.has(i)) fillBox(context, { x, y, w: tw, h: th }, theme.background, VEIL);
  });
}

/** Frames around the head on show, the tile pointed at, and those that share keys and values with it. */
/** @param {DrawingContext} context @param {MosaicScene} scene */
export function drawMosaicLit(context, scene) {
  const { tiles, theme, selected, found = [], at, mosaic } = scene;
  const { places, tw, th } = mosaic;
  if (scene.quiet) drawVeil(context, scene);
  /** @type {(i: number, colour: string, line: number, grow: number) => void} */
  const frame = (i, strokeStyle, lineWidth, grow) => {
    const [x, y] = places[i];
    drawWith(context, { strokeStyle, lineWidth });
    roundedRect(context, { x: x - grow, y: y - grow, w: tw + 2 * grow, h: th + 2 * grow }, 3);
    context.stroke();
  };
  const pointed = at === null ? null : tiles[at];
  if (pointed && pointed.share >= 0) {
    tiles.forEach((t, i) => {
      if (t.layer === pointed.layer && t.share === pointed.share && t !== pointed) frame(i, theme.k, 1.5, 0.5);
    });
  }
  for (const place of found) {
    const tile = tileNumber(tiles, ...place);
    frame(tile, theme.background, 5, 1.5);
    frame(tile, theme.text, 2.5, 1.5);
  }
  if (selected) {
    const chosen = Math.max(0, tileNumber(tiles, ...selected));
    frame(chosen, theme.background, 5, 1.5);
    frame(chosen, theme.primary, 3, 1.5);
  }
  if (at !== null) frame(at, theme.text, 2, 1);
}

/** @typedef {{ pixels: Uint32Array, columns: number, place: Rectangle, codes: Uint8Array }} Board */
/** @typedef {{ first: number, shares: number[] }} Span cells below a pixel: of 256, how much each after the first takes from those before */

/**
 * All tiles with nothing between them, `fine` pixels for each of the page's; a pixel is the mean of the cells below it.
 * @param {MosaicScene} scene @param {Uint8Array} codes of all tiles, one after the other @param {number} fine
 * @param {Board | null} [before] of the same scene, which other tiles are painted over
 * @returns {Board}
 */
export function mosaicBoard({ header, theme, measured, mosaic: { places, tw, th } }, codes, fine, before = null) {
  const [h, w] = header.shape;
  const [x0, y0] = [0, 1].map((side) => Math.min(...places.map((place) => place[side])));
  const [wide, high] = [tw, th].map((size) => Math.max(1, Math.round(size * fine)));
  const corners = places.map(([x, y]) => [Math.round((x - x0) * fine), Math.round((y - y0) * fine)]);
  const columns = Math.max(...corners.map(([x]) => x)) + wide;
  const rows = Math.max(...corners.map(([, y]) => y)) + high;
  const pixels = before?.pixels ?? new Uint32Array(columns * rows);
  const [across, down] = [pixelSpans(w, wide), pixelSpans(h, high)];
  const [table, page] = [tilePixels(header, theme), rgb(theme.background)];
  corners.forEach(([x, y], tile) => {
    const own = codes.subarray(tile * h * w, (tile + 1) * h * w);
    const old = before?.codes;
    if (old && own.every((code, i) => code === old[tile * h * w + i])) return;
    const left = 64 + 192 * (measured?.[tile] ?? 1); // of 256 parts; the page takes the others
    const cells = measured
      ? table.map((pixel) => mixPixels(toPixel(page, pixel >>> 24), pixel, Math.round(left)))
      : table;
    averageLines(own, cells, across, down, pixels, y * columns + x, columns);
  });
  return { pixels, columns, codes, place: { x: x0, y: y0, w: columns / fine, h: rows / fine } };
}

/** What lies below each of `n` pixels. @param {number} cells @param {number} n @returns {Span[]} */
function pixelSpans(cells, n) {
  return Array.from({ length: n }, (_, i) => {
    const [begin, end] = [(i * cells) / n, ((i + 1) * cells) / n - 1e-9];
    const first = Math.floor(begin);
    const rest = Array.from({ length: Math.ceil(end) - first - 1 }, (_none, more) => first + 1 + more);
    return {
      first,
      shares: rest.map((cell) =>
        Math.round((256 * (Math.min(cell + 1, end) - cell)) / (Math.min(cell + 1, end) - begin)),
      ),
    };
  });
}

/**
 * Paints a tile, whose lines are averaged first.
 * @param {Uint8Array} codes @param {Uint32Array} table @param {Span[]} across @param {Span[]} down
 * @param {Uint32Array} pixels @param {number} at its first pixel @param {number} columns
 */
function averageLines(codes, table, across, down, pixels, at, columns) {
  const wide = across.length;
  const w = across[wide - 1].first + across[wide - 1].shares.length + 1;
  const lines = new Uint32Array((codes.length / w) * wide);
  across.forEach(({ first, shares }, x) => {
    for (let to = x, from = first; to < lines.length; to += wide, from += w) {
      let pixel = table[codes[from]];
      for (let n = 0; n < shares.length; n++) pixel = mixPixels(pixel, table[codes[from + 1 + n]], shares[n]);
      lines[to] = pixel;
    }
  });
  down.forEach(({ first, shares }, y) => {
    const to = at + y * columns;
    pixels.set(lines.subarray(first * wide, (first + 1) * wide), to);
    shares.forEach((share, n) => {
      const from = (first + 1 + n) * wide;
      for (let x = 0; x < wide; x++) pixels[to + x] = mixPixels(pixels[to + x], lines[from + x], share);
    });
  });
}

const WIDTH = 960;
/** Pixels of the picture for each of the page's. */
const FINE = 2;

/** @param {MosaicFigureHeader} header @param {Uint8Array} payload @param {Theme} theme @param {boolean} bar @returns {Figure} */
export function mosaicFigure(header, payload, theme, bar) {
  const tiles = listTiles(header);
  const codes = header.edit ? editedCodes({ ...header, edit: header.edit }, tiles, payload) : payload;
  const mosaic = mosaicLayout(header, tiles, tileOrder(tiles.length, header), WIDTH);
  const { scale, unit, colours, words, title } = header;
  const measured = header.dim && header.measure ? relativeMeasure(header.measure) : null;
  const scene = { header, tiles, mosaic, theme, measured, selected: header.selected, at: null };
  const board = mosaicBoard(scene, codes, FINE);
  const hatched = codes.includes(MASKED_8) ? words.hidden : null;
  const draw = (/** @type {DrawingContext} */ context) => {
    drawMosaic(context, scene, board);
    drawMosaicLit(context, scene);
    if (bar) drawBarInFile(context, 40, mosaic.height + 8, { scale, signed: false, unit, colours }, theme, hatched);
  };
  const width = Math.max(mosaic.width, bar ? 40 + barWidth(unit, hatched) : 0);
  return { width, height: mosaic.height + (bar ? BAR_ROOM : 0), title, draw };
}

/** The tiles under a change, which the browser makes of all heads: they follow the tiles. */
/** @param {MosaicFigureHeader & { edit: HeadEdit }} header @param {Tile[]} tiles @param {Uint8Array} payload */
function editedCodes({ edit, selected, shape }, tiles, payload) {
  const size = tiles.length * shape[0] * shape[1];
  const all = AllHeads.read(payload.slice(size));
  const group = {
    all,
    edit: unpackEdit(edit, all.heads[0].shape),
    selected,
    peeking: false,
    doc: null,
    edited: null,
  };
  return editTiles({ ...group, tiles: null }, tiles, payload.subarray(0, size));
}
