// What a room adds to the lecturer's page: its address and code, who is here, the vote with its bars, and the class as a head.

import { View, viewComponent } from "../shared/component.js";
import { createButton, el, fill } from "../shared/dom.js";
import { RoomLine } from "../phone/room_line.js";
import { askForm, percent, promptOf, redraw, voteRows } from "../phone/vote_parts.js";
import { forgetRoom, keepRoom, keptRoom } from "./kept_room.js";

/** @import { Component, Words } from "../shared/types.js" */
/** @import { Askable, Counts, Question, Truth } from "../phone/vote_parts.js" */
/**
 * @typedef {object} WallParts
 * @property {string} code @property {string} secret @property {string} projector @property {string} socket
 * @property {string} language @property {Words} words @property {{ text: string, modules: number, path: string }[]} addresses
 * @property {string} session @property {number} ack
 */
/** @typedef {Askable & WallParts} WallHeader */
/** @typedef {Counts & { here: number, closed: boolean, question: Question | null }} RoomState */
/** @typedef {"" | "join" | "ask"} Panel what is open over the page, beside a question that is */

/** The page's own steps (canvas/presenter), of which the lecturer's own window turns the pages. */
const PRESENTER = Symbol.for("attnviz.presenter");
const SVG = "http://www.w3.org/2000/svg";
/** Milliseconds without anybody after which the wall says why that may be. */
const ALONE = 30_000;

