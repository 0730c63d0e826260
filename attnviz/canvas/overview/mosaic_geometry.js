// Where the tiles of all heads go, and what lies where.

import { clamp } from "../shared/numbers.js";

/** @import { OverviewHeader } from "../shared/types.js" */

/** Between two tiles. */
export const GAP = 2;
const GROUP_GAP = 7;
/** Room for the numbers of layers and heads. */
export const EDGE = 40;

/**
 * One head: its place in the grid, and which of the layer's groups of `size` heads that share keys and values it is in
 * (-1: it shares them with nobody).
 * @typedef {{ layer: number, head: number, share: number, size: number }} Tile
 * @typedef {ReturnType<typeof mosaicLayout>} Mosaic
 */

/** @param {number} heads @param {number} kv */
const countSharers = (heads, kv) => Math.max(1, Math.round(heads / Math.max(1, kv)));

/** @param {Pick<OverviewHeader, "heads" | "kv">} header @returns {Tile[]} */
export function listTiles({ heads, kv }) {
  return heads.flatMap((n, layer) => {
    const size = countSharers(n, kv[layer]);
    return Array.from({ length: n }, (_, head) => ({
      layer,
      head,
      share: size > 1 ? Math.floor(head / size) : -1,
      size,
    }));
  });
}

/** The measure of each tile from 0 (the smallest there is, or none) to 1 (the largest). */
/** @param {(number | null)[]} measure */
export function relativeMeasure(measure) {
  const seen = measure.filter((v) => v !== null);
  const [low, high] = [Math.min(...seen), Math.max(...seen)];
  return measure.map((v) => (v === null ? 0 : high > low ? (v - low) / (high - low) : 1));
}

/** Tile numbers in the order they are walked through: as they are, or by the measure, largest first. */
/** @param {number} n @param {Pick<OverviewHeader, "order" | "measure">} header */
export function tileOrder(n, { order, measure }) {
  const numbers = Array.from({ length: n }, (_, i) => i);
  if (order !== "measure" || !measure) return numbers;
  return numbers.sort((a, b) => (measure[b] ?? -Infinity) - (measure[a] ?? -Infinity) || a - b);
}

/**
 * Where tiles go: layers along the longer side (`across`: from left to right), or all in order of the measure (then not
 * `gridded`). `sharing` is how many heads share keys and values, where all layers are alike.
 * @param {Pick<OverviewHeader, "heads" | "kv" | "shape" | "order" | "measure">} header @param {Tile[]} tiles
 * @param {number[]} sorted @param {number} width
 * @param {number | null} [high] what all of them may take, null where they may be scrolled
 */
export function mosaicLayout(header, tiles, sorted, width, high = null) {
  const { heads, kv, shape } = header;
  const aspect = clamp(shape[1] / shape[0], 0.5, 2);
  const sizes = heads.map((n, layer) => countSharers(n, kv[layer]));
  const alike = sizes.every((s) => s === sizes[0]) && heads.every((n) => n === heads[0]);
  const gridded = header.order !== "measure" || !header.measure;
  const laid = gridded ? grid(heads, tiles, width, aspect, high) : layOutRanking(sorted, width, aspect);
  const right = Math.max(...laid.places.map(([x]) => x)) + laid.tw + 4;
  const bottom = Math.max(...laid.places.map(([, y]) => y)) + laid.th + laid.under + 4;
  return { ...laid, gridded, sharing: alike ? sizes[0] : 1, width: right, height: bottom };
}

/**
 * Layers below each other, or side by side (`across`): where the height is known, whichever leaves the larger tiles.
 * @param {number[]} heads @param {Tile[]} tiles @param {number} width @param {number} aspect
 * @param {number | null} high
 */
function grid(heads, tiles, width, aspect, high) {
  const most = Math.max(...heads);
  const gaps = tiles.reduce((n, t) => Math.max(n, t.share), 0) * GROUP_GAP;
  const [wide, down] = [(width - EDGE - 12) / heads.length - GAP, (width - EDGE - 12 - gaps) / most - GAP];
  const lowest = (/** @type {number} */ rows, gap = 0) =>
    high === null ? Infinity : ((high - EDGE - gap) / rows - GAP) * aspect;
  const across =
    high === null
      ? heads.length >= most && wide >= (width < 480 ? 28 : 20)
      : Math.min(wide, lowest(most, gaps)) > Math.min(down, lowest(heads.length));
  const room = across ? Math.min(wide, lowest(most, gaps)) : Math.min(down, lowest(heads.length));
  const usual = across ? (heads.length > 12 ? 46 : 58) : width < 480 ? 40 : clamp(520 / heads.length, 28, 58);
  const cap = high === null ? usual : 72;
  const tw = Math.max(12, Math.floor(Math.min(room, cap * Math.min(1.6, aspect))));
  const th = Math.max(12, Math.round(tw / aspect));
  const along = (/** @type {Tile} */ { head, size }, /** @type {number} */ side) =>
    head * (side + GAP) + (size > 1 ? Math.floor(head / size) * GROUP_GAP : 0);
  const places = tiles.map((tile) =>
    across
      ? [EDGE + tile.layer * (tw + GAP), 24 + along(tile, th)]
      : [EDGE + along(tile, tw), 30 + tile.layer * (th + GAP)],
  );
  return { places, tw, th, across, columns: 1, under: 0 };
}

/** @param {number[]} sorted @param {number} width @param {number} aspect */
function layOutRanking(sorted, width, aspect) {
  const [gap, under] = [6, 14];
  const columns = Math.max(4, Math.floor((width - 4) / (clamp(width / 22, 36, 52) + gap)));
  const tw = Math.floor((width - 4) / columns) - gap;
  const th = Math.round(tw / aspect);
  const places = sorted.map(() => [0, 0]);
  sorted.forEach((i, n) => {
    places[i] = [2 + (n % columns) * (tw + gap), 4 + Math.floor(n / columns) * (th + under + gap)];
  });
  return { places, tw, th, across: false, columns, under };
}

/** The tile at a point of the stage. @param {number} x @param {number} y @param {Mosaic} mosaic */
export function tileAt(x, y, { places, tw, th }) {
  const found = places.findIndex(([px, py]) => x >= px - 1 && x < px + tw + 1 && y >= py - 1 && y < py + th + 1);
  return found < 0 ? null : found;
}

/** The number of a head's tile, -1 where there is none. */
/** @param {Tile[]} tiles @param {number} layer @param {number} head */
export function tileNumber(tiles, layer, head) {
  return tiles.findIndex((t) => t.layer === layer && t.head === head);
}

/**
 * The tile that an arrow key leads to, (dx, dy) away; at the rim it stays.
 * @param {number} from @param {number} dx @param {number} dy
 * @param {{ tiles: Tile[], sorted: number[], heads: number[], mosaic: Mosaic }} all
 */
export function neighbouringTile(from, dx, dy, { tiles, sorted, heads, mosaic }) {
  if (!mosaic.gridded) {
    const rank = sorted.indexOf(from) + dx + dy * mosaic.columns;
    return sorted[clamp(rank, 0, sorted.length - 1)];
  }
  const [dl, dh] = mosaic.across ? [dx, dy] : [dy, dx];
  const layer = clamp(tiles[from].layer + dl, 0, heads.length - 1);
  const head = clamp(tiles[from].head + dh, 0, heads[layer] - 1);
  return tileNumber(tiles, layer, head);
}
