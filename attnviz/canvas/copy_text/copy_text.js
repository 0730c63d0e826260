// Buttons that copy a text each: the link, the code that embeds a view.

import { rootElement, reportingButtons } from "../shared/component.js";
import { copy } from "../shared/files.js";

/** @import { Component, CopyText } from "../shared/types.js" */

/** @param {Component<CopyText>} component */
export default function copyText(component) {
  const { texts, labels } = component.data;
  const root = rootElement(component);
  const acts = texts.map(({ name, label, text }) => {
    return { label, attributes: { "data-copy": name }, act: () => copy(text, root) };
  });
  reportingButtons(root, acts, { done: labels.done }, () => labels.failed);
}
