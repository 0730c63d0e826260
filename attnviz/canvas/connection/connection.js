// Says that the server cannot be reached and that it can be again. What a hand changes meanwhile Streamlit keeps in the
// browser and does not send by itself: the page is asked for once more when the line is back.

import { keptByRoot, rootOf } from "../shared/component.js";
import { el } from "../shared/dom.js";

/** @import { Component, ConnectionWords } from "../shared/types.js" */

const APP = "[data-testid=stApp]";
const STATE = "data-test-connection-state";
/** A pause shorter than this, as while a page is left, is not worth a word. Milliseconds, as all here. */
const PATIENCE = 700;
/** How long it stays on screen that the line is back. */
const SHOWN = 3000;

class Connection {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.line = el("div", "cn-line", null, { role: "status" });
    root.append(this.line);
    this.lost = false;
    this.returns = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.soon = undefined;
    /** @type {Component<ConnectionWords> | null} */
    this.component = null;
    this.watcher = new MutationObserver(() => this.look());
    const app = document.querySelector(APP);
    if (app) this.watcher.observe(app, { attributeFilter: [STATE] });
  }

  look() {
    const connected = document.querySelector(APP)?.getAttribute(STATE) === "CONNECTED";
    if (connected === !this.lost) return;
    this.lost = !connected;
    clearTimeout(this.soon);
    if (this.lost) this.soon = setTimeout(() => this.say("lost"), PATIENCE);
    else this.comeBack();
  }

  comeBack() {
    this.returns += 1;
    this.component?.setStateValue("back", this.returns);
    if (!this.line.textContent) return;
    this.say("back");
    this.soon = setTimeout(() => this.say(null), SHOWN);
  }

  /** @param {keyof ConnectionWords | null} what */
  say(what) {
    this.line.textContent = what && this.component ? this.component.data[what] : "";
  }
}

const lines = keptByRoot((root) => new Connection(root));

/** @param {Component<ConnectionWords>} component */
export default function connection(component) {
  const root = rootOf(component);
  const line = lines.of(root);
  line.component = component;
  line.look();
  return () => {
    line.watcher.disconnect();
    lines.drop(root);
    root.replaceChildren();
  };
}
