// A long text and one of a model's heads: all heads small, the head as a pyramid, the text beside it, answers below.

import { canvasContext, pixelCanvas } from "../scene/canvas_context.js";
import { cssGradient, ramp, readTheme } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import {
  addButton,
  createBox,
  createButton,
  el,
  fill,
  listOf,
  liveRegion,
  setText,
  visibleToken,
} from "../shared/dom.js";
import { formatFourDigits, formatPercent } from "../shared/numbers.js";
import { frameBox, pause, sizeCanvas } from "../shared/surface.js";
import { placeOn } from "../shared/window.js";
import { HeadSupply } from "./head_supply.js";
import { Pyramid } from "./pyramid.js";
import { TextPane } from "./text_pane.js";
import { codeWeight, DECADES, unitOf } from "./tile_numbers.js";

/** @import { Colours, Words } from "../shared/types.js" */
/** @import { Component } from "../shared/types.js" */
/** @import { Cell } from "./pyramid.js" */
/** @import { Place } from "./head_supply.js" */

/** @typedef {[start: number, stop: number]} Span */
/** @typedef {{ tile: Place, unit: string, pinned: Span | null, hidden: Span | null }} State */
/**
 * @typedef {{ doc: string, tokens: string[], units: Record<string, number[]>, heads: number[], state: State,
 *   answers: { words: string[], tokens: Span[], address: string, hidden: Span | null }[], retrieval: [number, number, number][],
 *   colours: Colours, texts: Words, session: string, ack: number }} LongTextHeader
 */

const SMALL = 32; // cells a side of a head on the wall, at most
const FINER = 4; // rows of each band when nobody waits

