// Answers to a question after a long text, word by word, and what they are made without.

import { createBox, createButton, el, fill } from "../shared/dom.js";
import { formatPercent } from "../shared/numbers.js";

/** @import { LongText } from "./long_text.js" */

/** @param {LongText} view */
export function writeAnswers(view) {
  const { answers, retrieval, texts } = view.header;
  const { hidden: out, pinned } = view.state;
  const line = (/** @type {(Node | string)[]} */ ...parts) => createBox("av-line av-wrap lt-answer", ...parts);
  const token = (/** @type {string} */ label, /** @type {() => void} */ act) =>
    createButton("av-chip lt-token", label, act);
  const lines = answers.map(({ words, hidden }, answer) => {
    const unit = hidden && view.pane.labelOf(view.unitAt(hidden[0]), 80);
    const name = el("span", "av-strong", unit ? fill(texts.without, { unit }) : texts.answer);
    const tokens = words.map((label, word) => token(label, () => void view.ask(answer, word)));
    return line(name, ...tokens, ...(hidden ? [el("span", "av-small", texts.hidden_from)] : []));
  });
  if (answers.length) {
    const heads = retrieval.map(([layer, head, share]) =>
      token(`${layer}.${head} · ${formatPercent(share)}`, () => view.report({ tile: [layer, head] })),
    );
    if (heads.length) lines.push(line(texts.copies, ...heads));
    const knock = createButton("av-button", out ? texts.show : texts.hide, () =>
      view.report({ hidden: out ? null : pinned }),
    );
    knock.disabled = !out && !pinned;
    lines.push(line(knock));
  }
  view.answers.replaceChildren(...lines);
}
