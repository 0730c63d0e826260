import assert from "node:assert/strict";
import { test } from "node:test";
import { scenesBetween } from "../../attnviz/canvas/ribbons/ribbons_glide.js";
import { computeHead, describeTouched, plainText, tellingWeight, touchedWeights } from "../../attnviz/canvas/ribbons/ribbons_numbers.js"; // prettier-ignore
import { ribbonsScene } from "../../attnviz/canvas/ribbons/ribbons_scene.js";
import { fileTheme } from "../../attnviz/canvas/scene/figure.js";
import { contrast, mixColours, rgb } from "../../attnviz/canvas/shared/colour.js";
import { guessSentence, mostSentence, rowToAsk } from "../../attnviz/canvas/shared/guess.js";
import { unmarked } from "../../attnviz/canvas/shared/marked_text.js";
import { NO_EDIT } from "../../attnviz/canvas/shared/edit.js";

/** @import { Ribbon } from "../../attnviz/canvas/ribbons/ribbons_marks.js" */
/** @import { Edit, RawHead } from "../../attnviz/canvas/shared/types.js" */

const COLOURS = /** @type {any} */ ({ q: "#0072B2", k: "#D55E00", masked: "#9AA0A6", weights: [[0, "#000000"], [1, "#ffffff"]] }); // prettier-ignore
/** Every template says its name and its fields. @type {any} */
const WORDS = new Proxy(
  { join_sentences: "{first} {next}", join_things: "{first}, {next}" },
  {
    get: (own, name) => own[/** @type {"join_things"} */ (name)] ?? `<${String(name)} {token} {key} {share} {count} {other} {query} {parts}>`, // prettier-ignore
  },
);
const LOOK = { theme: fileTheme("white", COLOURS), colours: COLOURS, words: WORDS };

/** A causal head whose scores are q·k = `scores`. @param {number[][]} scores @returns {RawHead} */
function rawHead(scores) {
  const n = scores.length;
  const mask = Uint8Array.from({ length: n * n }, (_none, i) => Number(i % n <= Math.floor(i / n)));
  const raw = { shape: [n, n], exact: true, scores: Float32Array.from(scores.flat()), scale: 0.125, dHead: 64, mask };
  return /** @type {any} */ ({ ...raw, padding: null, bias: null, softcap: null, sink: null });
}

/** @param {string[]} q @param {RawHead} raw @param {Partial<Edit>} [edit] */
const headOf = (q, raw, edit) => computeHead({ q, glued: [] }, raw, { ...NO_EDIT, ...edit });
const VIEW = { word: 2, axis: /** @type {const} */ ("q"), pinned: null, unfolded: false, lit: null, grown: 1 };

/** @param {ReturnType<typeof ribbonsScene>} scene */
const ribbonsOf = (scene) => /** @type {Ribbon[]} */ (scene.marks.filter((mark) => mark.kind === "ribbon"));
/** @param {ReturnType<typeof ribbonsScene>} scene */
const thickness = (scene) => ribbonsOf(scene).reduce((sum, { w, alpha }) => sum + (alpha > 0 ? w : 0), 0);

const TOKENS = ["The", "cat", "saw", "it", "."];
const RAW = rawHead([
  [8, 0, 0, 0, 0],
  [3, 9, 0, 0, 0],
  [0, 40, 2, 0, 0],
  [2, 30, 1, 4, 9],
  [9, 8, 7, 6, 5],
]);

test("the ribbons of a word are as wide as its weights, which sum to 1 under every mask and scale", () => {
  for (const edit of [
    {},
    { mask: "none" },
    { scale: "none" },
    { scale: "factor", factor: 0 },
    { scale: "factor", factor: 64 },
  ]) {
    const head = headOf(TOKENS, RAW, /** @type {Partial<Edit>} */ (edit));
    for (let word = 0; word < TOKENS.length; word++) {
      const scene = ribbonsScene(head, { ...VIEW, word }, 970, LOOK);
      assert.ok(Math.abs(thickness(scene) - scene.layout.thick) < 1e-3, `${word} ${JSON.stringify(edit)}`);
      const shares = touchedWeights(head, { ...VIEW, word });
      for (const { key, w } of ribbonsOf(scene)) {
        assert.ok(Math.abs(w - scene.layout.thick * (shares[Number(key.slice(7))] ?? 0)) < 1e-3);
      }
    }
  }
});

