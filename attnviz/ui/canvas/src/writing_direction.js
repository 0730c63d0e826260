// Whether a sentence is written from right to left: more of its letters are Hebrew, Arabic and their kin than others.

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]|\ud802[\udc00-\udfff]|\ud83a[\udd00-\udd5f]/g;
const LETTERS = /\p{L}/gu;

/** @param {string[]} tokens */
export function isRightToLeft(tokens) {
  const text = tokens.join("");
  const fromRight = text.match(RIGHT_TO_LEFT)?.length ?? 0;
  return fromRight > 0 && 2 * fromRight > (text.match(LETTERS)?.length ?? 0);
}
