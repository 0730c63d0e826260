// The SVG of a picture: of what canvases of the page offer, of parts that Python sent, or of a chart.

import { CHART, chartFigure } from "../scene/chart_figure.js";
import { figureDocument, pictureDocument, themeOfFile } from "../scene/figure.js";
import { el } from "../shared/dom.js";
import { patchHeadsFigure } from "../patch_view/patch_figure.js";

/** @import { FigureLook } from "../scene/figure.js" */
/** @import { Picture, SavePictureHeader } from "../shared/types.js" */
/** @typedef {{ toImage(figure: object, options: object): Promise<string> }} Plotly */

/** @param {SavePictureHeader} header @param {Uint8Array} payload @param {Omit<FigureLook, "fonts">} chosen */
export async function svgOf(header, payload, chosen) {
  const look = { ...chosen, fonts: await fontsOf(header.fonts) };
  if (header.chart) return chartSvg(header.chart, header.plotly, look);
  const { parts, canvases, words } = header;
  if (parts.length) {
    const theme = themeOfFile(look.background, parts[0].header.colours);
    let at = 0;
    const figures = parts.map(({ header: told, size }) =>
      patchHeadsFigure(told, payload.subarray(at, (at += size)), theme),
    );
    return figureDocument(figures, theme, look);
  }
  const pictures = canvases.map((canvas) => pictureOf(canvas, words.gone));
  return pictureDocument(pictures, look);
}

/** What a canvas of the page offers. @param {string} canvas its key, and where it has several pictures, which @param {string} gone */
export function pictureOf(canvas, gone) {
  const [key, which = ".av-root"] = canvas.split(" ");
  const box = document.querySelector(`.st-key-${CSS.escape(key)}`);
  const root = [...(box?.querySelectorAll("*") ?? [])].find(({ shadowRoot }) => shadowRoot)?.shadowRoot;
  const { picture } = /** @type {{ picture?: Picture }} */ (root?.querySelector(which) ?? {});
  if (!picture) throw new Error(gone);
  return picture;
}

/** @type {Promise<string> | null} */
let fonts = null;

/** The style that brings the font along, fetched once; without it the letters are those of whoever opens the file. */
/** @param {string} address */
function fontsOf(address) {
  fonts ??= fetch(address).then((answer) => {
    if (!answer.ok) throw new Error(address);
    return answer.text();
  });
  return fonts.catch((problem) => {
    fonts = null;
    throw problem;
  });
}

/** @param {NonNullable<SavePictureHeader["chart"]>} chart @param {string} plotly its address @param {FigureLook} look */
async function chartSvg(chart, plotly, look) {
  const layout = JSON.parse(chart.layouts[look.background]);
  const data = JSON.parse(chart.data);
  if (!look.bar) {
    for (const trace of data) if (trace.type === "heatmap") trace.showscale = false;
    for (const [name, axis] of Object.entries(layout)) if (name.startsWith("coloraxis")) axis.showscale = false;
  }
  const { width, height } = layout;
  const Plotly = await loadPlotly(plotly);
  const drawn = await Plotly.toImage({ data, layout }, { format: "svg", width, height });
  const theme = themeOfFile(look.background, chart.colours);
  const frame = figureDocument([chartFigure({ width, height, title: "" })], theme, look);
  return frame.replace(CHART, () => decodeURIComponent(drawn.slice(drawn.indexOf(",") + 1)));
}

/** @type {Promise<Plotly> | null} */
let loading = null;

/** @param {string} address @returns {Promise<Plotly>} */
function loadPlotly(address) {
  const page = /** @type {{ Plotly?: Plotly }} */ (globalThis);
  if (page.Plotly) return Promise.resolve(page.Plotly);
  loading ??= new Promise((resolve, reject) => {
    const script = el("script", "", null, { src: address });
    const failed = () => {
      loading = null;
      reject(new Error("plotly.min.js"));
    };
    script.onload = () => (page.Plotly ? resolve(page.Plotly) : failed());
    script.onerror = failed;
    document.head.append(script);
  });
  return loading;
}
