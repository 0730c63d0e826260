// The coloured squares of a layer's heads: a press lays a head's lines over those of the head on show. Below the squares
// stands what each head says of the token that is pointed at.

import { nextButton } from "../shared/controls.js";
import { button, el, fill, joined, named, property } from "../shared/dom.js";
import { tell } from "../shared/group.js";
import { leadToken, toldRow } from "./head_gestures.js";
import { strongestOf, tokenText } from "./head_readout.js";
import { fixed, fourDigits } from "../shared/numbers.js";
import { aboutWhat, coloursOf, MOST_HEADS, toggled } from "./overlay.js";

/** @import { HeadComponent } from "./head.js" */
/** @import { OverlayNumbers } from "./overlay.js" */

export class HeadSquares {
  /** @param {HeadComponent} view @param {OverlayNumbers} numbers */
  constructor(view, numbers) {
    this.view = view;
    this.numbers = numbers;
    this.box = el("div", "av-squares", null, { "data-testid": "squares" });
    this.box.hidden = true;
    this.row = el("div", "av-wrap av-squares-row", null, { role: "group" });
    this.legend = el("ul", "av-wrap av-legend", null, { "data-testid": "legend" });
    this.title = el("span", "av-strong av-controls-name");
    this.only = button("av-button av-only", "×", () => this.put([]));
    this.box.append(this.row, this.legend);
    /** @type {HTMLButtonElement[]} */
    this.squares = [];
    this.built = "";
    /** what the squares were dressed for: they follow the choice of heads, not the weights */
    this.dressed = "";
    this.at = 0;
    this.row.addEventListener("keydown", (e) => this.key(e));
  }

  /** Builds the squares of this layer, if it has others than there are, and sets them. */
  draw() {
    const { numbers, box } = this;
    property(box, "hidden", !numbers.possible);
    if (box.hidden) return;
    const { words } = this.view.drawn.header;
    const name = JSON.stringify([numbers.count, words.squares]);
    if (name !== this.built) this.build(numbers.count);
    this.built = name;
    this.dress();
    this.light();
  }

  /** @param {number} count */
  build(count) {
    const { words } = this.view.drawn.header;
    this.row.setAttribute("aria-label", words.squares);
    this.title.textContent = words.squares;
    named(this.only, words.only);
    this.squares = Array.from({ length: count }, (_none, head) =>
      button("av-square", String(head), () => this.press(head), { "data-head": String(head) }),
    );
    this.at = Math.min(this.at, count - 1);
    this.row.replaceChildren(this.title, ...this.squares, this.only);
  }

  /** Colours and names of the squares. */
  dress() {
    const { header, theme } = this.view.drawn;
    const { words, colours } = header;
    const shown = this.numbers.heads;
    const places = coloursOf(shown);
    const full = shown.length >= MOST_HEADS;
    const how = JSON.stringify([this.built, shown, theme.dark, colours.heads, words.square_on, this.at]);
    if (this.dressed === how) return;
    this.dressed = how;
    this.squares.forEach((square, head) => {
      const on = places.has(head);
      const colour = colours.heads[places.get(head) ?? head % MOST_HEADS][Number(theme.dark)];
      const name =
        head === shown[0] ? words.square_lead : on ? words.square_off : full ? words.square_full : words.square_on;
      square.style.setProperty("--av-head", colour);
      square.classList.toggle("av-lead", head === shown[0]);
      square.setAttribute("aria-pressed", String(on));
      square.setAttribute("aria-disabled", String(head === shown[0] || (full && !on)));
      named(square, fill(name, { head }));
      square.tabIndex = head === this.at ? 0 : -1;
    });
    this.only.hidden = shown.length === 1;
  }

  /** The legend, about what is pointed at. */
  light() {
    if (this.box.hidden) return;
    const { layers } = this.numbers;
    property(this.legend, "hidden", layers.length < 2);
    if (this.legend.hidden) return;
    const { drawn } = this.view;
    const { header, group, theme } = drawn;
    const { words } = header;
    const about = aboutWhat(group.hover, group.cell, leadToken(group), header.signed ? 0 : toldRow(drawn));
    const [axis, i] = about.axis === "cell" ? ["q", about.q] : [about.axis, about.i];
    const template = axis === "q" ? words.legend_looks : words.legend_looked;
    const token = tokenText(drawn, axis === "q" ? "q" : "k", /** @type {number} */ (i));
    const rows = layers.map((layer) => {
      const item = el("li", "av-legend-item");
      item.style.setProperty("--av-head", header.colours.heads[layer.colour ?? 0][Number(theme.dark)]);
      const largest = strongestOf(layer, about, 2).map(({ axis: side, i: at, value }) => {
        const short = Math.abs(value) < 1 ? fixed(value, 2) : fourDigits(value);
        return fill(words.share, { token: tokenText(layer, side, at), value: short });
      });
      const said = joined(words.join_things, largest);
      item.append(
        el("span", "av-swatch", null, { "aria-hidden": "true" }),
        el("b", "", fill(words.legend_head, { head: layer.head })),
        el("span", "", said || words.hidden),
      );
      return item;
    });
    const first = el("li", "av-legend-about", fill(template, { token }));
    this.legend.replaceChildren(first, ...rows);
  }

  /** @param {number} head */
  press(head) {
    const { drawn } = this.view;
    const { group, header } = drawn;
    this.at = head;
    const lead = header.tile?.[1] ?? 0;
    const over = toggled(group.over, head, lead, this.numbers.count);
    if (over.join() === group.over.join()) this.dress();
    else this.put(over);
    const { heads } = this.numbers;
    const said =
      head === lead ? header.words.square_lead : heads.includes(head) ? header.words.laid : header.words.taken;
    const full = heads.length >= MOST_HEADS && !heads.includes(head);
    this.view.announce(fill(full ? header.words.square_full : said, { head, count: heads.length }));
  }

  /** @param {number[]} over */
  put(over) {
    const { group } = this.view.drawn;
    group.over = over;
    tell(group, "over");
    group.overs.send(this.view, "over", { heads: over });
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const to = nextButton(event, this.squares);
    if (to === null) return;
    this.at = to;
    this.dress();
    this.squares[to].focus();
  }
}
