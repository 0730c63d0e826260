// The script's side of a Streamlit component: its root element, one view for each root, and what passes between that view and
// Python.

import { createButton, el } from "./dom.js";
import { offerPicture } from "./offer.js";
import { readHeader } from "./packing.js";
import { watchSize } from "./surface.js";

/** @import { MakeFigure } from "../scene/figure_engine.js" */
/** @import { Component, Film } from "./types.js" */

/** The element that the component's HTML consists of. @param {Component<any>} component */
export function rootElement(component) {
  const root = component.parentElement.querySelector(".av-root");
  if (!(root instanceof HTMLElement)) throw new Error("the component's root element is missing");
  return root;
}

/**
 * A component drawn by one long-lived view: made at the first call, shown new data at each, taken down at the end.
 * @template [Data=Uint8Array]
 * @param {new (root: HTMLElement) => { show(component: Component<Data>): unknown, resize?(): void, leave?(): void }} View
 */
export function viewComponent(View) {
  /** @type {WeakMap<HTMLElement, { view: InstanceType<typeof View>, stopWatching: () => void }>} */
  const views = new WeakMap();
  const begin = (/** @type {HTMLElement} */ root) => {
    const view = new View(root);
    return { view, stopWatching: watchSize(root, () => view.resize?.()) };
  };
  return (/** @type {Component<Data>} */ component) => {
    const root = rootElement(component);
    const kept = views.get(root) ?? begin(root);
    views.set(root, kept);
    kept.view.show(component);
    return () => {
      if (root.isConnected) return; // newer data overtook this call, which Streamlit ends: the view shows it next
      kept.stopWatching();
      kept.view.leave?.();
      views.delete(root);
    };
  };
}

/**
 * Keeps controls of an open menu within reach of Tab: a menu that the keyboard leaves takes all of them out of its way,
 * and when it comes back finds none in a shadow root.
 * @param {HTMLElement} root
 */
export function keepInReach(root) {
  const restore = () => {
    for (const control of root.querySelectorAll("[data-tabindex]")) {
      for (const name of ["data-tabindex", "tabindex"]) control.removeAttribute(name);
    }
  };
  new MutationObserver(restore).observe(root, { subtree: true, attributeFilter: ["tabindex"] });
}

/**
 * Shows buttons that each do something which takes a while; a line below them says how it went.
 * @param {HTMLElement} root @param {{ label: string, attributes: Record<string, string>, act: () => Promise<string | void> }[]} acts
 * what `act` answers is said then, else `done`
 * @param {{ working?: string, done?: string }} labels @param {(problem: unknown) => string} failed what is said then
 */
export function reportingButtons(root, acts, { working, done = "" }, failed) {
  // what was said last stays when new data comes
  const said = root.querySelector(":scope > .said") ?? el("span", "said", null, { "aria-live": "polite" });
  const buttons = acts.map(({ label, attributes, act }) => {
    const press = async () => {
      if (working) said.textContent = working;
      node.disabled = true;
      said.textContent = await act().then((answer) => answer ?? done, failed);
      node.disabled = false;
      if (document.activeElement === document.body) node.focus(); // a button that could not be pressed has lost the keyboard
    };
    const node = createButton("", label, press, attributes);
    return node;
  });
  root.replaceChildren(...buttons, said);
}

/**
 * What draws something that Python sends, and tells Python what a hand did.
 * @template Header
 * @template [Shown=Header] what is drawn, made of what was sent
 */
export class Drawing {
  /** @type {Shown | null} */
  held = null;
  /** @type {Component | null} */
  component = null;
  gestures = new Sequence();
  /** How many times something has come: what takes long to unpack is not drawn over what came later. */
  turn = 0;

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
  }

  /** What is on show; nothing asks before there is something. */
  get shown() {
    if (!this.held) throw new Error("nothing has come yet");
    return this.held;
  }

  /** @param {Shown} shown */
  hold(shown) {
    this.held = shown;
  }

  /** Tells Python of a gesture that has ended. @param {string} name @param {object} value */
  tellPython(name, value) {
    this.gestures.send(this, name, value);
  }

  /** Takes note of what has come: its header, its payload and its turn. @param {Component} component */
  open(component) {
    const [header, payload] = /** @type {[Header, Uint8Array]} */ (readHeader(component.data));
    this.component = component;
    this.turn += 1;
    return { header, payload, turn: this.turn };
  }
}

/** A view of what Python sends as it is. @template Header @extends {Drawing<Header>} */
export class View extends Drawing {
  /** @type {Uint8Array} */
  payload = new Uint8Array();

  get header() {
    return this.shown;
  }

  /** What is on show, as a file is told of it. */
  get displayed() {
    return { ...this.header, title: "" };
  }

  /** Offers what is on show, as a figure of this name, and as a film where it moves. */
  /** @param {string} scene @param {MakeFigure} make @param {(header: any, payload: Uint8Array) => Film | null} [film] */
  offer(scene, make, film) {
    const part = () => /** @type {[string, any, Uint8Array]} */ ([scene, this.displayed, this.payload]);
    offerPicture(this.root, () => [part()], make, film && (() => film(this.displayed, this.payload)));
  }

  /** Takes what has come in the place of what was on show. @param {Component} component */
  receive(component) {
    const before = this.held;
    const { header, payload } = this.open(component);
    this.hold(header);
    this.payload = payload;
    return { header, payload, before };
  }
}

/**
 * Which of the visitor's gestures Python has answered. Every gesture is sent with a number, and every answer names the
 * newest number that Python had heard; an answer that is behind was computed before the newest gesture arrived.
 */
export class Sequence {
  sent = 0;
  heard = 0;
  /** @type {(() => void) | null} sends the newest gesture once more */
  again = null;
  /** @type {string | null} */
  session = null;

  /** The number of a new gesture. */
  next() {
    this.sent += 1;
    return this.sent;
  }

  /** Tells Python of a gesture, whose value has no number yet. */
  /** @param {{ component: Pick<Component, "setStateValue"> | null }} view @param {string} name @param {object} value */
  send(view, name, value) {
    this.keep(view, name, value);
    this.again?.();
  }

  /** Keeps a gesture, for a session that has not heard of it. */
  /** @param {{ component: Pick<Component, "setStateValue"> | null }} view @param {string} name @param {object} value */
  keep(view, name, value) {
    this.again = () => view.component?.setStateValue(name, { ...value, seq: this.next() });
  }

  /**
   * Takes note of an answer: whether it was computed before the newest gesture was heard. A session that begins anew
   * (the server restarted, the connection was lost for long) has heard of no gesture: one that the session before did not
   * answer is sent once more.
   * @param {string} session @param {number} heard
   */
  isBehind(session, heard) {
    if (this.session !== session) {
      const unanswered = this.session !== null && this.heard < this.sent;
      this.session = session;
      this.heard = heard;
      // under a new number: with the old one it would be no change
      if (unanswered) this.again?.();
      else this.sent = heard;
    }
    this.heard = Math.max(this.heard, heard);
    this.sent = Math.max(this.sent, heard);
    return heard < this.sent;
  }
}

/** What was kept last, at most so much. @template Value @extends {Map<string, Value>} */
export class Latest extends Map {
  /** @param {number} most */
  constructor(most) {
    super();
    this.most = most;
  }

  /** Keeps this as the latest, and lets go of the oldest. @param {string} name @param {Value} value */
  keep(name, value) {
    this.delete(name);
    this.set(name, value);
    for (const oldest of this.keys()) {
      if (this.size <= this.most) break;
      this.delete(oldest);
    }
    return value;
  }
}
