// What Streamlit's own buttons and boxes say, to the eye and to a screen reader: it speaks English alone, so the page
// says it in the visitor's language. Only where Streamlit puts its words, never in what a visitor wrote or we drew.

/** Where Streamlit has text of its own; everywhere else only what is read out is looked at. */
const SAYS =
  "[data-testid=stTooltipContent], [role=tooltip], [data-testid=stElementToolbar], [data-testid=InputInstructions], " +
  "[data-testid=stStatusWidget], [data-testid=stFileUploader], a[href^='#'], [data-testid=stSelectbox], " +
  "[data-testid=stMultiSelect], [data-testid=stConnectionStatus]";
const READ_OUT = ["aria-label", "title", "placeholder", "alt"];
const OURS = ".js-plotly-plot, svg, pre, code";

/**
 * The text in other words: the whole of it, or how it begins where the words end in a space ("Help for x"), or ends where they
 * begin with one ("5MB per file").
 * @param {string} text
 * @param {Readonly<Record<string, string>>} words
 */
export function inOtherWords(text, words) {
  const whole = text.trim();
  if (Object.hasOwn(words, whole)) return text.replace(whole, () => words[whole]);
  const begins = Object.keys(words).find((each) => each.endsWith(" ") && whole.startsWith(each));
  if (begins !== undefined) return text.replace(begins, () => words[begins]);
  const ends = Object.keys(words).find((each) => each.startsWith(" ") && whole.endsWith(each));
  return ends === undefined ? text : text.replace(ends, () => words[ends]);
}

export class StreamlitsWords {
  constructor() {
    /** @type {Record<string, string>} what stands on the page now -> what it should be */
    this.words = {};
    /** @type {Record<string, string>} Streamlit's words -> as they are said now */
    this.said = {};
    this.watcher = new MutationObserver((changes) => changes.forEach((change) => this.hear(change)));
  }

  /** @param {Record<string, string>} own Streamlit's words -> the visitor's; the same all along where it is English */
  speak(own) {
    if (sameWords(own, this.said)) return;
    const before = Object.entries(this.said).map(([english, said]) => [said, own[english] ?? english]);
    this.words = { ...own, ...Object.fromEntries(before) };
    this.look(document.body);
    this.words = own;
    this.said = own;
    this.watcher.disconnect();
    if (Object.keys(own).length === 0) return;
    const all = { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: READ_OUT };
    this.watcher.observe(document.body, all);
  }

  /** @param {MutationRecord} change */
  hear({ type, target, addedNodes }) {
    if (type === "childList") addedNodes.forEach((node) => this.look(node));
    else if (type === "attributes" && target instanceof Element) this.readOut(target);
    else if (target instanceof Text) this.text(target);
  }

  /** @param {Node} node and everything inside, but what is ours */
  look(node) {
    if (node instanceof Text) this.text(node);
    if (!(node instanceof Element) || node.matches(OURS)) return;
    this.readOut(node);
    node.childNodes.forEach((child) => this.look(child));
  }

  /** @param {Element} element */
  readOut(element) {
    if (element.closest(OURS)) return;
    for (const name of READ_OUT) {
      const held = element.getAttribute(name);
      const said = held === null ? held : inOtherWords(held, this.words);
      if (said !== null && said !== held) element.setAttribute(name, said);
    }
  }

  /** @param {Text} node */
  text(node) {
    if (!node.data.trim() || !node.parentElement?.closest(SAYS) || node.parentElement.closest(OURS)) return;
    const said = inOtherWords(node.data, this.words);
    if (said !== node.data) node.data = said;
  }
}

/**
 * @param {Record<string, string>} one
 * @param {Record<string, string>} other
 */
function sameWords(one, other) {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
