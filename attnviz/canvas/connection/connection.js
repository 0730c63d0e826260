// Says that the server cannot be reached and that it can be again. What a hand changes meanwhile Streamlit keeps in the
// browser and does not send by itself: the page is asked for once more when the line is back.

import { viewComponent } from "../shared/component.js";
import { el } from "../shared/dom.js";
import { forgetRoom, keptRoom } from "../wall/kept_room.js";
import { focusSentence } from "./guess_focus.js";

/** @import { Component, ConnectionWords } from "../shared/types.js" */

const APP = "[data-testid=stApp]";
const STATE = "data-test-connection-state";
/** A pause shorter than this, as while a page is left, is not worth a word. Milliseconds, as all here. */
const PATIENCE = 700;
/** How long it stays on screen that the line is back. */
const SHOWN = 3000;
/** Characters that a field may hold, and all of a page together: the server reads no message above a megabyte. */
const MOST_OF_ONE = 125_000;
const MOST = 300_000;

/**
 * Let a field take no more than can be sent: what is pasted beyond it is cut, and the page says how much it uses. Else
 * the server would close the line, and Streamlit would send the same again as soon as it is back, without end.
 * @param {FocusEvent} event
 */
function limitField({ target }) {
  const fields = [...document.querySelectorAll("textarea, input")].filter(
    (each) => each instanceof HTMLTextAreaElement || each instanceof HTMLInputElement,
  );
  const field = fields.find((each) => each === target);
  if (!field) return;
  const others = fields.reduce((sum, each) => sum + (each === field ? 0 : each.value.length), 0);
  field.maxLength = Math.max(0, Math.min(MOST_OF_ONE, MOST - others));
}

class Connection {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.line = el("div", "cn-line", null, { role: "status" });
    root.append(this.line);
    this.lost = false;
    this.asked = "";
    this.soon = undefined;
    /** @type {Component<ConnectionWords> | null} */
    this.component = null;
    document.addEventListener("focusin", limitField);
    document.addEventListener("click", focusSentence);
    const watcher = new MutationObserver(() => (this.line.isConnected ? this.checkConnection() : watcher.disconnect()));
    const app = document.querySelector(APP);
    if (app) watcher.observe(app, { attributeFilter: [STATE] });
  }

  /** @param {Component<ConnectionWords>} component */
  show(component) {
    if (component.data.room === "over") forgetRoom();
    const room = keptRoom(); // the server's session may be another one than the one that showed it
    if (room && room.secret !== this.asked && component.data.room !== "shown") {
      this.asked = room.secret;
      component.setStateValue("room", { ...room, at: Date.now() });
    }
    this.component = component;
    this.checkConnection();
  }

  /** Shows that the connection was lost, or that it is back. */
  checkConnection() {
    const connected = document.querySelector(APP)?.getAttribute(STATE) === "CONNECTED";
    if (connected === !this.lost) return;
    this.lost = !connected;
    clearTimeout(this.soon);
    if (this.lost) this.soon = setTimeout(() => this.showMessage("lost"), PATIENCE);
    else this.comeBack();
  }

  comeBack() {
    this.component?.setStateValue("back", Date.now()); // another value each time, whatever was sent before
    if (!this.line.textContent) return;
    this.showMessage("back");
    this.soon = setTimeout(() => this.showMessage(null), SHOWN);
  }

  /** @param {"lost" | "back" | null} what */
  showMessage(what) {
    this.line.textContent = what && this.component ? this.component.data[what] : "";
  }
}

export default viewComponent(Connection);
