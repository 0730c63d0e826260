// One head large: heatmap, token lines and sentence, lit together; pins are told to Python when a gesture ends.

import { bringAllHeads } from "../shared/raw_scores.js";
import { CellSteps, offerCell } from "./cell_steps.js";
import { Chips } from "./chips.js";
import { readTheme } from "../shared/colour.js";
import { drawColourBar } from "../shared/colour_bar.js";
import { Drawing, viewComponent } from "../shared/component.js";
import { el, joinTexts, liveRegion, setProperty, setText } from "../shared/dom.js";
import { startGroup, adoptEdit, adoptOverlay, groupOf, Member, isSameHead, tell } from "../shared/group.js";
import { HeadControls } from "./head_controls.js";
import { HeadGuess } from "./head_guess.js";
import { firstPinnedToken, highlightedTokens, press, release, describedRow } from "./head_gestures.js";
import { fetchAround, HeadSupply } from "./head_supply.js";
import { Drawn, toMatrix, readSource } from "./head_numbers.js";
import { changeText, nameStage, readoutText, rowSentence, sumUp, titleText } from "./head_readout.js";
import { offerHead } from "./head_offer.js";
import { HeadFinder } from "./head_finder.js";
import { HeadTools } from "./head_tools.js";
import { Heatmap } from "../heatmap/heatmap.js";
import { rowSumTexts } from "../heatmap/heatmap_scene.js";
import { Lines } from "../lines/lines.js";
import { MaskHandles } from "./mask_handles.js";
import { setMarkedText, unmarked } from "../shared/marked_text.js";
import { bringIntoWindow, Room } from "./room.js";
import { afterPainting, markPainted, measureTime, oncePerFrame, runSoon } from "../shared/surface.js";
import { bringEditedTiles } from "../overview/tiles.js";
import { asLargeAsBefore } from "../shared/window.js";
import { clampZoom, visibleSpans, zoomAt } from "../shared/zoom.js";

/** @import { Change, Group } from "../shared/group.js" */
/** @import { Source } from "./head_numbers.js" */
/** @import { Component, HeadHeader, Hover, Zoom } from "../shared/types.js" */

