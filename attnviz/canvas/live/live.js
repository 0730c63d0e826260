// The file that leaves the app: all heads and the chosen one, drawn from scores that stand in the file itself.

import { AllHeads } from "../shared/all_heads.js";
import { attend } from "../shared/attend.js";
import { el } from "../shared/dom.js";
import { begin, bytesInFile, fillFile, onOtherTheme, textOf } from "./file_page.js";
import { groupOf, sameHead } from "../shared/group.js";
import { HeadView } from "../head/head.js";
import { headerOfOther } from "../head/head_numbers.js";
import { scrolling } from "../shared/motion.js";
import { Overview } from "../overview/overview.js";
import { inflate } from "../shared/packing.js";
import { watchSize } from "../shared/surface.js";
import { thumbnail } from "../overview/tiles.js";

/** @import { Source } from "../head/head_numbers.js" */
/** @import { HeadHeader, LiveHeader, OverviewHeader, RawHead } from "../shared/types.js" */

const GROUP = "live";
const INLINE = "inline";
const SIDE = 32;
/** Below this width the head stands under the overview. */
const NARROW = 900;

/** The source of a head's numbers, its tokens joined and left out as the view has them. */
/** @param {LiveHeader} view @param {RawHead} raw @returns {Source} */
function numbersOf({ arranged }, raw) {
  const { rows, cols, merged, renormalise } = arranged ?? { rows: null, cols: null, merged: false, renormalise: false };
  return { raw, how: { shape: raw.shape, rows, cols, merged, renormalise, norms: null } };
}

/** What the header says of the head at this place. */
/** @param {HeadHeader} first @param {HeadHeader} header @param {[number, number]} tile @returns {HeadHeader} */
function headerOf(first, header, tile) {
  const other = headerOfOther(header, tile);
  return { ...other, title: sameHead(tile, first.tile) ? first.title : other.title, data: String(tile), pins: null };
}

/** @param {LiveHeader} view @param {AllHeads} all @returns {[OverviewHeader, Uint8Array]} */
function tilesOf(view, all) {
  const [nq, nk] = all.heads[0].shape;
  const [rows, columns] = [Math.min(SIDE, nq), Math.min(SIDE, nk)];
  const codes = new Uint8Array(all.heads.length * rows * columns);
  all.heads.forEach((head, i) => {
    const weights = head.exact ? attend(head, head.mask, head.scale) : head.scores;
    const tile = codes.subarray(i * rows * columns, (i + 1) * rows * columns);
    thumbnail(weights, head.mask, head.shape, SIDE, tile);
  });
  const header = { ...view.overview, data: GROUP, shape: /** @type {[number, number]} */ ([rows, columns]) };
  return [header, codes];
}

/** @param {LiveHeader} view @param {boolean} several */
function frame(view, several) {
  const top = el("header", "live-top");
  top.append(el("h1", "", view.title));
  const overview = el("section", "av-root live-overview", null, { "aria-label": view.words.all });
  const head = el("section", "av-root live-head");
  const columns = el("div", several ? "live-columns" : "live-one");
  if (several) columns.append(overview);
  columns.append(head);
  fillFile([top, columns], view);
  return { overview, head };
}

begin(async () => {
  /** @type {LiveHeader} */
  const view = JSON.parse(textOf("attnviz-view"));
  const packed = bytesInFile();
  const all = new AllHeads(await inflate(packed), INLINE);
  const several = all.heads.length > 1;
  const boxes = frame(view, several);
  const group = groupOf(GROUP);
  Object.assign(group, { all, tiles: GROUP, selected: view.head.tile });
  const large = new HeadView(boxes.head);
  const small = several ? new Overview(boxes.overview) : null;
  const show = (/** @type {HeadHeader} */ header) => {
    const raw = all.head(header.tile);
    if (raw) large.take(header, numbersOf(view, raw), false);
  };
  const draw = () => {
    const shown = large.held?.header;
    small?.take(...tilesOf(view, all));
    show(shown ? { ...shown, pins: null } : view.head);
  };
  draw();
  small?.bringIntoView(small.chosen());
  watchSize(boxes.head, () => large.resize());
  if (small)
    watchSize(boxes.overview, () => {
      const late = !small.laid;
      small.resize();
      if (late) small.bringIntoView(small.chosen());
    });
  onOtherTheme(draw);
  group.listeners.add((what) => {
    const { header } = large.drawn;
    if (what !== "selected" || !group.selected || sameHead(group.selected, header.tile)) return;
    show(headerOf(view.head, header, group.selected));
    if (innerWidth < NARROW) boxes.head.scrollIntoView({ block: "start", behavior: scrolling() });
  });
});
