// The menu that saves a picture: as SVG or PNG, or copied. What is on show draws itself; a chart is drawn by plotly.js.

import { patchHeadsFigure } from "../patch_view/patch_figure.js";
import { CHART, chartFigure, figureDocument, pictureDocument, fileTheme } from "../scene/figure.js";
import { keepInReach, reportingButtons, View, viewComponent } from "../shared/component.js";
import { createBox, el, fill, setText } from "../shared/dom.js";
import { download, renderPng } from "../shared/files.js";

/** @import { Component, Picture, SavePictureHeader, Words } from "../shared/types.js" */
/** @import { Background, FigureLook } from "../scene/figure.js" */
/** @typedef {{ toImage(figure: object, options: object): Promise<string> }} Plotly */

/** @param {SavePictureHeader} header @param {Uint8Array} payload @param {Omit<FigureLook, "fonts">} chosen */
export async function renderSvg(header, payload, chosen) {
  const look = { ...chosen, fonts: await loadFonts(header.fonts) };
  if (header.chart) return chartSvg(header.chart, header.plotly, look);
  const { parts, canvases, words } = header;
  if (parts.length) {
    const theme = fileTheme(look.background, parts[0].header.colours);
    let at = 0;
    const figures = parts.map(({ header: told, size }) =>
      patchHeadsFigure(told, payload.subarray(at, (at += size)), theme),
    );
    return figureDocument(figures, theme, look);
  }
  const pictures = canvases.map((canvas) => findPicture(canvas, words.gone));
  await Promise.all(pictures.map((picture) => picture.ready?.()));
  return pictureDocument(pictures, look);
}

