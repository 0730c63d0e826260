// Elements and sentences.

import { isolated } from "./writing_direction.js";

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

/**
 * Says a text where another stands: the same words are left alone, because new ones cost the page a layout.
 * @param {Element} node
 * @param {string} text
 */
export function say(node, text) {
  if (node.textContent === text) return;
  const words = node.childNodes.length === 1 ? node.firstChild : null;
  if (words instanceof Text) words.data = text;
  else node.textContent = text;
}

/**
 * Sets an attribute that has another value: setting the same one again costs the page a look at its styles.
 * @param {Element} node
 * @param {string} name
 * @param {string} value
 */
export function attribute(node, name, value) {
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
export function property(node, name, value) {
  if (node[name] !== value) node[name] = value;
}

/**
 * Appends a button named for those who hear it, and answers it.
 * @param {Element} host
 * @param {string} text
 * @param {string} name
 * @param {() => void} act
 */
export function addButton(host, text, name, act) {
  const node = el("button", "av-button", text, { type: "button", "aria-label": name, title: name });
  node.addEventListener("click", act);
  host.append(node);
  return node;
}

/**
 * A button that is called what stands on it; `help` says more of it.
 * @param {Element} host
 * @param {string} text
 * @param {string} help
 * @param {() => void} act
 */
export function wordedButton(host, text, help, act) {
  const node = addButton(host, text, help, act);
  node.removeAttribute("aria-label");
  return node;
}

/**
 * A template's {names} replaced, each a part with its own direction of writing; a name that has no value stays as it is.
 * @param {string} template
 * @param {Record<string, string | number>} fields
 */
export function fill(template, fields) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => (name in fields ? isolated(fields[name]) : whole));
}

/**
 * Parts one after the other, as the visitor's language joins them; an empty one is left out.
 * @param {string} template how it joins {first} and {next}
 * @param {string[]} parts
 */
export function joined(template, parts) {
  return parts.filter(Boolean).reduce((first, next) => (first ? fill(template, { first, next }) : next), "");
}

/**
 * A token as a person sees it: blanks and line ends visible, nothing interpreted.
 * @param {string} token
 */
export function visibleToken(token) {
  const text = token.replace(/\r?\n/g, "↵").replace(/\t/g, "⇥");
  return text.trim() === "" ? "␣".repeat(Math.max(1, Math.min(8, text.length))) : text;
}
