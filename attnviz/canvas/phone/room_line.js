// The web socket of a room, which comes back by itself.

/** @typedef {{ receive(message: any): void, turn(why: string): void }} Listener `why` the line is closed, "" where it is not */

/** Why a line was closed, by its code. @type {Record<number, string>} */
const WHY = { 4000: "ended", 4001: "full", 4002: "door", 4003: "replaced", 1008: "refused" };
/** After these it does not come back. */
const OVER = ["ended", "replaced", "refused"];
/** So many vain attempts, and never a line: something between here and the server lets none through. */
const VAIN = 3;
/** Milliseconds. A whole class does not come back in the same instant. */
const [SOONEST, SPREAD, WHEN_FULL] = [500, 2500, 10_000];

export class RoomLine {
  /** @type {WebSocket | null} */
  socket = null;
  over = false;
  vain = 0;
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
      this.vain = -Infinity;
      this.listener.turn("");
    });
    socket.addEventListener("message", ({ data }) =>
      this.listener.receive(typeof data === "string" ? JSON.parse(data) : new Uint8Array(data)),
    );
    socket.addEventListener("close", ({ code }) => {
      this.socket = null;
      if (this.over) return;
      this.vain += 1;
      const why = WHY[code] ?? (this.vain >= VAIN ? "blocked" : "lost");
      this.over = OVER.includes(why);
      this.listener.turn(why);
      const wait = (code in WHY ? WHEN_FULL : SOONEST) + SPREAD * Math.random();
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
