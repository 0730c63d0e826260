// All heads small and one of them large, from scores that are here: what a file that leaves the app and the site show.

import { HeadComponent } from "../head/head.js";
import { offerHead } from "../head/head_offer.js";
import { otherHeadHeader, PLAIN } from "../head/head_numbers.js";
import { Overview } from "../overview/overview.js";
import { SIDE, thumbnail } from "../overview/tiles.js";
import { AllHeads } from "../shared/raw_scores.js";
import { attend } from "../shared/attend.js";
import { el } from "../shared/dom.js";
import { filmMenu } from "../shared/film_menu.js";
import { groupOf, isSameHead } from "../shared/group.js";
import { scrollBehaviour } from "../shared/motion.js";
import { inflate } from "../shared/packing.js";
import { afterPainting, watchSize } from "../shared/surface.js";
import { embeddedBytes, fillFile, filmPart, onOtherTheme } from "./file_page.js";

/** @import { Source } from "../head/head_numbers.js" */
/** @import { Foot } from "./file_page.js" */
/** @import { Arrangement, HeadHeader, OverviewHeader, RawHead, Words } from "../shared/types.js" */
/** @typedef {{ head: HeadHeader, overview: OverviewHeader, arranged: Arrangement | null, words: Words }} HeadsHeader */
/**
 * What the file that leaves the app shows first; `film`: what stands on the controls of films, null where heads have no scores.
 * @typedef {HeadsHeader & Foot & { title: string, film: Words | null }} LiveHeader
 */

const GROUP = "live";
/** Below this width the head stands under the overview. */
const NARROW = 900;

export class HeadsFrame {
  /** @param {HeadsHeader} view @param {AllHeads} all @param {Uint8Array} [codes] of the small pictures, if they are known */
  constructor(view, all, codes) {
    const several = all.heads.length > 1;
    const overview = el("section", "av-root live-overview", null, { "aria-label": view.words.all });
    this.box = el("section", "av-root live-head");
    this.root = el("div", several ? "live-columns" : "live-one");
    if (several) this.root.append(overview);
    this.root.append(this.box);
    this.group = groupOf(GROUP);
    this.large = new HeadComponent(this.box);
    this.small = several ? new Overview(overview) : null;
    this.view = view;
    void this.take(view, all, codes);
    watchSize(this.box, () => this.large.resize());
    if (this.small) watchSize(overview, () => this.sized());
    this.group.listeners.add((what) => {
      if (what === "selected") this.choose();
    });
  }

  /**
   * Other heads, or other tokens; done once they are drawn. @param {HeadsHeader} view @param {AllHeads} all
   * @param {Uint8Array} [codes]
   */
  async take(view, all, codes) {
    this.view = view;
    Object.assign(this.group, { all, tiles: view.head.doc, selected: view.head.tile });
    this.codes = codes;
    const first = !this.large.held;
    for (const part of [() => this.mosaic(), () => this.show(this.view.head)]) {
      if (!first) await new Promise(afterPainting); // each in a task of its own: the page answers in between
      part();
    }
  }

  /** Draws the small pictures. */
  mosaic() {
    if (this.group.all) this.small?.take(...this.tiles(this.group.all));
    this.small?.bringIntoView(this.small.chosen());
  }

  /** Draw all of it again. */
  draw() {
    const shown = this.large.held?.header;
    this.mosaic();
    this.show(shown ? { ...shown, pins: null } : this.view.head);
  }

  /** @param {HeadHeader} header */
  show(header) {
    const raw = this.group.all?.head(header.tile);
    if (raw) this.large.take(header, headSource(this.view, raw), false);
  }

  sized() {
    const late = !this.small?.laid;
    this.small?.resize();
    if (late) this.small?.bringIntoView(this.small.chosen());
  }

  choose() {
    const { header } = this.large.drawn;
    if (!this.group.selected || isSameHead(this.group.selected, header.tile)) return;
    this.show(headerOf(this.view.head, header, this.group.selected));
    if (innerWidth < NARROW) this.box.scrollIntoView({ block: "start", behavior: scrollBehaviour() });
  }

  /** @param {AllHeads} all @returns {[OverviewHeader, Uint8Array]} */
  tiles(all) {
    const [nq, nk] = all.heads.find(Boolean)?.shape ?? [1, 1];
    const shape = /** @type {[number, number]} */ ([Math.min(SIDE, nq), Math.min(SIDE, nk)]);
    this.codes ??= tileCodes(all, shape);
    return [{ ...this.view.overview, data: this.view.head.doc, shape }, this.codes];
  }
}

/** @param {AllHeads} all @param {[number, number]} shape */
function tileCodes(all, [rows, columns]) {
  const codes = new Uint8Array(all.heads.length * rows * columns);
  all.heads.forEach((head, i) => {
    const weights = head.exact ? attend(head, head.mask, head.scale) : head.scores;
    thumbnail(weights, head.mask, head.shape, SIDE, codes.subarray(i * rows * columns, (i + 1) * rows * columns));
  });
  return codes;
}

/** The source of a head's numbers, its tokens joined and left out as the view has them. */
/** @param {HeadsHeader} view @param {RawHead} raw @returns {Source} */
function headSource({ arranged }, raw) {
  return { raw, how: { ...PLAIN, ...arranged, norms: null, shape: raw.shape } };
}

/** What the header says of the head at this place. */
/** @param {HeadHeader} first @param {HeadHeader} header @param {[number, number]} tile @returns {HeadHeader} */
function headerOf(first, header, tile) {
  const other = otherHeadHeader(header, tile);
  const data = `${first.doc},${tile}`;
  return { ...other, title: isSameHead(tile, first.tile) ? first.title : other.title, data, pins: null };
}

/** @param {LiveHeader} view */
export async function openFile(view) {
  const frame = new HeadsFrame(view, AllHeads.read(await inflate(embeddedBytes())));
  const top = el("header", "live-top");
  top.append(el("h1", "", view.title));
  offerHead(frame.large);
  const film = view.film ? [filmPart(frame.box, filmMenu, { ...view, film: view.film })] : [];
  fillFile([top, frame.root, ...film], view);
  frame.draw();
  onOtherTheme(() => frame.draw());
}
