// Attention of all heads of a layer, with what a visitor changes in it.

import { attend } from "../../canvas/shared/attend.js";

/** @import { Room } from "../../canvas/shared/matmul.js" */

/**
 * @typedef {object} PassEdit what is changed, in the heads it names; a later edit overrides an earlier one
 * @property {number} [layer] every layer where there is none
 * @property {number} [head] every head where there is none
 * @property {boolean} [silence] the head hands on nothing
 * @property {number} [scale] what multiplies the scores, in place of the model's own number
 * @property {Uint8Array} [mask] (T, T): 1 where a query may look
 *
 * @typedef {(head: number, weights: Float32Array, query: Float32Array, key: Float32Array) => void} SeenHead is shown each
 *   head's weights, and the rows that their scores are products of; the place of all is used again for the next head
 */

/**
 * What a head is told. @param {readonly PassEdit[]} edits @param {number} layer @param {number} head
 * @returns {PassEdit}
 */
export function editOf(edits, layer, head) {
  const mine = edits.filter((each) => (each.layer ?? layer) === layer && (each.head ?? head) === head);
  return Object.assign({}, ...mine.map(({ silence, scale, mask }) => editOfHead({ silence, scale, mask })));
}

/** @param {PassEdit} edit */
const editOfHead = (edit) => Object.fromEntries(Object.entries(edit).filter(([, value]) => value !== undefined));

/** Places for one head's numbers. @param {Room} room @param {number} tokens @param {number} width */
export function allocateHead({ take }, tokens, width) {
  const padded = (tokens + 3) & ~3;
  const [query, key, value] = [take(tokens * width), take(tokens * width), take(padded * width)];
  return {
    query,
    key,
    value,
    scores: take(tokens * tokens),
    weights: take(tokens * padded),
    made: take(tokens * width),
  };
}

/**
 * Each head's weights, and what all hand on, (T, H * D).
 * @param {Room} room
 * @param {{ q: number; k: number; v: number; z: number }} at where queries, keys and values lie, and where the answer goes
 * @param {ReturnType<typeof allocateHead>} own
 * @param {{ tokens: number; heads: number; groups: number; width: number }} shape
 * @param {Uint8Array | null} allowed the model's own mask @param {(head: number) => PassEdit} edit
 * @param {SeenHead} seen
 */
export function attendAllHeads(
  room,
  at,
  { query, key, value, scores, weights, made },
  { tokens, heads, groups, width },
  allowed,
  edit,
  seen,
) {
  const padded = (tokens + 3) & ~3;
  const out = room.floats(at.z, tokens * heads * width);
  const softened = new Float32Array(tokens ** 2);
  for (let head = 0; head < heads; head++) {
    const told = edit(head);
    const group = Math.floor((head * groups) / heads);
    if (head % (heads / groups) === 0) {
      copy(room, at.k, groups, group, key, tokens, width);
      transposeHead(room, at.v, groups, group, value, tokens, width, padded);
    }
    copy(room, at.q, heads, head, query, tokens, width);
    room.multiply({ at: key, kind: "F32", shape: [tokens, width] }, query, scores, tokens);
    const raw = { shape: /** @type {[number, number]} */ ([tokens, tokens]), scores: room.floats(scores, tokens ** 2) };
    const scored = { ...raw, bias: null, softcap: null, sink: null };
    const own = attend(scored, told.mask ?? allowed, told.scale ?? 1 / Math.sqrt(width), softened);
    seen(head, own, room.floats(query, tokens * width), room.floats(key, tokens * width));
    const rows = room.floats(weights, tokens * padded).fill(0);
    for (let t = 0; t < tokens; t++) rows.set(own.subarray(t * tokens, (t + 1) * tokens), t * padded);
    room.multiply({ at: value, kind: "F32", shape: [width, padded] }, weights, made, tokens);
    const handed = room.floats(made, tokens * width);
    if (told.silence) handed.fill(0);
    for (let t = 0; t < tokens; t++) {
      out.set(handed.subarray(t * width, (t + 1) * width), (t * heads + head) * width);
    }
  }
}

/**
 * One head's rows beside each other. @param {Room} room @param {number} from @param {number} heads
 * @param {number} head @param {number} to @param {number} tokens @param {number} width
 */
function copy(room, from, heads, head, to, tokens, width) {
  const [all, own] = [room.floats(from, tokens * heads * width), room.floats(to, tokens * width)];
  for (let t = 0; t < tokens; t++) {
    const at = (t * heads + head) * width;
    own.set(all.subarray(at, at + width), t * width);
  }
}

/**
 * One head's columns as rows, filled up with 0. @param {Room} room @param {number} from @param {number} heads
 * @param {number} head @param {number} to @param {number} tokens @param {number} width @param {number} padded
 */
function transposeHead(room, from, heads, head, to, tokens, width, padded) {
  const [all, own] = [room.floats(from, tokens * heads * width), room.floats(to, padded * width).fill(0)];
  for (let t = 0; t < tokens; t++) {
    for (let i = 0; i < width; i++) own[i * padded + t] = all[(t * heads + head) * width + i];
  }
}