/** What a canvas of the page offers. @param {string} canvas its key, and where it has several pictures, which @param {string} gone */
export function findPicture(canvas, gone) {
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
function loadFonts(address) {
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
  const theme = fileTheme(look.background, chart.colours);
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

/** @type {Background[]} */
const BACKGROUNDS = ["white", "transparent", "dark"];

export class LookForm {
  /** @param {() => void} changed is called when a visitor has changed something */
  constructor(changed) {
    this.title = el("input", "sv-text", null, { type: "text", name: "title" });
    this.caption = el("textarea", "sv-text", null, { rows: "3", name: "caption" });
    this.papers = BACKGROUNDS.map((value) => el("input", "", null, { type: "radio", name: "paper", value }));
    const [bar, fine, credit] = ["bar", "fine", "credit"].map((name) =>
      el("input", "", null, { type: "checkbox", name }),
    );
    Object.assign(this.papers[0], { checked: true });
    for (const each of [bar, credit]) each.checked = true;
    this.switches = { bar, fine, credit };
    /** @type {[SavePictureHeader["title"], SavePictureHeader["caption"]]} what Python proposed last */
    this.proposed = ["", ""];
    this.names = new Map(
      [this.title, this.caption, ...this.papers, bar, fine, credit].map((each) => [each, el("span")]),
    );
    const labelled = (/** @type {HTMLInputElement | HTMLTextAreaElement} */ control) => {
      const isField = control.className === "sv-text";
      const name = /** @type {HTMLElement} */ (this.names.get(control));
      const label = el("label", isField ? "sv-field" : "sv-choice");
      label.append(...(isField ? [name, control] : [control, name]));
      return label;
    };
    this.paper = el("fieldset", "sv-line");
    this.legend = el("legend");
    this.paper.append(this.legend, ...this.papers.map(labelled));
    this.summary = el("summary");
    const more = el("details", "sv-more");
    more.append(
      this.summary,
      labelled(this.title),
      labelled(this.caption),
      this.paper,
      createBox("av-wrap sv-line", labelled(bar), labelled(fine)),
    );
    more.addEventListener("change", changed);
    this.parts = [labelled(credit), more];
    this.credit = "";
  }

  /** @param {SavePictureHeader} header */
  show({ title, caption, credit, words }) {
    this.credit = credit;
    this.summary.textContent = words.look;
    this.legend.textContent = words.background;
    this.names.forEach((name, control) => {
      name.textContent = words[control.name === "paper" ? control.value : control.name];
    });
    [this.title, this.caption].forEach((field, at) => {
      const fresh = [title, caption][at];
      if (field.value === this.proposed[at]) field.value = fresh; // what a visitor wrote stays
      this.proposed[at] = fresh;
    });
  }

  /** Pixels of a PNG for each of the picture's. */
  get scale() {
    return this.switches.fine.checked ? 4 : 2;
  }

  /** @returns {Omit<FigureLook, "fonts">} */
  get look() {
    const { bar, credit } = this.switches;
    return {
      background: BACKGROUNDS[this.papers.findIndex(({ checked }) => checked)] ?? "white",
      title: this.title.value.trim(),
      caption: this.caption.value.trim(),
      credit: credit.checked ? this.credit : "",
      bar: bar.checked,
    };
  }
}

/** @extends {View<SavePictureHeader>} */
class SavePicture extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.buttons = createBox("av-wrap sv-line");
    this.buttons.setAttribute("role", "group");
    this.film = el("div", "av-film");
    this.opener = createBox("sv-line");
    this.downloads = el("span", "said", null, { "aria-live": "polite" });
    /** @type {Element | null} what the buttons that the server answers stand in */
    this.files = null;
    this.form = new LookForm(() => this.tellLook());
    root.append(this.buttons, ...this.form.parts, this.opener, this.film, this.downloads);
    keepInReach(root);
  }

  /** @param {Component} component */
  show(component) {
    const { header, before } = this.receive(component);
    this.form.show(header);
    this.announceDownloads(header.files);
    this.opener.hidden = !header.film || this.film.hasChildNodes();
    if (before?.words.name !== header.words.name) this.build(header.words);
  }

  /** The buttons, in the language of the words that came. @param {Words} words */
  build(words) {
    this.buttons.setAttribute("aria-label", words.name);
    const act = (/** @type {string} */ kind, /** @type {() => Promise<string>} */ does) => {
      return { label: words[kind], attributes: { "data-kind": kind }, act: does };
    };
    const acts = [
      act("svg", async () => this.save(new Blob([await this.svg()], { type: "image/svg+xml" }), ".svg")),
      act("png", async () => this.save(await this.png(), `@${this.form.scale}x.png`)),
      act("copy", () => this.copy()),
    ];
    const failed = (/** @type {unknown} */ problem) =>
      `${words.failed} ${problem instanceof Error ? problem.message : problem}`;
    reportingButtons(this.buttons, acts, { working: words.working }, failed);
    reportingButtons(this.opener, [act("film", () => this.openFilm())], { working: words.working }, failed);
  }

  /** Announces a file of the server's when its button is pressed. @param {string} files the key of the buttons' container */
  announceDownloads(files) {
    const root = this.root.getRootNode();
    const box = root instanceof ShadowRoot ? root.host.closest(`.st-key-${CSS.escape(files)}`) : null;
    if (box === this.files) return;
    this.files = box;
    box?.addEventListener("click", ({ target }) => {
      const pressed = target instanceof Element ? target.closest("button") : null;
      if (pressed) setText(this.downloads, fill(this.header.words.sent, { file: pressed.innerText }));
    });
  }

  /** Shows what a film is saved with, by a script that is fetched now; what is said then. */
  async openFilm() {
    const { film, canvases, name, words } = this.header;
    const script = film && (await import(film.menu).catch(() => null));
    if (!script) return words.unreached;
    const saving = () => {
      const { background, bar, credit } = this.form.look;
      return { name, title: "", caption: credit, background, bar, videoScript: film.video };
    };
    script.filmMenu(this.film, findPicture(canvases[0], words.gone), saving, film.labels);
    this.opener.hidden = true;
    return "";
  }

  /** The file of what is on show now. */
  svg() {
    return renderSvg(this.header, this.payload, this.form.look);
  }

  async png() {
    return renderPng(await this.svg(), this.form.scale);
  }

  /** Saves a file; what is said of it. @param {Blob} file @param {string} end of its name */
  save(file, end) {
    const { name, words } = this.header;
    download(file, name + end);
    return fill(words.saved, { file: name + end });
  }

  /** Copies the PNG; what is said then. Only pages that come encrypted, or from this machine, may do so. */
  async copy() {
    const { words } = this.header;
    if (!globalThis.isSecureContext || !navigator.clipboard?.write) return words.insecure;
    await navigator.clipboard.write([new ClipboardItem({ "image/png": this.png() })]);
    return words.copied;
  }

  /** A live file is written by Python, with the same title, caption and paper. */
  tellLook() {
    if (this.header.live) this.component?.setStateValue("look", this.form.look);
  }
}

export default viewComponent(SavePicture);
