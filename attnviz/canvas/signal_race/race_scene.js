// One signal from the first word through three machines, as a drawing knows it: a recurrence, convolutions over each other,
// attention. Each step takes it as far as that machine can; where it must arrive is a line through all three.

import { readableColour } from "../shared/colour.js";
import { fill } from "../shared/dom.js";
import { clamp, formatGrouped } from "../shared/numbers.js";
import { drawMarks, mark, textMark } from "../scene/marks.js";
import { textWidth, wrapText } from "../scene/text_width.js";

/** @import { DrawingContext, Film, ForFile, RaceHeader, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @import { Mark } from "../scene/marks.js" */
/** @typedef {Pick<RaceHeader, "distance" | "kernel" | "dilated">} Race */
/** @typedef {"recurrence" | "convolution" | "attention"} Machine */
/** @typedef {{ width: number, height: number, theme: Theme, header: Pick<RaceHeader, "most" | "machines" | "words"> }} Look */

/** @type {Machine[]} */
const MACHINES = ["recurrence", "convolution", "attention"];
/** Shares of the height that they take. */
const SHARES = [0.16, 0.5, 0.34];
const [NARROW, NAMES, COUNTS, TOP, GAP] = [640, 172, 96, 34, 22];
/** Pixels of a machine's name where it stands above the machine, and of both sides then. */
const [NAME, SIDE] = [26, 14];
const [WIDE, UPRIGHT, HIGH] = [960, 420, 470];
const FRAMES = 6; // of a step

/** How many words on a signal is after so many steps. @param {Machine} machine @param {Race} race @param {number} steps */
export function reachAfter(machine, { kernel, dilated }, steps) {
  if (machine === "recurrence") return steps;
  if (machine === "attention") return steps > 0 ? Infinity : 0;
  return dilated ? kernel ** steps - 1 : steps * (kernel - 1);
}

/** Steps until it has arrived. @param {Machine} machine @param {Race} race */
export function stepsToArrive(machine, race) {
  let steps = 1;
  while (reachAfter(machine, race, steps) < race.distance) steps++;
  return steps;
}

/** Where the machines stand: places of words, of layers, of the names. @param {Race} race @param {Look} look */
export function raceLayout(race, { width, height, header: { most } }) {
  const isNarrow = width < NARROW;
  const [left, right] = isNarrow ? [SIDE, SIDE] : [NAMES, COUNTS];
  const pitch = (width - left - right - SIDE) / most;
  const above = isNarrow ? NAME : 0;
  const room = height - TOP - 3 * above - 2 * GAP - 8;
  let y = TOP;
  const lanes = MACHINES.map((machine, n) => {
    const layers = machine === "recurrence" ? 0 : stepsToArrive(machine, race);
    const lane = { machine, layers, name: y, top: y + above, h: SHARES[n] * room };
    y += above + lane.h + GAP;
    return lane;
  });
  return { isNarrow, lanes, pitch, x: (/** @type {number} */ word) => left + word * pitch, left, right };
}

/** All that is seen when so many steps have been taken. @param {Race} race @param {number} step @param {Look} look @returns {Mark[]} */
export function raceMarks(race, step, look) {
  const layout = raceLayout(race, look);
  return [
    ...layout.lanes.flatMap((lane) => laneMarks(race, step, look, layout, lane)),
    ...goalMarks(race, look, layout),
  ];
}

/** A machine at work: what its marks are made of. @param {Race} race @param {number} step @param {Look} look @param {ReturnType<typeof raceLayout>} layout @param {ReturnType<typeof raceLayout>["lanes"][number]} lane */
function laneMarks(race, step, look, { isNarrow, pitch, x }, lane) {
  const { machine, layers, top, h } = lane;
  const { most, machines } = look.header;
  const needed = stepsToArrive(machine, race);
  const work = {
    ...{ race, machine, layers, most, x, lane, isNarrow, look, ink: look.theme.text, colour: machines[machine].colour },
    taken: Math.min(step, needed),
    radius: clamp(0.24 * pitch, 2, 5.5),
    y: (/** @type {number} */ layer) => (layers ? top + h - 8 - (layer * (h - 16)) / layers : top + h / 2),
    farthest: (/** @type {number} */ steps) => Math.min(race.distance, reachAfter(machine, race, steps)),
    key: (/** @type {(number | string)[]} */ ...what) => [machine, ...what].join("-"),
  };
  const ways = wayMarks(work);
  const last = ways.at(-1);
  const head = last ? { x: last.x + last.w, y: last.y + last.h } : { x: x(0), y: work.y(0) };
  const size = (work.taken < needed ? 1.6 : 1.9) * work.radius;
  const signal = mark(work.key("signal"), "disc", { ...head, colour: work.colour, size });
  return [...joinMarks(work), ...wordMarks(work), ...ways, signal, ...captionMarks(work)];
}

