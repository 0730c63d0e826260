// Views that a hand and a film move, as they do stops: by a slider or keys, or played to either end.

import { View } from "./component.js";
import { stopSlider } from "./controls.js";
import { addButton, setAttribute, setName, setText } from "./dom.js";
import { film, prefersReducedMotion } from "./motion.js";
import { clamp } from "./numbers.js";

/** @import { Answer } from "./types.js" */

/** How long a film of all stops takes, in milliseconds. */
const ALL_STOPS = 7000;

/**
 * What a hand and a film move; Python hears where it was left.
 * @template {Answer & { words: Record<string, any> }} Header
 * @extends {View<Header>}
 */
export class MovedView extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    /** What a hand changes: fields of the header that the view has, too, under the same names. @type {string[]} */
    this.fields = [];
    this.told = ""; // these, as Python knows them
    this.holding = false;
    /** @type {(() => void) | null} stops the film */
    this.film = null;
    /** @type {HTMLElement | null} the button that stops it */
    this.playing = null;
    /** @type {{ button: HTMLElement, sign: string, word: string }[]} what plays it */
    this.players = [];
    /** @type {HTMLElement[]} what is read out as it changes, but of a film only where it ends */
    this.spoken = [];
  }

  /** Draws what is to be seen now. */
  draw() {}

  /** Finds the room that there is. */
  measure() {}

  resize() {
    if (!this.held || !this.root.clientWidth) return;
    this.measure();
    this.draw();
  }

  /** With what a hand has changed. */
  get displayed() {
    return { ...super.displayed, .../** @type {object} */ (JSON.parse(this.spelled(this))) };
  }

  /** Whether a hand or a film is at work. */
  get isMoving() {
    return this.holding || this.film !== null;
  }

  /** A button that plays a film, or stops it. */
  /** @param {HTMLElement} bar @param {string} sign @param {string} word its name, by the name of a word @param {(button: HTMLElement) => void} play */
  playButton(bar, sign, word, play) {
    const button = addButton(bar, sign, "", () => (this.film ? this.rest() : play(button)));
    this.players.push({ button, sign, word });
    return button;
  }

  /** What a hand changes, as this view or a header has it. @param {object} of */
  spelled(of) {
    return JSON.stringify(of, this.fields);
  }

  /** Takes what has come, but not out of a hand. @param {boolean} other it is about something else */
  take(other) {
    const { session, ack } = this.header;
    const behind = this.gestures.isBehind(session, ack);
    const isChangedElsewhere = !behind && !this.holding && this.spelled(this.header) !== this.told;
    if (other || isChangedElsewhere) this.stop();
    else this.plays(this.playing, this.film);
    if (other || (!behind && !this.isMoving)) Object.assign(this, JSON.parse(this.spelled(this.header)));
    if (!behind) this.told = this.spelled(this.header);
  }

  /** @param {HTMLElement | null} which @param {(() => void) | null} stop */
  plays(which, stop) {
    this.film = stop;
    this.playing = which;
    for (const { button, sign, word } of this.players) {
      setText(button, button === which ? "❚❚" : sign);
      setName(button, this.header.words[button === which ? "pause" : word]);
    }
    this.hush();
  }

  /** Nothing is said while a film plays. */
  hush() {
    for (const node of this.spoken) setAttribute(node, "aria-live", this.film ? "off" : "polite");
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

  /** Stays where it is, and tells Python. */
  rest() {
    this.stop();
    this.draw();
    this.commit();
  }

  /** Tells Python what has changed; a film that ends because its page is left has changed nothing. */
  commit() {
    const now = this.spelled(this);
    if (now === this.told || !this.root.isConnected) return;
    this.told = now;
    this.tellPython("stood", JSON.parse(now));
  }
}

/**
 * A view of stops, at one of which it stands.
 * @template {Answer & { at: number, words: Record<string, any> }} Header
 * @extends {MovedView<Header>}
 */
