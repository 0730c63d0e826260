// The page of a student's phone: the lecturer's pictures by the scripts that drew them on the wall, and the vote.
// It computes by itself: nothing that a student touches reaches the server but a vote.

import { createBox, createButton, el, fill, setText, visibleToken } from "../shared/dom.js";
import { readHeader } from "../shared/packing.js";
import { elementText, onOtherTheme } from "../live/file_page.js";
import { RoomLine } from "./room_line.js";
import { barRows, percent, promptOf, voteRows } from "./vote_parts.js";

/** @import { Component } from "../shared/types.js" */
/** @import { Question } from "./vote_parts.js" */
/** @typedef {{ key: string, name: string, size: number }} Entry */
/** @typedef {{ title: string, line: string, link: string, pictures: Entry[] }} Step */
/** @typedef {(component: Component) => unknown} Draw */

const { code, root, scripts, words } = JSON.parse(elementText("room-data"));
/** After a touch so many milliseconds long what a picture reports is a student's doing. */
const TOUCH = 1500;

/** What this tab remembers, in a browser that lets it. @param {string} name @param {string} [value] */
function remember(name, value) {
  const key = `attnviz-${code}-${name}`;
  try {
    if (value !== undefined) sessionStorage.setItem(key, value);
    return value ?? sessionStorage.getItem(key);
  } catch {
    return value ?? null;
  }
}

/** A random number of this tab. */
function ownNumber() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const fresh = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return remember("tab") ?? remember("tab", fresh);
}

class Phone {
  title = el("h1");
  line = el("p", "ph-line", words.waiting, { role: "status" });
  pictures = el("section");
  vote = el("section", "", null, { "aria-live": "polite" });
  status = el("span", "ph-small", "", { role: "status" });
  back = createButton("ph-back", words.back, () => this.follow());
  open = el("a", "", words.open, { target: "_blank", rel: "noopener" });
  /** @type {Map<string, { element: HTMLElement, draw: () => void }>} */
  shown = new Map();
  /** @type {Uint8Array | null} */
  newest = null;
  free = false;
  touched = -TOUCH;
  /** @type {Question | null} */
  question = null;
  /** @type {Set<number>} */
  taps = new Set();
  state = "";
  first = { tab: ownNumber(), seat: remember("seat") };

  constructor() {
    const bar = el("div", "ph-bar");
    bar.append(this.back, this.open, this.status);
    const main = document.getElementById("room");
    main?.append(this.title, this.line, this.vote, this.pictures, el("p", "ph-small", words.private), bar);
    for (const kind of ["pointerup", "keydown"]) this.pictures.addEventListener(kind, () => this.touch());
    for (const kind of ["click", "input", "change"]) this.pictures.addEventListener(kind, () => this.setFree(true));
    onOtherTheme(() => this.shown.forEach(({ draw }) => draw()));
    this.setFree(false);
    this.open.hidden = true;
    this.room = new RoomLine(new URL(`${root}r/${code}/socket`, location.href), this.first, this);
  }

  /** Something came. @param {Uint8Array | Record<string, any>} message */
  receive(message) {
    if (message instanceof Uint8Array) {
      this.newest = message;
      if (!this.free) this.follow();
    } else if ("seat" in message) this.first.seat = remember("seat", message.seat);
    else if ("question" in message) this.ask(message.question);
    else if ("counted" in message) this.say("change");
    else if ("late" in message) this.say("late");
  }

  /** Says why there is no line. @param {string} reason "" while there is one */
  setClosed(reason) {
    const said = reason ? words[reason] : this.free ? words.free : "";
    if (!this.newest) setText(this.line, said || words.waiting);
    setText(this.status, this.newest ? said : "");
    if (!reason && this.state === "sending") this.send();
  }

  touch() {
    this.touched = performance.now();
  }

  /** @param {boolean} free */
  setFree(free) {
    this.free = free;
    this.back.hidden = !free;
    setText(this.status, free ? words.free : "");
  }

  /** Shows what the lecturer shows now. */
  async follow() {
    this.setFree(false);
    if (!this.newest) return;
    const blob = this.newest;
    const [step, payload] = /** @type {[Step, Uint8Array]} */ (readHeader(blob));
    setText(this.title, step.title);
    setText(this.line, step.line);
    this.open.href = root + step.link;
    this.open.hidden = false;
    let start = 0;
    const elements = step.pictures.map(({ key, name, size }) => {
      const data = payload.slice(start, start + size);
      start += size;
      return this.picture(key, size ? name : "", data);
    });
    for (const key of this.shown.keys()) if (!step.pictures.some((entry) => entry.key === key)) this.shown.delete(key);
    const same = elements.length === this.pictures.children.length;
    if (!same || elements.some((element, i) => element !== this.pictures.children[i])) {
      this.pictures.replaceChildren(...elements);
    }
    for (const { draw } of this.shown.values()) draw();
  }

  /** The element of a picture, which is the one that shows it already. */
  /** @param {string} key @param {string} name @param {Uint8Array} data */
  picture(key, name, data) {
    if (!name) return el("p", "ph-wall", words.wall);
    if (name === "row") {
      const [{ query, keys }] = /** @type {[{ query: string, keys: [string, number][] }, Uint8Array]} */ (
        readHeader(data)
      );
      const rows = keys.map(([text, share]) => ({ text: visibleToken(text), share, end: percent(share) }));
      const title = el("p", "", fill(words.row, { word: visibleToken(query) }));
      return createBox("ph-wall rm-model", title, barRows(rows));
    }
    const place = `${key} ${name}`;
    const element = this.shown.get(key)?.element ?? el("div", "ph-picture");
    if (element.dataset.place !== place) mountPicture(element, place, name);
    const setStateValue = () => {
      if (performance.now() - this.touched < TOUCH) this.setFree(true);
    };
    const draw = () => {
      const parent = element.shadowRoot;
      if (parent) void drawerOf(name).then((call) => call({ data, parentElement: parent, setStateValue }));
    };
    this.shown.set(key, { element, draw });
    return element;
  }

