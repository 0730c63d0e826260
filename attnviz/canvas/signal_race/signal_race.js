// A race of one signal through three machines: played on arrival, moved to and fro by hand, its distance dragged on the picture.

import { readTheme } from "../shared/colour.js";
import { viewComponent } from "../shared/component.js";
import { SLIDER_STEPS } from "../shared/controls.js";
import { createBox, createButton, el, fill, setAttribute, setName, setText } from "../shared/dom.js";
import { FilmView } from "../shared/film_view.js";
import { clamp } from "../shared/numbers.js";
import { layOver, sizeCanvas } from "../shared/surface.js";
import { pictureHeight, placeOn, presentationRoom } from "../shared/window.js";
import { Glide } from "../scene/glide.js";
import { drawMarks, travel } from "../scene/marks.js";
import { textWidth } from "../scene/text_width.js";
import { aboutLines, raceFigure, raceFilm, raceLayout, raceMarks, raceSentence } from "./race_scene.js";

/** @import { Answer, Component, RaceHeader } from "../shared/types.js" */
/** @import { Mark } from "../scene/marks.js" */
/** @import { Look } from "./race_scene.js" */

/** Milliseconds of a step, and of all at most. */
const [STEP, LONGEST] = [260, 6000];
/** Pixels of the picture at least and at most, and of what stands below it on a page: a question, too. */
const ROOM = { least: 330, most: 560, below: 176 };

