// One word's way through attention, step by step: a lesson's picture. What a step shows is played once when it is opened, and
// can be moved to and fro; keys of the sentence are chosen by hand, as are the scale or the terms of a score.

import { readTheme } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import { addButton, createButton, el, setAttribute, setName, setText } from "../shared/dom.js";
import { focusedButton, labelledSlider, radioGroup, stopSlider } from "../shared/controls.js";
import { film, prefersReducedMotion } from "../shared/motion.js";
import { clamp, toSignificant } from "../shared/numbers.js";
import { layOver, sizeCanvas } from "../shared/surface.js";
import { magnification, placeOn, placeOnPage, presentationRoom } from "../shared/window.js";
import { Glide } from "../scene/glide.js";
import { storyFigure, storyFilm, TICKS } from "./story_figure.js";
import { storyNumbers } from "./story_numbers.js";
import { wantedHeight } from "./story_layout.js";
import { drawMarks, travel } from "../scene/marks.js";
import { lightSpoken, namesAt, stageSentence, storyMarks } from "./story_scene.js";

/** @import { Answer, Component, StoryHeader } from "../shared/types.js" */
/** @import { StoryNumbers } from "./story_numbers.js" */
/** @import { Look } from "./story_layout.js" */
/** @import { Mark } from "../scene/marks.js" */

/** Milliseconds of one stage; pixels that the wheel turns from one to the next, and beyond the last to leave the step. */
const [STAGE, WHEEL, LEAVE] = [1400, 500, 300];
/** Milliseconds in which the wheel leaves no second step. */
const COOL = 1000;
const LEAST = 240;
const NARROW = 640;

/** The words of a lesson's text that name a token or a role. */
const COLOURED = ".stMarkdownColoredText";
const nameIn = (/** @type {Element} */ word) => word.textContent?.replace(/[“”]/g, "") ?? "";

