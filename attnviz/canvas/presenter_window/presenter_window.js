// The lecturer's own window: the notes of the step, next and previous, the clock, who is here and how they vote. What it asks
// for is done by the page on the wall. Its secret stands behind the # of its address.

import { createBox, createButton, el, fill } from "../shared/dom.js";
import { elementText } from "../live/file_page.js";
import { download } from "../shared/files.js";
import { RoomLine } from "../phone/room_line.js";
import { askForm, promptOf, redraw, voteRows } from "../phone/vote_parts.js";

/** @import { Askable, Counts, Question } from "../phone/vote_parts.js" */
/** @typedef {Askable & { title: string, line: string, notes: string[] }} Lecturer */
/**
 * @typedef {Counts & { here: number, walls: number, closed: boolean, question: Question | null, lecturer: Lecturer | null }} State
 */

const { code, root, words } = JSON.parse(elementText("room-data"));
const MINUTE = 60_000;

class PresenterWindow {
  main = /** @type {HTMLElement} */ (document.getElementById("room"));
  clock = el("span", "pw-clock");
  began = Date.now();
  /** @type {State | null} */
  state = null;
  asking = false;
  closedReason = "lost";

  constructor() {
    const address = new URL(`${root}r/${code}/socket`, location.href);
    this.line = new RoomLine(address, { secret: location.hash.slice(1) || "none" }, this);
    setInterval(() => this.tick(), 1000);
    document.addEventListener("keydown", ({ key, target, repeat }) => {
      const isTyping = target instanceof HTMLElement && target.matches("input, textarea");
      const walk = { ArrowRight: "next", PageDown: "next", ArrowLeft: "previous", PageUp: "previous" }[key];
      if (walk && !isTyping && !repeat) this.command({ walk });
    });
  }

  /** @param {State & { counts?: (Question & Counts)[] }} message */
  receive(message) {
    if (message.counts) {
      download(new Blob([toCsv(message.counts)], { type: "text/csv" }), `attnviz-${code}.csv`);
      return;
    }
    if (message.question?.id !== this.state?.question?.id) this.asking = false;
    this.state = message;
    this.draw();
  }

  /** @param {string} reason why the line is closed, "" while it is open */
  setClosed(reason) {
    this.closedReason = reason;
    this.draw();
  }

  /** @param {Record<string, unknown>} command */
  command(command) {
    this.line.send({ command });
  }

  tick() {
    const minutes = Math.floor((Date.now() - this.began) / MINUTE);
    const now = new Date().toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit" });
    this.clock.textContent = `${now} · ${fill(words.elapsed, { n: minutes })}`;
  }

  draw() {
    this.tick();
    redraw(this.main, () => this.main.replaceChildren(...this.parts()));
  }

  /** @param {string} text @param {string} does @param {() => void} act */
  button = (text, does, act) => createButton("av-button", text, act, { "data-does": does });

  parts() {
    const { state } = this;
    const problem = this.closedReason
      ? words[this.closedReason]
      : state?.walls === 0
        ? words.no_wall
        : (state?.lecturer?.problem ?? "");
    const status = problem ? [el("p", "rm-problem", problem, { role: "status" })] : [];
    if (!state?.lecturer) return status;
    const { title, line, notes } = state.lecturer;
    const here = el("span", "", fill(words.here, { n: state.here }));
    const top = createBox("rm-buttons pw-top", el("span", "", line), this.clock, here);
    const walk = createBox(
      "rm-buttons pw-walk",
      this.button(`‹ ${words.previous}`, "previous", () => this.command({ walk: "previous" })),
      this.button(`${words.forward} ›`, "next", () => this.command({ walk: "next" })),
    );
    walk.lastElementChild?.classList.add("rm-main");
    const isVoting = state.question !== null && !state.question.truth;
    for (const button of isVoting ? walk.querySelectorAll("button") : []) {
      button.disabled = true;
      button.title = words.waits;
    }
    const said = createBox("pw-notes", ...(notes.length ? notes : [words.no_notes]).map((text) => el("p", "", text)));
    return [top, ...status, el("h1", "", title), said, walk, ...this.vote(state, state.lecturer), this.foot(state)];
  }

  /** The question that is open, or what can be asked. @param {State} state @param {Lecturer} lecturer */
  vote(state, lecturer) {
    const { question } = state;
    if (!question || this.asking) {
      const box = el("details", "pw-ask");
      box.open = this.asking;
      box.addEventListener("toggle", () => (this.asking = box.open));
      const request = (/** @type {Record<string, unknown>} */ command) => this.command(command);
      box.append(el("summary", "", words.ask), ...askForm(lecturer, words, request, this.button));
      return [box];
    }
    const { truth, words: answers } = question;
    const counts = fill(words.voted, { votes: state.votes, here: Math.max(state.here, state.votes) });
    const bar = createBox(
      "rm-buttons",
      ...(truth ? [] : [this.button(words.show, "show", () => this.command({ action: "show" }))]),
      this.button(words.hide, "clear", () => this.command({ action: "clear" })),
    );
    bar.firstElementChild?.classList.add("rm-main");
    const parts = [el("h2", "", promptOf(question, words.question)), el("p", "", counts)];
    if (!state.taps) parts.push(el("p", "", words.few));
    else parts.push(voteRows({ ...question, words: answers }, state, truth?.right));
    return [createBox("pw-vote", ...parts, bar)];
  }

  /** @param {State} state */
  foot({ closed }) {
    const door = this.button(closed ? words.reopen : words.close, "door", () => this.line.send({ closed: !closed }));
    const counts = this.button(words.counts, "counts", () => this.line.send({ counts: true }));
    return createBox("rm-buttons pw-foot", door, counts, ...(closed ? [el("span", "", words.closed)] : []));
  }
}

/** All votes of the hour as a table, in which no spreadsheet takes a word for a formula. @param {(Question & Counts)[]} asked */
function toCsv(asked) {
  const quote = (/** @type {string | number} */ cell) =>
    `"${String(cell)
      .replace(/^[=+@\t\r-]/, "'$&")
      .replaceAll('"', '""')}"`;
  const rows = asked.flatMap((question) => {
    const names = [...question.words, ...question.labels];
    const title = promptOf(question, words.question);
    return (names.length ? names : [""]).map((name, i) => [
      title,
      question.query < 0 ? "" : question.text,
      name,
      question.taps?.[i] ?? "",
      question.weights ? Math.round(1000 * question.weights[i]) / 1000 : "",
      question.votes,
    ]);
  });
  const head = [words.prompt, words.own, words.answers, words.counts_of, words.weights_of, words.votes];
  return [head, ...rows].map((cells) => cells.map(quote).join(",")).join("\r\n");
}

export default code ? new PresenterWindow() : null;
