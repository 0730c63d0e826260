// A view of stops, at one of which it stands: moved by a slider or keys, or played to either end.

import { View } from "./component.js";
import { addButton, attribute, el, named, say } from "./dom.js";
import { film } from "./motion.js";
import { clamp } from "./numbers.js";

/** @import { Answer, Words } from "./types.js" */

/** How long a film of all stops takes, in milliseconds. */
const ALL_STOPS = 7000;

/**
 * @template {Answer & { at: number, words: Words }} Header
 * @extends {View<Header>}
 */
export class FilmView extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.at = 0;
    /** What a hand changes: fields of the header that the view has, too, under the same names. */
    this.fields = ["at"];
    this.told = ""; // these, as Python knows them
    this.holding = false;
    /** @type {(() => void) | null} stops the film */
    this.film = null;
    /** @type {HTMLElement | null} the button that stops it */
    this.playing = null;
    /** @type {{ button: HTMLElement, sign: string, word: string }[]} what plays it, one for each end */
    this.players = [];
    /** @type {HTMLElement[]} what is read out as it changes, but of a film only where it ends; the slider says the first */
    this.spoken = [];
    this.range = el("input", "av-slider-range", null, { type: "range", min: "0", step: "1" });
    this.range.addEventListener("input", () => {
      this.grab();
      this.stand(Number(this.range.value));
    });
    this.range.addEventListener("change", () => this.letGo());
    for (const kind of ["focus", "blur"]) this.range.addEventListener(kind, () => this.hush());
  }

  /** Draws the stop. */
  draw() {}

  /** How long so many stops take, in milliseconds. @param {number} stops */
  pace(stops) {
    return (ALL_STOPS * stops) / (this.last + 1);
  }

  get last() {
    return Number(this.range.max);
  }

  /** A button that plays up to the last stop, or back to the first. */
  /** @param {HTMLElement} bar @param {string} sign @param {string} word its name, by the name of a word @param {number} to */
  player(bar, sign, word, to) {
    const button = addButton(bar, sign, "", () => (this.film ? this.goTo(this.at) : this.play(button, to)));
    this.players.push({ button, sign, word });
    return button;
  }

  /** A button that goes so many stops on. @param {HTMLElement} bar @param {string} sign @param {number} by */
  mover(bar, sign, by) {
    return addButton(bar, sign, "", () => this.goTo(this.at + by));
  }

  /**
   * Has a hand on a canvas move it.
   * @param {HTMLElement} canvas @param {(event: PointerEvent) => number | null} stopAt what is under it
   */
  dragged(canvas, stopAt) {
    const follow = (/** @type {PointerEvent} */ event) => {
      const stop = this.holding ? stopAt(event) : null;
      if (stop !== null) this.stand(stop);
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.grab();
      follow(event);
    });
    canvas.addEventListener("pointermove", follow);
    for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => this.letGo());
  }

  /** What a hand changes, as this view or a header has it. @param {object} of */
  spelled(of) {
    return JSON.stringify(of, this.fields);
  }

  /** Takes the stop that has come, but not out of a hand. @param {number} last @param {boolean} other it is another film */
  arrive(last, other) {
    const { session, ack, words } = this.header;
    const behind = this.gestures.isBehind(session, ack);
    this.range.max = String(last);
    attribute(this.range, "aria-label", words.step);
    if (other) this.stop();
    else this.plays(this.playing, this.film);
    if (other || (!behind && !this.film && !this.holding)) Object.assign(this, JSON.parse(this.spelled(this.header)));
    if (!behind) this.told = this.spelled(this.header);
    this.stand(this.at);
  }

  /** @param {HTMLElement} button @param {number} towards */
  play(button, towards) {
    const to = clamp(towards, 0, this.last);
    const from = this.at === to ? this.last - to : this.at;
    const draw = (/** @type {number} */ share) => this.stand(Math.round(from + share * (to - from)));
    this.plays(
      button,
      film(this.root, this.pace(Math.abs(to - from)), draw, () => this.ended()),
    );
  }

  /** The film has come to its end. */
  ended() {
    this.goTo(this.at);
  }

  /**
   * Arrow keys, Home and End go to stops.
   * @param {KeyboardEvent} event @param {Record<string, () => void>} [others] what other keys do
   */
  stepKeys(event, others = {}) {
    if (event.target === this.range) return;
    /** @type {Record<string, () => void>} */
    const acts = {
      ArrowLeft: () => this.goTo(this.at - 1),
      ArrowRight: () => this.goTo(this.at + 1),
      Home: () => this.goTo(0),
      End: () => this.goTo(Infinity),
      ...others,
    };
    if (!(event.key in acts)) return;
    event.preventDefault();
    acts[event.key]();
  }

  /** @param {HTMLElement | null} which @param {(() => void) | null} stop */
  plays(which, stop) {
    this.film = stop;
    this.playing = which;
    for (const { button, sign, word } of this.players) {
      say(button, button === which ? "❚❚" : sign);
      named(button, this.header.words[button === which ? "pause" : word]);
    }
    this.hush();
  }

  /** Nothing is said while a film plays, nor twice where the slider says it itself. */
  hush() {
    this.spoken.forEach((node, n) => {
      const off = this.film || (n === 0 && this.range.matches(":focus"));
      attribute(node, "aria-live", off ? "off" : "polite");
    });
  }

  stop() {
    this.film?.();
    this.plays(null, null);
  }

  grab() {
    this.holding = true;
    this.stop();
  }

  letGo() {
    this.holding = false;
    this.commit();
  }

  /** Stands there, and tells Python. @param {number} stop */
  goTo(stop) {
    this.stop();
    this.stand(stop);
    this.commit();
  }

  /** @param {number} stop */
  stand(stop) {
    this.at = clamp(stop, 0, this.last);
    this.range.value = String(this.at);
    this.draw();
  }

  commit() {
    const now = this.spelled(this);
    if (now === this.told) return;
    this.told = now;
    this.tellPython("stood", JSON.parse(now));
  }
}
