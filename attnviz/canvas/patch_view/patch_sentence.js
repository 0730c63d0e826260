// What is said of the row on show, with its own numbers.

import { fill, joinTexts } from "../shared/dom.js";
import { formatPercent } from "../shared/numbers.js";
import { strongestTokens } from "./patch_numbers.js";

/** @import { PatchChoices, PatchHeader } from "../shared/types.js" */
/** @typedef {Pick<PatchHeader, "special" | "grid" | "labels" | "words">} Names */

/** What a token is called. @param {Names} header @param {number} token */
export function tokenName({ special, grid, labels }, token) {
  if (token < grid.first) return special[token];
  const patch = token - grid.first;
  return fill(labels.patch, { row: Math.floor(patch / grid.columns) + 1, column: (patch % grid.columns) + 1 });
}

/** What looks: a patch, a special token, or a word. @param {Names} header @param {number} query */
export function queryName(header, query) {
  if (header.words === null) return tokenName(header, query);
  return fill(header.labels.word, { word: header.words[query] ?? "" });
}

/** What lies over the large picture. @param {Names} header @param {PatchChoices} state */
export function patchTitle({ labels }, { shows, layer, head }) {
  const { tile, all_layers: layers, up_to: rollout } = labels;
  return fill({ row: tile, mean: tile, layers, rollout }[shows], { layer, head });
}

/** The sentence below the large picture. */
/** @param {Names} header @param {number} query @param {Float32Array} row @param {PatchChoices["shows"]} shows */
export function patchSentence(header, query, row, shows) {
  const { labels } = header;
  const named = strongestTokens(row, 3)
    .filter((token) => row[token] >= 0.005)
    .map((token) => fill(labels.share, { token: tokenName(header, token), share: formatPercent(row[token]) }));
  const { looks, looks_mean: mean, looks_layers: layers, looks_rollout: rollout } = labels;
  const template = { row: looks, mean, layers, rollout }[shows];
  const keys = joinTexts(labels.join_things, named) || labels.nothing;
  const onPatches = row.subarray(header.grid.first).reduce((sum, share) => sum + share, 0);
  return fill(template, { query: queryName(header, query), keys, patches: formatPercent(onPatches) });
}
