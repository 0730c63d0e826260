// Answers to a question after a long text, word by word, and what they are made without.

import { createBox, createButton, el, fill } from "../shared/dom.js";
import { formatPercent } from "../shared/numbers.js";

/** @import { LongText } from "./long_text.js" */

/** @param {LongText} view */
export function writeAnswers(view) {
  const { answers, retrieval, texts } = view.header;
  const lines = answers.map(({ words, hidden }, answer) => {
    const without =
      hidden &&
      fill(texts.without, {
        unit: view.pane.labelOf(view.unitAt(hidden[0]), 80),
      });
    const line = createBox("lt-answer", el("span", "av-strong", without || texts.answer));
    words.forEach((label, word) => {
      const look = () => {
        view.asked = { answer, word };
        view.pointed = null;
        void view
          .look()
          .then(() => view.pane.glowing[0] && view.pane.visit(view.pane.spanOf(view.pane.glowing[0][0])[0]));
      };
      line.append(createButton("lt-token", label, look));
    });
    if (hidden) line.append(el("span", "av-small", texts.hidden_from));
    return line;
  });
  if (answers.length) {
    const heads = createBox("lt-answer", el("span", "", texts.copies));
    for (const [layer, head, share] of retrieval) {
      heads.append(
        createButton("lt-token", `${layer}.${head} ${formatPercent(share)}`, () =>
          view.report({ tile: [layer, head] }),
        ),
      );
    }
    const { hidden } = view.state;
    const hide = () => view.report(hidden ? { hidden: null } : { hidden: view.state.pinned });
    const button = createButton("av-button", hidden ? texts.show : texts.hide, hide);
    button.disabled = !hidden && !view.state.pinned;
    lines.push(...(retrieval.length ? [heads] : []), createBox("lt-answer", button));
  }
  view.answers.replaceChildren(...lines);
}
