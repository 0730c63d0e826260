// All heads as a drawing, each over a small picture: the one on show in a frame, silenced ones faint and struck out. No page.

import { fitted } from "./patch_geometry.js";
import { drawDiscs } from "./patch_scene.js";
import { drawWith, strokePath } from "../shared/surface.js";
import { roundedRect } from "../shared/token_labels.js";
import { textWidth } from "../scene/text_width.js";

/** @import { PatchScene } from "./patch_scene.js" */
/** @import { DrawingContext, PatchHeader, PatchState, Rectangle, Theme } from "../shared/types.js" */
/** @typedef {ReturnType<typeof placeTiles>} PatchBoard */
/** @typedef {PatchBoard["tiles"][number]} PatchTile */

const MOST_COLUMNS = 12;
/** Of heads that are ordered by a measure and not by layer. */
const COLUMNS = 4;
const TALLEST = 200;
/** Pixels between tiles, around the picture of one, and of the name below it. */
const [GAP, EDGE, NAME] = [6, 4, 15];

/** How many heads stand side by side. @param {Pick<PatchHeader, "heads" | "ordered">} header */
export function columnsOf({ heads, ordered }) {
  return ordered ? COLUMNS : Math.min(MOST_COLUMNS, Math.max(...heads));
}

/** @param {Pick<PatchHeader, "heads" | "ordered" | "picture">} header @param {[number, number][]} order @param {number} width */
export function placeTiles(header, order, width) {
  const columns = columnsOf(header);
  const w = (width + GAP) / columns - GAP;
  const size = fitted(header.picture, Math.max(16, w - 2 * EDGE), TALLEST);
  const h = size.height + NAME + 2 * EDGE;
  const tiles = order.map(([layer, head], n) => {
    const place = { x: (n % columns) * (w + GAP), y: Math.floor(n / columns) * (h + GAP), w, h };
    const picture = { x: Math.round(place.x + (w - size.width) / 2), y: place.y + EDGE, w: size.width, h: size.height };
    return { layer, head, place, picture };
  });
  return { tiles, size, width, height: Math.ceil(tiles.length / columns) * (h + GAP) - GAP };
}

/**
 * @param {DrawingContext} context @param {PatchBoard} board @param {PatchState} state @param {Theme} theme
 * @param {(tile: PatchTile) => PatchScene} sceneOf what lies over the picture of a head
 * @param {(context: DrawingContext, place: Rectangle) => void} drawPicture the dimmed one
 */
export function drawTiles(context, { tiles }, state, theme, sceneOf, drawPicture) {
  const isSilenced = (/** @type {PatchTile} */ { layer, head }) =>
    state.silenced.some(([l, h]) => l === layer && h === head);
  const drawAll = (/** @type {DrawingContext} */ on, /** @type {PatchTile[]} */ these) => {
    for (const tile of these) {
      drawPicture(on, tile.picture);
      on.save();
      on.translate(tile.picture.x, tile.picture.y);
      drawDiscs(on, sceneOf(tile));
      on.restore();
    }
  };
  const silenced = tiles.filter(isSilenced);
  drawAll(
    context,
    tiles.filter((tile) => !silenced.includes(tile)),
  );
  if (silenced.length) context.fade(0.25, (layer) => drawAll(layer, silenced));
  for (const tile of tiles) {
    const { layer, head, place, picture } = tile;
    const [name, x, y] = [`${layer}.${head}`, place.x + place.w / 2, picture.y + picture.h + 1 + NAME / 2];
    drawWith(context, { font: `11px ${theme.font}`, fillStyle: theme.text, globalAlpha: 0.75 });
    drawWith(context, { textAlign: "center", textBaseline: "middle", strokeStyle: theme.text, lineWidth: 1 });
    context.fillText(name, x, y);
    const half = textWidth(name, 11) / 2;
    if (isSilenced(tile)) strokePath(context, [x - half, y], [x + half, y]);
    context.globalAlpha = 1;
    if (layer !== state.layer || head !== state.head) continue;
    drawWith(context, { strokeStyle: theme.primary, lineWidth: 2 });
    roundedRect(context, place.x + 1, place.y + 1, place.w - 2, place.h - 2, 5);
    context.stroke();
  }
}
