// A program of which one line is wrong: every line is a button until one was pointed at. Then wrong lines are struck, and the
// right ones unfold below them.

import { View, viewComponent } from "../shared/component.js";
import { createBox, createButton, el, focusedElement, setText } from "../shared/dom.js";

/** @import { CodeLine, CodeLinesHeader, Component } from "../shared/types.js" */

/** What is coloured: comments and strings, the words of Python, and the names of queries, keys and values. */
const PARTS =
  /(?<quiet>#.*|'''.*?''')|(?<word>\b(?:def|return|for|in|if|is|not|None|class|import|self|super|zip|lambda)\b)|\b(?:[a-z]+_)*?(?<role>[qkv])(?:_[a-z]+)*\b/g;

/** So many lines stand closer to each other, so that all fit on a presented page. */
const MANY = 11;

/** @extends {View<CodeLinesHeader>} */
class CodeLines extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.list = createBox("cl-lines");
    this.list.setAttribute("role", "group");
    this.said = el("p", "av-strong cl-said", "", { role: "status" });
    this.list.addEventListener("keydown", (event) => this.walk(event));
    root.replaceChildren(this.list, this.said);
  }

  /** @param {Component} component */
  show(component) {
    const { header, before } = this.receive(component);
    if (this.gestures.isBehind(header.session, header.ack)) return;
    this.root.removeAttribute("aria-busy");
    const same = before?.about === header.about;
    if (!same || JSON.stringify(before) !== JSON.stringify(header)) this.draw(same && before?.right === null);
  }

  /** @param {boolean} unfolds whether right lines come in while one looks on */
  draw(unfolds) {
    const { lines, words, right, chosen } = this.header;
    const here = this.list.contains(focusedElement(this.list));
    this.list.setAttribute("aria-label", words.name);
    this.list.dataset.about = this.header.about;
    this.list.classList.toggle("cl-told", right !== null);
    this.list.classList.toggle("cl-unfolds", unfolds);
    this.list.classList.toggle("cl-many", lines.length > MANY);
    let number = 0;
    this.list.replaceChildren(...lines.map((line) => this.line(line, line.sign === "+" ? null : ++number)));
    setText(this.said, words.said);
    this.said.dataset.right = String(right);
    if (here && right !== null) {
      this.said.tabIndex = -1; // what had the keyboard is no button any more
      this.said.focus({ preventScroll: chosen !== null });
    }
  }

  /** @param {CodeLine} line @param {number | null} number */
  line(line, number) {
    const { right, chosen } = this.header;
    const code = el("code", "cl-code");
    const indent = line.text.length - line.text.trimStart().length;
    const struck = el("span", "cl-text");
    struck.append(...coloured(line.text.slice(indent)));
    code.style.setProperty("--indent", String(indent));
    code.append(struck);
    const parts = [el("span", "cl-at", number === null ? "+" : String(number)), code];
    // on a phone of a room the question is voted on elsewhere
    const open = right === null && number !== null && line.text.trim() !== "" && this.header.session !== "room";
    const act = () => {
      if (this.root.getAttribute("aria-busy") === "true") return;
      this.root.setAttribute("aria-busy", "true");
      node.dataset.chosen = "waiting";
      this.tellPython("pointed", { line: number, about: this.header.about });
    };
    const node = open ? createButton("cl-line", null, act) : el("div", "cl-line");
    node.dataset.sign = line.sign.trim() || "=";
    if (right !== null && chosen === number) node.dataset.chosen = String(right);
    if (!line.text.trim()) node.dataset.empty = "";
    node.append(...parts);
    return node;
  }

  /** Up and down walk from line to line. @param {KeyboardEvent} event */
  walk(event) {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const buttons = [...this.list.querySelectorAll("button")];
    const at = buttons.findIndex((button) => button === focusedElement(this.list));
    if (!by || at < 0) return;
    event.preventDefault();
    buttons[(at + by + buttons.length) % buttons.length].focus();
  }
}

/** A line as parts with colours. @param {string} text */
function coloured(text) {
  /** @type {(Node | string)[]} */
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(PARTS)) {
    const groups = found.groups ?? {};
    const kind = groups.role ?? (groups.word ? "word" : "quiet");
    parts.push(text.slice(end, found.index), el("span", `cl-${kind}`, found[0]));
    end = found.index + found[0].length;
  }
  return [...parts, text.slice(end)];
}

export default viewComponent(CodeLines);