/** @extends {Drawing<HeadHeader, Drawn>} */
export class HeadComponent extends Drawing {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.head = el("div", "av-wrap av-head");
    this.titleBox = el("div", "av-strong av-title");
    this.read = el("div", "av-readout", "", { "data-testid": "readout" });
    this.tools = new HeadTools(this);
    this.help = el("div", "av-sr", null, { id: "help" });
    this.live = liveRegion();
    this.pair = el("div", "av-pair");
    this.main = el("div", "av-main");
    this.side = el("div", "av-side");
    this.bar = el("div", "av-bar-row");
    this.foot = el("div", "av-foot");
    this.said = el("div", "av-said", "", { "data-testid": "said" });
    this.heatmap = new Heatmap(this);
    this.controls = new HeadControls(this);
    this.guess = new HeadGuess(this);
    this.finder = new HeadFinder(this);
    this.room = new Room(this);
    this.count = 0;
    /** @type {string | null} the title of the head that was told of last */
    this.titleSaid = null;
    this.lines = new Lines(this);
    this.chips = new Chips(this);
    this.steps = new CellSteps(this);
    this.handles = new MaskHandles(this);
    this.supply = new HeadSupply(this);
    this.relight = oncePerFrame(() => asLargeAsBefore(() => this.light()));
    this.redraw = oncePerFrame(() => this.draw());
    this.reedit = oncePerFrame(() => this.recompute());
    this.summarise = runSoon(() => sumUp(this));
    this.member = new Member((what) => this.hear(what));
    root.tabIndex = -1;
    root.addEventListener("keydown", (e) => {
      if (e.key === "Escape" && !e.defaultPrevented && this.release()) e.preventDefault();
    });
    // for scripts and tests
    const tokens = () => [this.drawn.header.q, this.drawn.header.k ?? this.drawn.header.q];
    Object.assign(this.heatmap.stage, { matrix: () => toMatrix(this.drawn), tokens });
    Object.assign(this.lines.stage, { matrices: () => this.lines.overlay.layers.map(toMatrix) });
  }

  get drawn() {
    return this.shown;
  }

  /** What a stroke over the matrix paints: the mask, or what heads are asked to do. */
  get painter() {
    return this.finder.painting ? this.finder : this.controls;
  }

  /** @param {Component} component */
  async show(component) {
    const { header, payload, turn } = this.open(component);
    const group = groupOf(header.group);
    const same = this.held?.header.data === header.data;
    const source = same && this.held ? this.held.source : await readSource(header, payload);
    if (this.held?.header.doc !== header.doc) await group.tilesPainted;
    if (turn !== this.turn) return;
    this.supply.keep(header, source, group.tiles);
    const behind = group.picks.isBehind(header.session, header.ack);
    if (!behind || !this.isOvertaken(header, group)) this.take(header, source, behind);
    if (header.tile) afterPainting(() => void bringAllHeads(group, header.every));
    if (header.tile && !behind) void bringEditedTiles(group, header.editedTiles, header.tile);
  }

  /** Whether Python answers about a head that a newer click has left behind; it is not drawn. */
  /** @param {HeadHeader} header @param {Group} group */
  isOvertaken(header, group) {
    return this.held?.header.doc === header.doc && header.tile !== null && !isSameHead(header.tile, group.selected);
  }

  /** @param {HeadHeader} header @param {Source} source @param {boolean} behind */
  take(header, source, behind) {
    const before = this.held;
    const group = groupOf(header.group);
    this.member.join(group);
    startGroup(group, header);
    if ("raw" in source && !header.compact) adoptEdit(group, header, source.raw.shape);
    adoptOverlay(group, header);
    group.zoom = clampZoom(group.zoom, header.shape);
    const fresh = before?.header.doc !== header.doc;
    this.hold(new Drawn(header, source, group, readTheme(this.root, header.colours), before));
    this.compute();
    this.select(behind);
    const other = fresh || partsOf(header) !== partsOf(before?.header);
    if (other && header.chips) this.chips.build();
    this.dress();
    if (other) this.room.measure(before !== null);
    else this.room.again();
    for (const each of [this.relight, this.redraw, this.reedit]) each.forget(); // what was told above is drawn by now
  }

  /** The numbers on show, under the edit where there is one. */
  compute() {
    this.count += 1;
    const { header, group } = this.drawn;
    const seen = this.guess.row !== null ? "after" : header.edit === null ? "before" : this.controls.seen;
    this.drawn.compute(seen, this.count, this.guess.edited(group.edit));
  }

  /** The numbers again, and the picture of them, in the frame in which the edit changed. */
  recompute() {
    if (!this.held || this.held.header.edit === null) return;
    const start = performance.now();
    const scaleOf = (/** @type {Drawn} */ { header, hasMasked }) => [header.signed, header.scale.top, hasMasked].join();
    const before = scaleOf(this.held);
    this.compute();
    this.controls.update();
    setText(this.titleBox, titleText(this.drawn, this.controls.seen));
    if (scaleOf(this.held) !== before) this.drawBar();
    asLargeAsBefore(() => this.draw());
    measureTime("attnviz-edit", start);
  }

  drawBar() {
    const { header, words, hasMasked, theme } = this.drawn;
    const unit = this.controls.seen === "difference" && header.edit !== null ? words.change_unit : header.unit;
    drawColourBar(this.bar, { ...header, unit }, theme.dark, hasMasked ? words.hidden : null);
    this.placeBar();
  }

  /** Beside the matrix, as high as it is, where no sums of rows stand; else below it. */
  placeBar() {
    const { bar, heatmap, drawn, tools } = this;
    const { sums } = drawn;
    const upright = tools.isFull && (sums === null || rowSumTexts(sums.rows, heatmap.cells()).length === 0);
    bar.classList.toggle("av-upright", upright);
    if (bar.parentElement !== (upright ? heatmap.stage : this.side) && tools.isFull)
      (upright ? heatmap.stage : this.side).append(bar);
    const { x, y, w, h } = heatmap.plot;
    Object.assign(
      bar.style,
      upright ? { left: `${x + w + 8}px`, top: `${y}px`, height: `${h}px` } : { left: "", top: "", height: "" },
    );
  }

  /** The sentence about the chosen row, else about the one that tells most; with its title, where it is of another head. */
  say() {
    const { header, words } = this.drawn;
    const about = header.sentence;
    setProperty(this.said, "hidden", about === null);
    if (about === null) return;
    const said = header.signed ? changeText(this.drawn) : rowSentence(this.drawn, about, describedRow(this.drawn));
    setMarkedText(this.said, this.guess.sentence(said));
    this.guess.offer();
    const before = this.titleSaid;
    this.titleSaid = header.title;
    if (before !== null && before !== header.title)
      this.announce(joinTexts(words.join_heard, [header.title, unmarked(said)]));
  }

  /** Texts that follow the header. */
  dress() {
    const { header } = this.drawn;
    this.root.classList.toggle("av-compact", header.compact);
    setText(this.titleBox, titleText(this.drawn, this.controls.seen));
    this.summarise();
    nameStage(this);
    this.chips.box.hidden = !header.chips;
    this.drawBar();
    this.controls.refresh();
    this.finder.refresh();
    this.tools.refresh();
  }

  /** Says which head is on show, for the overview, unless a newer click has overtaken it. @param {boolean} behind */
  select(behind) {
    const { header, group } = this.drawn;
    if (!header.tile || behind) return;
    if (!isSameHead(group.selected, header.tile)) {
      group.selected = header.tile;
      tell(group, "selected");
    }
    this.wait();
  }

  leave() {
    this.member.leave();
  }

  /** @param {Change} what */
  hear(what) {
    if (!this.held) return;
    const { group, header } = this.held;
    if (["edit", "selected", "document"].includes(what)) this.guess.end();
    if (what === "all") this.finder.refresh();
    if (["zoom", "document", "over", "all", "counts"].includes(what)) this.redraw();
    else if (what === "hover" || what === "pins") this.relight();
    else if (what === "edit") this.reedit();
    else if (what === "left") this.supply.keepShown();
    else if (what === "sentence") this.supply.bringShownBefore();
    else if (what === "pointed") void fetchAround(group, (tile) => this.supply.fetch(tile));
    else if (what === "selected") {
      bringIntoWindow(this.root, !isSameHead(header.tile, group.selected));
      this.supply.bring(this.supply.known(group.selected));
      group.coming = this.supply.fetch(group.selected);
      this.wait();
    }
  }

  /** Marks that another head was chosen and has not come yet; the mark shows if it takes long. */
  wait() {
    const { header, group } = this.drawn;
    this.root.classList.toggle("av-pending", header.tile !== null && !isSameHead(header.tile, group.selected));
  }

  resize() {
    if (this.held) this.room.measure();
  }

  /** @param {boolean} [lines] whether they are drawn at once, or in a task of their own */
  draw(lines = true) {
    if (!this.held || !this.heatmap.width) return;
    this.heatmap.draw();
    this.handles.place();
    this.placeBar();
    if (this.held.header.lines) this.lines.draw(lines && this.lines.inWindow);
    this.light();
    this.tools.draw();
    markPainted(this.root, "attnviz-head-painted", this.held.header.data);
  }

  light() {
    if (!this.held || !this.heatmap.width) return;
    const { header, group, words } = this.held;
    this.heatmap.light();
    if (header.lines) this.lines.light();
    if (header.chips) this.chips.light();
    this.steps.light();
    this.say();
    const text = this.readout();
    setText(this.read, this.guess.row !== null ? words.guess_alike : text || words.idle);
    this.read.classList.toggle("av-idle", !text);
    this.tools.light();
    this.root.dataset.pins = group.pins.map((p) => p.axis + p.i).join(" ");
  }

  lit() {
    const { group, header } = this.drawn;
    const found = highlightedTokens(group, header.shape);
    if (found.length || !header.litRow || header.signed) return found;
    return [{ axis: /** @type {const} */ ("q"), i: describedRow(this.drawn), pin: false }];
  }

  lead() {
    return firstPinnedToken(this.drawn.group);
  }

  /** What is pointed at (or pinned last), in words. */
  readout() {
    return readoutText(this.drawn, this.lead());
  }

  /** @param {Hover} hit */
  press(hit) {
    if (this.guess.answer(hit)) this.announce(unmarked(this.guess.sentence("")));
    else press(this, hit);
  }

  release() {
    this.guess.end();
    return this.held !== null && release(this);
  }

  /** @param {Zoom} zoom */
  setZoom(zoom) {
    const { group, header } = this.drawn;
    group.zoom = clampZoom(zoom, header.shape);
    tell(group, "zoom");
  }

  /** Zooms about a point, in cells; without one, about what is pointed at, the chosen cell or the middle. */
  /** @param {number} factor @param {number} [q] @param {number} [k] */
  zoomBy(factor, q, k) {
    const { group, header } = this.drawn;
    const { zoom, hover, cell } = group;
    const span = visibleSpans(zoom, header.shape);
    const at = hover?.axis === "cell" ? [hover.q, hover.k] : cell;
    const centre = at ? [at[0] + 0.5, at[1] + 0.5] : [zoom.q0 + span.q / 2, zoom.k0 + span.k / 2];
    this.setZoom(zoomAt(zoom, factor, q ?? centre[0], k ?? centre[1], header.shape));
  }

  /** @param {string} text */
  announce(text) {
    this.live.textContent = text;
  }
}

/** Layout key: the view is rebuilt when the parts that it has, or the language of their names, change. */
/** @param {HeadHeader} [header] */
function partsOf(header) {
  if (!header) return undefined;
  const { segments, chips, lines, compact, edit, words } = header;
  return JSON.stringify([segments, chips, lines, compact, edit === null, words.looks]);
}

/** The head on a page, where a menu below it saves it; in a live file there is none. */
class SavedHead extends HeadComponent {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    offerHead(this);
    offerCell(this);
  }
}

export default /* @__PURE__ */ viewComponent(SavedHead);
