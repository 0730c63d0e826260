// Draws one Plotly figure off screen and saves it as SVG or PNG. plotly.js comes from this server.

import { keptByRoot, rootOf } from "./component.js";
import { el } from "./dom.js";

/** @import { Component, SaveFigure } from "./types.js" */
/** @typedef {{ toImage(figure: object, options: object): Promise<string> }} Plotly */

/** Of each button: the format, how many pixels a point has, and what the file's name ends with. */
const KINDS = /** @type {const} */ ({
  svg: { format: "svg", scale: 1, suffix: "" },
  png2: { format: "png", scale: 2, suffix: "@2x" },
  png4: { format: "png", scale: 4, suffix: "@4x" },
});

/** @type {Promise<Plotly> | null} */
let loading = null;

/**
 * @param {string} address
 * @returns {Promise<Plotly>}
 */
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

/**
 * @param {SaveFigure} data
 * @param {keyof typeof KINDS} kind
 */
async function save({ figure, name, plotly }, kind) {
  const { format, scale, suffix } = KINDS[kind];
  const drawn = JSON.parse(figure);
  const { width, height } = drawn.layout;
  const Plotly = await loadPlotly(plotly);
  const href = await Plotly.toImage(drawn, { format, width, height, scale });
  el("a", "", null, { href, download: `${name}${suffix}.${format}` }).click();
}

/** What was said last stays when new data comes. */
const lines = keptByRoot(() => el("span", "said", null, { "aria-live": "polite" }));

/** @param {Component<SaveFigure>} component */
export default function saveFigure(component) {
  const { data } = component;
  const root = rootOf(component);
  const said = lines.of(root);
  const kinds = /** @type {(keyof typeof KINDS)[]} */ (Object.keys(KINDS));
  const buttons = kinds.map((kind) => {
    const button = el("button", "", data.labels[kind], { type: "button", "data-kind": kind });
    button.addEventListener("click", async () => {
      said.textContent = data.labels.working;
      button.disabled = true;
      try {
        await save(data, kind);
        said.textContent = data.labels.done;
      } catch (problem) {
        said.textContent = `${data.labels.failed} ${problem instanceof Error ? problem.message : problem}`;
      } finally {
        button.disabled = false;
      }
    });
    return button;
  });
  root.replaceChildren(...buttons, said);
}
