// Flows of logits up the layers into two words: they fill on arrival, are scrubbed, and a head's is cut by a click or a stroke.

import { Glide, interpolateNumberArray } from "../scene/glide.js";
import { viewComponent } from "../shared/component.js";
import { readTheme } from "../shared/colour.js";
import { STEPS, isPress, labelledSlider } from "../shared/controls.js";
import { createBox, el, fill, setAttribute, setText } from "../shared/dom.js";
import { FilmView } from "../shared/film_view.js";
import { formatFixed, formatSigned } from "../shared/numbers.js";
import { sizeCanvas } from "../shared/surface.js";
import { placeOn, presentationRoom } from "../shared/window.js";
import { drawFlows, flowAt, flowsFigure, flowsFilm, flowsScene, writtenSums } from "./flows_scene.js";

/** @import { Answer, Component, LogitFlowsHeader } from "../shared/types.js" */

/** Pixels below it in a window in which it is presented: what it says, its slider, and two lines of the page's sentence. */
const AROUND = 142;

/** @extends {FilmView<Answer & LogitFlowsHeader & { at: number }>} */
class LogitFlows extends FilmView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.fields = ["head", "cut"];
    this.head = "";
    this.cut = false;
    /** @type {number | null} */
    this.pointed = null;
    /** @type {ReturnType<typeof flowsScene> | null} */
    this.scene = null;
    this.about = ""; // what the flows are of, and which there are
    const attributes = { role: "application", tabindex: "0" };
    this.canvas = el("canvas", "av-pan lf-canvas", null, attributes);
    this.said = el("div", "lf-said", null, { "aria-live": "polite" });
    this.slider = labelledSlider(this.range, "lf", "layers", "", "");
    this.addPlayButton(this.slider.line, "▶", "play", Infinity);
    this.slider.line.prepend(this.players[0].button);
    this.glide = new Glide(this.canvas, (values) => this.paint(values), (from, to) => {
      if (from.length !== to.length) return null;
      const way = interpolateNumberArray(from, to);
      return (share) => [...way(share)];
    }); // prettier-ignore
    root.replaceChildren(createBox("", this.canvas), this.said, this.slider.line);
    this.listen();
    this.offer("flows", flowsFigure, flowsFilm);
  }

  listen() {
    const { canvas } = this;
    let isStroke = false;
    const under = (/** @type {MouseEvent} */ event) => {
      const [x, y] = placeOn(canvas, event);
      return this.scene ? flowAt(this.scene, x, y) : null;
    };
    canvas.addEventListener("pointermove", (event) => {
      const at = under(event);
      const crosses = event.buttons === 1 && event.pointerType === "mouse" && at !== null && at !== this.pointed;
      this.point(at);
      if (crosses && this.isHead(at) && !this.isCut(at)) [isStroke] = [true, this.toggle(at)];
    });
    canvas.addEventListener("pointerdown", () => (isStroke = false));
    canvas.addEventListener("click", (event) => !isStroke && this.toggle(under(event)));
    for (const end of ["pointerleave", "blur"]) canvas.addEventListener(end, () => this.point(null));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param {Component} component */
  show(component) {
    const { header, before } = this.receive(component);
    const about = JSON.stringify([header.targets, header.flows.map(([name]) => name)]);
    if (about !== this.about) this.pointed = null;
    this.about = about;
    if (!before) this.at = header.layers;
    this.arrive(header.layers, !before);
    // below the first part with a flow of its own little is added
    if (!before)
      this.playOnArrival(Math.min(...header.flows.flatMap(([, kind, layer]) => (kind === "rest" ? [] : [layer]))));
  }

  /** Few layers take their time. @param {number} stops */
  pace(stops) {
    return Math.max(super.pace(stops), Math.min(500 * stops, 4000));
  }

  /** Whether the model can run again: not in a file, nor on a phone of a class. */
  get canRun() {
    const { cuts, session } = this.header;
    return cuts && session !== "" && session !== "room";
  }

  /** @param {number} i */
  isHead(i) {
    return this.header.flows[i][1] === "head";
  }

  /** @param {number} i */
  isCut(i) {
    return this.cut && this.header.flows[i][0] === this.head;
  }

  /** Until the model has run again, a file shows what Python has sent. */
  get displayed() {
    return { ...this.header, title: "" };
  }

  draw() {
    if (!this.held || !this.root.clientWidth) return;
    const { flows, head, cut } = this.header;
    const isAnswered = head === this.head && cut === this.cut;
    // until the model has run again only the flow that a hand has cut or mended changes
    const values = flows.map(([, , , value, was], i) => (isAnswered ? value : this.isCut(i) ? 0 : cut ? was : value));
    if (this.film) this.glide.show(values);
    else this.glide.to(values);
  }

  /** @param {number[]} values */
  paint(values) {
    const { words, colours, targets, layers } = this.header;
    const theme = readTheme(this.root, colours);
    const room = presentationRoom(this.root);
    const high = room === null ? undefined : Math.max(345, room - AROUND);
    const view = { at: this.at, pointed: this.pointed, cut: this.cut, high };
    this.scene = flowsScene({ ...this.header, head: this.head }, values, view, this.root.clientWidth, theme);
    drawFlows(sizeCanvas(this.canvas, this.scene.width, this.scene.height), this.scene);
    const { lead, plus, minus } = writtenSums(this.scene);
    const told = { token: targets[0], versus: targets[1], lead: formatSigned(lead, 2), plus: formatFixed(plus, 2), minus: formatFixed(minus, 2) }; // prettier-ignore
    setAttribute(this.canvas, "aria-label", fill(words.heard, told));
    setAttribute(this.range, "aria-valuetext", `${this.at}, ${told.lead}`);
    setText(this.slider.value, `${words.step}: ${this.at} / ${layers}`);
    setText(this.said, this.tell());
    this.root.dataset.lead = formatFixed(lead, 2);
  }

  /** What the flow under a hand is. */
  tell() {
    const { words, flows, targets } = this.header;
    if (this.pointed === null) return this.canRun ? words.help : "";
    const [name, kind, layer, , before] = flows[this.pointed];
    const value = this.isCut(this.pointed) ? before : (this.scene?.values[this.pointed] ?? 0);
    const whose = kind !== "rest" ? name : layer < 0 ? words.enters : fill(words.others, { layer });
    const side = value < 0 ? 1 : 0;
    const adds = fill(words.adds, { name: whose, value: formatFixed(Math.abs(value), 3), token: targets[side] });
    const act = !this.isHead(this.pointed) ? words.kept : this.isCut(this.pointed) ? words.restore : words.cut_it;
    return this.canRun ? fill(words.join_sentences, { first: adds, next: act }) : adds;
  }

  /** @param {number | null} i */
  point(i) {
    if (i === this.pointed) return;
    this.pointed = i;
    this.canvas.style.cursor = i !== null && this.isHead(i) && this.canRun ? "pointer" : "";
    this.draw();
  }

  /** Cuts a head's flow, or lets it flow again. @param {number | null} i */
  toggle(i) {
    if (i === null || !this.isHead(i) || !this.canRun) return false;
    this.stop();
    this.stand(this.last);
    const [name] = this.header.flows[i];
    [this.cut, this.head] = [!(this.cut && this.head === name), name];
    this.draw();
    this.commit();
    return true;
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const named = this.header.flows.flatMap(([, kind], i) => (kind === "rest" ? [] : [i]));
    if (isPress(event)) this.toggle(this.pointed);
    else if (event.key === "Escape" && this.pointed !== null) this.point(null);
    else if (event.key in STEPS) {
      const way = STEPS[event.key];
      const place = this.pointed === null ? (way > 0 ? -1 : 0) : named.indexOf(this.pointed);
      this.point(named[(place + way + named.length) % named.length]);
    } else return;
    event.preventDefault();
  }
}

export default viewComponent(LogitFlows);
