// What is typed and chosen, and the line that says where things stand.

import { around, button, el, say } from "../../canvas/shared/dom.js";

/** @import { SiteExample, SiteHeader } from "./site.js" */
/**
 * @typedef {object} Acts
 * @property {(text: string) => void} read @property {(name: string) => void} choose
 * @property {(example: SiteExample) => void} example
 * @property {(silent: boolean) => void} silence @property {() => void} stop
 */

export class SiteForm {
  /**
   * @param {SiteHeader} view @param {{ text: string, model: string }} start @param {Acts} acts
   */
  constructor({ words, cards, examples }, start, acts) {
    this.field = el("textarea", "site-text", null, { rows: "1", enterkeyhint: "go", "aria-label": words.sentence });
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault(); // Shift with it begins a line, as a sentence in the app may have several
      this.root.requestSubmit();
    });
    this.field.value = start.text;
    this.models = el("select", "site-model", null, { "aria-label": words.model });
    this.models.append(...cards.map(({ name, about }) => el("option", "", about, { value: name })));
    this.models.value = start.model;
    this.models.addEventListener("change", () => acts.choose(this.models.value));
    this.examples = el("select", "site-examples", null, { "aria-label": words.examples });
    this.examples.append(el("option", "", words.examples, { value: "" }));
    this.examples.append(...examples.map(({ text }, i) => el("option", "", text, { value: String(i) })));
    this.shows = el("p", "site-shows");
    this.examples.addEventListener("change", () => {
      const example = examples[Number(this.examples.value)];
      this.examples.value = "";
      acts.example(example);
      say(this.shows, example.shows);
    });
    this.silence = el("input", "", null, { type: "checkbox" });
    this.silence.addEventListener("change", () => acts.silence(this.silence.checked));
    const silence = el("label", "site-silence");
    silence.append(this.silence, ` ${words.silence}`);
    this.root = el("form", "site-form");
    this.root.append(
      this.field,
      el("button", "site-read", words.read, { type: "submit" }),
      this.examples,
      this.models,
      silence,
    );
    this.root.addEventListener("submit", (event) => {
      event.preventDefault();
      say(this.shows, "");
      acts.read(this.field.value);
    });
    this.said = el("span", "", "", { role: "status" });
    this.stop = button("site-stop", words.stop, acts.stop);
    this.again = button("site-stop site-again", words.again, () => acts.choose(this.models.value));
    this.status = around("site-status", this.shows, this.said, this.stop, this.again);
    this.loading(false);
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
