// Buttons that copy a text each: the link, the code that embeds a view.

import { rootOf, sayingButtons } from "../shared/component.js";
import { el } from "../shared/dom.js";

/** @import { Component, CopyText } from "../shared/types.js" */

/**
 * Copies a text. Pages that come without encryption have no clipboard of their own, but may still ask for a copy of
 * what is selected.
 * @param {string} text @param {HTMLElement} root
 */
async function copy(text, root) {
  if (globalThis.isSecureContext && navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return;
    } catch {
      // a page inside a frame may be refused; what is selected can still be copied
    }
  }
  const field = el("textarea", "unseen", null, { "aria-hidden": "true", tabindex: "-1" });
  field.value = text;
  root.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("clipboard");
}

/** @param {Component<CopyText>} component */
export default function copyText(component) {
  const { texts, labels } = component.data;
  const root = rootOf(component);
  const acts = texts.map(({ name, label, text }) => {
    return { label, attributes: { "data-copy": name }, act: () => copy(text, root) };
  });
  sayingButtons(root, acts, { done: labels.done }, () => labels.failed);
}
