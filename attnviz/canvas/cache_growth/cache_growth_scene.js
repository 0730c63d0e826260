// Caches at one number of tokens as a drawing knows them: groups side by side, or below each other where there is no room; all
// bars of a group on one scale, which the largest at the end fills. No page.

import { formatBytes } from "../shared/numbers.js";
import { fillBox, writeText } from "../shared/surface.js";
import { wrapText } from "../scene/text_width.js";

/** @import { DrawingContext, ForFile, GrowthRun, Theme } from "../shared/types.js" */
/** @import { Figure } from "../scene/figure.js" */
/** @typedef {ReturnType<typeof growthScene>} GrowthScene */

/** Pixels of a group at least and in a file, between two groups side by side and below each other, of a group's name. */
const GROUP = { least: 380, inFile: 520, apart: 40, below: 18, top: 27 };
/** Pixels of a bar's name and of its number, in a wide group and in a narrow one. */
const [WIDE, NARROW] = [
  { name: 118, number: 92 },
  { name: 92, number: 82 },
];
const [GAP, PAD, BAR] = [10, 4, 22];
const [NAME, ABOUT] = [17.5, 15];

/** @param {GrowthRun} header @param {number} at the number of tokens, by its place @param {number} width @param {Theme} theme */
export function growthScene({ groups }, at, width, theme) {
  const across = Math.max(1, Math.min(groups.length, Math.floor((width + GROUP.apart) / (GROUP.least + GROUP.apart))));
  const w = (width - (across - 1) * GROUP.apart) / across;
  const columns = w < GROUP.least ? NARROW : WIDE;
  let [y, below] = [0, 0];
  const placed = groups.map(({ name, bars }, n) => {
    if (n % across === 0) y = n ? below + GROUP.below : 0;
    let low = y + GROUP.top;
    const most = Math.max(1, ...bars.map(({ bytes }) => bytes[bytes.length - 1]));
    const rows = bars.map(({ name: scheme, about, colour, bytes }) => {
      const names = wrapText(scheme, columns.name, 14, 600);
      const abouts = wrapText(about, columns.name, 12);
      const h = Math.max(names.length * NAME + abouts.length * ABOUT, BAR) + 2 * PAD;
      const row = {
        names,
        abouts,
        colour,
        share: bytes[at] / most,
        text: formatBytes(bytes[at]),
        said: scheme,
        y: low,
        h,
      };
      low += h;
      return row;
    });
    below = Math.max(below, low);
    return { name, rows, x: (n % across) * (w + GROUP.apart), y };
  });
  const track = { x: columns.name + GAP, w: w - columns.name - columns.number - 2 * GAP, h: BAR };
  return { groups: placed, track, w, width, height: below, theme };
}

/** The bars, which can move. @param {GrowthScene} scene */
export function cacheBars({ groups }) {
  return groups.flatMap(({ name, rows }) =>
    rows.map(({ said, share }) => ({ key: `${name} ${said}`, alpha: 1, share })),
  );
}

/** @param {DrawingContext} context @param {GrowthScene} scene @param {ReturnType<typeof cacheBars>} [bars] on their way to others */
export function drawGrowth(context, scene, bars = cacheBars(scene)) {
  const { groups, track, w, theme } = scene;
  const shares = new Map(bars.map(({ key, share }) => [key, share]));
  for (const { name, rows, x, y } of groups) {
    writeText(context, name, x, y + 10.5, theme, "600 15px");
    for (const { names, abouts, colour, text, ...row } of rows) {
      const middle = row.y + row.h / 2;
      const top = middle - (names.length * NAME + abouts.length * ABOUT) / 2;
      names.forEach((line, n) => writeText(context, line, x, top + (n + 0.5) * NAME, theme, "600 14px"));
      const about = top + names.length * NAME;
      abouts.forEach((line, n) => writeText(context, line, x, about + (n + 0.5) * ABOUT, theme, "12px", 0.8));
      const place = { ...track, x: x + track.x, y: Math.round(middle - BAR / 2) };
      fillBox(context, place, theme.text, 0.07);
      fillBox(context, { ...place, w: place.w * (shares.get(`${name} ${row.said}`) ?? 0) }, colour);
      writeText(context, text, x + w, middle, theme, "14px", 1, "right");
    }
  }
}

/** @param {ForFile<GrowthRun>} header @param {Uint8Array} _payload @param {Theme} theme @returns {Figure} */
export function growthFigure(header, _payload, theme) {
  const scene = growthScene(
    header,
    header.at,
    header.groups.length * (GROUP.inFile + GROUP.apart) - GROUP.apart,
    theme,
  );
  const draw = (/** @type {DrawingContext} */ context) => drawGrowth(context, scene);
  return { width: scene.width, height: Math.ceil(scene.height), title: header.title, draw };
}
