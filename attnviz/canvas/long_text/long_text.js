// A long text and one of a model's heads: all heads small, the head as a pyramid, the text beside it, answers below.

import { HeadControls } from "../head/head_controls.js";
import { Overview } from "../overview/overview.js";
import { cssGradient, readTheme } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import { addButton, createBox, createButton, el, fill, joinTexts, listOf, liveRegion, setText } from "../shared/dom.js";
import { visibleToken } from "../shared/dom.js";
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
import { codeWeight, DECADES, unitOf } from "./tile_numbers.js";

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
  supply = new HeadSupply("", () => null, new Map());
  bar = createBox("av-line av-wrap lt-bar");
  wall = el("section", "av-root", null, { "data-testid": "wall" });
  wallNote = el("div", "av-small");
  said = el("div", "av-readout", "", { "data-testid": "cell" });
  strongest = createBox("lt-strongest");
  answers = createBox("lt-answers");
  live = liveRegion();
  profile = el("div", "av-small");
  legend = createBox("av-line lt-legend");
  titleBox = el("span", "av-strong av-title");
  small = new Overview(this.wall);

  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    const [left, side] = [createBox("lt-left"), createBox("lt-side")];
    this.pyramid = new Pyramid(left, {
      supply: () => this.supply,
      names: (perPixel) => this.pane.names(perPixel),
      point: (cell) => this.pointCell(cell),
      press: (cell) => {
        this.pin(this.pane.spanOf(this.unitAt(cell.query)));
        this.pane.visit(cell.key);
      },
    });
    this.pane = new TextPane(side, {
      point: (unit) => this.point(unit === null ? null : this.pane.spanOf(unit)),
      press: (unit) => this.pin(this.pane.spanOf(unit)),
    });
    this.controls = new HeadControls(this, { long: true, emit: () => this.emitEdit() });
    left.append(this.controls.box, this.controls.changed, this.legend, this.said, this.profile);
    side.append(this.strongest);
    const heads = createBox("lt-heads", this.wall, this.wallNote);
    root.replaceChildren(this.bar, createBox("av-wrap lt-main", heads, left, side, this.answers), this.live);
    this.member = new Member((what) => this.hear(what));
    this.member.join(this.group);
    offerPicture(root, () => [this.part()], textFigure);
  }

  leave() {
    this.member.leave();
    this.supply.leave();
    this.small.leave();
  }

  /** Where a hand left the picture. */
  get state() {
    return this.stood ?? this.header.state;
  }

  /** @param {string} what has changed: of mask and scale, or the head that was chosen */
  hear(what) {
    const { selected } = this.group;
    if (!this.held) return;
    if (what === "edit") {
      this.controls.update();
      void this.loadHead();
    } else if (what === "selected" && selected && !isSameHead(selected, this.state.tile)) {
      if (this.supply.has(selected)) {
        this.report({ tile: selected });
        return;
      }
      const { texts } = this.header;
      this.select();
      const absent = fill(texts.absent, { head: this.nameOf(selected) });
      setText(this.profile, joinTexts("{first} {next}", [absent, this.profileOf(selected)]));
    }
  }

  /** What HeadControls change: mask and scale of a head whose weights can be made here. */
  get drawn() {
    const { header, group, state, overview } = this;
    const { session, doc, words, tokens } = header;
    const shape = [tokens.length, tokens.length];
    const raw = overview?.plain && { exact: true, scale: overview.scale, dHead: overview.width, shape };
    const about = { tile: state.tile, session, doc, words, q: [], k: null, compact: false, edit: raw && state.edit };
    return /** @type {any} */ ({ header: about, words, group, maker: raw && { raw, how: null } });
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
    void this.loadHead();
  }

  /** @param {Component} component */
  show(component) {
    const { before, header, payload } = this.receive(component);
    const isBehind = this.gestures.isBehind(header.session, header.ack);
    const earlier = before && this.state;
    const isOther = before?.doc !== header.doc;
    if (!isBehind || !before) this.stood = header.state;
    if (isOther) this.begin(payload);
    if (!isBehind && !this.group.editing) this.group.edit = unpackEdit(this.state.edit, [0, 0]);
    this.theme = readTheme(this.root, header.colours);
    this.pane.theme = this.theme;
    const about = (/** @type {State} */ { tile, edit }) => JSON.stringify([tile, edit]);
    if (isOther || !earlier || about(earlier) !== about(this.state)) void this.loadHead();
    const [best] = header.retrieval;
    if (best && !isOther && header.answers[0].address !== before.answers[0]?.address) {
      this.report({ tile: [best[0], best[1]], pinned: null }); // the head that shows best where the answer came from
      void this.ask(0, 0);
    } else this.refresh();
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
    const named = { picture: this.pyramid.stage, text: this.pane.text, map: this.pane.map };
    for (const [name, node] of Object.entries(named)) node.setAttribute("aria-label", texts[name]);
    Object.assign(this, { pointed: null, asked: null, overview: null });
    const least = (10 ** -DECADES).toFixed(DECADES);
    this.legend.replaceChildren(texts.legend, el("span", "", least), el("i"), el("span", "", "1"));
    this.pane.write(tokens, units.paragraph);
    setText(this.said, texts.point);
    this.writeBar();
    setText(this.wallNote, "");
    void this.loadWall(1);
  }

  writeBar() {
    const { bar, pane, pyramid } = this;
    const { texts, units } = this.header;
    const choices = ["word", "sentence", "paragraph", "turn"].filter((name) => units[name]);
    const options = choices.map((name) => new Option(texts[name], name, false, name === this.state.unit));
    const change = (/** @type {string} */ unit) => this.report({ unit, pinned: null });
    const list = listOf("lt-units", options, change, { "aria-label": texts.units });
    const [count, zoom] = [el("span", "av-small", "", { "data-testid": "matches" }), createBox("av-tools lt-zoom")];
    const named = { type: "search", placeholder: texts.search, "aria-label": texts.search };
    const search = el("input", "av-select lt-search", null, named);
    const visit = (/** @type {number} */ by) => {
      const [at, all] = pane.visitMatch(by);
      setText(count, search.value ? fill(texts.matches, { at, count: all }) : "");
    };
    search.addEventListener("input", () => {
      pane.search(search.value);
      visit(0);
    });
    search.addEventListener("keydown", (event) => event.key === "Enter" && visit(event.shiftKey ? -1 : 1));
    bar.replaceChildren(this.titleBox, texts.units, list, search);
    addButton(bar, "‹", texts.previous, () => visit(-1));
    addButton(bar, "›", texts.next, () => visit(1));
    bar.append(count, zoom);
    addButton(zoom, "+", texts.closer, () => pyramid.magnify(2));
    addButton(zoom, "−", texts.farther, () => pyramid.magnify(0.5));
    addButton(zoom, "⤢", texts.all, () => pyramid.magnify(0));
  }

  resize() {
    if (this.held) this.draw();
  }

  draw() {
    const { theme, header, pyramid, pane, state } = this;
    if (!theme) return;
    const stops = header.colours.weights;
    pane.starts = header.units[state.unit] ?? header.units.sentence;
    this.root.style.setProperty("--lt-ramp", cssGradient(stops));
    pyramid.show({ tokens: header.tokens.length, theme, stops });
    setText(this.titleBox, this.nameOf(state.tile));
    setText(this.profile, this.profileOf(state.tile));
    this.select();
    this.controls.refresh();
    pane.drawMap();
  }

  /** @param {Place} place */
  nameOf([layer, head]) {
    return fill(this.header.texts.head, { layer, head });
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

  /** Draws the head on show under the mask and scale that are set: from sampled rows first, where they are not the model's. */
  async loadHead() {
    const turn = ++this.loading;
    const { supply, pyramid, state, group } = this;
    const place = state.tile;
    const own = isSameHead(this.overview?.place ?? null, place) ? this.overview : await supply.overview(place);
    if (this.loading !== turn || !own) return;
    if (this.overview !== own) {
      this.overview = own;
      this.controls.refresh();
    }
    const rule = ruleOf(group.peeking ? { ...group.edit, seen: "before" } : group.edit, own);
    supply.forget();
    const sketch = rule ? await supply.compute(own, rule, "sketch", [own.step]) : own;
    if (this.loading !== turn || !sketch) return;
    pyramid.paintHead({ ...own, ...sketch }, rule, group.editing);
    this.root.dataset.head = place.join(".");
    this.root.dataset.rule = rule ? JSON.stringify(rule) : "";
    void this.look();
  }

  /** Shows all heads small, and a little later finer. @param {number} rows of each band that are computed */
  async loadWall(rows) {
    const { supply, header } = this;
    const { doc, texts, tokens, overview } = header;
    const codes = await supply.fetch("wall", [rows]);
    if (this.supply !== supply) return;
    const side = Math.min(SMALL, tokens.length);
    setText(
      this.wallNote,
      tokens.length > rows * SMALL ? fill(texts.wall_sampled, { rows: rows * SMALL }) : texts.wall,
    );
    this.small.take({ ...overview, group: GROUP, asked: null, data: `${doc}${rows}`, shape: [side, side] }, codes);
    if (rows === FINER || supply.parts.size) return;
    await pause(3000);
    if (this.supply === supply) await this.loadWall(FINER);
  }

  /** What is on show, for a file. @returns {FigurePart} */
  part() {
    const { header, pane, pyramid, titleBox } = this;
    const [shown, codes] = pyramid.shown;
    const { starts, labelOf } = pane.names(pyramid.perPixel);
    const named = shown.first.flatMap((at) => [at, at + shown.span].map((token) => unitOf(starts, token)));
    /** @type {Record<number, string>} */
    const labels = {};
    for (let unit = Math.min(...named); unit <= Math.max(...named); unit++) labels[unit] = labelOf(unit, 20);
    const { colours, texts } = header;
    const about = { colours, legend: texts.legend, starts, labels, title: titleBox.textContent ?? "" };
    return ["text", { ...shown, ...about }, codes];
  }

  /** Changes the state here and tells Python. @param {Partial<State>} change */
  report(change) {
    const isOther = change.tile && !isSameHead(change.tile, this.state.tile);
    this.stood = { ...this.state, ...change };
    if (isOther) void this.loadHead();
    this.refresh();
    this.tellPython("stood", { ...this.state, doc: this.header.doc });
  }

  refresh() {
    writeAnswers(this);
    this.draw();
    void this.look();
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

  /** Looks from a word of an answer, and goes to what it looked at most. @param {number} answer @param {number} word */
  async ask(answer, word) {
    Object.assign(this, { asked: { answer, word }, pointed: null });
    await this.look();
    const [strongest] = this.pane.glowing;
    if (strongest) this.pane.visit(this.pane.spanOf(strongest[0])[0]);
  }

  /** @param {Cell | null} cell */
  pointCell(cell) {
    const { pane, header } = this;
    const { texts, tokens } = header;
    pane.outline("k", cell && [cell.key, cell.key + 1]);
    pane.outline("q", cell && [cell.query, cell.query + 1]);
    if (!cell) return;
    const { step, code, weight } = cell;
    const [query, key] = [cell.query, cell.key].map((at) => visibleToken(tokens[at].trim() || tokens[at]));
    const names = { query, key, weight: formatFourDigits(weight ?? codeWeight(code)), size: step };
    setText(this.said, fill(code === 0 ? texts.masked : step > 1 ? texts.block : texts.cell, names));
  }

  /** @param {number} token */
  unitAt(token) {
    return unitOf(this.pane.starts, token);
  }

  /** Lets glow what is looked at from what is pointed at, pinned or asked. */
  async look() {
    const { pane, supply, header, state, pyramid, asked } = this;
    const turn = ++this.asking;
    const span = this.pointed ?? (asked ? null : state.pinned);
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
    pyramid.marked = span;
    pyramid.draw();
    pane.outline("q", span);
    pane.glow(row);
    const unit = span ? pane.labelOf(this.unitAt(span[0])) : answer && asked ? answer.words[asked.word] : "";
    this.writeStrongest(row, unit, Boolean(span));
  }

  /** @param {Float32Array | null} row @param {string} unit @param {boolean} isText whether the text looks, or an answer */
  writeStrongest(row, unit, isText) {
    const { texts } = this.header;
    const { pane } = this;
    const some = pane.glowing.length > 0; // the first token sees no other
    const said = row ? fill(some ? (isText ? texts.looks : texts.wrote) : texts.only, { unit }) : "";
    const nodes = (row ? pane.glowing.slice(0, 4) : []).map(([strong, share]) =>
      createButton("av-link lt-strong", `${formatPercent(share)}  “${pane.labelOf(strong)}”`, () =>
        pane.visit(pane.spanOf(strong)[0]),
      ),
    );
    const sink = row && some ? fill(texts.sink, { share: formatPercent(row[0]) }) : "";
    this.strongest.replaceChildren(said, ...nodes, el("div", "av-small", sink));
    if (some) this.announce(`${said} ${nodes[0]?.textContent ?? ""}`);
  }
}

export default viewComponent(LongText);
