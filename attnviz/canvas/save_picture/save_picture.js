// The menu that saves a picture: as SVG or PNG, or copied. What is on show draws itself; a chart is drawn by plotly.js.

import { keepInReach, lastingComponent, sayingButtons, View } from "../shared/component.js";
import { around, button, el, fill, say } from "../shared/dom.js";
import { download, png } from "../shared/files.js";
import { LookForm } from "./look_form.js";
import { pictureOf, svgOf } from "./picture_svg.js";

/** @import { Component, SavePictureHeader, Words } from "../shared/types.js" */

/** @extends {View<SavePictureHeader>} */
class SavePicture extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.buttons = around("av-wrap sv-line");
    this.buttons.setAttribute("role", "group");
    this.film = el("div", "av-film");
    this.opener = button("", "", () => void this.openFilm(), { "data-kind": "film" });
    this.form = new LookForm(() => this.tellLook());
    root.append(this.buttons, ...this.form.parts, this.opener, this.film);
    keepInReach(root);
    /** @type {Uint8Array} */
    this.payload = new Uint8Array();
  }

  /** @param {Component} component */
  show(component) {
    const { header, payload, before } = this.receive(component);
    this.payload = payload;
    this.form.show(header);
    say(this.opener, header.words.film);
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
    sayingButtons(this.buttons, acts, { working: words.working }, failed);
  }

  /** Shows what a film is saved with, by a script that is fetched now. */
  async openFilm() {
    const { film, canvases, name, words } = this.header;
    if (!film) return;
    const { filmMenu } = await import(film.menu);
    const saving = () => {
      const { background, bar, credit } = this.form.look;
      return { name, title: "", caption: credit, background, bar, videoScript: film.video };
    };
    filmMenu(this.film, pictureOf(canvases[0], words.gone), saving, film.labels);
    this.opener.hidden = true;
  }

  /** The file of what is on show now. */
  svg() {
    return svgOf(this.header, this.payload, this.form.look);
  }

  async png() {
    return png(await this.svg(), this.form.scale);
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

export default lastingComponent(SavePicture);