/** @extends {FilmView<Answer & RaceHeader>} */
class SignalRace extends FilmView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.fields = ["at", "distance", "kernel", "dilated"];
    this.distance = 1;
    this.kernel = 2;
    this.dilated = false;
    this.height = ROOM.least;
    this.canvas = el("canvas", "sr-canvas av-pan", null, { role: "img" });
    this.goal = el("div", "sr-goal", null, { role: "slider", tabindex: "0", "aria-valuemin": "1" });
    const tool = (/** @type {string} */ text, /** @type {() => void} */ act) => createButton("av-button", text, act);
    this.less = tool("−", () => this.setKernel(this.kernel - 1));
    this.more = tool("+", () => this.setKernel(this.kernel + 1));
    this.dilate = tool("", () => this.change({ dilated: !this.dilated }));
    this.tools = createBox("sr-tools av-tools", this.less, this.more, this.dilate);
    this.bar = el("div", "av-player sr-bar");
    this.addPlayButton(this.bar, "▶", "play", Infinity);
    this.step = el("output", "av-strong sr-step");
    this.said = el("div", "sr-said", null, { "aria-live": "polite" });
    this.spoken = [this.said];
    this.bar.append(this.range, this.step);
    root.replaceChildren(createBox("sr-stage", this.canvas, this.goal, this.tools), this.bar, this.said);
    this.glide = new Glide(this.canvas, (/** @type {Mark[]} */ marks) => this.paint(marks), travel);
    this.listen();
    this.offer("race", raceFigure, raceFilm);
  }

  listen() {
    const wordAt = (/** @type {PointerEvent} */ event) => {
      const { x, pitch } = raceLayout(this.state, this.look);
      return Math.round((placeOn(this.canvas, event)[0] - x(0)) / pitch);
    };
    for (const node of [this.canvas, this.goal]) this.followDrag(node, wordAt, (words) => this.setDistance(words));
    this.range.addEventListener("keydown", (event) => {
      if (!(event.key in SLIDER_STEPS)) return;
      event.preventDefault();
      const { ticks } = this.header;
      this.goTo((Math.round(this.at / ticks) + SLIDER_STEPS[event.key]) * ticks);
    });
    this.goal.addEventListener("keydown", (event) => {
      if (!(event.key in SLIDER_STEPS)) return;
      event.preventDefault();
      this.stop();
      this.setDistance(this.distance + SLIDER_STEPS[event.key]);
      this.commit();
    });
  }

  /** @param {Component} component */
  show(component) {
    const { header, before } = this.receive(component);
    for (const [node, name] of /** @type {const} */ ([
      [this.less, "smaller"],
      [this.more, "larger"],
    ])) {
      setName(node, header.words[name]);
    }
    setAttribute(this.goal, "aria-label", header.words.distance);
    setAttribute(this.goal, "aria-valuemax", String(header.most));
    setText(this.dilate, header.words.dilate);
    this.measure();
    this.arrive(header.distance * header.ticks, !before);
    this.range.max = String(this.distance * header.ticks);
    if (!before && this.at === this.last) this.playOnArrival();
  }

  get state() {
    const { at, distance, kernel, dilated } = this;
    return { at, distance, kernel, dilated };
  }

  /** @returns {Look} */
  get look() {
    const width = Math.max(240, this.root.clientWidth);
    return { width, height: this.height, theme: readTheme(this.root, this.header.colours), header: this.header };
  }

  measure() {
    setText(this.said, raceSentence(this.state, this.header.words));
    const own = this.bar.offsetHeight + this.said.offsetHeight + 16;
    const below = presentationRoom(this.root) === null ? Math.max(ROOM.below, own) : own;
    this.height = pictureHeight(this.root, { ...ROOM, below });
  }

  /** @param {number} stops */
  pace(stops) {
    return Math.min(LONGEST, (STEP * stops) / this.header.ticks);
  }

  /** Stays at a whole step. */
  rest() {
    const { ticks } = this.header;
    this.stop();
    this.stand(Math.round(this.at / ticks) * ticks);
    this.commit();
  }

  letGo() {
    this.holding = false;
    this.rest();
  }

  /** @param {number} words */
  setDistance(words) {
    const isDone = this.at === this.last;
    this.distance = clamp(words, 1, this.header.most);
    this.range.max = String(this.distance * this.header.ticks);
    this.stand(isDone ? Infinity : this.at);
  }

  /** @param {number} kernel */
  setKernel(kernel) {
    const [least, most] = this.header.kernels;
    this.change({ kernel: clamp(kernel, least, most) });
  }

  /** @param {{ kernel?: number, dilated?: boolean }} to */
  change(to) {
    this.stop();
    Object.assign(this, to);
    this.draw();
    this.commit();
  }

  draw() {
    if (!this.held || !this.root.clientWidth) return;
    const { look, state } = this;
    const { words, ticks, machines } = this.header;
    const marks = raceMarks(state, this.at / ticks, look);
    if (this.isMoving) this.glide.show(marks);
    else this.glide.to(marks);
    const { lanes, x, isNarrow } = raceLayout(state, look);
    layOver(this.goal, { x: x(this.distance) - 16, y: 0, w: 32, h: this.height });
    const { top, h, name } = lanes[1];
    const below = top + h / 2 + 6 + 17 * aboutLines("convolution", state, look).length;
    Object.assign(this.tools.style, { top: `${isNarrow ? name - 2 : below}px` });
    this.tools.style.left = isNarrow ? `${14 + textWidth(machines.convolution.name, 15, 600)}px` : "0";
    setAttribute(this.dilate, "aria-pressed", String(this.dilated));
    const sentence = raceSentence(state, words);
    const step = fill(words.step_of, { n: Math.floor(this.at / ticks), all: this.distance });
    setText(this.said, sentence);
    setText(this.step, step);
    setAttribute(this.range, "aria-valuetext", step);
    setAttribute(this.canvas, "aria-label", sentence);
    setAttribute(this.goal, "aria-valuenow", String(this.distance));
    setAttribute(this.goal, "aria-valuetext", fill(words.goal, { n: this.distance }));
    this.root.dataset.race = JSON.stringify(state);
  }

  /** @param {Mark[]} marks */
  paint(marks) {
    const { width, theme } = this.look;
    drawMarks(sizeCanvas(this.canvas, width, this.height), marks, theme);
  }
}

export default viewComponent(SignalRace);
