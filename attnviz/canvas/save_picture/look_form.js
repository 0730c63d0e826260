// What a visitor chooses for a file: its title, caption and paper, a colour bar, the line that says what made it.

import { around, el } from "../shared/dom.js";

/** @import { Background, FigureLook } from "../scene/figure.js" */
/** @import { SavePictureHeader } from "../shared/types.js" */

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
      around("av-wrap sv-line", labelled(bar), labelled(fine)),
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