export class FilmView extends MovedView {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.at = 0;
    this.fields = ["at"];
    /** @type {{ button: HTMLElement, word: string }[]} what goes some stops on */
    this.movers = [];
    const slide = (/** @type {number} */ stop) => {
      this.grab();
      this.stand(stop);
    };
    this.range = stopSlider(0, slide, () => this.letGo());
    for (const kind of ["focus", "blur"]) this.range.addEventListener(kind, () => this.hush());
  }

  /** How long so many stops take, in milliseconds. @param {number} stops */
  pace(stops) {
    return (ALL_STOPS * stops) / (this.last + 1);
  }

  get last() {
    return Number(this.range.max);
  }

  /** Adds a button that plays up to the last stop, or back to the first. */
  /** @param {HTMLElement} bar @param {string} sign @param {string} word @param {number} to */
  addPlayButton(bar, sign, word, to) {
    return this.playButton(bar, sign, word, (button) => this.play(button, to));
  }

  /** Adds a button that goes on by so many stops. */
  /** @param {HTMLElement} bar @param {string} sign @param {string} word @param {number} by */
  addStepButton(bar, sign, word, by) {
    this.movers.push({ button: addButton(bar, sign, "", () => this.goTo(this.at + by)), word });
  }

  /** Moves the film while a hand drags on a picture. */
  /** @param {HTMLElement} picture @param {(event: PointerEvent) => number | null} stopAt the stop under it */
  followDrag(picture, stopAt, move = (/** @type {number} */ stop) => this.stand(stop)) {
    const follow = (/** @type {PointerEvent} */ event) => {
      const stop = this.holding ? stopAt(event) : null;
      if (stop !== null) move(stop);
    };
    picture.classList.add("av-dragged");
    picture.addEventListener("pointerdown", (event) => {
      picture.setPointerCapture(event.pointerId);
      this.grab();
      follow(event);
    });
    picture.addEventListener("pointermove", follow);
    for (const end of ["pointerup", "pointercancel"]) picture.addEventListener(end, () => this.holding && this.letGo());
  }

  /** Takes the stop that has come. @param {number} last @param {boolean} other it is another film */
  arrive(last, other) {
    const { words } = this.header;
    this.range.max = String(last);
    setAttribute(this.range, "aria-label", words.step);
    for (const { button, word } of this.movers) setName(button, words[word]);
    this.take(other);
    this.stand(this.at);
    if (other) this.picture();
  }

  /** Draws now, where `draw` waits for a frame: until then a first picture would have a canvas's usual size. */
  picture() {}

  /** The stop at a share of a film's time. @param {number} from @param {number} to @param {number} share */
  stopAt(from, to, share) {
    return Math.round(from + share * (to - from));
  }

  /** @param {HTMLElement} button @param {number} towards */
  play(button, towards) {
    const to = clamp(towards, 0, this.last);
    const from = this.at === to ? this.last - to : this.at;
    const draw = (/** @type {number} */ share) => this.stand(this.stopAt(from, to, share));
    this.plays(
      button,
      film(this.root, this.pace(Math.abs(to - from)), draw, () => this.ended()),
    );
  }

  /** Plays once up to where it stands, as it is first seen; who asked for less motion finds it there. @param {number} from */
  playOnArrival(from = 0) {
    const end = this.at;
    if (!end || prefersReducedMotion()) return;
    this.stand(from);
    this.play(this.players[0].button, end);
  }

  /** The film has come to its end. */
  ended() {
    this.rest();
  }

  /** Arrow keys, Home and End go to stops. */
  /** @param {KeyboardEvent} event @param {Record<string, () => void>} [others] what other keys do */
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

  /** Nor is anything said twice, where the slider says the first itself. */
  hush() {
    super.hush();
    if (this.spoken.length && this.range.matches(":focus")) setAttribute(this.spoken[0], "aria-live", "off");
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
}
