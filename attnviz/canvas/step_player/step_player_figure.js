// A decoder's step as a figure: its tokens, the scene, and beside it the next token, the work, the memory of each layer.

import { playerLayout } from "./step_player_geometry.js";
import { drawStep, filmOf, shortened } from "./step_player_scene.js";
import { isChosen, memoryOf, tapeOf, workOf } from "./step_player_texts.js";
import { textWidth, wrapText } from "../scene/text_width.js";
import { visibleToken } from "../shared/dom.js";
import { percent } from "../shared/numbers.js";
import { floats } from "../shared/packing.js";
import { drawWith, fillBox, strokePath } from "../shared/surface.js";
import { roundedRect } from "../shared/token_labels.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { SvgContext } from "../scene/svg_context.js" */
/** @import { Weight } from "../scene/text_width.js" */
/** @import { StepFigureHeader, Theme } from "../shared/types.js" */
/** @typedef {ReturnType<typeof placeTape>} Tape */

/** Pixels of the scene, of what stands beside it, and between them. */
const [SCENE, SIDE, BETWEEN] = [713, 380, 28];
const WIDE = SCENE + BETWEEN + SIDE;
/** A token of the tape, and from one row of them to the next. */
const TOKEN = { h: 22, room: 7, gap: 3, pitch: 25 };
const LINE = 20;
/** Pixels of a probability's bar, after its label. */
const TRACK = { x: 100, w: SIDE - 160, h: 11 };
/** Where the columns of the work's table end. */
const COLUMNS = [0, 0.68 * SIDE, SIDE];
const LAYERS = { w: 360, h: 46 };

/** @param {StepFigureHeader} header @param {Uint8Array} payload @param {Theme} theme @returns {Figure} */
export function stepFigure(header, payload, theme) {
  const { at, rows, title, steps } = header;
  const layout = playerLayout(SCENE, rows);
  const scene = { header, film: filmOf(header, floats(payload)), at, theme, layout, pointed: null };
  const tape = placeTape(header);
  const { rows: work, note } = workOf(header, at);
  const notes = wrapText(note, SIDE, 12);
  const choices = LINE * (1 + steps[at].alternatives.length + Number(!isChosen(header, at)));
  const costs = choices + 14;
  const memory = costs + 24 * work.length + LINE * notes.length + 14;
  const draw = (/** @type {SvgContext} */ context) => {
    for (const token of tape.tokens) drawToken(context, token, theme);
    context.save();
    context.translate(0, tape.end);
    drawStep(context, scene);
    context.translate(SCENE + BETWEEN, 0);
    drawChoices(context, header, theme);
    context.translate(0, costs);
    drawWork(context, work, theme);
    notes.forEach((line, n) => write(context, line, 0, 24 * work.length + 12 + n * LINE, theme, "12px"));
    context.translate(0, memory - costs);
    drawMemory(context, header, theme);
    context.restore();
  };
  const height = tape.end + Math.max(layout.height, memory + LINE + LAYERS.h + 2);
  return { width: WIDE, height: Math.ceil(height), title, draw };
}

/**
 * @param {SvgContext} context @param {string} text @param {number} x @param {number} y the middle of the line
 * @param {Theme} theme @param {string} type @param {CanvasTextAlign} [textAlign]
 */
function write(context, text, x, y, theme, type, textAlign = "left") {
  drawWith(context, { font: `${type} ${theme.font}`, fillStyle: theme.text, textAlign, textBaseline: "middle" });
  context.fillText(text, x, y);
}

/** The tokens so far in rows, and where these end. @param {StepFigureHeader} header */
function placeTape(header) {
  let [x, y] = [0, 0];
  const tokens = tapeOf(header, header.at).map(({ text, kind }) => {
    const type = /** @type {Weight} */ (kind === "newest" ? 600 : 400);
    const label = shortened(text, WIDE - 2 * TOKEN.room, 13, type);
    const w = textWidth(label, 13, type) + 2 * TOKEN.room;
    if (x > 0 && x + w > WIDE) [x, y] = [0, y + TOKEN.pitch];
    const token = { label, kind, type, x, y, w };
    x += w + TOKEN.gap;
    return token;
  });
  return { tokens, end: y + TOKEN.pitch + 10 };
}

