// Colour scales: 256 steps between the stops that Python sends, and tables from codes to pixels.
// A pixel is 0xAABBGGRR, as a little-endian Uint32Array over ImageData holds it.

import { MASKED_16, decodeValue } from "./packing.js";
import { ROLES } from "./roles.js";

/** @import { Colours, Rgb, Scale, Stops, Theme } from "./types.js" */

/** Red, green and blue of a CSS colour as Streamlit's themes write them: #rgb, #rrggbb(aa) or rgb(a)(...). */
/** @param {string} colour @returns {Rgb} */
export function rgb(colour) {
  const text = colour.trim();
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])[0-9a-f]?$/i.exec(text);
  if (short) return /** @type {Rgb} */ (short.slice(1, 4).map((digit) => parseInt(digit + digit, 16)));
  const long = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})(?:[0-9a-f]{2})?$/i.exec(text);
  if (long) return /** @type {Rgb} */ (long.slice(1, 4).map((pair) => parseInt(pair, 16)));
  const called = /^rgba?\(\s*([\d.]+)[\s,]+([\d.]+)[\s,]+([\d.]+)/i.exec(text);
  if (called) return /** @type {Rgb} */ (called.slice(1, 4).map(Number));
  return [255, 255, 255];
}

/** @param {Rgb} colour */
export function css(colour) {
  return `rgb(${colour.join(",")})`;
}

/** The same as #rrggbb. @param {Rgb} colour */
export function hex(colour) {
  return `#${colour.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

/** @param {Rgb} from @param {Rgb} to @param {number} share @returns {Rgb} */
export function mixColours(from, to, share) {
  return /** @type {Rgb} */ (from.map((v, i) => Math.round(v + (to[i] - v) * share)));
}

/** The colour at `t` (0 to 1) between the stops. @param {Stops} stops @param {number} t */
export function colourAt(stops, t) {
  let s = 0;
  while (s < stops.length - 2 && t > stops[s + 1][0]) s++;
  const [[t0, from], [t1, to]] = [stops[s], stops[s + 1]];
  return mixColours(rgb(from), rgb(to), Math.min(1, Math.max(0, (t - t0) / (t1 - t0))));
}

/** @param {Rgb} colour @param {number} alpha 0 to 255 */
export function toPixel([r, g, b], alpha = 255) {
  return ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** The scale in 256 pixels. @param {Stops} stops */
export function ramp(stops) {
  return Uint32Array.from({ length: 256 }, (_, i) => toPixel(colourAt(stops, i / 255)));
}

/** Where a value lies on the scale, 0 to 1 (0.5 is zero on a signed one). */
/** @param {number} value @param {Scale} scale @param {boolean} signed */
export function placeOnScale(value, scale, signed) {
  const share = Math.min(1, Math.abs(value) / scale.top);
  const t = scale.root ? Math.sqrt(share) : share;
  return signed ? 0.5 + (Math.sign(value) * t) / 2 : value < 0 ? 0 : t;
}

/** The colours of a scale: of one with two sides nought is nearly the page, light or dark. */
/** @param {{ signed: boolean, colours: Pick<Colours, "scores" | "weights"> }} header @param {boolean} dark */
export function colourStops({ signed, colours }, dark) {
  return signed ? colours.scores[Number(dark)] : colours.weights;
}

/**
 * Pixels of all 65,536 codes; masked is transparent, so that the hatch below shows.
 * @param {{ signed: boolean, top: number, scale: Scale, colours: Pick<Colours, "scores" | "weights"> }} header
 * @param {boolean} dark
 */
export function pixelTable({ signed, top, scale, colours }, dark) {
  const steps = ramp(colourStops({ signed, colours }, dark));
  const table = new Uint32Array(65536);
  for (let code = 0; code < MASKED_16; code++) {
    table[code] = steps[Math.round(placeOnScale(decodeValue(code, top, signed), scale, signed) * 255)];
  }
  return table;
}

/** A pixel between two: so many of 256 parts are the second's. @param {number} from @param {number} to @param {number} share */
export function mixPixels(from, to, share) {
  const [rb, ag] = [from & 0xff00ff, (from >>> 8) & 0xff00ff]; // two channels at once, each with room for its product
  const mixedRb = rb + ((((to & 0xff00ff) - rb) * share) >> 8);
  const mixedAg = ag + (((((to >>> 8) & 0xff00ff) - ag) * share) >> 8);
  return ((mixedRb & 0xff00ff) | ((mixedAg & 0xff00ff) << 8)) >>> 0;
}

/** @param {number} pixel @returns {Rgb} */
export function toRgb(pixel) {
  return [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
}

/** How much light a colour gives, 0 to 1, as the Web's accessibility guidelines define it. @param {Rgb} colour */
export function luminance(colour) {
  const [r, g, b] = colour.map((v) => (v <= 10.31475 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The contrast of two colours by the same guidelines: 1 to 21, and text needs 4.5. */
/** @param {Rgb} one @param {Rgb} other */
export function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** Black or white, whichever is read better on this colour: one of the two always has a contrast of 4.5. */
/** @param {Rgb} colour */
export function inkOn(colour) {
  return contrast(colour, [0, 0, 0]) > contrast(colour, [255, 255, 255]) ? "#000000" : "#ffffff";
}

/** @param {string} colour */
export function isDark(colour) {
  const [r, g, b] = rgb(colour);
  return 0.299 * r + 0.587 * g + 0.114 * b < 127.5;
}

/** @param {Stops} stops */
export function cssGradient(stops, to = "right") {
  return `linear-gradient(to ${to}, ${stops.map(([t, c]) => `${c} ${t * 100}%`).join(", ")})`;
}

/** The theme around a component. */
/** @param {HTMLElement} root @param {Pick<Colours, "q" | "k">} colours @returns {Theme} */
export function readTheme(root, colours) {
  const style = getComputedStyle(root);
  const read = (/** @type {string} */ name, /** @type {string} */ other) =>
    style.getPropertyValue(`--st-${name}`).trim() || other;
  const background = read("background-color", "#ffffff");
  const dark = isDark(background);
  const theme = {
    text: read("text-color", "#1f2328"),
    background,
    secondary: read("secondary-background-color", background),
    border: read("border-color", "#d0d0d8"),
    primary: read("primary-color", "#7a2382"),
    font: read("font", "sans-serif"),
    dark,
    ...readableRoles(colours, background),
  };
  for (const role of /** @type {const} */ (["q", "k", "weight"])) {
    const name = `--av-${role}`;
    if (root.style.getPropertyValue(name) !== theme[role]) root.style.setProperty(name, theme[role]);
  }
  return theme;
}

/** The colours of queries, keys and weights as text and thin lines need them on a background. */
/** @param {Pick<Colours, "q" | "k">} colours @param {string} background */
export function readableRoles({ q, k }, background) {
  const [query, key, weight] = [q, k, ROLES.weight].map((colour) => readableColour(colour, background));
  return { q: query, k: key, weight };
}

/** A colour as text in it can be read: lighter on a dark page, and no darker than it has to be on a light one. */
/** @param {string} written @param {string} background */
export function readableColour(written, background) {
  const colour = rgb(written);
  if (isDark(background)) return css(mixColours(colour, [255, 255, 255], 0.35));
  const enough = Array.from({ length: 20 }, (_, i) => mixColours(colour, [0, 0, 0], i / 20));
  return css(enough.find((each) => contrast(each, rgb(background)) >= 4.5) ?? [0, 0, 0]);
}
