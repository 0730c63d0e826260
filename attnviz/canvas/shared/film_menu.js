// What a film is saved with: its kind, its shape, a part of it, a button that makes it and one that stops it.

import { appendLabelled } from "./controls.js";
import { createBox, createButton, el, listOf } from "./dom.js";
import { download } from "./files.js";
import { fileTheme } from "../scene/figure.js";
import { drawPreview, canEncodeVideo, filmFile } from "../scene/film_file.js";

/** @import { FilmKind, FilmLook } from "../scene/film_file.js" */
/** @import { Background } from "../scene/figure.js" */
/** @import { Picture, Words } from "./types.js" */

const SHAPES = { wide: { width: 1280, height: 720 }, square: { width: 1080, height: 1080 } };
/** Stops of a slider from the film's beginning to its end. */
const STOPS = 100;

/**
 * How it is saved: the file's name, what stands on the frames, and where the script that makes videos is, null in a file
 * that stands alone.
 * @typedef {{ name: string, title: string, caption: string, background: Background, bar: boolean, videoScript: string | null }} FilmSaving
 */

/**
 * Fills an element with the controls for the film of a picture.
 * @param {HTMLElement} root @param {Picture} picture @param {() => FilmSaving} saving asked when something is drawn
 * @param {Words} labels
 */
export function filmMenu(root, picture, saving, labels) {
  const { film } = picture;
  if (!film) {
    root.textContent = labels.still;
    return;
  }
  const options = (/** @type {Record<string, string>} */ names) =>
    Object.entries(names).map(([value, text]) => el("option", "", text, { value }));
  const video = saving().videoScript !== null;
  const kinds = { ...(video && canEncodeVideo() && { webm: "WebM", mp4: "MP4" }), gif: "GIF" };
  const preview = el("canvas", "av-film-preview", null, { role: "img", "aria-label": film.name });
  const kind = listOf("", options(kinds), () => {});
  const shape = listOf("", options({ wide: labels.wide, square: labels.square }), () => show(to));
  const slider = (/** @type {number} */ value) =>
    el("input", "av-slider-range", null, { type: "range", min: "0", max: String(STOPS), value: String(value) });
  const [from, to] = [slider(0), slider(STOPS)];
  const progress = el("progress", "", null, { max: "1", value: "0" });
  const said = el("div", "av-film-said", null, { "aria-live": "polite" });
  /** @type {AbortController | null} */
  let making = null;

  /** @returns {FilmLook} */
  const look = () => {
    const { title, background, ...more } = saving();
    const theme = fileTheme(background, picture.parts()[0][1].colours);
    const part = { from: Number(from.value) / STOPS, to: Number(to.value) / STOPS };
    const size = SHAPES[/** @type {keyof typeof SHAPES} */ (shape.value)];
    return { ...more, ...part, size, theme, kind: /** @type {FilmKind} */ (kind.value), title: title || film.name };
  };
  const show = (/** @type {HTMLInputElement} */ end) => drawPreview(preview, film, Number(end.value) / STOPS, look());
  const move = (/** @type {HTMLInputElement} */ end) => {
    if (Number(from.value) > Number(to.value)) (end === from ? to : from).value = end.value;
    show(end);
  };
  const make = async () => {
    making = new AbortController();
    save.disabled = true;
    stop.disabled = false;
    said.textContent = labels.working;
    const told = (/** @type {number} */ share) => progress.setAttribute("value", String(share));
    const { name, videoScript } = saving();
    const wanted = look();
    try {
      const file = await filmFile(film, wanted, videoScript, told, making.signal);
      if (file) download(file, `${name}.${wanted.kind}`);
      said.textContent = file ? labels.done : making.signal.aborted ? labels.stopped : labels.no_kind;
    } catch (problem) {
      said.textContent = `${labels.failed} ${problem instanceof Error ? problem.message : problem}`;
    }
    told(0);
    save.disabled = false;
    stop.disabled = true;
  };
  const save = createButton("av-button", labels.save, make);
  const stop = createButton("av-button", labels.stop, () => making?.abort(), { disabled: "" });
  const controls = createBox("av-film-menu");
  appendLabelled(controls, labels.kind, kind);
  appendLabelled(controls, labels.shape, shape);
  appendLabelled(controls, labels.from, from);
  appendLabelled(controls, labels.to, to);
  for (const end of [from, to]) end.addEventListener("input", () => move(end));
  if (video && !canEncodeVideo()) said.textContent = labels.no_video;
  root.replaceChildren(preview, controls, createBox("av-line", save, stop, progress), said);
  requestAnimationFrame(() => show(to));
}
