// Which of the visitor's gestures Python has answered. Every gesture is sent with a number, and every answer names the
// newest number that Python had heard; an answer that is behind was computed before the newest gesture arrived.

export class Sequence {
  constructor() {
    this.sent = 0;
    /** @type {string | null} */
    this.session = null;
  }

  /** The number of a new gesture. */
  next() {
    this.sent += 1;
    return this.sent;
  }

  /**
   * Takes note of an answer: whether it was computed before the newest gesture was heard. A session that begins anew
   * (the server restarted, the connection was lost for long) has heard of no gesture, and is not waited for.
   * @param {string} session
   * @param {number} heard
   */
  isBehind(session, heard) {
    if (this.session !== session) {
      this.session = session;
      this.sent = heard;
    }
    this.sent = Math.max(this.sent, heard);
    return heard < this.sent;
  }
}