test("on light and on dark every ribbon has the colour of a weight, and is seen", () => {
  for (const theme of [LOOK.theme, fileTheme("dark", COLOURS)]) {
    const ribbons = ribbonsOf(ribbonsScene(headOf(TOKENS, RAW), VIEW, 900, { ...LOOK, theme })).filter(
      (r) => r.alpha > 0,
    );
    assert.equal(ribbons.length, 3);
    for (const { colour, alpha } of ribbons) {
      assert.equal(colour, theme.weight);
      const ground = rgb(theme.background);
      assert.ok(contrast(mixColours(ground, rgb(colour), alpha), ground) >= 3);
    }
  }
});

/** @param {ReturnType<typeof headOf>} head @param {object} touched @param {Partial<Edit>} [edit] */
const told = (head, touched, edit) =>
  plainText(
    describeTouched(head, { word: 0, axis: "q", pinned: null, ...touched }, { ...NO_EDIT, ...edit }, WORDS),
    WORDS,
  );

test("the sentence is true of one word, of equal words, of ties and at the ends of every control", () => {
  const one = headOf(["Hi"], rawHead([[3]]));
  assert.match(told(one, {}), /^<alone Hi /);
  assert.match(told(one, { axis: "k" }), /^<unseen Hi /);
  const head = headOf(TOKENS, RAW);
  assert.match(told(head, { word: 0 }), /^<alone The /);
  assert.match(told(head, { word: 2 }), /^<becomes saw cat 9\d% .*<one_more .* it /);
  const flat = { scale: /** @type {const} */ ("factor"), factor: 0 };
  assert.match(told(headOf(TOKENS, RAW, flat), { word: 4 }, flat), /^<alike \. .* 20% 5 /);
  const open = { ...flat, mask: /** @type {const} */ ("none") };
  assert.match(told(headOf(TOKENS, RAW, open), { word: 0 }, open), /^<alike The .* 20% 5 .*<later .* 80% /);
  const same = headOf(["no", "no", "no"], rawHead([[1, 1, 1], [1, 1, 1], [1, 1, 1]])); // prettier-ignore
  assert.match(told(same, { word: 2 }), /^<alike no \(2\) .* 33% 3 /);
  const [hidden, shut] = [{ hidden: [0] }, { hidden: [0, 1, 2, 3, 4] }];
  assert.match(told(headOf(TOKENS, RAW, hidden), { word: 0 }, hidden), /^<empty The /);
  assert.match(told(headOf(TOKENS, RAW, hidden), { word: 1 }, hidden), /^<alone cat /);
  assert.match(told(headOf(TOKENS, RAW, shut), { word: 3 }, shut), /^<empty it /);
  const tie = headOf(TOKENS, rawHead(TOKENS.map((_q, q) => TOKENS.map((_k, k) => (q === 4 && k < 2 ? 40 : 0)))));
  assert.match(told(tie, { word: 4 }), /^<mixture .*<part \S+ The 49% .*<part \S+ cat 49% /s);
  const halves = headOf(TOKENS, rawHead(TOKENS.map((_q, q) => TOKENS.map((_k, k) => (q > 1 && k < 2 ? 4000 : 0)))));
  assert.match(
    told(halves, { word: 4 }),
    /^<mixture .*<part \S+ The 50% .*<part \S+ cat 50% [^<]*$/s,
    "no half is most",
  );
  const two = TOKENS.map((_q, q) => TOKENS.map((_k, k) => (k === 1 ? [0, 40, 40, 40, 10][q] : 0)));
  assert.match(told(headOf(TOKENS, rawHead(two)), { word: 2 }), /^<becomes saw cat 9\d% .*<one_more /, "10 is no half");
  const three = two.map((row, q) => (q === 4 ? [0, 30, 0, 0, 0] : q === 3 ? [0, 4000, 0, 0, 0] : row));
  const tied = headOf([...TOKENS, "so"], rawHead([...three.map((row) => [...row, 0]), [0, 4000, 0, 0, 0, 0]]));
  assert.match(told(tied, { word: 2 }), /^<becomes .*<some_up_to .* 100% 3 /);
  const [third, last] = [
    { axis: /** @type {const} */ ("k"), word: 1 },
    { axis: /** @type {const} */ ("k"), word: 0 },
  ];
  assert.match(told(head, third), /^<looked cat .* saw .*<lookers cat .* 2 /, "a column");
  assert.match(
    told(headOf(TOKENS, RAW, open), last, open),
    /^<looked_alike The .* 20% 4 [^<]*$/,
    "none looks there most",
  );
  assert.match(told(head, { word: 2, pinned: 1 }), /^<pair .*<pair_from /);
  assert.match(told(head, { word: 2, pinned: 4 }), /^<becomes /, "what the mask hides is not pinned");
});

