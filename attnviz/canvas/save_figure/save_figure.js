// Saves one figure as SVG or PNG. Python wrote the SVG; a chart in it is drawn here by plotly.js, from this server.

import { rootOf, sayingButtons } from "../shared/component.js";
import { el } from "../shared/dom.js";
import { download, png } from "../shared/files.js";

/** @import { Component, SaveFigure } from "../shared/types.js" */
/** @typedef {{ toImage(figure: object, options: object): Promise<string> }} Plotly */

/** Of each button: the format, how many pixels a point has, and what the file's name ends with. */
const KINDS = /** @type {const} */ ({
  svg: { format: "svg", scale: 1, suffix: "" },
  png2: { format: "png", scale: 2, suffix: "@2x" },
  png4: { format: "png", scale: 4, suffix: "@4x" },
});

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

/** The SVG with everything in it. @param {SaveFigure} data */
async function complete({ svg, chart, plotly }) {
  if (chart === null) return svg;
  const figure = JSON.parse(chart);
  const { width, height } = figure.layout;
  const Plotly = await loadPlotly(plotly);
  const drawn = await Plotly.toImage(figure, { format: "svg", width, height });
  return svg.replace("<!--chart-->", () => decodeURIComponent(drawn.slice(drawn.indexOf(",") + 1)));
}

/** @param {SaveFigure} data @param {keyof typeof KINDS} kind */
async function save(data, kind) {
  const { format, scale, suffix } = KINDS[kind];
  const svg = await complete(data);
  const file = format === "svg" ? new Blob([svg], { type: "image/svg+xml" }) : await png(svg, scale);
  download(file, `${data.name}${suffix}.${format}`);
}

/** @param {Component<SaveFigure>} component */
export default function saveFigure(component) {
  const { data } = component;
  const { labels } = data;
  const kinds = /** @type {(keyof typeof KINDS)[]} */ (Object.keys(KINDS));
  const acts = kinds.map((kind) => {
    return { label: labels[kind], attributes: { "data-kind": kind }, act: () => save(data, kind) };
  });
  const failed = (/** @type {unknown} */ problem) =>
    `${labels.failed} ${problem instanceof Error ? problem.message : problem}`;
  sayingButtons(rootOf(component), acts, { working: labels.working, done: labels.done }, failed);
}