/** @param {SvgContext} context @param {Tape["tokens"][number]} token @param {Theme} theme */
function drawToken(context, { label, kind, type, x, y, w }, theme) {
  const [fillStyle, globalAlpha] = kind === "written" ? [theme.primary, 0.16] : [theme.text, 0.07];
  if (kind !== "chosen") {
    drawWith(context, { fillStyle, globalAlpha });
    roundedRect(context, x, y, w, TOKEN.h, 4);
    context.fill();
  }
  drawWith(context, { globalAlpha: 1, strokeStyle: theme.primary, lineWidth: 1 });
  context.setLineDash(kind === "chosen" ? [3, 3] : []);
  if (kind === "chosen" || kind === "newest") {
    roundedRect(context, x + 0.5, y + 0.5, w - 1, TOKEN.h - 1, 4);
    context.stroke();
  }
  context.setLineDash([]);
  write(context, label, x + w / 2, y + TOKEN.h / 2, theme, `${type} 13px`, "center");
}

/** The next token: a bar of probability for each that could be. @param {SvgContext} context @param {StepFigureHeader} header @param {Theme} theme */
function drawChoices(context, header, theme) {
  const { words, steps, at } = header;
  write(context, words.choices, 0, 9, theme, "600 14px");
  const { alternatives } = steps[at];
  alternatives.forEach(([label, probability, chosen], n) => {
    const y = LINE * (n + 1.5);
    const type = /** @type {Weight} */ (chosen ? 600 : 400);
    write(context, shortened(visibleToken(label), TRACK.x - 8, 13, type), 0, y, theme, `${type} 13px`);
    write(context, percent(probability), SIDE, y, theme, `${type} 13px`, "right");
    const track = { x: TRACK.x, y: y - TRACK.h / 2, w: TRACK.w, h: TRACK.h };
    fillBox(context, track, theme.text, 0.08);
    const share = { ...track, w: Math.max(1, track.w * probability) };
    fillBox(context, share, chosen ? theme.primary : theme.text, chosen ? 1 : 0.45);
  });
  if (!isChosen(header, at)) write(context, words.nothing, 0, LINE * (alternatives.length + 1.5), theme, "12px");
}

/** @param {SvgContext} context @param {string[][]} rows @param {Theme} theme */
function drawWork(context, rows, theme) {
  rows.forEach((cells, n) => {
    cells.forEach((cell, i) =>
      write(context, cell, COLUMNS[i], 24 * n + 11, theme, n ? "13px" : "600 13px", i ? "right" : "left"),
    );
    drawWith(context, { strokeStyle: theme.text, globalAlpha: 0.12, lineWidth: 1 });
    strokePath(context, [0, 24 * n + 23.5], [SIDE, 24 * n + 23.5]);
    context.globalAlpha = 1;
  });
}

/** Keys and values of each layer, one half each. @param {SvgContext} context @param {StepFigureHeader} header @param {Theme} theme */
function drawMemory(context, header, theme) {
  const { title, layers } = memoryOf(header, header.at);
  write(context, title, 0, 9, theme, "600 14px");
  const wide = LAYERS.w / layers.length;
  const foot = LINE + LAYERS.h;
  layers.forEach(({ share }, layer) => {
    const bar = { x: layer * wide, w: Math.max(0.5, wide - 1), h: (share * LAYERS.h) / 2 };
    fillBox(context, { ...bar, y: foot - 2 * bar.h }, header.colours.k);
    fillBox(context, { ...bar, y: foot - bar.h }, header.colours.v);
  });
  drawWith(context, { strokeStyle: theme.text, globalAlpha: 0.4, lineWidth: 1 });
  strokePath(context, [0, foot + 0.5], [LAYERS.w, foot + 0.5]);
  context.globalAlpha = 1;
}
