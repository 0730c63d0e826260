// A mask to paint on: gestures, keys, undo; a gesture is told to Python when it ends.

const MOST_UNDO = 60;

class MaskView extends MaskPicture {
  constructor(root) {
    super();
    this.root = root;
    this.head = el("div", "av-mask-head");
    this.count = el("div", "av-mask-count", "", { "data-testid": "count" });
    this.tools = el("div", "av-tools");
    this.head.append(this.count, this.tools);
    this.help = el("div", "av-sr");
    this.help.id = "help";
    this.live = el("div", "av-sr", "", { "aria-live": "polite", role: "status" });
    this.stage = el("div", "av-stage av-mask", null, {
      tabindex: "0",
      role: "application",
      "aria-describedby": "help",
      "data-testid": "mask",
    });
    this.base = el("canvas");
    this.over = el("canvas", "av-over");
    this.pad = el("div", "av-pad");
    this.stage.append(this.base, this.over, this.pad);
    this.read = el("div", "av-readout", "", { "data-testid": "readout" });
    this.legend = el("div", "av-bar-row av-legend");
    root.append(this.help, this.live, this.head, this.stage, this.read, this.legend);
    this.past = [];
    this.future = [];
    this.seq = 0;
    this.cursor = null;
    this.gesture = null;
    this.relight = onceAFrame(() => this.light());
    this.redraw = onceAFrame(() => this.draw());
    this.listen();
  }

  async show(bytes, component) {
    const [header, payload] = readHeader(bytes);
    const turn = (this.turn = (this.turn || 0) + 1);
    this.component = component;
    if (this.data !== header.data) {
      const parts = await inflate(payload);
      if (turn !== this.turn) return;
      this.take(header, parts);
      this.data = header.data;
    }
    const overtaken = this.seq > header.ack && this.shape === header.shape.join();
    this.header = header;
    this.words = header.words;
    if (!overtaken) this.adopt(header);
    this.seq = Math.max(this.seq, header.ack);
    this.theme = identity(this.root, themeOf(this.root), header.colours);
    this.dress();
    this.layoutAndDraw();
  }

  take(header, parts) {
    const n = header.shape[0] * header.shape[1];
    const size = (n + 7) >> 3;
    this.given = unpackBits(parts.subarray(0, size), n);
    let at = size;
    this.locked = null;
    this.weights = null;
    if (header.locked) {
      this.locked = unpackBits(parts.subarray(at, at + size), n);
      at += size;
    }
    if (header.weights) {
      this.weights = joinPlanes(parts.subarray(at, at + 2 * n));
      this.table = pixelTable({ ...header, ...WEIGHT_SCALE });
    }
  }

  // Take over the mask that Python sends; another mask for the same tokens can be undone.
  adopt(header) {
    const tokens = JSON.stringify([header.q, header.k]);
    if (this.tokens !== tokens) {
      this.labelsQ = new Labels(header.q);
      this.labelsK = header.k === null ? this.labelsQ : new Labels(header.k);
      Object.assign(this, { tokens, past: [], future: [], cells: this.given.slice(), cursor: null, hover: null });
    } else if (this.cells.some((cell, i) => cell !== this.given[i])) {
      this.remember();
      this.cells = this.given.slice();
    }
    this.shape = header.shape.join();
  }

  remember() {
    this.past.push(this.cells.slice());
    if (this.past.length > MOST_UNDO) this.past.shift();
    this.future = [];
  }

  dress() {
    const { words, header } = this;
    this.stage.setAttribute("aria-label", header.label || words.label);
    this.help.textContent = words.help;
    this.drawLegend();
    if (this.dressed === words.undo) return;
    this.dressed = words.undo;
    this.tools.replaceChildren();
    const button = (text, name, act) => {
      const node = el("button", "av-button", text, { type: "button", "aria-label": name, title: name });
      node.addEventListener("click", act);
      this.tools.append(node);
      return node;
    };
    this.undoButton = button("↶", words.undo, () => this.undo());
    this.redoButton = button("↷", words.redo, () => this.redo());
  }

  listen() {
    const { stage } = this;
    stage.addEventListener("pointerdown", (e) => this.down(e));
    stage.addEventListener("pointermove", (e) => this.move(e));
    stage.addEventListener("pointerup", (e) => this.up(e));
    stage.addEventListener("pointercancel", () => this.cancel());
    stage.addEventListener("pointerleave", () => {
      if (this.gesture) return;
      this.hover = null;
      this.relight();
    });
    stage.addEventListener("keydown", (e) => this.key(e));
    stage.addEventListener("blur", () => {
      this.cursor = null;
      this.relight();
    });
  }

  down(event) {
    if (event.button > 0 || this.gesture) return;
    const hit = this.hit(event);
    if (!hit) return;
    const [q, k] = hit;
    const nk = this.header.shape[1];
    if (q < 0 || k < 0) {
      this.gesture = { line: hit, pointer: event.pointerId };
      return;
    }
    this.gesture = {
      pointer: event.pointerId,
      on: this.cells[q * nk + k] ? 0 : 1,
      from: hit,
      last: hit,
      before: this.cells.slice(),
      box: event.shiftKey,
    };
    this.stage.setPointerCapture(event.pointerId);
    this.paint(hit);
  }

