// A long text and one of a model's heads: all heads small, the head as a pyramid, the text beside it, answers below.

import { HeadControls } from "../head/head_controls.js";
import { Overview } from "../overview/overview.js";
import { cssGradient, readTheme } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import {
  addButton,
  createBox,
  createButton,
  el,
  fill,
  joinTexts,
  listOf,
  liveRegion,
  setText,
  visibleToken,
} from "../shared/dom.js";
import { groupOf, Member, isSameHead, packEdit, tell, unpackEdit } from "../shared/group.js";
import { formatFixed, formatFourDigits, formatGrouped, formatPercent } from "../shared/numbers.js";
import { offerPicture } from "../shared/offer.js";
import { placeOfHead } from "../shared/raw_scores.js";
import { pause } from "../shared/surface.js";
import { writeAnswers } from "./answers.js";
import { HeadSupply, ruleOf } from "./head_supply.js";
import { Pyramid } from "./pyramid.js";
import { TextPane } from "./text_pane.js";
import { textFigure } from "./text_scene.js";
import { codeWeight, DECADES, TILE, unitOf } from "./tile_numbers.js";

/** @import { Colours, Component, FigurePart, HeadEdit, OverviewHeader, Words } from "../shared/types.js" */
/** @import { Cell } from "./pyramid.js" */
/** @import { Overview as HeadOverview, Place } from "./head_supply.js" */

/** @typedef {[start: number, stop: number]} Span */
/** @typedef {{ tile: Place, unit: string, pinned: Span | null, hidden: Span | null, edit: HeadEdit }} State */
/**
 * @typedef {{ doc: string, tokens: string[], units: Record<string, number[]>, overview: OverviewHeader, state: State, profiles: { sink: number, beyond: number, far: number, entropy: number }[],
 *   answers: { words: string[], tokens: Span[], address: string, hidden: Span | null }[], retrieval: [number, number, number][],
 *   colours: Colours, texts: Words, words: Words, session: string, ack: number, parts?: [name: string, start: number, stop: number][] }} LongTextHeader
 */

const SMALL = 32; // cells a side of a small head, at most
const FINER = 4; // rows of each band when nobody waits
const GROUP = "long text";