/** @typedef {{ race: Race, machine: Machine, layers: number, most: number, x: (word: number) => number, look: Look,
 *   lane: { name: number, top: number, h: number }, isNarrow: boolean, ink: string, colour: string, taken: number, radius: number,
 *   y: (layer: number) => number, farthest: (steps: number) => number, key: (...what: (number | string)[]) => string }} Work */

/** A line between words of two layers, or a part of it. */
/** @param {Work} work @param {string} key @param {[word: number, layer: number]} from @param {[word: number, layer: number]} to @param {Partial<Mark>} how */
function stroke({ x, y }, key, [word, layer], [to, above], how, part = 1) {
  const [fromX, fromY] = [x(word), y(layer)];
  return mark(key, "line", { x: fromX, y: fromY, w: part * (x(to) - fromX), h: part * (y(above) - fromY), ...how });
}

/** The words of each layer; those that know of the first have the machine's colour. @param {Work} work */
function wordMarks({ race, layers, most, x, y, key, ink, colour, taken, radius, farthest }) {
  const last = Math.floor(taken);
  return Array.from({ length: layers + 1 }, (_layer, layer) => {
    const lit = layer > last ? -1 : farthest(layers ? layer : last);
    return Array.from({ length: most + 1 }, (_word, word) => {
      const place = { x: x(word), y: y(layer) };
      const alpha = layers && word < lit ? 0.6 : 1;
      if (word <= lit) return mark(key("word", layer, word), "disc", { ...place, size: radius, alpha, colour });
      const faint = word > race.distance ? 0.12 : 0.3;
      return mark(key("word", layer, word), "disc", { ...place, size: 0.7 * radius, alpha: faint, colour: ink });
    });
  }).flat();
}

/** What a layer joins: of a convolution and a recurrence earlier words with later ones, of attention every pair. @param {Work} work */
function joinMarks(work) {
  const { race, machine, layers, most, taken, key, ink, colour, farthest } = work;
  const { distance, kernel, dilated } = race;
  if (!layers) return [stroke(work, key("chain"), [0, 0], [most, 0], { colour: ink, alpha: 0.2, size: 1.5 })];
  const isAttention = machine === "attention";
  const faint = { colour: ink, alpha: 0.07, size: 0.7 };
  const marks = [];
  for (let layer = 0; layer < layers; layer++) {
    const apart = !isAttention && dilated ? kernel ** layer : 1;
    const part = clamp(taken - layer, 0, 1);
    for (let word = 0; word <= distance; word++) {
      const carries = word <= farthest(layer) && part > 0;
      const end = isAttention ? distance : Math.min(distance, word + apart * (kernel - 1));
      for (let to = isAttention ? 0 : word; to <= end; to += apart) {
        const id = key("join", layer, word, to);
        if (carries)
          marks.push(stroke(work, id, [word, layer], [to, layer + 1], { colour, alpha: 0.4, size: 1 }, part));
        else marks.push(stroke(work, id, [word, layer], [to, layer + 1], faint));
      }
    }
  }
  return marks;
}

/** The shortest way, as far as the signal has come. @param {Work} work */
function wayMarks(work) {
  const { layers, taken, key, colour, farthest } = work;
  return Array.from({ length: Math.ceil(taken) }, (_way, at) => {
    const [from, to] = [farthest(at), farthest(at + 1)];
    const [below, above] = layers ? [at, at + 1] : [0, 0];
    return stroke(work, key("way", at), [from, below], [to, above], { colour, size: 3.5 }, Math.min(1, taken - at));
  });
}

/** How a machine works, in lines below its name. @param {Machine} machine @param {Race} race @param {Pick<Look, "header">} look */
export function aboutLines(machine, { kernel, dilated: isDilated }, { header }) {
  const { about, dilated = about } = header.machines[machine];
  return wrapText(fill(isDilated ? dilated : about, { kernel, n: kernel - 1 }), NAMES - 26, 13);
}

