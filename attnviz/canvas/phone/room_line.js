// The web socket of a room, which connects again by itself.

/** @typedef {{ receive(message: any): void, setClosed(reason: string): void }} Listener `reason`: why the line is closed, "" while it is open */

/** Why a line was closed, by the code of its closing. @type {Record<number, string>} */
const REASONS = { 4000: "ended", 4001: "full", 4002: "door", 4003: "replaced", 1008: "refused" };
/** After these it does not connect again. */
const FINAL = ["ended", "replaced", "refused"];
/** After so many failures and no connection, something between here and the server must block it. */
const MOST_FAILURES = 3;
/** Milliseconds until the next attempt, with a random part, so that a class does not connect in one instant. */
const [SOONEST, SPREAD, WHEN_FULL] = [500, 2500, 10_000];

export class RoomLine {
  /** @type {WebSocket | null} */
  socket = null;
  over = false;
  failures = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  retryTimer = undefined;

  /** @param {URL} address @param {object} first the first message: who connects @param {Listener} listener */
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
    clearTimeout(this.retryTimer);
    if (this.over || this.socket) return;
    const socket = (this.socket = new WebSocket(this.address));
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => {
      socket.send(JSON.stringify(this.first));
      this.failures = -Infinity;
      this.listener.setClosed("");
    });
    socket.addEventListener("message", ({ data }) =>
      this.listener.receive(typeof data === "string" ? JSON.parse(data) : new Uint8Array(data)),
    );
    socket.addEventListener("close", ({ code }) => {
      this.socket = null;
      if (this.over) return;
      this.failures += 1;
      const reason = REASONS[code] ?? (this.failures >= MOST_FAILURES ? "blocked" : "lost");
      this.over = FINAL.includes(reason);
      this.listener.setClosed(reason);
      const wait = (code in REASONS ? WHEN_FULL : SOONEST) + SPREAD * Math.random();
      if (!this.over) this.retryTimer = setTimeout(() => this.connect(), wait);
    });
  }

  /** @param {object} message */
  send(message) {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Closes the line for good. */
  leave() {
    this.over = true;
    clearTimeout(this.retryTimer);
    this.socket?.close();
  }
}