  move(event) {
    if (!this.gesture) {
      if (event.pointerType === "touch") return;
      this.hover = this.hit(event);
      this.stage.style.cursor = this.hover ? (this.hover.includes(-1) ? "pointer" : "crosshair") : "";
      this.relight();
      return;
    }
    if (this.gesture.line || event.pointerId !== this.gesture.pointer) return;
    const steps = event.getCoalescedEvents?.() || [];
    for (const step of steps.length ? steps : [event]) this.paint(this.hit(step, true));
  }

  up(event) {
    const gesture = this.gesture;
    if (!gesture || event.pointerId !== gesture.pointer) return;
    this.gesture = null;
    if (gesture.line) {
      const hit = this.hit(event);
      if (hit && hit.join() === gesture.line.join()) this.switchLine(hit);
      return;
    }
    this.finish(gesture.before);
  }

  cancel() {
    if (this.gesture?.before) this.cells = this.gesture.before;
    this.gesture = null;
    this.redraw();
  }

  // From the last cell to this one without gaps, however fast the hand was; with Shift, a box.
  paint([q1, k1]) {
    const { gesture } = this;
    const nk = this.header.shape[1];
    const put = (q, k) => {
      const i = q * nk + k;
      if (!this.locked?.[i]) this.cells[i] = gesture.on;
    };
    if (gesture.box) {
      this.cells = gesture.before.slice();
      const [q0, k0] = gesture.from;
      for (let q = Math.min(q0, q1); q <= Math.max(q0, q1); q++) {
        for (let k = Math.min(k0, k1); k <= Math.max(k0, k1); k++) put(q, k);
      }
    } else {
      const [q0, k0] = gesture.last;
      const steps = Math.max(Math.abs(q1 - q0), Math.abs(k1 - k0), 1);
      for (let s = 0; s <= steps; s++) {
        put(Math.round(q0 + ((q1 - q0) * s) / steps), Math.round(k0 + ((k1 - k0) * s) / steps));
      }
    }
    gesture.last = [q1, k1];
    this.hover = [q1, k1];
    this.redraw();
  }

  // A label switches its whole row or column: off if anything in it is on.
  switchLine([q, k]) {
    const [nq, nk] = this.header.shape;
    const line = [];
    if (q >= 0) for (let j = 0; j < nk; j++) line.push(q * nk + j);
    else for (let j = 0; j < nq; j++) line.push(j * nk + k);
    const free = line.filter((i) => !this.locked?.[i]);
    const on = free.some((i) => this.cells[i]) ? 0 : 1;
    const before = this.cells.slice();
    for (const i of free) this.cells[i] = on;
    this.finish(before);
  }

  // A gesture is over: remember it and tell Python, if it changed anything.
  finish(before) {
    if (before.every((cell, i) => cell === this.cells[i])) {
      this.redraw();
      return;
    }
    const now = this.cells;
    this.cells = before;
    this.remember();
    this.cells = now;
    this.emit();
  }

  emit() {
    this.redraw();
    this.seq += 1;
    this.component.setStateValue("paint", { seq: this.seq, bits: packBits(this.cells) });
  }

  undo() {
    if (!this.past.length) return;
    this.future.push(this.cells);
    this.cells = this.past.pop();
    this.emit();
    this.live.textContent = this.words.undo;
  }

  redo() {
    if (!this.future.length) return;
    this.past.push(this.cells);
    this.cells = this.future.pop();
    this.emit();
    this.live.textContent = this.words.redo;
  }

  key(event) {
    const [nq, nk] = this.header.shape;
    const moves = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
    const command = event.ctrlKey || event.metaKey;
    const letter = event.key.toLowerCase();
    if (event.key in moves && !command && !event.altKey) {
      const [dq, dk] = moves[event.key];
      const [q, k] = this.cursor || [-dq, -dk];
      this.cursor = [Math.max(0, Math.min(nq - 1, q + dq)), Math.max(0, Math.min(nk - 1, k + dk))];
      this.hover = null;
      if (event.shiftKey && this.brush !== undefined) this.put(this.cursor, this.brush);
      this.live.textContent = this.readout(this.cursor);
      this.relight();
    } else if ((event.key === " " || event.key === "Enter") && this.cursor) {
      const [q, k] = this.cursor;
      this.brush = this.cells[q * nk + k] ? 0 : 1;
      this.put(this.cursor, this.brush);
      this.live.textContent = this.readout(this.cursor);
    } else if (command && (letter === "y" || (letter === "z" && event.shiftKey))) this.redo();
    else if (command && letter === "z") this.undo();
    else if (event.key === "Escape" && this.gesture) this.cancel();
    else return;
    event.preventDefault();
  }

  put([q, k], on) {
    const i = q * this.header.shape[1] + k;
    if (this.locked?.[i]) return;
    const before = this.cells.slice();
    this.cells[i] = on;
    this.finish(before);
  }
}

export default function (component) {
  const root = component.parentElement.querySelector(".av-root");
  if (!root.view) {
    root.view = new MaskView(root);
    root.stopWatching = watchSize(root, () => root.view.layoutAndDraw());
  }
  root.view.show(component.data, component);
  return () => {
    root.stopWatching();
    root.view = null;
    root.replaceChildren();
  };
}
