// Text that is written from right to left: in Hebrew, Arabic and their kin.

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]|\ud802[\udc00-\udfff]|\ud83a[\udd00-\udd5f]/g;
const LETTERS = /\p{L}/gu;

/**
 * Whether a sentence is written from right to left: more of its letters are than are not.
 * @param {string[]} tokens
 */
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
export function isolated(value) {
  const text = String(value);
  return text.search(RIGHT_TO_LEFT) < 0 || text.includes("\u2068") ? text : `\u2068${text}\u2069`;
}
