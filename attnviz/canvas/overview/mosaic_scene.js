// The mosaic of all heads as a drawing knows it: where tiles are, their numbers, brackets and outlines. No page.

import { pixelOf, placeOnScale, ramp, rgb } from "../shared/colour.js";
import { EDGE, GAP, tileNumber } from "./mosaic_geometry.js";
import { fixed } from "../shared/numbers.js";
import { MASKED_8 } from "../shared/packing.js";
import { drawWith, strokePath } from "../shared/surface.js";
import { labelStep, roundedRect } from "../shared/token_labels.js";

/** @import { Board } from "./mosaic_board.js" */
/** @import { Mosaic, Tile } from "./mosaic_geometry.js" */
/** @import { DrawingContext, OverviewHeader, Theme } from "../shared/types.js" */

/**
 * @typedef {object} MosaicScene
 * @property {Pick<OverviewHeader, "shape" | "heads" | "layers" | "measure" | "words" | "colours" | "scale" | "silenced">} header
 * @property {number[] | null} measured from 0 to 1, where tiles are dimmed by it
 * @property {Tile[]} tiles
 * @property {Mosaic} mosaic where they are
 * @property {Theme} theme
 * @property {[number, number] | null} selected layer and head on show
 * @property {number | null} at the tile that is pointed at
 */

/** Pixels of all 8-bit codes. @param {MosaicScene["header"]} header @param {Theme} theme */
export function tilePixels({ colours, scale }, theme) {
  const steps = ramp(colours.weights);
  const table = new Uint32Array(256);
  for (let code = 0; code < MASKED_8; code++) {
    table[code] = steps[Math.round(placeOnScale((code / 254) ** 2, scale, false) * 255)];
  }
  table[MASKED_8] = pixelOf(rgb(colours.masked), theme.dark ? 70 : 95);
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
    context.fillText(fixed(value, Math.abs(value) >= 10 ? 0 : 2), x + tw, y);
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

/** Frames around the head on show, the tile pointed at, and those that share keys and values with it. */
/** @param {DrawingContext} context @param {MosaicScene} scene */
export function drawMosaicLit(context, { tiles, theme, selected, at, mosaic: { places, tw, th } }) {
  /** @type {(i: number, colour: string, line: number, grow: number) => void} */
  const frame = (i, strokeStyle, lineWidth, grow) => {
    const [x, y] = places[i];
    drawWith(context, { strokeStyle, lineWidth });
    roundedRect(context, x - grow, y - grow, tw + 2 * grow, th + 2 * grow, 3);
    context.stroke();
  };
  const pointed = at === null ? null : tiles[at];
  if (pointed && pointed.share >= 0) {
    tiles.forEach((t, i) => {
      if (t.layer === pointed.layer && t.share === pointed.share && t !== pointed) frame(i, theme.k, 1.5, 0.5);
    });
  }
  if (selected) {
    const chosen = Math.max(0, tileNumber(tiles, ...selected));
    frame(chosen, theme.background, 5, 1.5);
    frame(chosen, theme.primary, 3, 1.5);
  }
  if (at !== null) frame(at, theme.text, 2, 1);
}