/** @extends {View<LongTextHeader>} */
class LongText extends View {
  /** @type {State} */
  state = { tile: [0, 0], unit: "sentence", pinned: null, hidden: null };
  /** @type {Span | null} tokens that are pointed at */
  pointed = null;
  /** @type {{ answer: number, word: number } | null} the word of an answer that is looked from */
  asked = null;
  /** @type {HTMLCanvasElement | null} */
  heads = null;
  asking = 0;

  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.bar = createBox("lt-bar");
    this.wall = el("canvas", "lt-wall", null, { role: "img", "data-testid": "wall" });
    this.wallNote = el("div", "av-small lt-note");
    this.said = el("div", "av-readout", "", { "data-testid": "cell" });
    this.strongest = createBox("lt-strongest");
    this.answers = createBox("lt-answers");
    this.live = liveRegion();
    this.legend = createBox("lt-legend");
    this.headName = el("span", "av-strong");
    this.supply = new HeadSupply("", () => null);
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
    left.append(this.legend, this.said);
    side.append(this.strongest);
    root.replaceChildren(
      this.bar,
      createBox("lt-main", createBox("lt-heads", this.wall, this.wallNote), left, side),
      this.answers,
      this.live,
    );
    this.wall.addEventListener("click", (event) => this.chooseHead(event));
    this.wall.addEventListener("pointermove", (event) => {
      const place = this.headAt(event);
      this.wall.title = place ? fill(this.header.texts.head, { layer: place[0], head: place[1] }) : "";
    });
  }

  /** @param {Component} component */
  show(component) {
    const { before, header } = this.receive(component);
    const behind = this.gestures.isBehind(header.session, header.ack);
    const earlier = this.state;
    if (!behind || !before) this.state = header.state;
    if (before?.doc !== header.doc) this.begin();
    this.theme = readTheme(this.root, header.colours);
    this.pane.theme = this.theme;
    if (!before || before.doc !== header.doc || earlier.tile.join() !== this.state.tile.join()) void this.loadHead();
    this.draw();
    this.writeAnswers();
    const [best] = header.retrieval;
    if (best && before?.doc === header.doc && header.answers[0].address !== before.answers[0]?.address) {
      this.asked = { answer: 0, word: 0 };
      this.pointed = null;
      this.report({ tile: [best[0], best[1]], pinned: null }); // the head that shows best where the answer came from
    }
    void this.look();
  }

  /** Makes the parts anew, for another text. */
  begin() {
    const { texts, tokens, units, doc } = this.header;
    this.supply = new HeadSupply(doc, () => {
      setText(this.said, texts.gone);
      this.report({});
    });
    this.pyramid.reset();
    this.pyramid.stage.setAttribute("aria-label", texts.picture);
    this.pane.text.setAttribute("aria-label", texts.text);
    this.pane.map.setAttribute("aria-label", texts.map);
    this.heads = null;
    Object.assign(this, { pointed: null, asked: null });
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
    this.bar.replaceChildren(el("span", "", texts.units), list, search);
    addButton(this.bar, "‹", texts.previous, () => visit(-1));
    addButton(this.bar, "›", texts.next, () => visit(1));
    this.bar.append(count);
    const zoom = createBox("lt-zoom");
    addButton(zoom, "+", texts.closer, () => this.pyramid.magnify(2));
    addButton(zoom, "−", texts.farther, () => this.pyramid.magnify(0.5));
    addButton(zoom, "⤢", texts.all, () => this.pyramid.magnify(1e-9));
    this.bar.append(zoom, this.headName);
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
    setText(this.headName, fill(header.texts.head, { layer, head }));
    this.drawWall();
    pane.drawMap();
  }

  async loadHead() {
    const { supply, pyramid, state } = this;
    const head = await supply.overview(state.tile);
    if (this.supply === supply && this.state.tile.join() === state.tile.join()) pyramid.paintHead(state.tile, head);
    this.root.dataset.head = state.tile.join(".");
  }

  async loadWalls() {
    const { supply } = this;
    await this.loadWall(1);
    await pause(3000);
    if (this.supply === supply) await this.loadWall(FINER);
  }

  /** @param {number} rows of each band that are computed */
  async loadWall(rows) {
    const { supply, header } = this;
    const codes = await supply.fetch("wall", rows);
    if (this.supply !== supply) return;
    const [columns, lines, side] = [Math.max(...header.heads), header.heads.length, this.sampleSide];
    const table = ramp(header.colours.weights);
    table[0] = 0;
    const pixels = new Uint32Array(columns * side * lines * side);
    let from = 0;
    header.heads.forEach((heads, layer) => {
      for (let head = 0; head < heads; head++, from += side * side) {
        for (let i = 0; i < side * side; i++) {
          const row = layer * side + Math.floor(i / side);
          pixels[row * columns * side + head * side + (i % side)] = table[codes[from + i]];
        }
      }
    });
    this.heads = pixelCanvas(pixels, columns * side);
    const { wall, wall_sampled: sampled } = header.texts;
    const text = header.tokens.length > rows * SMALL ? fill(sampled, { rows: rows * SMALL }) : wall;
    this.wall.setAttribute("aria-label", text);
    setText(this.wallNote, text);
    this.drawWall();
  }

  /** Cells a side of a head on the wall. */
  get sampleSide() {
    return Math.min(SMALL, this.header.tokens.length);
  }

  get tileSize() {
    return Math.max(10, Math.floor(Math.min(18, 520 / this.header.heads.length)));
  }

  drawWall() {
    const { heads, theme, header, tileSize: size, sampleSide: side } = this;
    const [columns, lines] = [Math.max(...header.heads), header.heads.length];
    const context = sizeCanvas(this.wall, columns * size, lines * size);
    if (!heads || !theme) return;
    const painter = canvasContext(this.wall);
    for (let layer = 0; layer < lines; layer++) {
      for (let head = 0; head < header.heads[layer]; head++) {
        const place = /** @type {const} */ ([head * size, layer * size, size - 1, size - 1]);
        painter.drawImage(heads, head * side, layer * side, side, side, ...place);
      }
    }
    const ring = (/** @type {Place} */ [layer, head], /** @type {string} */ colour, wide = 2) =>
      frameBox(context, { x: head * size, y: layer * size, w: size - 1, h: size - 1 }, 1, colour, wide);
    for (const [layer, head, share] of header.retrieval) ring([layer, head], theme.k, 1 + 2 * share);
    ring(this.state.tile, theme.primary, 2.5);
  }

  /** @param {PointerEvent | MouseEvent} event @returns {Place | null} */
  headAt(event) {
    const [x, y] = placeOn(this.wall, event).map((at) => Math.floor(at / this.tileSize));
    return x >= 0 && x < (this.header.heads[y] ?? 0) ? [y, x] : null;
  }

  /** @param {MouseEvent} event */
  chooseHead(event) {
    const tile = this.headAt(event);
    if (tile) this.report({ tile });
  }

  /** Changes the state here and tells Python. @param {Partial<State>} change */
  report(change) {
    const moved = change.tile && change.tile.join() !== this.state.tile.join();
    this.state = { ...this.state, ...change };
    if (moved) void this.loadHead();
    this.writeAnswers();
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
    const { pane, supply, header, state } = this;
    const turn = ++this.asking;
    const span = this.pointed ?? (this.asked ? null : state.pinned);
    const { asked } = this;
    const answer = !span && asked ? header.answers[asked.answer] : null;
    /** @type {Float32Array | null} */
    let row = null;
    try {
      if (span) row = await supply.row(state.tile, span);
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

  writeAnswers() {
    const { answers, retrieval, texts } = this.header;
    const lines = answers.map(({ words, hidden }, answer) => {
      const without =
        hidden &&
        fill(texts.without, {
          unit: this.pane.labelOf(this.unitAt(hidden[0]), 80),
        });
      const line = createBox("lt-answer", el("span", "av-strong", without || texts.answer));
      words.forEach((label, word) => {
        const look = () => {
          this.asked = { answer, word };
          this.pointed = null;
          void this.look().then(
            () => this.pane.glowing[0] && this.pane.visit(this.pane.spanOf(this.pane.glowing[0][0])[0]),
          );
        };
        line.append(createButton("lt-token", label, look));
      });
      if (hidden) line.append(el("span", "av-small", texts.hidden_from));
      return line;
    });
    if (answers.length) {
      const heads = createBox("lt-answer", el("span", "", texts.copies));
      for (const [layer, head, share] of retrieval) {
        heads.append(
          createButton("lt-token", `${layer}.${head} ${formatPercent(share)}`, () =>
            this.report({ tile: [layer, head] }),
          ),
        );
      }
      const { hidden } = this.state;
      const hide = () => this.report(hidden ? { hidden: null } : { hidden: this.state.pinned });
      const button = createButton("av-button", hidden ? texts.show : texts.hide, hide);
      button.disabled = !hidden && !this.state.pinned;
      lines.push(...(retrieval.length ? [heads] : []), createBox("lt-answer", button));
    }
    this.answers.replaceChildren(...lines);
  }
}

export default viewComponent(LongText);
