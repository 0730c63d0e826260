// The mosaic as drawn: the atlas of all tiles' pixels, labels, brackets, outlines.

import { sameHead } from "../shared/group.js";
import { pixelOf, placeOnScale, ramp, rgb } from "../shared/colour.js";
import { Drawing } from "../shared/component.js";
import { el, fill } from "../shared/dom.js";
import { EDGE, GAP, mosaicLayout, tileNumber } from "./mosaic_geometry.js";
import { fixed } from "../shared/numbers.js";
import { MASKED_8 } from "../shared/packing.js";
import { drawWith, markPainted, onceAFrame, pixelCanvas, sized, stageOf, strokePath } from "../shared/surface.js";
import { labelStep, roundedRect } from "../shared/token_labels.js";
import { magnification, presentedRoom, sharpness } from "../shared/window.js";

/** @import { Group } from "../shared/group.js" */
/** @import { Mosaic, Tile } from "./mosaic_geometry.js" */
/** @import { OverviewHeader, Theme } from "../shared/types.js" */

/**
 * All that a drawing needs, complete or not there at all.
 * @typedef {object} AllHeads
 * @property {OverviewHeader} header
 * @property {Uint8Array} codes the pixels of all tiles, one tile after the other
 * @property {Group} group
 * @property {Theme} theme
 * @property {Tile[]} tiles
 * @property {number[]} sorted tile numbers in the order they are walked through
 * @property {number[] | null} measured from 0 to 1, for dimming
 */

/** What overview.css gives all tiles before they scroll. */
const TALLEST = 556;

