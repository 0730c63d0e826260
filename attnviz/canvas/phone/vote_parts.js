// What phones, wall and the lecturer's own window draw alike of a vote: its question, its bars, and the form to ask one.

import { createBox, el, fill, focusedElement } from "../shared/dom.js";

/** @import { Words } from "../shared/types.js" */
/**
 * @typedef {object} Truth
 * @property {number[]} [right] places of right answers, or the number, of a question that is not about a word
 * @property {string} [because] @property {string[]} [labels]
 * @property {string} head @property {number[]} row of a question about a word
 * @property {number[] | null} [class] the class's row; null with too few votes
 * @property {number[] | null} [taps] @property {number[] | null} [weights]
 * @property {number} [sentences] @property {[string, number][]} [nearest] @property {number} [chance]
 * @property {boolean} [agrees] @property {boolean} [decided]
 */
/**
 * @typedef {object} Question without words it asks for a number; `query`: -1 where it is about no word of a sentence
 * @property {number} id @property {string} text @property {string} prompt @property {string[]} words
 * @property {number} query @property {number} most @property {Truth | null} truth
 */
/** `taps`: how many chose each; `weights`: of who chose three, each has a third.
 * @typedef {{ votes: number, taps: number[] | null, weights: number[] | null, labels: string[] }} Counts
 */
/** @typedef {{ text: string, share: number, end: string, isRight?: boolean, isMine?: boolean }} Row */
/**
 * @typedef {object} Askable what the lecturer can ask about
 * @property {string} question of the page @property {string[]} sentences @property {string} sentence of the page
 * @property {{ text: string, words: string[] } | null} own @property {string} problem
 */

/** What a question asks. @param {Question} question @param {string} template of one about a word */
export const promptOf = ({ text, prompt, words, query }, template) =>
  prompt || (query < 0 ? text : fill(template, { word: words[query] }));

/** @param {number} share */
export const percent = (share) => `${Math.round(100 * share)}%`;

/** Bars beside each other's names. @param {Row[]} rows */
export function barRows(rows) {
  const list = el("div", "rm-rows");
  for (const { text, share, end, isRight, isMine } of rows) {
    const mine = isMine ? "rm-mine" : "";
    const track = createBox("", el("div", `rm-bar${isRight ? " rm-right" : ""}`), el("span", mine, end));
    track.style.setProperty("--rm-share", String(share));
    list.append(el("div", mine, `${isRight ? "✓ " : ""}${text}`), track);
  }
  return list;
}

/**
 * The answers with their votes; of more than one tap, with their share of the class.
 * @param {Question} question @param {{ weights?: number[] | null, labels?: string[] }} counts @param {number[]} [right] answers
 * @param {string} [mine] is said of one's own @param {Set<number>} [own]
 */
export function voteRows({ words, most }, { weights, labels = [] }, right = [], mine = "", own = new Set()) {
  const all = Math.max(1, weights?.reduce((sum, n) => sum + n, 0) ?? 0);
  const rows = (words.length ? words : labels).map((text, i) => {
    const [n, isMine] = [weights?.[i] ?? 0, words.length > 0 && own.has(i)];
    const end = [weights ? (most > 1 ? percent(n / all) : n) : "", isMine ? mine : ""].join(" ").trim();
    return { text, share: n / all, end, isMine, isRight: words.length > 0 && right.includes(i) };
  });
  return barRows(rows);
}

/**
 * What the lecturer can ask: the page's question, a prepared sentence, a question of his own.
 * @param {Askable} about @param {Words} words @param {(request: Record<string, unknown>) => void} request
 * @param {(text: string, does: string, act: () => void) => HTMLElement} button
 */
export function askForm({ question, sentences, sentence, own }, words, request, button) {
  /** @param {string} tag @param {"prompt" | "answers" | "number" | "sentence"} name @param {string} label */
  const field = (tag, name, label) => {
    const node = /** @type {HTMLInputElement} */ (el(/** @type {"input"} */ (tag)));
    for (const [key, value] of Object.entries({ "aria-label": label, placeholder: label, "data-does": name }))
      node.setAttribute(key, value);
    node.maxLength = tag === "input" ? 200 : 1000;
    return node;
  };
  const box = (/** @type {(Node | string)[]} */ ...parts) => createBox("rm-choices", ...parts);
  const row = (/** @type {(Node | string)[]} */ ...parts) => createBox("rm-line", ...parts);
  const prompt = field("input", "prompt", words.prompt);
  const answers = field("textarea", "answers", words.choices);
  const number = field("input", "number", words.number);
  const text = field("input", "sentence", words.own);
  text.defaultValue = own?.text ?? sentence;
  const ask = (/** @type {string} */ kind, /** @type {string} */ given) =>
    request({ action: "own", kind, prompt: prompt.value, text: text.value, answers: given });
  const parts = [];
  if (question) parts.push(el("p", "", words.page), box(button(question, "page", () => request({ action: "page" }))));
  const prepared = sentences.map((each) => button(each, `ask ${each}`, () => request({ action: "ask", text: each })));
  parts.push(el("p", "", words.choose), box(...prepared));
  const list = box(
    prompt,
    row(
      answers,
      button(words.ask_choices, "ask choices", () => ask("choices", answers.value)),
    ),
    row(
      number,
      button(words.ask_number, "ask number", () => ask("number", number.value)),
    ),
    row(
      text,
      button(words.next, "own words", () => request({ action: "words", text: text.value })),
    ),
  );
  if (own) {
    const places = own.words.map((word, query) =>
      button(word, `word ${query}`, () => request({ action: "ask", text: own.text, query, prompt: prompt.value })),
    );
    places.push(button(words.no_word, "no word", () => ask("words", "")));
    list.append(el("p", "", words.word), row(...places));
  }
  return [...parts, list];
}

/** @type {WeakSet<HTMLElement>} whose redraw waits for the end of a press */
const pressed = new WeakSet();

/**
 * Redraws parts in an element, and leaves what is typed and the keyboard where they are.
 * A button that is pressed is not replaced before it is let go: the click would reach nothing.
 * @param {HTMLElement} root
 * @param {() => void} draw from the newest state
 */
export function redraw(root, draw) {
  if (root.querySelector(":active")) {
    if (pressed.has(root)) return;
    pressed.add(root);
    setTimeout(() => {
      pressed.delete(root);
      redraw(root, draw);
    }, 50);
    return;
  }
  const held = /** @type {HTMLElement | null} */ (focusedElement(root));
  const name = held?.dataset.does;
  const fields = /** @type {NodeListOf<HTMLInputElement>} */ (root.querySelectorAll("input, textarea"));
  const typed = [...fields].filter((field) => field.value !== field.defaultValue);
  const kept = typed.map(({ dataset, value, selectionStart }) => ({
    does: dataset.does,
    value,
    caret: selectionStart,
  }));
  draw();
  for (const { does, value, caret } of kept) {
    const field = /** @type {HTMLInputElement | null} */ (root.querySelector(`[data-does="${does}"]`));
    if (!field) continue;
    field.value = value;
    if (does === name && caret !== null) field.setSelectionRange(caret, caret);
  }
  const again = name && root.querySelector(`[data-does="${CSS.escape(name)}"]`);
  if (again instanceof HTMLElement) again.focus();
}
