// What is typed and chosen, and the line that says where things stand.

import { createBox, createButton, el, listOf, setName, setText } from "../../canvas/shared/dom.js";

/** @import { SiteHeader } from "./site.js" */
/** @import { Explorer } from "./explorer.js" */

export class SiteForm {
  /** @param {SiteHeader} view @param {Explorer} page which is asked for what is typed and chosen */
  constructor({ words, cards, examples }, page) {
    const read = () => void page.ask(this.field.value, this.models.value);
    this.field = setName(
      el("textarea", "av-select site-text", null, { rows: "1", enterkeyhint: "go" }),
      words.sentence,
    );
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault(); // Shift with it begins a line, as a sentence in the app may have several
      this.root.requestSubmit();
    });
    this.field.value = page.address.text;
    const models = cards.map(({ name, about }) => new Option(about, name));
    this.models = setName(listOf("site-model", models, read), words.model);
    this.models.value = page.address.model;
    this.shows = el("p", "av-strong site-shows");
    const listed = [words.examples, ...examples.map(({ text }) => text)].map((text, i) => new Option(text, String(i)));
    const show = (/** @type {string} */ i) => {
      const { text, model, at, shows } = examples[Number(i) - 1];
      list.value = "0";
      void page.ask(text, model, at || undefined);
      setText(this.shows, shows);
    };
    const list = setName(listOf("site-examples", listed, show), words.examples);
    this.silence = el("input", "", null, { type: "checkbox" });
    this.silence.addEventListener("change", () => page.silence(this.silence.checked));
    const silence = el("label", "site-silence");
    silence.append(this.silence, ` ${words.silence}`);
    this.root = el("form", "av-wrap site-form");
    this.root.append(this.field, el("button", "av-button site-read", words.read), list, this.models, silence);
    this.root.addEventListener("submit", (event) => {
      event.preventDefault();
      setText(this.shows, "");
      read();
    });
    this.said = el("span", "", "", { role: "status" });
    this.stop = createButton("av-button", words.stop, () => page.model.stop());
    this.again = createButton("av-button site-again", words.again, () => page.model.choose(page.address.card));
    this.status = createBox("av-wrap site-status", this.shows, this.said, this.stop, this.again);
    this.loading(false);
  }

  /** @param {boolean} under whether a model is on its way @param {boolean} [failed] whether it did not come */
  loading(under, failed = false) {
    this.stop.hidden = !under;
    this.again.hidden = !failed;
  }
}