/** @extends {Drawing<OverviewHeader, AllHeads>} */
export class MosaicDrawing extends Drawing {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.stage = stageOf("av-stage", "overview", "summary");
    this.base = el("canvas");
    this.over = el("canvas", "av-over");
    this.stage.append(this.base, this.over);
    /** @type {Mosaic | null} */
    this.laid = null;
    /** @type {{ canvas: HTMLCanvasElement, columns: number, of: Uint8Array, dark: boolean, root: boolean } | null} */
    this.painted = null;
    /** @type {number | null} the tile under the pointer or the keyboard */
    this.at = null;
    this.relight = onceAFrame(() => this.light());
  }

  /** Where the tiles are; nothing asks before they are drawn. */
  get mosaic() {
    if (!this.laid) throw new Error("the tiles have no places yet");
    return this.laid;
  }

  /** @param {number | null} i the tile to light */
  standOn(i) {
    this.at = i;
    this.relight();
  }

  /** The tile of the head on show. */
  chosen() {
    const { group, tiles } = this.shown;
    return group.selected ? Math.max(0, tileNumber(tiles, ...group.selected)) : 0;
  }

  /** @param {number} i */
  name(i) {
    const { tiles, header } = this.shown;
    const { layer, head } = tiles[i];
    return fill(header.words.tile, { layer: header.layers[layer], head });
  }

  /** All tiles on one canvas, painted anew for other tiles or another theme. */
  atlas() {
    const { header, codes, theme, tiles } = this.shown;
    const { root } = header.scale;
    const { painted } = this;
    if (painted?.of === codes && painted.dark === theme.dark && painted.root === root) return painted;
    const [h, w] = header.shape;
    const columns = Math.max(1, Math.min(tiles.length, Math.floor(4096 / w)));
    const table = tilePixels(header, theme);
    const wide = columns * w;
    const paint = (/** @type {Uint32Array} */ pixels) => {
      for (let t = 0; t < tiles.length; t++) {
        const [x0, y0] = [(t % columns) * w, Math.floor(t / columns) * h];
        for (let y = 0; y < h; y++) {
          const [row, from] = [(y0 + y) * wide + x0, (t * h + y) * w];
          for (let x = 0; x < w; x++) pixels[row + x] = table[codes[from + x]];
        }
      }
    };
    const canvas = pixelCanvas(wide, Math.ceil(tiles.length / columns) * h, paint, this.painted?.canvas);
    this.painted = { canvas, columns, of: codes, dark: theme.dark, root };
    return this.painted;
  }

  /** Tiles so wide are smooth where a pixel has cells to mix. @param {CanvasRenderingContext2D} context @param {number} wide */
  smooth(context, wide) {
    const cells = this.shown.header.shape[1] / (wide * sharpness(this.base));
    const imageSmoothingQuality = cells > 2 ? "high" : "low"; // up to two cells a pixel the quick way sees all of them
    drawWith(context, { imageSmoothingEnabled: cells > 2 / 3, imageSmoothingQuality });
  }

  /**
   * @param {CanvasRenderingContext2D} context @param {number} i @param {number} x @param {number} y
   * @param {number} wide @param {number} high
   */
  drawTile(context, i, x, y, wide, high) {
    const { canvas, columns } = this.atlas();
    const [h, w] = this.shown.header.shape;
    context.drawImage(canvas, (i % columns) * w, Math.floor(i / columns) * h, w, h, x, y, wide, high);
  }

  /** What all tiles may take of the window where they are presented: they are all seen, and what is said below them. */
  room() {
    const presented = presentedRoom(this.root);
    const place = this.stage.parentElement;
    if (presented === null || place === null) return null;
    const box = this.root.getBoundingClientRect();
    const { top, bottom } = place.getBoundingClientRect();
    return Math.min(TALLEST, presented - (top - box.top + box.bottom - bottom) / magnification(this.root));
  }

  draw() {
    if (!this.held || this.root.clientWidth === 0) return;
    const { header, tiles, sorted, measured } = this.held;
    const mosaic = mosaicLayout(header, tiles, sorted, this.root.clientWidth, this.room());
    this.laid = mosaic;
    const context = sized(this.base, mosaic.width, mosaic.height);
    this.drawLabels(context);
    this.smooth(context, mosaic.tw);
    mosaic.places.forEach(([x, y], i) => {
      context.globalAlpha = header.dim && measured ? 0.25 + 0.75 * measured[i] : 1;
      this.drawTile(context, i, x, y, mosaic.tw, mosaic.th);
    });
    context.globalAlpha = 1;
    this.crossOut(context);
    this.light();
    this.stage.dataset.tiles = JSON.stringify([mosaic.tw, mosaic.th, mosaic.places]);
    markPainted(this.root, "attnviz-overview-painted", header.data);
  }

  /** Crosses out the heads that are silenced. @param {CanvasRenderingContext2D} context */
  crossOut(context) {
    const { header, tiles, theme } = this.shown;
    const { places, tw, th } = this.mosaic;
    const silenced = header.silenced ?? [];
    for (const [layer, head] of silenced) {
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
    this.stage.dataset.silenced = silenced.map((place) => place.join(".")).join(" ");
  }

  /** @param {CanvasRenderingContext2D} context */
  drawLabels(context) {
    const { theme } = this.shown;
    drawWith(context, { font: `11px ${theme.font}`, fillStyle: theme.text, textBaseline: "middle", globalAlpha: 0.75 });
    if (this.mosaic.gridded) {
      this.drawNumbers(context);
      this.drawBrackets(context);
    } else {
      this.drawRanks(context);
    }
    context.globalAlpha = 1;
  }

  /** Under each tile of the ranking: layer · head, and the measure if there is room. */
  /** @param {CanvasRenderingContext2D} context */
  drawRanks(context) {
    const { header, tiles, theme } = this.shown;
    const { places, tw, th } = this.mosaic;
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

  /** @param {CanvasRenderingContext2D} context */
  drawNumbers(context) {
    const { header, tiles, theme } = this.shown;
    const { words, layers, heads } = header;
    const { across, places, tw, th, sharing } = this.mosaic;
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
  /** @param {CanvasRenderingContext2D} context */
  drawBrackets(context) {
    const { header, theme } = this.shown;
    const { across, places, tw, th, sharing } = this.mosaic;
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

  light() {
    if (!this.held || !this.laid) return;
    const { tiles, group, theme } = this.held;
    const { places, tw, th, width, height } = this.laid;
    const context = sized(this.over, width, height);
    /** @type {(i: number, colour: string, line: number, grow: number) => void} */
    const outline = (i, strokeStyle, lineWidth, grow) => {
      const [x, y] = places[i];
      drawWith(context, { strokeStyle, lineWidth });
      roundedRect(context, x - grow, y - grow, tw + 2 * grow, th + 2 * grow, 3);
      context.stroke();
    };
    const at = this.at === null ? null : tiles[this.at];
    if (at && at.share >= 0) {
      tiles.forEach((t, i) => {
        if (t.layer === at.layer && t.share === at.share && t !== at) outline(i, theme.k, 1.5, 0.5);
      });
    }
    if (group.selected) {
      outline(this.chosen(), theme.background, 5, 1.5);
      outline(this.chosen(), theme.primary, 3, 1.5);
    }
    if (this.at !== null) outline(this.at, theme.text, 2, 1);
    this.stage.dataset.at = at ? `${at.layer},${at.head}` : "";
    this.stage.dataset.selected = group.selected ? group.selected.join(",") : "";
  }

  /** What there is to say about a tile: its measure, and whom it shares keys and values with. @param {number} i */
  note(i) {
    const { header, tiles } = this.shown;
    const { words, measure, measureName, heads } = header;
    const { layer, head, share, size } = tiles[i];
    const notes = [];
    if (header.silenced?.some((place) => sameHead(place, [layer, head]))) notes.push(words.silenced);
    const value = measure?.[i] ?? null;
    if (value !== null) notes.push(fill(words.measured, { measure: measureName, value: fixed(value, 2) }));
    if (share >= 0) {
      const last = Math.min((share + 1) * size, heads[layer]) - 1;
      notes.push(fill(words.shared, { heads: `${share * size}–${last}` }));
    }
    return notes.join(" · ");
  }
}

/** Pixels of all 8-bit codes. @param {OverviewHeader} header @param {Theme} theme */
function tilePixels({ colours, scale }, theme) {
  const steps = ramp(colours.weights);
  const table = new Uint32Array(256);
  for (let code = 0; code < MASKED_8; code++) {
    table[code] = steps[Math.round(placeOnScale((code / 254) ** 2, scale, false) * 255)];
  }
  table[MASKED_8] = pixelOf(rgb(colours.masked), theme.dark ? 70 : 95);
  return table;
}
