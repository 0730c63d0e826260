// Beside a mask: the sentence with the ribbons of one word, whose weight flows to what is left where a cell is closed, what is
// said of it, and the way of the mask over the rows, played once on arrival.

import { hitRibbon } from "../ribbons/ribbons_hand.js";
import { plainText } from "../ribbons/ribbons_numbers.js";
import { scenesBetween } from "../ribbons/ribbons_glide.js";
import { Glide } from "../scene/glide.js";
import { stopSlider } from "../shared/controls.js";
import { addButton, createBox, el, fill, setAttribute, setName, setProperty, setText } from "../shared/dom.js";
import { setMarkedText } from "../shared/marked_text.js";
import { film, prefersReducedMotion } from "../shared/motion.js";
import { sizeCanvas } from "../shared/surface.js";
import { placeOn } from "../shared/window.js";
import { LONG } from "./mask_scene.js";
import { besideScene, describeBeside, drawBeside } from "./mask_weights.js";

/** @import { Head } from "../ribbons/ribbons_numbers.js" */
/** @import { Scene } from "../ribbons/ribbons_scene.js" */
/** @import { BesideScene } from "./mask_weights.js" */
/** @import { MaskEditor } from "./mask.js" */

/** Milliseconds in which the mask covers a row, all rows at most, and in which light climbs a layer. */
const [ROW, LONGEST, LAYER] = [330, 5000, 450];

export class MaskFlow {
  /** @param {MaskEditor} view */
  constructor(view) {
    this.view = view;
    this.canvas = el("canvas", "av-pan mk-ribbons", null, { role: "img" });
    this.said = el("div", "mk-said", null, { "data-testid": "flow" });
    this.range = stopSlider(0, (rows) => this.stand(rows), () => {}); // prettier-ignore
    this.bar = el("div", "av-player mk-bar");
    this.button = addButton(this.bar, "▶", "", () => (this.film ? this.stop() : this.play()));
    this.name = el("span", "av-bar-name");
    this.bar.append(this.range, this.name);
    this.layers = stopSlider(0, () => this.climb(), () => view.emit()); // prettier-ignore
    this.layersName = el("span", "av-bar-name");
    this.layersBar = el("div", "av-player mk-bar");
    this.climber = addButton(this.layersBar, "▲", "", () => (this.film ? this.stop() : this.climb()));
    this.layersBar.append(this.layers, this.layersName);
    this.box = createBox("mk-flow", this.canvas, this.said, this.bar, this.layersBar);
    /** How many layers light has climbed, and what it climbs for. */
    this.climbed = Infinity;
    /** @type {BesideScene | null} */
    this.scene = null;
    /** @type {(() => void) | null} stops the film */
    this.film = null;
    this.glide = new Glide(this.canvas, (/** @type {Scene} */ scene) => this.paint(scene), scenesBetween);
    this.canvas.addEventListener("pointermove", (event) => view.point(this.cellAt(event)));
    this.canvas.addEventListener("pointerleave", () => view.point(null));
    this.canvas.addEventListener("click", (event) => {
      const [cell, word] = [this.cellAt(event), this.wordAt(event)];
      if (word !== null) view.setWord(word);
      else if (cell) view.toggle(cell);
    });
  }

  /** @param {Head | null} head @param {number} width @param {boolean} arrives @param {boolean} [isFirst] */
  dress(head, width, arrives, isFirst = false) {
    const { words, shape } = this.view.shown.header;
    setProperty(this.box, "hidden", !head);
    setProperty(this.canvas, "hidden", shape[1] > LONG);
    this.width = width;
    this.range.max = String(shape[0]);
    setAttribute(this.range, "aria-label", words.sweeps);
    setText(this.name, words.sweeps);
    setName(this.button, words.play);
    const layers = this.view.shown.header.layers;
    setProperty(this.layersBar, "hidden", !layers || this.canvas.hidden);
    this.layers.min = "1";
    this.layers.max = String(layers?.[1] ?? 1);
    this.layers.value = String(this.view.layers);
    setAttribute(this.layers, "aria-label", words.climbs);
    setName(this.climber, words.climbs);
    if (!arrives || !head) return;
    if (!isFirst || prefersReducedMotion() || !this.view.shown.cells.includes(0)) this.stand(shape[0]);
    else this.play();
  }

  /** Light climbs as many layers as the slider says. */
  climb() {
    this.stop();
    this.view.layers = Number(this.layers.value);
    this.climbed = 0;
    const draw = (/** @type {number} */ share) => {
      this.climbed = share * this.view.layers;
      this.view.light();
    };
    draw(0);
    this.film = film(this.view.root, LAYER * this.view.layers, draw, () => this.stop());
  }

  play() {
    const rows = this.view.shown.header.shape[0];
    this.stand(0);
    setText(this.button, "❚❚");
    this.film = film(
      this.view.root,
      Math.min(LONGEST, ROW * rows),
      (share) => this.draw(Math.round(share * rows)),
      () => this.stop(),
    );
  }

  stop() {
    this.film?.();
    this.film = null;
    this.climbed = Infinity;
    setText(this.button, "▶");
  }

  /** The mask has come so far, by hand. @param {number} rows */
  stand(rows) {
    this.stop();
    this.draw(rows);
  }

  /** @param {number} rows that the mask covers */
  draw(rows) {
    this.range.value = String(rows);
    this.view.setSwept(rows);
  }

  /** Ribbons of a word, one of them lit. @param {Head} head @param {number} word @param {number | null} lit */
  show(head, word, lit) {
    const { header, theme } = this.view.shown;
    const { words, colours } = header;
    const sentence = describeBeside({ ...header, layers: this.stack }, head, word);
    setMarkedText(this.said, sentence);
    setText(this.layersName, fill(words.in_layers, { n: this.view.layers }));
    setAttribute(this.canvas, "aria-label", plainText([sentence], words));
    if (!this.width || this.canvas.hidden) return;
    this.scene = besideScene(head, word, this.view.layers, lit, this.width, { theme, colours, words }, this.climbed);
    this.word = word;
    this.glide.to(this.scene);
  }

  /** Layers that light climbs, and at most. */
  get stack() {
    const { layers } = this.view.shown.header;
    return layers && /** @type {[number, number]} */ ([this.view.layers, layers[1]]);
  }

  /** @param {Scene} scene */
  paint(scene) {
    const { header, theme } = this.view.shown;
    const { words, colours } = header;
    const light = this.scene?.light ?? []; // climbs by itself, while all else glides
    drawBeside(
      sizeCanvas(this.canvas, scene.width, Math.ceil(scene.height)),
      { ...scene, light },
      { theme, colours, words },
    );
  }

  /** The word under a pointer. @param {MouseEvent} event */
  wordAt(event) {
    const [x, y] = placeOn(this.canvas, event);
    const { layout } = /** @type {Scene} */ (this.scene);
    const at = layout.words.findIndex(({ x: middle, line, width }) => Math.abs(x - middle) < width / 2 + 6 && Math.abs(y - layout.top(line) - layout.line / 2) < layout.line / 2 + 8); // prettier-ignore
    return at < 0 ? null : at;
  }

  /** The cell of the ribbon or word under a pointer. @param {MouseEvent} event @returns {[number, number] | null} */
  cellAt(event) {
    if (!this.scene || this.word === undefined) return null;
    const key = this.wordAt(event) ?? hitRibbon(this.scene, ...placeOn(this.canvas, event));
    this.canvas.style.cursor = key === null ? "" : "pointer";
    return key === null ? null : [this.word, key];
  }
}
