// The bar under a picture: colours, ticks where the values lie, what is hatched; on the page, and in a file.

import { cssGradient, placeOnScale, colourStops } from "./colour.js";
import { createBox, el } from "./dom.js";
import { tickText } from "./numbers.js";
import { drawWith } from "./surface.js";
import { textWidth } from "../scene/text_width.js";

/** @import { Colours, DrawingContext, Scale, Theme } from "./types.js" */
/** @typedef {{ scale: Scale, signed: boolean, unit: string, colours: Colours }} BarHeader */

/**
 * @param {HTMLElement} host @param {BarHeader} header
 * @param {boolean} dark
 * @param {string | null} hatched what the hatch stands for, null where there is none
 */
export function drawColourBar(host, { scale, signed, unit, colours }, dark, hatched) {
  const how = JSON.stringify([scale, signed, unit, colours, dark, hatched]);
  if (host.dataset.bar === how) return;
  host.dataset.bar = how;
  const bar = el("div", "av-bar");
  const strip = el("div", "av-bar-strip");
  const stops = colourStops({ signed, colours }, dark);
  strip.style.setProperty("--av-along", cssGradient(stops));
  strip.style.setProperty("--av-up", cssGradient(stops, "top"));
  bar.append(strip);
  for (const { text, at } of ticksOf(scale, signed)) {
    const tick = el("span", "av-bar-tick", text);
    tick.style.setProperty("--av-at", `${at * 100}%`);
    bar.append(tick);
  }
  host.replaceChildren(el("span", "av-bar-name", unit), bar);
  if (hatched !== null)
    host.append(createBox("av-line", el("span", "av-bar-hatch"), el("span", "av-bar-name", hatched)));
}

/** The numbers below a bar, and where they stand, 0 to 1. @param {Scale} scale @param {boolean} signed */
function ticksOf(scale, signed) {
  const shares = signed ? [-1, -0.5, 0, 0.5, 1] : scale.root ? [0, 0.01, 0.1, 0.25, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1];
  return shares.map((share) => {
    return { text: tickText(share * scale.top), at: placeOnScale(share * scale.top, scale, signed) };
  });
}

const BAR = { wide: 180, high: 10, font: 12 };
/** Pixels that a bar takes below a picture. */
export const BAR_ROOM = 34;

/** How wide the bar is with its names. @param {string} unit @param {string | null} hatched */
export function barWidth(unit, hatched) {
  const names = [unit, hatched ?? ""].reduce((sum, text) => sum + textWidth(text, BAR.font), 0);
  return names + 10 + BAR.wide + (hatched === null ? 0 : 40) + 8;
}

/**
 * The same bar in a file.
 * @param {DrawingContext} context @param {number} x @param {number} y @param {BarHeader} header @param {Theme} theme
 * @param {string | null} hatched
 */
export function drawBarInFile(context, x, y, { scale, signed, unit, colours }, theme, hatched) {
  drawWith(context, { font: `${BAR.font}px ${theme.font}`, fillStyle: theme.text, textBaseline: "middle" });
  context.textAlign = "left";
  context.fillText(unit, x, y + BAR.high / 2);
  const begin = x + textWidth(unit, BAR.font) + 10;
  const gradient = context.createLinearGradient(begin, 0, begin + BAR.wide, 0);
  for (const [at, colour] of colourStops({ signed, colours }, theme.dark)) gradient.addColorStop(at, colour);
  context.fillStyle = gradient;
  context.fillRect(begin, y, BAR.wide, BAR.high);
  drawWith(context, { fillStyle: theme.text, font: `10px ${theme.font}`, textAlign: "center" });
  for (const { text, at } of ticksOf(scale, signed)) context.fillText(text, begin + at * BAR.wide, y + BAR.high + 9);
  if (hatched === null) return;
  const end = begin + BAR.wide + 14;
  context.hatch({ x: end, y, w: 14, h: BAR.high }, colours.masked, theme.dark);
  drawWith(context, { fillStyle: theme.text, font: `${BAR.font}px ${theme.font}`, textAlign: "left" });
  context.fillText(hatched, end + 20, y + BAR.high / 2);
}
