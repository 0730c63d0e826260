// A sentence as ids and labels, and a label for any id: what Python's attnviz.models.tokens says.

import { Tokenizer } from "@huggingface/tokenizers";

/** @type {Record<string, string>} */
const SEEN = { " ": "␣", "\t": "⇥", "\n": "⏎", "\r": "␍", "\u00a0": "⍽", "\u3000": "□" };
/** Pieces that may spell one letter together. */
const PIECES = 4;

/** @param {object} rules tokenizer.json @param {object} config tokenizer_config.json */
export function createTokenizer(rules, config) {
  const tokenizer = new Tokenizer(rules, config);
  const added = new Set([...tokenizer.get_added_tokens_decoder().values()].map(({ content }) => content));
  const letters = /** @type {any} */ (rules).decoder?.type === "ByteLevel" ? byteLetters() : null;

  /** The bytes of text that a piece of the vocabulary stands for. @param {string} piece */
  function bytesOf(piece) {
    if (letters && !added.has(piece)) {
      const bytes = [...piece].map((letter) => letters.get(letter) ?? -1);
      if (!bytes.includes(-1)) return Uint8Array.from(bytes);
    }
    return new TextEncoder().encode(!letters && /^##./.test(piece) ? piece.slice(2) : piece);
  }

  /** The label of each; of those that spell one letter together, which of them it is. @param {string[]} pieces */
  function labels(pieces) {
    /** @type {string[]} */
    const made = [];
    while (made.length < pieces.length) {
      const next = pieces.slice(made.length, made.length + PIECES).map(bytesOf);
      const whole = next.findIndex((_bytes, n) => decodeText(next.slice(0, n + 1), true) !== null);
      const count = Math.max(1, whole + 1);
      const label = tokenLabel(decodeText(next.slice(0, count)) ?? "");
      for (let n = 1; n <= count; n++) made.push(count > 1 ? `${label} ${n}/${count}` : label);
    }
    return made;
  }

  return {
    /** @param {string} text */
    read(text) {
      const { ids, tokens: pieces } = tokenizer.encode(text);
      return { ids: [...ids], labels: labels(pieces) };
    },
    /** The text that an id adds to a sentence, and its label. @param {number} id */
    next(id) {
      const piece = tokenizer.id_to_token(id) ?? "";
      return { text: decodeText([bytesOf(piece)]) ?? "", label: labels([piece])[0] };
    },
  };
}

/** The text of these bytes; null where it is to be whole, and is not. @param {Uint8Array[]} parts */
function decodeText(parts, fatal = false) {
  try {
    return new TextDecoder("utf-8", { fatal }).decode(Uint8Array.from(parts.flatMap((part) => [...part])));
  } catch {
    return null;
  }
}

/** A token's text as an axis label: without outer spaces, with invisible characters shown, never empty. */
/** @param {string} text */
export function tokenLabel(text) {
  const bare = text.trim() ? text.replace(/^ +| +$/g, "") : text;
  return [...bare].map((letter, i) => visible(letter, i === 0)).join("") || "∅";
}

/** @param {string} letter @param {boolean} alone */
function visible(letter, alone) {
  if (letter in SEEN) return SEEN[letter];
  const code = () => `U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
  if (/[\p{Cc}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\u202a-\u202e\u2066-\u2069]/u.test(letter)) return code();
  if (alone && /\p{Cf}/u.test(letter)) return code();
  return alone && /\p{M}/u.test(letter) ? `◌${letter}` : letter;
}

/** The letters that byte-level vocabularies write bytes with. */
function byteLetters() {
  const own = (/** @type {number} */ b) => (b > 32 && b < 127) || (b > 160 && b < 256 && b !== 173);
  const pairs = /** @type {[string, number][]} */ ([]);
  for (let b = 0, more = 256; b < 256; b++) pairs.push([String.fromCodePoint(own(b) ? b : more++), b]);
  return new Map(pairs);
}