test("a head tells more of a word, the more it looks at one other that is not the first", () => {
  assert.ok(tellingWeight(RAW, { ...NO_EDIT }, { word: 2, axis: "q", pinned: null }) > 0.95);
  assert.equal(tellingWeight(RAW, { ...NO_EDIT }, { word: 0, axis: "q", pinned: null }), 0);
  assert.equal(tellingWeight(RAW, { ...NO_EDIT }, { word: 1, axis: "q", pinned: null }), 0);
  assert.ok(tellingWeight(RAW, { ...NO_EDIT }, { word: 1, axis: "k", pinned: null }) > 0.95);
});

test("while somebody is asked, all words that may be looked at have the same ribbon, and nothing tells the truth", () => {
  const head = headOf(TOKENS, RAW);
  const scene = ribbonsScene(head, { ...VIEW, word: 3, asked: true }, 970, LOOK);
  const widths = ribbonsOf(scene).map(({ w }) => w.toFixed(6));
  assert.deepEqual([...new Set(widths)].toSorted(), ["0.000000", (scene.layout.thick / 4).toFixed(6)]);
  assert.ok(!scene.marks.some(({ key }) => key.startsWith("share ")));
  assert.deepEqual(
    scene.marks.filter((mark) => "bold" in mark && mark.bold).map(({ key }) => key),
    ["word 3"],
  );
});

test("what is said of a guess is true: it is right, or gets so much, or the mask hides it", () => {
  const said = (/** @type {number} */ guess, shares = [0.4, 0.4, 0.2, null]) => unmarked(guessSentence(shares, guess, "cat", WORDS)).split(" ")[0]; // prettier-ignore
  assert.deepEqual([0, 1, 2, 3].map((guess) => said(guess)), ["<guess_right", "<guess_right", "<guess_other", "<guess_hidden"]); // prettier-ignore
  assert.equal(said(0, [0.3, null]), "<guess_right");
  const most = (/** @type {(number | null)[]} */ shares) => mostSentence(shares, (key) => `key${key}`, WORDS);
  assert.match(unmarked(most([0.4, 0.6, null]) ?? ""), /^<guess_most \S+ key1 60% /);
  assert.deepEqual([most([0.4, 0.4, 0.2, null]), most([0.25, 0.25, 0.25, 0.25])], [null, null], "no word gets most");
});

test("the row that is asked about tells most, and looks elsewhere than the row on show", () => {
  const weights = Float32Array.from([1, 0, 0, 0, 1, 0, 0, 0, 0, 0.9, 0.1, 0, 0, 0.5, 0.4, 0.1]);
  assert.equal(rowToAsk(weights, [4, 4], 0, new Set()), 2);
  assert.equal(rowToAsk(weights, [4, 4], 2, new Set()), 3);
  assert.equal(rowToAsk(weights, [4, 4], 2, new Set([3])), null);
  assert.equal(rowToAsk(Float32Array.from([1]), [1, 1], 0, new Set()), null);
});

test("every ribbon becomes the cell of its key, and on the way comes back", () => {
  const head = headOf(TOKENS, RAW);
  const [folded, open] = [false, true].map((unfolded) => ribbonsScene(head, { ...VIEW, unfolded }, 970, LOOK));
  const way = scenesBetween(folded, open);
  for (const share of [0, 0.5, 1]) {
    const marks = ribbonsOf(way(share));
    assert.deepEqual(
      marks.map(({ key }) => key).toSorted(),
      ribbonsOf(folded)
        .map(({ key }) => key)
        .toSorted(),
    );
  }
  assert.ok(open.cells);
  const { x, y, w, h } = /** @type {{ x: number, y: number, w: number, h: number }} */ (open.cells);
  for (const { key, path, w: wide } of ribbonsOf(way(1))) {
    const k = Number(key.slice(7));
    assert.ok(Math.abs(wide - w / 5) < 1e-6);
    assert.ok(Math.abs(path[0] - (x + ((k + 0.5) * w) / 5)) < 1e-6);
    assert.ok(Math.abs(path[21] - (y + (2 * h) / 5)) < 1e-6);
  }
  const back = scenesBetween(open, folded)(1);
  assert.deepEqual(
    ribbonsOf(back)
      .map(({ path }) => path)
      .toSorted(),
    ribbonsOf(folded)
      .map(({ path }) => path)
      .toSorted(),
  );
});
