// A guess takes its buttons away as it is answered, and so the keyboard's place: its sentence, new then, has it instead.

const LINE = '[class*="st-key-guess-"]';

/** Puts the focus on the sentence of a guess when the button that was pressed is gone. @param {MouseEvent} event */
export function focusSentence({ target }) {
  const button = target instanceof Element ? target.closest("button") : null;
  const line = button?.closest(LINE);
  if (!button || !line) return;
  const watcher = new MutationObserver(() => {
    if (button.isConnected) return;
    watcher.disconnect();
    const sentence = line.querySelector(".stMarkdown");
    if (!(sentence instanceof HTMLElement) || document.activeElement !== document.body) return;
    sentence.tabIndex = -1;
    sentence.focus({ preventScroll: true });
  });
  watcher.observe(line, { childList: true, subtree: true });
}
