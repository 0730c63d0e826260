// What is typed and chosen, and the line that says where things stand.

import { around, button, el, named, say } from "../../canvas/shared/dom.js";

/** @import { SiteHeader } from "./site.js" */
/** @import { Explorer } from "./explorer.js" */

export class SiteForm {
  /** @param {SiteHeader} view @param {Explorer} page which is asked for what is typed and chosen */
  constructor({ words, cards, examples }, page) {
    const read = () => page.ask(this.field.value);
    this.field = named(el("textarea", "av-select site-text", null, { rows: "1", enterkeyhint: "go" }), words.sentence);
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault(); // Shift with it begins a line, as a sentence in the app may have several
      this.root.requestSubmit();
    });
    this.field.value = page.address.text;
    this.models = listOf(
      "site-model",
      words.model,
      cards.map(({ name, about }) => new Option(about, name)),
      read,
    );
    this.models.value = page.address.model;
    const listed = examples.map(({ text }, i) => new Option(text, String(i)));
    this.examples = listOf("site-examples", words.examples, [new Option(words.examples, ""), ...listed], () => {
      const example = examples[Number(this.examples.value)];
      this.examples.value = "";
      void page.example(example, true);
      say(this.shows, example.shows);
    });
    this.shows = el("p", "av-strong site-shows");
    this.silence = el("input", "", null, { type: "checkbox" });
    this.silence.addEventListener("change", () => page.silence(this.silence.checked));
    const silence = el("label", "site-silence");
    silence.append(this.silence, ` ${words.silence}`);
    const submit = el("button", "av-button site-read", words.read, { type: "submit" });
    this.root = el("form", "av-wrap site-form");
    this.root.append(this.field, submit, this.examples, this.models, silence);
    this.root.addEventListener("submit", (event) => {
      event.preventDefault();
      say(this.shows, "");
      read();
    });
    this.said = el("span", "", "", { role: "status" });
    this.stop = button("av-button", words.stop, () => page.model.stop());
    this.again = button("av-button site-again", words.again, read);
    this.status = around("av-wrap site-status", this.shows, this.said, this.stop, this.again);
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

/** @param {string} className @param {string} name @param {HTMLOptionElement[]} options @param {() => void} taken */
function listOf(className, name, options, taken) {
  const list = named(el("select", `av-select ${className}`), name);
  list.append(...options);
  list.addEventListener("change", taken);
  return list;
}
