// The tokens so far, as a drawing: in rows, each in a box that says how it came.

import { drawWith } from "../shared/surface.js";
import { roundedRect } from "../shared/token_labels.js";
import { textWidth } from "../scene/text_width.js";
import { shortened } from "./step_player_scene.js";
import { tapeOf } from "./step_player_texts.js";

/** @import { Weight } from "../scene/text_width.js" */
/** @import { DrawingContext, PlayedRun, Theme } from "../shared/types.js" */
/** @typedef {ReturnType<typeof placeTape>} Tape */

/** A token's box, and around it what a finger may touch, which leaves no gap. */
const TOKEN = { h: 23, room: 7, gap: 3, least: 21 };

/** @param {PlayedRun} header @param {number} at @param {number} width */
export function placeTape(header, at, width) {
  let [x, y] = [0, 0];
  const tokens = tapeOf(header, at).map(({ text, kind }) => {
    const weight = /** @type {Weight} */ (kind === "newest" ? 600 : 400);
    const label = shortened(text, width - 2 * TOKEN.room, 13, weight);
    const w = Math.max(TOKEN.least, textWidth(label, 13, weight) + 2 * TOKEN.room);
    if (x > 0 && x + w > width) [x, y] = [0, y + TOKEN.h + TOKEN.gap];
    const token = { text, label, kind, weight, x, y, w, h: TOKEN.h };
    x += w + TOKEN.gap;
    return token;
  });
  return { tokens, width, height: y + TOKEN.h + TOKEN.gap };
}

/** What a hand touches of a token. @param {Tape["tokens"][number]} token */
export function touchedOf({ x, y, w, h }) {
  return { x: x - TOKEN.gap / 2, y: y - TOKEN.gap / 2, w: w + TOKEN.gap, h: h + TOKEN.gap };
}

/** @param {DrawingContext} context @param {Tape} tape @param {Theme} theme */
export function drawTape(context, { tokens }, theme) {
  for (const { label, kind, weight, x, y, w, h } of tokens) {
    if (kind !== "chosen") {
      const [fillStyle, globalAlpha] = kind === "written" ? [theme.primary, 0.16] : [theme.text, 0.07];
      drawWith(context, { fillStyle, globalAlpha });
      roundedRect(context, x, y, w, h, 4);
      context.fill();
    }
    drawWith(context, { globalAlpha: 1, strokeStyle: theme.primary, lineWidth: 1 });
    context.setLineDash(kind === "chosen" ? [3, 3] : []);
    if (kind === "chosen" || kind === "newest") {
      roundedRect(context, x + 0.5, y + 0.5, w - 1, h - 1, 4);
      context.stroke();
    }
    drawWith(context, { font: `${weight} 13px ${theme.font}`, fillStyle: theme.text, textBaseline: "middle" });
    context.textAlign = "center";
    context.fillText(label, x + w / 2, y + h / 2);
  }
  context.setLineDash([]);
}