  /** @param {Question | null} question */
  ask(question) {
    const kept = question ? JSON.parse(remember(`vote-${question.id}`) ?? "null") : null;
    if (question?.id !== this.question?.id) {
      this.taps = new Set(kept?.taps ?? []);
      this.state = kept ? "change" : "";
    }
    this.question = question;
    this.drawVote();
  }

  /** @param {string} state */
  say(state) {
    this.state = state;
    this.drawVote();
  }

  drawVote() {
    const { question } = this;
    this.title.hidden = this.line.hidden = question !== null;
    this.pictures.hidden = question !== null && !question.truth;
    if (!this.pictures.hidden) for (const { draw } of this.shown.values()) draw();
    if (!question) {
      this.vote.replaceChildren();
      return;
    }
    const title = el("h1", "", promptOf(question, words.question));
    this.vote.replaceChildren(title, ...(question.truth ? this.truth(question) : this.ballot(question)));
  }

  /** @param {Question} question */
  ballot(question) {
    const list = el("div", question.most > 1 ? "ph-words" : "ph-words ph-answers", null, { role: "group" });
    const vote = createButton("ph-vote", words.vote, () => this.send());
    const say = () => setText(status, words[this.state] ?? "");
    const status = el("p", "ph-small", "", { role: "status" });
    question.words.forEach((text, i) => {
      const button = createButton(i === question.query ? "ph-query" : "", text, () => {
        if (question.most === 1) this.taps.clear();
        if (!this.taps.delete(i) && this.taps.size < question.most) this.taps.add(i);
        [...list.children].forEach((each, n) => each.setAttribute("aria-pressed", String(this.taps.has(n))));
        vote.disabled = this.taps.size === 0;
        this.state = "";
        say();
      });
      if (i === question.query) button.disabled = true;
      else button.setAttribute("aria-pressed", String(this.taps.has(i)));
      list.append(button);
    });
    if (!question.words.length) list.append(this.numberField(vote));
    vote.disabled = this.taps.size === 0 || this.state !== "";
    say();
    const most = question.most > 1 ? [el("p", "ph-line", fill(words.tap, { n: question.most }))] : [];
    return [...most, list, vote, status];
  }

  /** The field for a number. @param {HTMLButtonElement} vote */
  numberField(vote) {
    const field = el("input", "", null, { inputmode: "decimal", "aria-label": words.number, maxlength: "12" });
    field.value = [...this.taps].join("");
    field.addEventListener("input", () => {
      const number = Number(field.value.replace(",", "."));
      this.state = "";
      this.taps = new Set(field.value.trim() && Number.isFinite(number) && Math.abs(number) <= 1e9 ? [number] : []);
      vote.disabled = this.taps.size === 0;
    });
    return field;
  }

  /** One's own guess beside the truth. @param {Question} question */
  truth(question) {
    const { truth, query } = question;
    if (!truth) return [];
    if (truth.right) {
      const because = el("p", "", truth.because ?? "");
      if (question.words.length) return [voteRows(question, truth, truth.right, words.yours, this.taps), because];
      const told = truth.right.map((n) => el("p", "", fill(words.answer, { n })));
      for (const n of this.taps) told.push(el("p", "", fill(words.guess, { n })));
      return [...told, voteRows(question, truth), because];
    }
    const word = question.words[query];
    const row = question.words.slice(0, query + 1).map((text, i) => {
      const isMine = this.taps.has(i);
      return { text, share: truth.row[i], end: `${percent(truth.row[i])}${isMine ? ` ${words.yours}` : ""}`, isMine };
    });
    const after = [...this.taps].filter((i) => i > query).map((i) => question.words[i]);
    const later = after.length ? [el("p", "", fill(words.later, { words: after.join(", "), word }))] : [];
    const rows = barRows(row);
    rows.classList.add("rm-model");
    const shown = this.taps.size ? words.shown : words.model;
    return [el("p", "ph-line", fill(shown, { head: truth.head })), rows, ...later];
  }

  /** Sends the vote, under a number that is larger than any before. */
  send() {
    if (!this.question || this.question.truth || !this.taps.size) return;
    const number = 1 + Number(remember("number") ?? 0);
    const taps = [...this.taps];
    remember("number", String(number));
    remember(`vote-${this.question.id}`, JSON.stringify({ taps }));
    this.say("sending");
    this.room.send({ question: this.question.id, number, taps });
  }
}

/** What draws a component, by its own script. @param {string} name @returns {Promise<Draw>} */
const drawerOf = async (name) => (await import(fileOf(name, "js"))).default;

/** @param {string} name @param {string} kind */
const fileOf = (name, kind) => new URL(`${root}${scripts}/attnviz.${name}/${name}.${kind}`, location.href).href;

/** Makes an element the place of a component, with its styles. */
/** @param {HTMLElement} element @param {string} place @param {string} name */
function mountPicture(element, place, name) {
  const shadow = element.shadowRoot ?? element.attachShadow({ mode: "open" });
  element.dataset.place = place;
  shadow.replaceChildren(el("link", "", null, { rel: "stylesheet", href: fileOf(name, "css") }), el("div", "av-root"));
}

/** Begins when the fonts are there: pictures measure their words by them. Without a code the page has a field for one. */
async function begin() {
  await Promise.allSettled([...document.fonts].map((font) => font.load()));
  return code ? new Phone() : null;
}

export default begin();
