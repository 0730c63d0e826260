// Why there? One score taken apart, and a part of the key cut out by a press: the row's weights move to what is left of them.

import { readTheme } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import { createButton, createBox, el, fill, setAttribute, setProperty, setText } from "../shared/dom.js";
import { scrollBehaviour } from "../shared/motion.js";
import { formatPercent } from "../shared/numbers.js";
import { Glide, marksBetween } from "../scene/glide.js";
import { sizeCanvas } from "../shared/surface.js";
import { drawScore, scoreFigure, scoreScene, weightMarks } from "./score_scene.js";

/** @import { Component, ScoreTableHeader } from "../shared/types.js" */
/** @import { ScoreScene, WeightMark } from "./score_scene.js" */

/** @extends {View<ScoreTableHeader>} */
class ScoreTable extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.canvas = el("canvas", "", null, { role: "img" });
    this.label = el("span", "av-small");
    this.buttons = createBox("av-wrap av-line st-cuts");
    this.said = el("p", "av-strong st-said", "", { role: "status" });
    this.at = 0;
    this.gone = new AbortController();
    const stand = (/** @type {Event} */ event) => {
      if (!(event instanceof CustomEvent) || !this.held?.steps?.[event.detail] || this.at === event.detail) return;
      this.at = event.detail;
      this.draw();
    };
    globalThis.addEventListener("attnviz-training-step", stand, { signal: this.gone.signal });
    /** @type {ScoreScene | null} */
    this.scene = null;
    const draw = (/** @type {WeightMark[]} */ marks) => {
      if (this.scene) drawScore(sizeCanvas(this.canvas, this.scene.width, this.scene.height), this.scene, marks);
    };
    this.glide = new Glide(this.canvas, draw, marksBetween);
    this.picture = createBox("st-picture", this.canvas);
    root.replaceChildren(this.picture, this.buttons, this.said);
    this.offer("score", scoreFigure);
  }

  /** What is on show: of a training, the numbers of the step that its run stands on. */
  get displayed() {
    const step = this.header.steps?.[this.at];
    return step ? { ...super.displayed, ...step, at: this.at } : super.displayed;
  }

  /** @param {Component} component */
  show(component) {
    const { header, before } = this.receive(component);
    const behind = this.gestures.isBehind(header.session, header.ack);
    if (!behind) this.root.removeAttribute("aria-busy");
    if (before?.at !== header.at || !header.steps) this.at = header.at;
    this.dress();
    this.draw();
    if (header.bring !== 0 && header.bring !== before?.bring)
      this.root.scrollIntoView({ block: "center", behavior: scrollBehaviour() });
  }

  dress() {
    const { words, cut, keyParts, keyNames, part } = this.header;
    setProperty(this.buttons, "hidden", words.cut === undefined);
    if (words.cut === undefined) return;
    setText(this.label, words.cut);
    const parts = [...new Set([part, ...keyParts.slice(0, -1)])];
    this.buttons.replaceChildren(
      this.label,
      ...parts.map((name) => {
        const on = name === cut?.part;
        const act = () => {
          this.root.setAttribute("aria-busy", "true");
          this.tellPython("cut", { part: on ? "" : name });
        };
        return createButton("av-button", keyNames[name], act, { "aria-pressed": String(on), "data-part": name });
      }),
    );
    setProperty(this.said, "hidden", cut === null);
    const share = (/** @type {number} */ weight) => formatPercent(weight);
    if (cut) {
      const numbers = { before: share(cut.before), after: share(cut.after), total: share(cut.total ?? 0) };
      const template = cut.total === null ? words.cut_numbers : words.cut_total;
      setText(this.said, fill(template, { ...numbers, part: keyNames[cut.part] ?? cut.part }));
    }
  }

  draw() {
    if (!this.held || !this.picture.clientWidth) return;
    const { colours, words } = this.held;
    this.scene = scoreScene(this.displayed, this.picture.clientWidth, readTheme(this.root, colours));
    setAttribute(this.canvas, "aria-label", words.label);
    if (this.header.steps) this.glide.show(weightMarks(this.scene));
    else this.glide.to(weightMarks(this.scene));
  }

  resize() {
    this.draw();
  }

  leave() {
    this.gone.abort();
  }
}

export default viewComponent(ScoreTable);