/** @extends {View<LongTextHeader>} */
export class LongText extends View {
  /** @type {State | null} */
  stood = null;
  group = groupOf(GROUP);
  /** @type {HeadOverview | null} the head on show, under the model's own mask and scale */
  overview = null;
  /** @type {Span | null} tokens that are pointed at */
  pointed = null;
  /** @type {{ answer: number, word: number } | null} the word of an answer that is looked from */
  asked = null;
  asking = 0;
  loading = 0;
  // what HeadControls ask of a view, besides what is drawn
  finder = { painting: false, open() {} };
  read = el("div");

  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.bar = createBox("lt-bar");
    this.wall = el("section", "av-root lt-wall", null, { "data-testid": "wall" });
    this.wallNote = el("div", "av-small lt-note");
    this.said = el("div", "av-readout", "", { "data-testid": "cell" });
    this.strongest = createBox("lt-strongest");
    this.answers = createBox("lt-answers");
    this.live = liveRegion();
    this.profile = el("div", "av-small");
    this.legend = createBox("lt-legend");
    this.titleBox = el("span", "av-strong av-title");
    this.supply = new HeadSupply("", () => null, new Map());
    const [left, side] = [createBox("lt-left"), createBox("lt-side")];
    this.pyramid = new Pyramid(left, {
      supply: () => this.supply,
      labelOf: (unit, most) => this.pane.labelOf(unit, most),
      point: (cell) => this.pointCell(cell),
      press: (cell) => this.pressCell(cell),
    });
    this.pane = new TextPane(side, {
      point: (unit) => this.point(unit === null ? null : this.pane.spanOf(unit)),
      press: (unit) => this.pin(this.pane.spanOf(unit)),
    });
    this.small = new Overview(this.wall);
    this.controls = new HeadControls(this, { long: true, emit: () => this.emitEdit() });
    left.append(this.controls.box, this.controls.changed, this.legend, this.said, this.profile);
    side.append(this.strongest);
    root.replaceChildren(
      this.bar,
      createBox("lt-main", createBox("lt-heads", this.wall, this.wallNote), left, side),
      this.answers,
      this.live,
    );
    this.member = new Member((what) => this.hear(what));
    this.member.join(this.group);
    offerPicture(root, () => [this.part()], textFigure);
  }

  /** Where a hand left the picture. */
  get state() {
    return this.stood ?? this.header.state;
  }

  /** @param {string} what has changed: of mask and scale, or the head that was chosen */
  hear(what) {
    if (!this.held) return;
    const { selected } = this.group;
    if (what === "edit") {
      this.controls.update();
      void this.loadHead();
    } else if (what === "selected" && selected && !isSameHead(selected, this.state.tile)) {
      if (this.supply.has(selected)) this.report({ tile: selected });
      else {
        const [layer, head] = selected;
        const { texts } = this.header;
        const absent = fill(texts.absent, { head: fill(texts.head, { layer, head }) });
        this.select();
        setText(this.profile, joinTexts("{first} {next}", [absent, this.profileOf(selected)]));
      }
    }
  }

  /** What HeadControls change: mask and scale of a head whose weights can be made here. */
  get drawn() {
    const { header, group, state, overview } = this;
    const plain = overview?.plain ? overview : null;
    const about = { tile: state.tile, session: header.session, doc: header.doc, q: [], k: null, compact: false };
    const shape = [header.tokens.length, header.tokens.length];
    const raw = plain && { exact: true, scale: plain.scale, dHead: plain.width, shape };
    return /** @type {any} */ ({
      header: { ...about, words: header.words, edit: plain && state.edit },
      words: header.words,
      group,
      maker: raw && { raw, how: null },
    });
  }

  redraw() {
    this.draw();
  }

  /** @param {string} text */
  announce(text) {
    setText(this.live, text);
  }

  emitEdit() {
    this.group.editing = false;
    this.report({ edit: packEdit(this.group.edit) });
  }

  /** @param {Component} component */
  show(component) {
    const { before, header, payload } = this.receive(component);
    const behind = this.gestures.isBehind(header.session, header.ack);
    const earlier = before && this.state;
    if (!behind || !before) this.stood = header.state;
    if (before?.doc !== header.doc) this.begin(payload);
    if (!behind && !this.group.editing) this.group.edit = unpackEdit(this.state.edit, [0, 0]);
    this.theme = readTheme(this.root, header.colours);
    this.pane.theme = this.theme;
    const about = (/** @type {State} */ { tile, edit }) => JSON.stringify([tile, edit]);
    if (!earlier || before.doc !== header.doc || about(earlier) !== about(this.state)) void this.loadHead();
    this.draw();
    writeAnswers(this);
    const [best] = header.retrieval;
    if (best && before?.doc === header.doc && header.answers[0].address !== before.answers[0]?.address) {
      this.asked = { answer: 0, word: 0 };
      this.pointed = null;
      this.report({ tile: [best[0], best[1]], pinned: null }); // the head that shows best where the answer came from
    }
    void this.look();
  }

  /** Makes the parts anew, for another text. @param {Uint8Array} payload what came along */
  begin(payload) {
    const { texts, tokens, units, doc } = this.header;
    const gone = () => {
      setText(this.said, texts.gone);
      this.report({});
    };
    const parts = new Map((this.header.parts ?? []).map(([name, ...ends]) => [name, payload.slice(...ends)]));
    this.supply.leave();
    this.supply = new HeadSupply(doc, gone, parts);
    this.pyramid.reset();
    this.pyramid.stage.setAttribute("aria-label", texts.picture);
    this.pane.text.setAttribute("aria-label", texts.text);
    this.pane.map.setAttribute("aria-label", texts.map);
    Object.assign(this, { pointed: null, asked: null, overview: null });
    this.writeLegend();
    this.pane.write(tokens, units.paragraph);
    setText(this.said, texts.point);
    this.writeBar();
    setText(this.wallNote, "");
    void this.loadWalls();
  }

  writeLegend() {
    const least = (10 ** -DECADES).toFixed(DECADES);
    this.legend.replaceChildren(this.header.texts.legend, el("span", "", least), el("i"), el("span", "", "1"));
  }

  writeBar() {
    const { texts, units } = this.header;
    const choices = ["word", "sentence", "paragraph", "turn"].filter((name) => units[name]);
    const options = choices.map((name) => new Option(texts[name], name, false, name === this.state.unit));
    const change = (/** @type {string} */ unit) => this.report({ unit, pinned: null });
    const list = listOf("lt-units", options, change, { "aria-label": texts.units });
    const count = el("span", "av-small", "", { "data-testid": "matches" });
    const search = el("input", "lt-search", null, {
      type: "search",
      placeholder: texts.search,
      "aria-label": texts.search,
    });
    const visit = (/** @type {number} */ by) => {
      const { matches, match } = this.pane;
      if (!matches.length) return;
      this.pane.match = (match + by + matches.length) % matches.length;
      setText(count, fill(texts.matches, { at: this.pane.match + 1, count: matches.length }));
      this.pane.visit(matches[this.pane.match][0]);
    };
    search.addEventListener("input", () => {
      setText(count, this.pane.search(search.value) || !search.value ? "" : fill(texts.matches, { at: 0, count: 0 }));
      visit(0);
    });
    search.addEventListener("keydown", (event) => event.key === "Enter" && visit(event.shiftKey ? -1 : 1));
    this.bar.replaceChildren(this.titleBox, el("span", "", texts.units), list, search);
    addButton(this.bar, "‹", texts.previous, () => visit(-1));
    addButton(this.bar, "›", texts.next, () => visit(1));
    this.bar.append(count);
    const zoom = createBox("lt-zoom");
    addButton(zoom, "+", texts.closer, () => this.pyramid.magnify(2));
    addButton(zoom, "−", texts.farther, () => this.pyramid.magnify(0.5));
    addButton(zoom, "⤢", texts.all, () => this.pyramid.magnify(1e-9));
    this.bar.append(zoom);
  }

  resize() {
    if (this.held) this.draw();
  }

  draw() {
    const { theme, header, pyramid, pane, state } = this;
    if (!theme) return;
    const starts = header.units[state.unit] ?? header.units.sentence;
    pane.starts = starts;
    this.root.style.setProperty("--lt-ramp", cssGradient(header.colours.weights));
    pyramid.show({ tokens: header.tokens.length, starts, theme, stops: header.colours.weights });
    const [layer, head] = state.tile;
    setText(this.titleBox, fill(header.texts.head, { layer, head }));
    setText(this.profile, this.profileOf(state.tile));
    this.select();
    this.controls.refresh();
    pane.drawMap();
  }

  /** What a head does on average, where that is known. @param {Place} place */
  profileOf(place) {
    const { profiles, overview, texts } = this.header;
    const known = profiles[placeOfHead(overview.heads, ...place)];
    if (!known) return "";
    const [sink, beyond] = [known.sink, known.beyond].map((share) => formatPercent(share));
    return fill(texts.profile, { sink, beyond, far: formatGrouped(known.far), entropy: formatFixed(known.entropy, 2) });
  }

  /** Lights the head on show among the small ones, and those that an answer was copied by. */
  select() {
    const { group, header, state } = this;
    Object.assign(group, { selected: state.tile, found: header.retrieval.map(([layer, head]) => [layer, head]) });
    tell(group, "found");
  }

  /** Draws the head on show under the mask and scale that are set: sampled rows first, where they are not the model's. */
  async loadHead() {
    const turn = ++this.loading;
    const { supply, pyramid, state, header, group } = this;
    const place = state.tile;
    const own = isSameHead(this.overview?.place ?? null, place) ? this.overview : await supply.overview(place);
    if (this.loading !== turn || !own) return;
    if (this.overview !== own) {
      this.overview = own;
      this.controls.refresh();
    }
    const rule = ruleOf(group.peeking ? { ...group.edit, seen: "before" } : group.edit, own);
    supply.forget();
    const n = header.tokens.length;
    const sketch = rule ? await supply.compute(own, rule, "sketch", [own.step]) : own;
    if (this.loading !== turn || !sketch) return;
    const head = { ...own, ...sketch };
    pyramid.paintHead(head, rule);
    this.root.dataset.head = place.join(".");
    this.root.dataset.rule = rule ? JSON.stringify(rule) : "";
    void this.look();
    if (!rule || own.step === 1) return;
    for (let start = 0; start < n; start += TILE) {
      const strip = await supply.compute(own, rule, "strip", [own.step, start, Math.min(n, start + TILE)]);
      if (this.loading !== turn || !strip) return;
      head.codes.set(strip.codes, (start / own.step) * head.columns);
      head.weights?.set(strip.weights, (start / own.step) * head.columns);
      pyramid.paintHead(head, rule);
    }
  }

  async loadWalls() {
    const { supply } = this;
    await this.loadWall(1);
    await pause(3000);
    if (this.supply === supply && !supply.parts.size) await this.loadWall(FINER);
  }

  /** @param {number} rows of each band that are computed */
  async loadWall(rows) {
    const { supply, header } = this;
    const codes = await supply.fetch("wall", rows);
    if (this.supply !== supply) return;
    const { wall, wall_sampled: sampled } = header.texts;
    setText(this.wallNote, header.tokens.length > rows * SMALL ? fill(sampled, { rows: rows * SMALL }) : wall);
    const side = Math.min(SMALL, header.tokens.length);
    this.small.take(
      { ...header.overview, group: GROUP, asked: null, data: `${header.doc}${rows}`, shape: [side, side] },
      codes,
    );
  }

  /** What is on show, for a file. @returns {FigurePart} */
  part() {
    const { header, pane, pyramid, titleBox } = this;
    const [shown, codes] = pyramid.shown;
    const ends = [...shown.first, ...shown.first.map((at) => at + shown.span)].map((at) => this.unitAt(Math.floor(at)));
    /** @type {Record<number, string>} */
    const labels = {};
    for (let unit = Math.min(...ends); unit <= Math.max(...ends); unit++) labels[unit] = pane.labelOf(unit, 20);
    const { colours, texts } = header;
    const about = { colours, legend: texts.legend, starts: pane.starts, labels, title: titleBox.textContent ?? "" };
    return ["text", { ...shown, ...about }, codes];
  }

  /** Changes the state here and tells Python. @param {Partial<State>} change */
  report(change) {
    const moved = change.tile && change.tile.join() !== this.state.tile.join();
    this.stood = { ...this.state, ...change };
    if (moved) void this.loadHead();
    writeAnswers(this);
    this.draw();
    void this.look();
    this.tellPython("stood", { ...this.state, doc: this.header.doc });
  }

  /** @param {Span | null} span */
  point(span) {
    if (span?.join() === this.pointed?.join()) return;
    this.pointed = span;
    void this.look();
  }

  /** @param {Span} span */
  pin(span) {
    this.asked = null;
    this.report({ pinned: span.join() === this.state.pinned?.join() ? null : span });
  }

  /** @param {Cell | null} cell */
  pointCell(cell) {
    const { texts, tokens } = this.header;
    const { pane } = this;
    pane.outline("k", cell && [cell.key, cell.key + 1]);
    pane.outline("q", cell && [cell.query, cell.query + 1]);
    if (!cell) return;
    const { size, code, weight } = cell;
    const value = formatFourDigits(weight ?? codeWeight(code));
    const [query, key] = [cell.query, cell.key].map((at) => visibleToken(tokens[at].trim() || tokens[at]));
    const names = { query, key, weight: value, size };
    setText(this.said, fill(code === 0 ? texts.masked : size > 1 ? texts.block : texts.cell, names));
  }

  /** @param {Cell} cell */
  pressCell(cell) {
    this.pin(this.pane.spanOf(this.unitAt(cell.query)));
    this.pane.visit(cell.key);
  }

  /** @param {number} token */
  unitAt(token) {
    return unitOf(this.pane.starts, token);
  }

  /** Lets glow what is looked at from what is pointed at, pinned or asked. */
  async look() {
    const { pane, supply, header, state, pyramid } = this;
    const turn = ++this.asking;
    const span = this.pointed ?? (this.asked ? null : state.pinned);
    const { asked } = this;
    const answer = !span && asked ? header.answers[asked.answer] : null;
    /** @type {Float32Array | null} */
    let row = null;
    try {
      if (span && pyramid.head) row = await supply.row(pyramid.head, pyramid.rule, span);
      else if (answer && asked) row = await supply.answer(answer.address, state.tile, answer.tokens[asked.word]);
    } catch {
      return;
    }
    if (turn !== this.asking) return;
    this.pyramid.marked = span;
    this.pyramid.draw();
    pane.outline("q", span);
    pane.glow(row);
    const unit = span ? pane.labelOf(this.unitAt(span[0])) : answer && asked ? answer.words[asked.word] : "";
    this.writeStrongest(row, unit, Boolean(span));
  }

  /** @param {Float32Array | null} row @param {string} unit @param {boolean} isText whether the text looks, or an answer */
  writeStrongest(row, unit, isText) {
    const { texts } = this.header;
    if (!row) {
      this.strongest.replaceChildren();
      return;
    }
    if (!this.pane.glowing.length) {
      this.strongest.replaceChildren(el("div", "", fill(texts.only, { unit }))); // the first token, which sees no other
      return;
    }
    /** @type {HTMLElement[]} */
    const nodes = [el("div", "", fill(isText ? texts.looks : texts.wrote, { unit }))];
    for (const [strong, share] of this.pane.glowing.slice(0, 4)) {
      const label = `${formatPercent(share)}  “${this.pane.labelOf(strong)}”`;
      nodes.push(createButton("lt-strong", label, () => this.pane.visit(this.pane.spanOf(strong)[0])));
    }
    nodes.push(el("div", "av-small", fill(texts.sink, { share: formatPercent(row[0]) })));
    this.strongest.replaceChildren(...nodes);
    setText(
      this.live,
      nodes
        .slice(0, 2)
        .map((node) => node.textContent)
        .join(" "),
    );
  }
}

export default viewComponent(LongText);
