// A figure that stands alone: its title above it, its caption below, on paper of its own; the same text in a browser and
// without one.

import { css, mixColours, readableRoles, rgb } from "../shared/colour.js";
import { joinFigures, writeLines } from "./side_by_side.js";
import { SvgContext } from "./svg_context.js";
import { escapeText } from "./svg_path.js";
import { FAMILY, wrapText } from "./text_width.js";

/** @import { Colours, DrawingContext, Picture, Theme } from "../shared/types.js" */
/** @typedef {"white" | "transparent" | "dark"} Background */
/**
 * `flush`: it has its own margins, so that it begins at the paper's edge. `said`: what it computes of itself, for its caption.
 * @typedef {{ width: number, height: number, title: string, said?: string, flush?: boolean, draw(context: DrawingContext): void }} Figure
 */
/** @typedef {{ background: Background, title: string, caption: string, credit: string, bar: boolean, fonts: string }} FigureLook */

const MARGIN = 20;
const NARROWEST = 420;
const TITLE = { size: 18, line: 24 };
const CAPTION = { size: 13, line: 18 };
const CREDIT = { size: 11, line: 15 };

const LIGHT = { text: "#1F2328", background: "#FFFFFF", secondary: "#F5F3F8", border: "#DCD8E3", primary: "#7A2382" };
const DARK = { text: "#E8EAED", background: "#14161C", secondary: "#1E212B", border: "#343946", primary: "#B565C6" };

/** The colours of a file; a transparent one is taken to lie on white. */
/** @param {Background} background @param {Pick<Colours, "q" | "k">} colours @returns {Theme} */
export function fileTheme(background, colours) {
  const dark = background === "dark";
  const own = dark ? DARK : LIGHT;
  return { ...own, ...readableRoles(colours, own.background), font: FAMILY, dark };
}

/** The file of what pictures of a page show, side by side. @param {Picture[]} pictures @param {FigureLook} look */
export function pictureDocument(pictures, look) {
  const theme = fileTheme(look.background, pictures[0].parts()[0][1].colours);
  const figures = pictures.map((picture) => picture.figure(theme, look.bar));
  return figureDocument(figures, theme, look);
}

/** The whole file. @param {Figure[]} figures @param {Theme} theme @param {FigureLook} look */
export function figureDocument(figures, theme, { background, title, caption, credit, fonts }) {
  const figure = figures.length === 1 ? figures[0] : joinFigures(figures);
  const beside = figure.flush ? 0 : MARGIN;
  const width = Math.ceil(Math.max(figure.width + 2 * beside, NARROWEST));
  const room = width - 2 * MARGIN;
  const heading = wrapText(title, room, TITLE.size, 600);
  const words = [figure.said ?? "", caption].filter(Boolean);
  const below = words.flatMap((text) => wrapText(text, room, CAPTION.size));
  const maker = wrapText(credit, room, CREDIT.size);
  const context = new SvgContext();
  const top = MARGIN + heading.length * TITLE.line + (heading.length ? 10 : 0);
  const foot = top + figure.height + (below.length ? 14 : 0);
  const last = foot + below.length * CAPTION.line + (maker.length ? 10 : 0);
  const height = Math.ceil(last + maker.length * CREDIT.line + MARGIN);
  const said = css(mixColours(rgb(theme.text), rgb(theme.background), 0.15));
  context.fillStyle = theme.text;
  writeLines(context, heading, MARGIN, MARGIN, TITLE, 600);
  context.save();
  context.translate(beside, top);
  figure.draw(context);
  context.restore();
  context.fillStyle = said;
  writeLines(context, below, MARGIN, foot, CAPTION);
  writeLines(context, maker, MARGIN, last, CREDIT);
  const paper =
    background === "transparent" ? "" : `<rect width="${width}" height="${height}" fill="${theme.background}"/>`;
  const texts = [
    title && `<title>${escapeText(title)}</title>`,
    words.length && `<desc>${escapeText(words.join("\n"))}</desc>`,
  ];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="${escapeText(FAMILY)}" role="img">${texts.filter(Boolean).join("")}` +
    `${fonts && `<style>${fonts}</style>`}${paper}${context.drawing}</svg>`
  );
}

/** What stands for the chart until it is drawn; Python's side is live/chart_frame.py. */
export const CHART = "<!--chart-->";

/** @param {{ width: number, height: number, title: string }} header @returns {Figure} */
export function chartFigure({ width, height, title }) {
  return { width, height, title, flush: true, draw: (/** @type {SvgContext} */ context) => context.insert(CHART) };
}
