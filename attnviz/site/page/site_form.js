// What is typed and chosen, and the line that says where things stand.

import { around, button, el, say } from "../../canvas/shared/dom.js";

/** @import { Words } from "../../canvas/shared/types.js" */
/**
 * @typedef {object} Acts
 * @property {(text: string) => void} read @property {(name: string) => void} choose
 * @property {(silent: boolean) => void} silence @property {() => void} stop
 */

export class SiteForm {
  /**
   * @param {Words} words @param {{ name: string, about: string }[]} cards of the models
   * @param {{ text: string, model: string }} start @param {Acts} acts
   */
  constructor(words, cards, start, acts) {
    this.field = el("input", "site-text", null, { type: "text", maxlength: "4000", "aria-label": words.sentence });
    this.field.value = start.text;
    this.models = el("select", "site-model", null, { "aria-label": words.model });
    this.models.append(...cards.map(({ name, about }) => el("option", "", about, { value: name })));
    this.models.value = start.model;
    this.models.addEventListener("change", () => acts.choose(this.model));
    this.silence = el("input", "", null, { type: "checkbox" });
    this.silence.addEventListener("change", () => acts.silence(this.silent));
    const silence = el("label", "site-silence");
    silence.append(this.silence, ` ${words.silence}`);
    this.root = el("form", "site-form");
    this.root.append(this.field, el("button", "site-read", words.read, { type: "submit" }), this.models, silence);
    this.root.addEventListener("submit", (event) => {
      event.preventDefault();
      acts.read(this.text);
    });
    this.said = el("span", "", "", { role: "status" });
    this.stop = button("site-stop", words.stop, acts.stop);
    this.again = button("site-stop", words.again, () => acts.choose(this.model));
    this.status = around("site-status", this.said, this.stop, this.again);
    this.loading(false);
  }

  get text() {
    return this.field.value;
  }

  set text(text) {
    this.field.value = text;
  }

  get model() {
    return this.models.value;
  }

  get silent() {
    return this.silence.checked;
  }

  set silent(silent) {
    this.silence.checked = silent;
  }

  /** @param {boolean} under whether a model is on its way @param {boolean} [failed] whether it did not come */
  loading(under, failed = false) {
    this.stop.hidden = !under;
    this.again.hidden = !failed;
  }

  /** @param {string} text */
  say(text) {
    say(this.said, text);
  }
}