/** @extends {View<StoryHeader & Answer>} */
class AttentionStory extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.canvas = el("canvas", "as-canvas", null, { role: "img" });
    this.rows = el("div", "as-rows");
    this.stage = el("div", "as-stage");
    this.stage.append(this.canvas, this.rows);
    this.bar = el("div", "av-player as-bar");
    this.said = el("output", "as-said", null, { "aria-live": "polite" });
    this.handleLine = el("div", "as-handle");
    this.player = addButton(this.bar, "▶", "", () => (this.stopFilm ? this.stop() : this.play()));
    this.range = stopSlider(
      1,
      (stop) => this.scrub(stop / TICKS),
      () => {},
    );
    this.bar.append(this.range);
    root.replaceChildren(this.stage, this.handleLine, this.bar, this.said);
    /** @type {(() => void) | null} */
    this.stopFilm = null;
    /** Where it stands on its track; what a hand sets. */
    this.at = 0;
    this.pair = 0;
    this.factor = 1;
    this.terms = 1;
    this.width = 0;
    this.height = 0;
    /** What of the lesson's text is pointed at. */
    this.spoken = "";
    /** What the wheel has turned beyond an end, when it last left a step, and by which key, until another step comes. */
    this.turned = 0;
    this.leftAt = 0;
    this.leftBy = "";
    /** @type {HTMLButtonElement[]} */
    this.buttons = [];
    /** @type {ReturnType<typeof labelledSlider> | null} */
    this.handle = null;
    /** @type {{ key: string, of: Uint8Array, numbers: StoryNumbers } | null} */
    this.made = null;
    /** @type {{ key: string, of: StoryNumbers, here: Mark[], way: (share: number) => Mark[] } | null} from one stage to the next */
    this.between = null;
    this.glide = new Glide(this.canvas, (/** @type {Mark[]} */ marks) => this.paint(marks), travel);
    this.stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.stage.addEventListener("pointermove", (event) => this.held && this.lightText(placeOn(this.canvas, event)));
    this.stage.addEventListener("pointerleave", () => this.lightText(null));
    document.addEventListener("pointerover", this.listen);
    this.offer("story", storyFigure, storyFilm);
  }

  /** @param {Component} component */
  show(component) {
    const stood = this.held?.track[Math.round(this.at)];
    const { header, before } = this.receive(component);
    const behind = this.gestures.isBehind(header.session, header.ack);
    const isSameStep = before?.step === header.step && before?.track.join() === header.track.join();
    if (!isSameStep) [this.turned, this.leftBy] = [0, ""];
    if (!behind || !isSameStep) [this.pair, this.factor, this.terms] = [header.pair, header.factor, header.terms];
    this.arrange(header, before);
    this.range.max = String((header.track.length - 1) * TICKS);
    this.bar.hidden = header.track.length < 2;
    setName(this.player, header.words.play);
    setAttribute(this.range, "aria-label", header.words.story);
    if (isSameStep) {
      this.redraw(before?.tokens.join("\n") === header.tokens.join("\n"));
      return;
    }
    this.stop();
    this.measure();
    const isOnward = !before || header.step >= before.step;
    if (!isOnward || prefersReducedMotion()) this.stand(header.track.length - 1, true);
    else {
      this.stand(0, stood !== undefined && stood !== header.track[0]);
      this.play();
    }
  }

  /** Lays buttons for the keys, and the slider that the step has. @param {StoryHeader} header @param {StoryHeader | null} before */
  arrange(header, before) {
    const { tokens, handle, words } = header;
    if (before?.tokens.join("\n") !== tokens.join("\n") || !this.rows.childElementCount) {
      this.rows.replaceChildren();
      this.buttons = tokens.map((token, key) =>
        createButton("as-row", null, () => this.pick(key), { "aria-label": token }),
      );
      this.buttons.forEach((button, key) =>
        button.addEventListener("pointerenter", (event) => event.pointerType === "mouse" && this.point(key)),
      );
      const group = el("div", "", null, { "aria-label": words.keys });
      radioGroup(group, this.buttons, this.pair);
      this.rows.append(group);
    }
    focusedButton(this.rows, this.pair);
    if (before?.handle !== handle || before?.width !== header.width) {
      this.handleLine.replaceChildren();
      this.handle = null;
      if (!handle) return;
      const last = handle === "terms" ? header.width : 200;
      const input = stopSlider(
        last,
        (stop) => this.moveHandle(stop),
        () => this.tell(),
      );
      if (handle === "terms") input.min = "1";
      this.handle = labelledSlider(input, "as", handle, words[handle]);
      this.handleLine.append(this.handle.line);
    }
  }

  get displayed() {
    const { at, pair, factor, terms } = this;
    return { ...super.displayed, at, pair, factor, terms };
  }

  get numbers() {
    const { tokens, row, step, track, changed } = this.header;
    const key = JSON.stringify([tokens, row, this.factor, this.terms, step, track, changed]);
    if (this.made?.key !== key || this.made.of !== this.payload) {
      this.made = { key, of: this.payload, numbers: storyNumbers(this.header, this.payload, this.factor, this.terms) };
    }
    return this.made.numbers;
  }

  /** @returns {Look} */
  get look() {
    const { colours, words } = this.header;
    const theme = readTheme(this.root, colours);
    return { width: this.width, height: this.height, pair: this.pair, terms: this.terms, theme, colours, words };
  }

  measure() {
    const by = magnification(this.root);
    this.width = Math.max(200, this.root.clientWidth);
    const presented = presentationRoom(this.root);
    const isNarrow = globalThis.innerWidth <= NARROW;
    const below = 34 + (this.header.handle ? 56 : 0) + 62;
    const room = isNarrow
      ? 0.45 * globalThis.innerHeight
      : (globalThis.innerHeight - placeOnPage(this.root)) / by - below - 106;
    const most = presented === null ? room : presented - below - 14; // its sentence may take two lines
    this.height = Math.round(
      clamp(wantedHeight(Math.min(40, this.header.tokens.length)), LEAST, Math.max(LEAST, most)),
    );
  }

  resize() {
    if (!this.held || !this.root.clientWidth) return;
    this.measure();
    this.redraw(false);
  }

  /** Marks at this time of the track. @param {number} at */
  marksAt(at) {
    const { track } = this.header;
    const first = Math.min(Math.floor(at), track.length - 1);
    const { look, numbers } = this;
    const key = JSON.stringify([first, look]);
    if (this.between?.key !== key || this.between.of !== numbers) {
      const here = storyMarks(track[first], numbers, look);
      const next = track[first + 1];
      this.between = { key, of: numbers, here, way: next ? travel(here, storyMarks(next, numbers, look)) : () => here };
    }
    const { here, way } = this.between;
    return at > first ? way(at - first) : here;
  }

  /** Draws what is to be seen now. @param {boolean} glides */
  redraw(glides) {
    if (!this.width) this.measure();
    const marks = lightSpoken(this.marksAt(this.at), this.spoken, this.numbers, this.header.words);
    if (glides) this.glide.to(marks);
    else this.glide.show(marks);
    this.say();
  }

  /** @param {Mark[]} marks */
  paint(marks) {
    const theme = readTheme(this.root, this.header.colours);
    drawMarks(sizeCanvas(this.canvas, this.width, this.height), marks, theme);
  }

  /** What is seen, for eyes, ears and hands. */
  say() {
    const { track, words, handle } = this.header;
    const stage = track[Math.round(this.at)];
    const sentence = stageSentence(handle === "scale" ? "handle" : stage, this.numbers, {
      ...{ pair: this.pair, terms: this.terms, words },
    });
    setText(this.said, sentence);
    setAttribute(this.canvas, "aria-label", sentence);
    this.root.dataset.stage = stage;
    this.root.dataset.at = String(this.at);
    this.range.value = String(Math.round(this.at * TICKS));
    this.rows.hidden = stage !== "scores";
    if (stage === "scores") {
      const marks = this.marksAt(Math.round(this.at));
      const tracks = new Map(marks.filter(({ key }) => key.startsWith("track-")).map((mark) => [mark.key, mark]));
      this.buttons.forEach((button, key) => {
        const place = tracks.get(`track-${key}`);
        button.hidden = !place;
        if (place) layOver(button, { ...place, x: 0, w: this.width });
      });
      focusedButton(this.rows, this.pair);
    }
    if (this.handle && handle === "terms") {
      this.handle.input.value = String(this.terms);
      setText(this.handle.value, `${this.terms} / ${this.header.width}`);
    } else if (this.handle) {
      this.handle.input.value = String(Math.round(200 * Math.sqrt(this.factor)));
      setText(this.handle.value, `× ${toSignificant(this.factor, 3)}`);
    }
  }

  /** @param {number} at @param {boolean} glides */
  stand(at, glides = false) {
    this.at = clamp(at, 0, this.header.track.length - 1);
    this.redraw(glides);
  }

  /** @param {number} at */
  scrub(at) {
    this.stop();
    this.stand(at);
  }

  /** Plays on to the end; from the end, all of it. */
  play() {
    const last = this.header.track.length - 1;
    if (last < 1) return;
    const from = this.at >= last ? 0 : this.at;
    const ease = (/** @type {number} */ at) => Math.floor(at) + 1 - (1 - Math.min(1, (at % 1) / 0.8)) ** 3;
    const draw = (/** @type {number} */ share) => this.stand(share === 1 ? last : ease(from + share * (last - from)));
    this.stopFilm = film(this.root, STAGE * (last - from), draw, () => this.stop());
    setText(this.player, "❚❚");
    setName(this.player, this.header.words.pause);
  }

  stop() {
    this.stopFilm?.();
    this.stopFilm = null;
    setText(this.player, "▶");
    if (this.held) setName(this.player, this.header.words.play);
  }

  /** @param {number} key */
  point(key) {
    if (this.pair === key || this.stopFilm) return;
    this.pair = key;
    this.redraw(true);
  }

  /** @param {number} key */
  pick(key) {
    this.stop();
    this.pair = key;
    this.redraw(true);
    this.tell();
  }

  /** A hand moves the step's own slider. @param {number} stop */
  moveHandle(stop) {
    this.stop();
    if (this.header.handle === "terms") this.terms = stop;
    else this.factor = toSignificant((stop / 200) ** 2, 3);
    this.stand(this.header.track.length - 1);
  }

  tell() {
    this.tellPython("stood", { pair: this.pair, factor: this.factor, terms: this.terms });
  }

  /** Lights the coloured words of the text that say what lies under a point of the picture. @param {[number, number] | null} point */
  lightText(point) {
    const { tokens, roles } = point
      ? namesAt(this.marksAt(this.at), point, this.numbers, this.header.words)
      : { tokens: [], roles: [] };
    for (const word of document.querySelectorAll(COLOURED)) {
      const name = nameIn(word);
      const isMeant = tokens.includes(name) || roles.some((role) => name.toLowerCase().startsWith(role));
      word.toggleAttribute("data-lit", isMeant);
    }
  }

  /** A coloured word of the text that is pointed at is lit in the picture. @param {Event} event */
  listen = ({ target }) => {
    const word = target instanceof Element ? target.closest(COLOURED) : null;
    const spoken = word ? nameIn(word) : "";
    if (!this.held || spoken === this.spoken) return;
    this.spoken = spoken;
    if (!this.stopFilm) this.redraw(true);
  };

  /** Turning the wheel moves the picture, and then the lesson, where the page itself has nothing to scroll. @param {WheelEvent} event */
  wheel(event) {
    const main = document.querySelector("[data-testid=stMain]");
    if (event.ctrlKey || (main && main.scrollHeight > main.clientHeight + 2)) return;
    event.preventDefault();
    const last = this.header.track.length - 1;
    const goal = this.at + event.deltaY / WHEEL;
    this.scrub(goal);
    this.turned = goal < 0 || goal > last ? this.turned + event.deltaY : 0;
    if (!this.turned) this.leftBy = "";
    if (Math.abs(this.turned) < LEAVE || performance.now() - this.leftAt < COOL) return;
    const key = this.turned > 0 ? "ArrowRight" : "ArrowLeft";
    if (key === this.leftBy) return; // the next step is still on its way: it is not passed unseen
    [this.turned, this.leftAt, this.leftBy] = [0, performance.now(), key];
    document.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  }

  leave() {
    this.lightText(null);
    document.removeEventListener("pointerover", this.listen);
    this.stop();
  }
}

export default viewComponent(AttentionStory);
