// Elements and sentences, which may be written from right to left: in Hebrew, Arabic and their kin.

/**
 * A new element; its text is never markup.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {string} [className]
 * @param {string | null} [text]
 * @param {Record<string, string>} [attributes]
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, className = "", text = null, attributes = {}) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== null) node.textContent = text;
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  return node;
}

/** A new box around these. @param {string} className @param {...(Node | string)} parts */
export function createBox(className, ...parts) {
  const node = el("div", className);
  node.append(...parts);
  return node;
}

/** Says a text where another stands: the same words are left alone, because new ones cost the page a layout. */
/** @param {Element} node @param {string} text */
export function setText(node, text) {
  if (node.textContent === text) return;
  const words = node.childNodes.length === 1 ? node.firstChild : null;
  if (words instanceof Text) words.data = text;
  else node.textContent = text;
}

/** Sets an attribute that has another value: setting the same one again costs the page a look at its styles. */
/** @param {Element} node @param {string} name @param {string} value */
export function setAttribute(node, name, value) {
  if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/**
 * The same of a property.
 * @template {Element} Node
 * @template {keyof Node} Name
 * @param {Node} node
 * @param {Name} name
 * @param {Node[Name]} value
 */
export function setProperty(node, name, value) {
  if (node[name] !== value) node[name] = value;
}

/**
 * A button with these looks.
 * @param {string} className @param {string | null} text @param {(() => void) | null} act
 * @param {Record<string, string>} [attributes]
 */
export function createButton(className, text, act, attributes = {}) {
  const node = el("button", className, text, { type: "button", ...attributes });
  if (act) node.addEventListener("click", act);
  return node;
}

/**
 * A list of which one is taken.
 * @param {string} className @param {HTMLOptionElement[]} options @param {(value: string) => void} taken
 * @param {Record<string, string>} [attributes]
 */
export function listOf(className, options, taken, attributes) {
  const list = el("select", `av-select ${className}`, null, attributes);
  list.append(...options);
  list.addEventListener("change", () => taken(list.value));
  return list;
}

/**
 * Names a control for those who point at it and for those who hear it.
 * @template {HTMLElement} Control
 * @param {Control} control
 * @param {string} name
 */
export function setName(control, name) {
  control.title = name;
  control.setAttribute("aria-label", name);
  return control;
}

/** What in an element the keyboard is on. @param {Element} element */
export function focusedElement(element) {
  const root = element.getRootNode();
  const active = root instanceof ShadowRoot || root instanceof Document ? root.activeElement : null;
  return active !== null && element.contains(active) ? active : null;
}

/** What is said as it changes to those who hear the page. */
export function liveRegion() {
  return el("div", "av-sr", "", { "aria-live": "polite", role: "status" });
}

/** Appends a named button, and answers it. */
/** @param {Element} host @param {string} text @param {string} name @param {() => void} act */
export function addButton(host, text, name, act) {
  const node = setName(createButton("av-button", text, act), name);
  host.append(node);
  return node;
}

/** A button that is called what stands on it; `help` says more of it. */
/** @param {Element} host @param {string} text @param {string} help @param {() => void} act */
export function wordedButton(host, text, help, act) {
  const node = addButton(host, text, help, act);
  node.removeAttribute("aria-label");
  return node;
}

/**
 * A template's {names} replaced, each a part with its own direction of writing; a name that has no value stays as it is.
 * @param {string} template @param {Record<string, string | number>} fields
 */
export function fill(template, fields) {
  return template.replace(/\{(\w+)(?::([^{}|]*)\|([^{}|]*))?\}/g, (whole, name, one, many) => {
    if (!(name in fields)) return whole;
    return one === undefined ? isolateDirection(fields[name]) : Number(fields[name]) === 1 ? one : many;
  });
}

/**
 * Parts one after the other, as the visitor's language joins them; an empty one is left out, and so is the stop of one
 * that ends with what the template puts after it.
 * @param {string} template how it joins {first} and {next}
 * @param {string[]} parts
 */
export function joinTexts(template, parts) {
  const stop = /\{first\}(\S)/.exec(template)?.[1] ?? " ";
  const open = (/** @type {string} */ part) => (part.endsWith(stop) ? part.slice(0, -1) : part);
  return parts
    .filter(Boolean)
    .reduce((first, next) => (first ? fill(template, { first: open(first), next }) : next), "");
}

/** A token as a person sees it: blanks and line ends visible, nothing interpreted. @param {string} token */
export function visibleToken(token) {
  const text = token.replace(/\r?\n/g, "⏎").replace(/\t/g, "⇥");
  return text.trim() === "" ? "␣".repeat(Math.max(1, Math.min(8, text.length))) : text;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]|\ud802[\udc00-\udfff]|\ud83a[\udd00-\udd5f]/g;
const LETTERS = /\p{L}/gu;

/** Whether a sentence is written from right to left: more of its letters are than are not. @param {string[]} tokens */
export function isRightToLeft(tokens) {
  const text = tokens.join("");
  const fromRight = text.match(RIGHT_TO_LEFT)?.length ?? 0;
  return fromRight > 0 && 2 * fromRight > (text.match(LETTERS)?.length ?? 0);
}

/**
 * What is put into a sentence, so that numbers and signs after it stay where they belong: text from the right is marked
 * as a part with a direction of its own. Other text stays as it is, and so does what holds such a part already.
 * @param {string | number} value
 */
export function isolateDirection(value) {
  const text = String(value);
  return text.search(RIGHT_TO_LEFT) < 0 || text.includes("\u2068") ? text : `\u2068${text}\u2069`;
}