/** Its name, how it works and how many steps it has taken. @param {Work} work */
function captionMarks({ race, machine, look, lane, isNarrow, key, colour, taken, ink, x }) {
  const { name, count } = look.header.machines[machine];
  const steps = Math.floor(taken);
  const written = { colour: readableColour(colour, look.theme.background), weight: 600 };
  const middle = lane.top + lane.h / 2;
  const counted = fill(count, { n: steps });
  /** @param {string} id @param {string} text @param {Partial<Mark> & { size: number }} how */
  const toRight = (id, text, how) =>
    textMark(key(id), text, { x: look.width - 4 - textWidth(text, how.size, how.weight === 600 ? 600 : 400), ...how });
  if (isNarrow) {
    const line = { y: lane.name + 12, size: 15, ...written };
    const number = toRight("count", counted, line);
    const goal = x(race.distance);
    if (number.x < goal) number.x -= look.width + 2 - goal; // the line to arrive at crosses no number
    return [textMark(key("name"), name, { x: 2, ...line }), number];
  }
  const lines = aboutLines(machine, race, look);
  return [
    textMark(key("name"), name, { x: 0, y: middle - 12, size: 17, ...written }),
    ...lines.map((line, n) => textMark(key("about", n), line, { x: 0, y: middle + 9 + 17 * n, size: 13, colour: ink })),
    toRight("count", String(steps), { y: middle - 6, size: 28, ...written }),
    toRight("unit", counted.replace(/^[\d,]+\s*/, ""), { y: middle + 17, size: 13, colour: ink }),
  ];
}

/** The first word and the line to arrive at. @param {Race} race @param {Look} look @param {ReturnType<typeof raceLayout>} layout */
function goalMarks({ distance }, { width, height, theme, header }, { x, isNarrow }) {
  const text = fill(header.words.goal, { n: distance });
  const long = textWidth(text, 14, 600);
  const at = clamp(x(distance) - long / 2, 0, width - long - 2);
  const first = textWidth(header.words.start, 13);
  const begin = Math.max(0, x(0) - (isNarrow ? SIDE : first / 2));
  const colour = readableColour(theme.primary, theme.background);
  const marks = [
    mark("goal", "line", {
      x: x(distance),
      y: TOP - 10,
      h: height - TOP + 6,
      colour: theme.primary,
      alpha: 0.7,
      size: 2,
    }),
    mark("goal-grip", "disc", { x: x(distance), y: TOP - 8, colour: theme.primary, size: 5 }),
    textMark("goal-text", text, { x: at, y: 11, size: 14, weight: 600, colour }),
  ];
  const start = textMark("start", header.words.start, { x: begin, y: 11, size: 13, colour: theme.text });
  return at > begin + first + 10 ? [start, ...marks] : marks;
}

/** What is to be seen, in a sentence. @param {Race} race @param {RaceHeader["words"]} words */
export function raceSentence(race, words) {
  const [recurrence, convolution, attention] = MACHINES.map((machine) => stepsToArrive(machine, race));
  const tokens = race.distance + 1; // as the costs below count them
  const pairs = formatGrouped(tokens ** 2);
  const { kernel } = race;
  return fill(race.dilated ? words.dilated : words.arrived, {
    tokens,
    kernel,
    recurrence,
    convolution,
    attention,
    pairs,
  });
}

/** @param {ForFile<RaceHeader>} header @param {Uint8Array} _payload @param {Theme} theme @returns {Figure} */
export function raceFigure(header, _payload, theme) {
  const width = header.upright ? UPRIGHT : WIDE;
  const marks = raceMarks(header, header.at / header.ticks, { width, height: HIGH, theme, header });
  const draw = (/** @type {DrawingContext} */ context) => drawMarks(context, marks, theme);
  const said = raceSentence(header, header.words);
  return { width, height: HIGH, title: header.title || said, said, draw };
}

/** @param {ForFile<RaceHeader>} header @param {Uint8Array} payload @returns {Film} */
export function raceFilm(header, payload) {
  const { distance, ticks, words } = header;
  return {
    ...{ name: words.race, seconds: 1 + 0.3 * distance, frames: FRAMES * distance + 1 },
    figure: (share, theme, _bar, upright = false) =>
      raceFigure({ ...header, at: clamp(share, 0, 1) * distance * ticks, title: "", upright }, payload, theme),
  };
}
