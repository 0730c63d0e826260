// A turned pair on its circles, what it adds to q.k over the distance, and its numbers: what is to be seen, and a file of it.

import { fill } from "../shared/dom.js";
import { formatFixed, formatFourDigits, formatSignificant } from "../shared/numbers.js";
import { ROLES } from "../shared/roles.js";
import { drawWith, writeText } from "../shared/surface.js";
import { wrapText } from "../scene/text_width.js";
import { asDegrees, drawCircle, drawCurve, pairProduct, rotatedScore, rotatePair } from "./rotation_drawing.js";

/** @import { Figure } from "../scene/figure.js" */
/** @import { DrawingContext, ForFile, RotationHeader, Theme } from "../shared/types.js" */
/** @typedef {Pick<RotationHeader, "turns" | "q" | "k" | "words">} TurnedPairs */

/** The curve shows distances up to this, on either side, so many pixels high. */
export const [REACH, CURVE] = [64, 92];
/** Pixels of a file: a side of the circle, the gap beside it, and what stands there. */
const [CIRCLE, GAP, SIDE] = [380, 32, 480];

/** @param {TurnedPairs} header @param {RotationHeader["at"]} at @param {Theme} theme */
export function rotationScene({ turns, q, k, words }, { pair, q_at, k_at }, theme) {
  const speed = turns[pair];
  const degrees = (/** @type {number} */ position) => {
    const { degrees: rest, whole } = asDegrees(position * speed);
    return fill(whole ? words.angle : words.degrees, { degrees: formatFixed(rest, 1), whole });
  };
  const arrows = [
    { name: "q", start: q[pair], now: rotatePair(q[pair], q_at * speed), colour: theme.q, angle: q_at * speed },
    { name: "k", start: k[pair], now: rotatePair(k[pair], k_at * speed), colour: theme.k, angle: k_at * speed },
  ];
  const [product, score] = [pairProduct(q[pair], k[pair], speed, q_at, k_at), rotatedScore(q, k, turns, q_at, k_at)];
  const facts = /** @type {[whose: "q" | "k" | "", name: string, value: string][]} */ ([
    ["q", words.q_turned, degrees(q_at)],
    ["k", words.k_turned, degrees(k_at)],
    ["", words.product, formatFourDigits(product)],
    ["", words.score, formatFourDigits(score)],
  ]);
  const distance = Math.round(k_at - q_at);
  const sentence = fill(distance ? (distance < 0 ? words.before : words.after) : words.beside, {
    pair,
    wavelength: formatSignificant((2 * Math.PI) / speed, 4),
    distance: Math.abs(distance),
    between: formatFixed(((distance * speed * 180) / Math.PI) % 360, 1).replace("-", "−"),
  });
  const curve = (/** @type {number} */ apart) => pairProduct(q[pair], k[pair], speed, 0, apart);
  return { arrows, facts, sentence, curve, distance: k_at - q_at };
}

/** @param {ForFile<RotationHeader>} header @param {Uint8Array} _payload @param {Theme} theme @returns {Figure} */
export function rotationFigure(header, _payload, theme) {
  const { arrows, facts, sentence, curve, distance } = rotationScene(header, header.at, theme);
  const [beside, width] = [CIRCLE + GAP, CIRCLE + GAP + SIDE];
  const lines = wrapText(sentence, width, 14);
  const draw = (/** @type {DrawingContext} */ context) => {
    drawCircle(context, CIRCLE, arrows, theme);
    facts.forEach(([whose, name, value], i) => {
      const [x, y] = [beside + (i % 2) * (SIDE / 2), 70 + 56 * Math.floor(i / 2)];
      writeText(context, value, x, y, { ...theme, text: whose ? theme[whose] : theme.text }, "600 18px");
      writeText(context, name, x, y + 20, theme, "12px", 0.8);
    });
    writeText(context, header.words.curve, beside, 200, theme, "12px", 0.8);
    context.save();
    context.translate(beside, 216);
    drawCurve(context, SIDE, CURVE, curve, REACH, distance, ROLES.score, theme);
    context.restore();
    drawWith(context, { globalAlpha: 1 });
    lines.forEach((line, i) => writeText(context, line, 0, CIRCLE + 14 + i * 20, theme, "14px"));
  };
  return { width, height: CIRCLE + 8 + lines.length * 20, title: header.title, draw };
}
