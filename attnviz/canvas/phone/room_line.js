// The web socket of a room, which comes back by itself; and what phones and wall know of a question.

import { fill } from "../shared/dom.js";

/**
 * @typedef {object} Truth
 * @property {number[]} [right] places of right answers, of a question with answers
 * @property {string} head @property {number[]} row of a question about a word
 * @property {number[] | null} class the class's row; null with too few votes
 * @property {number[] | null} taps
 * @property {number} [sentences] @property {[string, number][]} [nearest] @property {number} [chance] @property {boolean} [agrees] @property {boolean} [decided]
 */
/** @typedef {{ id: number, text: string, words: string[], query: number, most: number, truth: Truth | null }} Question */
/** What a question asks. @param {Question} question @param {string} template of one about a word */
export const promptOf = ({ text, words, query }, template) =>
  query < 0 ? text : fill(template, { word: words[query] });

/** @typedef {{ receive(message: any): void, turn(closed: number | null): void }} Listener */

/** Codes of a closed line: the class has ended; the server takes no more phones; what was sent is refused. */
export const [ENDED, FULL, REFUSED] = [4000, 4001, 1008];
/** Milliseconds. A whole class does not come back in the same instant. */
const [SOONEST, SPREAD, WHEN_FULL] = [500, 2500, 10_000];

/** @param {number} share */
export const percent = (share) => `${Math.round(100 * share)}%`;

export class RoomLine {
  /** @type {WebSocket | null} */
  socket = null;
  over = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  again = undefined;

  /** @param {URL} address @param {object} first what says who comes @param {Listener} listener */
  constructor(address, first, listener) {
    this.address = new URL(address);
    this.address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    this.first = first;
    this.listener = listener;
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && !this.socket) this.connect();
    });
    this.connect();
  }

  connect() {
    clearTimeout(this.again);
    if (this.over || this.socket) return;
    const socket = (this.socket = new WebSocket(this.address));
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      socket.send(JSON.stringify(this.first));
      this.listener.turn(null);
    });
    socket.addEventListener("message", ({ data }) =>
      this.listener.receive(typeof data === "string" ? JSON.parse(data) : new Uint8Array(data)),
    );
    socket.addEventListener("close", ({ code }) => {
      this.socket = null;
      if (this.over) return;
      this.over = code === ENDED || code === REFUSED;
      this.listener.turn(code);
      const wait = (code === FULL ? WHEN_FULL : SOONEST) + SPREAD * Math.random();
      if (!this.over) this.again = setTimeout(() => this.connect(), wait);
    });
  }

  /** @param {object} message */
  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  leave() {
    this.over = true;
    clearTimeout(this.again);
    this.socket?.close();
  }
}