/** @extends {View<WallHeader>} */
class Wall extends View {
  /** @type {RoomState} */
  room = { here: 0, closed: false, question: null, votes: 0, taps: null, weights: null, labels: [] };
  /** @type {Panel} */
  panel = "join";
  /** @type {RoomLine | null} */
  line = null;
  projector = "";
  /** why the line is closed, an id of the words; "" while it is open */
  closedReason = "";
  /** The question that was taken off last: the room may still name it, until the page has answered. */
  cleared = 0;
  opened = performance.now();
  sure = false;
  /** Above all else of the page, and alone heard by the keyboard. */
  dialog = el("dialog", "wl-panel");

  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.dialog.addEventListener("keydown", (event) => event.stopPropagation());
    this.dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.hide();
    });
  }

  /** @param {Component} component */
  show(component) {
    const { header, before } = this.receive(component);
    this.gestures.isBehind(header.session, header.ack);
    if (this.projector !== header.projector) this.begin(header);
    if (header.own && header.own.text !== before?.own?.text) this.panel = "ask";
    this.draw();
  }

  /** Connects to the room of a new projector. @param {WallHeader} header */
  begin(header) {
    this.line?.leave();
    this.projector = header.projector;
    if (keptRoom()?.code === header.code) this.panel = ""; // its page was loaded again
    keepRoom(header);
    const listener = {
      receive: (/** @type {RoomState & { command?: Record<string, any> }} */ state) => {
        if (state.command) {
          this.obey(state.command);
          return;
        }
        if (state.question?.id === this.cleared) state.question = null;
        if (state.question && state.question.id !== this.room.question?.id) this.panel = "";
        this.room = state;
        this.draw();
      },
      setClosed: (/** @type {string} */ reason) => {
        if (["ended", "replaced", "refused"].includes(reason)) this.leaveRoom();
        this.closedReason = reason;
        this.draw();
      },
    };
    const { secret, projector } = header;
    this.line = new RoomLine(new URL(header.socket, location.href), { secret, projector }, listener);
    setTimeout(() => this.draw(), ALONE + 100);
  }

  leave() {
    this.line?.leave();
  }

  /** Forgets the room: the page is as it was without one. */
  leaveRoom() {
    forgetRoom();
    this.panel = "";
    this.room.question = null;
    this.request("left");
  }

  /** Does what the lecturer's own window asks for: a step of the page, or what this wall could ask for, too. */
  /** @param {Record<string, any>} command */
  obey({ walk, ...request }) {
    if (walk !== "next" && walk !== "previous") {
      this.request(String(request.action), request);
      return;
    }
    const { question } = this.room;
    if (question && !question.truth) return; // a vote is ended by nobody's mistake
    if (question || this.panel) this.hide();
    /** @type {any} */ (globalThis)[PRESENTER]?.current?.do(walk);
  }

  /** @param {string} action @param {object} [more] */
  request(action, more = {}) {
    this.tellPython("act", { ...more, action });
  }

  /** @param {Panel} panel */
  turnTo(panel) {
    this.panel = panel;
    this.sure = false;
    this.draw();
  }

  /** Back to the page; a question that is open is taken off the phones. */
  hide() {
    if (this.room.question) {
      this.request("clear");
      this.cleared = this.room.question.id;
      this.room.question = null;
    }
    this.turnTo("");
  }

  draw() {
    redraw(this.root, () => this.drawAll());
  }

  drawAll() {
    const { words } = this.header;
    const isOpen = this.panel !== "" || this.room.question !== null;
    if (this.dialog.parentNode !== this.root || isOpen !== this.dialog.open) {
      this.dialog.close();
      this.root.replaceChildren(this.dialog);
    }
    this.dialog.replaceChildren(...(isOpen ? this.drawPanel() : []));
    if (!isOpen) this.root.replaceChildren(this.dialog, this.drawCorner());
    else if (!this.dialog.open) this.dialog.showModal();
    this.root.setAttribute("aria-label", words.room);
    this.root.dataset.ready = "true";
  }

  drawCorner() {
    const { words, addresses, code } = this.header;
    const presented = document.documentElement.hasAttribute("data-present") ? " wl-presented" : "";
    const corner = el("div", `wl-corner rm-buttons${presented}`, null, { role: "region", "aria-label": words.room });
    const address = addresses[0]?.text ?? "";
    corner.append(el("span", "", address), el("span", "wl-code", code), this.here());
    corner.append(
      this.button(words.open, "open", () => this.turnTo("join")),
      this.askButton(words.ask),
    );
    return corner;
  }

  here() {
    const { words } = this.header;
    const here = fill(words.here, { n: this.room.here });
    const said = this.closedReason ? words[this.closedReason] : this.room.closed ? `${here} · ${words.closed}` : here;
    return el("span", "wl-here", said, { role: "status" });
  }

  /** @param {string} text @param {string} does @param {() => void} act @param {boolean} [main] */
  button(text, does, act, main = false) {
    return createButton(`av-button${main ? " rm-main" : ""}`, text, act, { "data-does": does });
  }

  /** @param {string} text */
  askButton(text) {
    return this.button(text, "ask", () => this.turnTo("ask"), true);
  }

  drawPanel() {
    const { words, problem } = this.header;
    const { question } = this.room;
    this.dialog.setAttribute("aria-label", words.room);
    /** @type {Element[]} */
    const parts = [];
    const bar = el("div", "wl-bar rm-buttons");
    if (problem) parts.push(el("p", "rm-problem", problem, { role: "alert" }));
    if (this.panel === "ask") parts.push(...this.choices());
    else if (this.panel === "join" || !question) parts.push(...this.joining());
    else parts.push(...this.vote(question));
    if (this.panel === "" && question && !question.truth)
      bar.append(this.button(words.show, "show", () => this.request("show"), true));
    else if (this.panel !== "ask") bar.append(this.askButton(question?.truth?.row ? words.again : words.ask));
    bar.append(this.button(words.hide, "hide", () => this.hide()));
    if (this.panel !== "join") bar.append(this.button(words.open, "open", () => this.turnTo("join")));
    else
      bar.append(
        this.button(words.window, "window", () => this.openWindow()),
        this.endButton(),
      );
    return [...parts, bar];
  }

  /** The secret stands behind the # of its address, which no server is told. */
  openWindow() {
    const { socket, secret, language } = this.header;
    const address = new URL(socket.replace(/socket$/, `present?lang=${language}#${secret}`), location.href);
    globalThis.open(address, "_blank", "noopener");
  }

  endButton() {
    const { words } = this.header;
    return this.button(this.sure ? words.sure : words.end, "end", () => {
      if (this.sure) {
        forgetRoom();
        this.request("end");
      }
      this.sure = !this.sure;
      this.draw();
    });
  }

  joining() {
    const { words, addresses, code } = this.header;
    const how = el("p", "", addresses.length ? words.join : words.unreachable);
    const [box, text] = [el("div", "wl-join"), el("div")];
    for (const { text: address } of addresses) text.append(el("div", "wl-address", address));
    if (!addresses.length) text.append(el("div", "wl-address", `${location.host}/r`));
    const alone = this.room.here === 0 && performance.now() - this.opened > ALONE && !this.closedReason;
    text.append(el("div", "wl-code", code), this.here());
    if (alone) text.append(el("p", "", words.alone));
    box.append(text, ...addresses.slice(0, 1).map(drawCode));
    return [how, box];
  }

  choices() {
    const button = (/** @type {string} */ text, /** @type {string} */ does, /** @type {() => void} */ act) =>
      this.button(text, does, act);
    const { header } = this;
    return askForm(header, header.words, ({ action, ...more }) => this.request(String(action), more), button);
  }

  /** @param {Question} question */
  vote(question) {
    const { words } = this.header;
    const { truth } = question;
    const { here, votes, weights } = this.room;
    const word = question.words[question.query];
    const parts = [el("h2", "", promptOf(question, words.question))];
    const most = Math.max(1, votes);
    if (truth?.right) {
      parts.push(voteRows(question, this.room, truth.right));
      if (!question.words.length && truth.right.length)
        parts.push(el("p", "wl-here", fill(words.answer, { n: truth.right[0] })));
      if (truth.because) parts.push(el("p", "", truth.because));
      return parts;
    }
    if (!truth) {
      const shares = weights?.map((n) => barOf(n / most)) ?? [];
      parts.push(el("p", "wl-here", fill(words.voted, { votes, here: Math.max(here, votes) })));
      parts.push(
        question.most === 1 ? voteRows(question, this.room) : this.table(question, [[words.class, shares, ""]]),
      );
      if (!weights) parts.push(el("p", "", words.few));
      return parts;
    }
    const rows = /** @type {[string, Bar[], string][]} */ ([
      [words.class, (truth.class ?? []).map(barOf), ""],
      [fill(words.model, { head: truth.head }), truth.row.map(barOf), "wl-model"],
    ]);
    parts.push(this.table(question, truth.class ? rows : rows.slice(1)), ...this.evidence(question, truth, word));
    return parts;
  }

  /** What follows from the votes. @param {Question} question @param {Truth} truth @param {string} word */
  evidence(question, truth, word) {
    const { words } = this.header;
    if (!truth.nearest || !truth.taps) return [el("p", "", words.no_class)];
    const later = question.words.filter((_word, i) => i > question.query && truth.taps?.[i]);
    const n = truth.taps.slice(question.query + 1).reduce((sum, count) => sum + count, 0);
    const parts = n ? [el("p", "wl-here", fill(words.late, { n, words: later.join(", "), word }))] : [];
    const heads = truth.nearest.map(([head, nats]) => fill(words.apart, { head, nats })).join(" · ");
    parts.push(el("p", "", `${fill(words.nearest, { n: truth.sentences ?? 1 })} ${heads}`));
    const [{ 0: head }] = truth.nearest;
    const few = { 1: "single", 2: "few_sentences" }[truth.sentences ?? 1] ?? "disagree";
    const verdict = !truth.decided ? "undecided" : truth.agrees && truth.sentences !== 1 ? "agree" : few;
    parts.push(el("p", "", `${fill(words.chance, { n: truth.chance ?? 0 })} ${fill(words[verdict], { head })}`));
    return parts;
  }

  /** The words with rows of bars above them. */
  /** @param {Question} question @param {[string, Bar[], string][]} rows a name, a bar for each word, and a class */
  table({ words, query }, rows) {
    const table = el("div", `wl-table${rows.length > 1 ? " wl-two" : ""}`);
    table.style.gridTemplateColumns = `minmax(70px, auto) repeat(${words.length}, minmax(max-content, 1fr))`;
    for (const [name, bars, kind] of rows) {
      table.append(el("div", "wl-name", name));
      words.forEach((_word, i) => {
        const [cell, bar] = [el("div", `wl-cell ${kind}`), el("div")];
        bar.style.height = `${80 * (bars[i]?.height ?? 0)}%`;
        if (bars[i]?.text) cell.append(el("span", "", bars[i].text));
        if (bars[i]?.height) cell.append(bar);
        table.append(cell);
      });
    }
    table.append(el("div"));
    words.forEach((word, i) => table.append(el("div", `wl-word${i === query ? " wl-query" : ""}`, word)));
    return table;
  }
}

/** @typedef {{ height: number, text: string }} Bar */
/** @param {number} share @returns {Bar} */
const barOf = (share) => ({ height: share, text: share >= 0.005 ? percent(share) : "" });

/** A QR code. @param {{ modules: number, path: string }} address */
function drawCode({ modules, path }) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `-4 -4 ${modules + 8} ${modules + 8}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "QR");
  svg.append(document.createElementNS(SVG, "path"));
  svg.firstElementChild?.setAttribute("d", path);
  svg.setAttribute("shape-rendering", "crispEdges");
  return svg;
}

export default viewComponent(Wall);
