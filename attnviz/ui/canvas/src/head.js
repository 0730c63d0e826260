// One head large: heatmap, token lines and sentence, lit together; pins are told to Python when a gesture ends.

import { inflate, readHeader } from "./blob.js";
import { Chips } from "./chips.js";
import { joinPlanes, packBits } from "./codes.js";
import { drawColourBar } from "./colour_bar.js";
import { pixelTable } from "./colour.js";
import { viewComponent } from "./component.js";
import { addButton, el, fill } from "./dom.js";
import { adopt, adoptEdit, groupOf, isPinned, letGo, sameHead, tell, togglePin } from "./group.js";
import { HeadControls } from "./head_controls.js";
import { HeadMemory } from "./head_memory.js";
import { codedNumbers, RawNumbers, readRawHead, sumsOf } from "./head_numbers.js";
import { cellText, strongestText, summaryText, tokenText } from "./head_readout.js";
import { Heatmap } from "./heatmap.js";
import { MOST_LINES } from "./line_geometry.js";
import { Lines } from "./lines.js";
import { saidOf } from "./said.js";
import { markPainted, onceAFrame } from "./surface.js";
import { themeOf } from "./theme.js";
import { TokenLabels } from "./token_labels.js";
import { clampZoom, EVERYTHING, mostZoom, spans, zoomAt } from "./zoom.js";

/** @import { Change, Group } from "./group.js" */
/** @import { Source } from "./head_numbers.js" */
/** @import { Component, HeadHeader, Hover, Pin, Theme, Words, Zoom } from "./types.js" */

/**
 * All that a drawing needs, complete or not there at all.
 * @typedef {object} Drawn
 * @property {HeadHeader} header as Python sent it, but with the scale of what is on show
 * @property {Source} source
 * @property {RawNumbers | null} maker computes the numbers, where the head came as raw scores
 * @property {Uint16Array} codes
 * @property {Float32Array | null} values what the codes stand for, exactly; null where only codes came
 * @property {{ rows: Float32Array, cols: Float32Array } | null} sums
 * @property {string} picture a name for these numbers
 * @property {Words} words
 * @property {Group} group
 * @property {Theme} theme
 * @property {Uint32Array} table pixels of all codes
 * @property {string} tableKey
 * @property {boolean} hasMasked
 * @property {TokenLabels} labelsQ
 * @property {TokenLabels} labelsK
 */

export class HeadView {
  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
    this.head = el("div", "av-head");
    this.titleBox = el("div", "av-title");
    this.read = el("div", "av-readout", "", { "data-testid": "readout" });
    this.tools = el("div", "av-tools");
    this.help = el("div", "av-sr", null, { id: "help" });
    this.live = el("div", "av-sr", "", { "aria-live": "polite", role: "status" });
    this.pair = el("div", "av-pair");
    this.bar = el("div", "av-bar-row");
    this.foot = el("div", "av-foot");
    this.said = el("div", "av-said", "", { "data-testid": "said" });
    this.heatmap = new Heatmap(this);
    this.controls = new HeadControls(this);
    this.count = 0;
    this.lines = new Lines(this);
    this.chips = new Chips(this);
    this.memory = new HeadMemory();
    /** @type {Drawn | null} */
    this.held = null;
    /** @type {Component | null} */
    this.component = null;
    /** @type {Group | null} */
    this.joined = null;
    this.turn = 0;
    /** @type {Set<string>} */
    this.asking = new Set();
    /** @type {{ language: string, letGo: HTMLButtonElement, out: HTMLButtonElement, in: HTMLButtonElement, all: HTMLButtonElement } | null} */
    this.buttons = null;
    this.relight = onceAFrame(() => this.light());
    this.redraw = onceAFrame(() => this.draw());
    this.reedit = onceAFrame(() => this.recompute());
    this.listener = (/** @type {Change} */ what) => this.hear(what);
    root.tabIndex = -1;
    root.addEventListener("keydown", (e) => {
      if (e.key === "Escape" && !e.defaultPrevented) this.release();
    });
    this.head.append(this.titleBox, this.read, this.tools);
    this.pair.append(this.heatmap.stage, this.lines.stage);
  }

  /** What is on show; nothing asks before there is something. */
  get drawn() {
    if (!this.held) throw new Error("no head has come yet");
    return this.held;
  }

  /**
   * @param {Uint8Array} bytes
   * @param {Component} component
   */
  async show(bytes, component) {
    const [header, payload] = /** @type {[HeadHeader, Uint8Array]} */ (readHeader(bytes));
    this.component = component;
    this.turn += 1;
    const { turn } = this;
    const same = this.held?.header.data === header.data;
    const source = same && this.held ? this.held.source : await sourceOf(header, payload);
    if (turn !== this.turn) return;
    const group = groupOf(header.group);
    this.memory.keep({ header, source }, group.tiles);
    const behind = group.picks.isBehind(header.session, header.ack);
    if (!behind || !this.isOvertaken(header, group)) this.take(header, source, behind);
  }

  /**
   * Whether Python answers about a head that a newer click has left behind; it is not drawn.
   * @param {HeadHeader} header
   * @param {Group} group
   */
  isOvertaken(header, group) {
    return this.held?.header.doc === header.doc && header.tile !== null && !sameHead(header.tile, group.selected);
  }

  /**
   * Asks the server for a head: it is here before the script that a click starts has run.
   * @param {[number, number] | null} tile
   */
  async fetchAhead(tile) {
    const header = this.held?.header;
    const name = String(tile);
    if (!header?.ahead || !tile || this.memory.has(tile) || this.asking.has(name)) return;
    this.asking.add(name);
    try {
      const answer = await fetch(`${header.ahead}/${tile.join(".")}`);
      if (!answer.ok) return;
      const bytes = new Uint8Array(await answer.arrayBuffer());
      const [fresh, payload] = /** @type {[HeadHeader, Uint8Array]} */ (readHeader(bytes));
      const source = await sourceOf(fresh, payload);
      const { group, header: now } = this.drawn;
      if (fresh.doc !== now.doc || fresh.look !== now.look) return;
      this.memory.keep({ header: fresh, source }, group.tiles);
      this.recall();
    } catch {
      // the script's own answer is on its way
    } finally {
      this.asking.delete(name);
    }
  }

  /** Draws the head that was just chosen, if it is known. */
  recall() {
    const { header, group } = this.drawn;
    const known = this.memory.recall(header, group.selected, group.tiles);
    if (!known) return;
    const { session, words, edit, editName } = header;
    this.take({ ...known.header, session, words, edit, editName, pins: null }, known.source, false);
  }

  /**
   * @param {HeadHeader} header
   * @param {Source} source
   * @param {boolean} behind
   */
  take(header, source, behind) {
    const before = this.held;
    const group = groupOf(header.group);
    this.join(group);
    adopt(group, header);
    if ("raw" in source && !header.compact) adoptEdit(group, header, source.raw.shape);
    group.zoom = clampZoom(group.zoom, header.shape);
    const fresh = before?.header.doc !== header.doc;
    const labelsQ = before && !fresh ? before.labelsQ : new TokenLabels(header.q);
    const labelsK = before && !fresh ? before.labelsK : header.k === null ? labelsQ : new TokenLabels(header.k);
    this.held = {
      header,
      source,
      maker: "raw" in source ? this.makerOf(header, source, before) : null,
      codes: NOTHING,
      values: null,
      sums: null,
      picture: "",
      words: header.words,
      group,
      theme: themeOf(this.root, header.colours),
      table: before?.table ?? new Uint32Array(0),
      tableKey: before?.tableKey ?? "",
      hasMasked: false,
      labelsQ,
      labelsK,
    };
    this.compute();
    if (!before) {
      this.root.append(this.help, this.live, this.head, this.controls.box, this.chips.box, this.pair);
      this.root.append(this.said, this.bar, this.foot);
    }
    this.select(behind);
    const layout = JSON.stringify([header.segments, header.chips]);
    const other = fresh || layout !== JSON.stringify([before?.header.segments, before?.header.chips]);
    if (other && header.chips) this.chips.build();
    this.dress();
    this.resize();
  }

  /**
   * The one that computes a raw head's numbers, which is kept as long as the head is.
   * @param {HeadHeader} header
   * @param {{ raw: import("./types.js").RawHead, how: import("./types.js").Arrangement }} source
   * @param {Drawn | null} before
   */
  makerOf(header, { raw, how }, before) {
    const kept = before?.maker;
    const same = kept?.raw === raw && kept.how === how && before?.header.look === header.look;
    return same ? kept : new RawNumbers(raw, how, header);
  }

  /** The numbers on show, under the edit where there is one. */
  compute() {
    const { header, source, maker, group } = this.drawn;
    const seen = header.edit === null ? "before" : this.controls.seen;
    const numbers = maker
      ? maker.under(group.edit, seen)
      : codedNumbers(header, "codes" in source ? source.codes : NOTHING);
    const { codes, values, signed, top, hasMasked } = numbers;
    this.count += 1;
    const shown = { ...header, signed, top, scale: { ...header.scale, top: numbers.shownTop } };
    const sums = header.edit === null || header.compact ? null : sumsOf(numbers, header.shape);
    const picture = maker ? `${header.data}|${this.count}` : header.data;
    const tableKey = JSON.stringify([signed, top, shown.scale]);
    if (this.drawn.tableKey !== tableKey) Object.assign(this.drawn, { table: pixelTable(shown), tableKey });
    Object.assign(this.drawn, { header: shown, codes, values, hasMasked, sums, picture });
  }

  /** The numbers again, and the picture of them, in the frame in which the edit changed. */
  recompute() {
    if (!this.held || this.held.header.edit === null) return;
    const { signed, scale } = this.held.header;
    const masked = this.held.hasMasked;
    this.compute();
    this.controls.update();
    const { header, hasMasked } = this.held;
    if (header.signed !== signed || header.scale.top !== scale.top || hasMasked !== masked) {
      drawColourBar(this.bar, header, hasMasked ? header.words.hidden : null);
    }
    this.draw();
  }

  /** The sentence about the chosen row, else about the one that tells most. */
  say() {
    const { header, group } = this.drawn;
    const about = header.sentence;
    this.said.hidden = about === null;
    if (about === null || header.signed) return;
    const pinned = group.pins.filter(({ axis, i }) => axis === "q" && i < header.shape[0]).map(({ i }) => i);
    const row = group.cell ? group.cell[0] : (pinned[pinned.length - 1] ?? about.row);
    this.said.textContent = saidOf(this.drawn, about, Math.min(row, header.shape[0] - 1));
  }

  /** Tells Python what is changed. */
  emitEdit() {
    const { group, header } = this.drawn;
    const { painted } = group.edit;
    this.component?.setStateValue("edit", {
      ...group.edit,
      seq: group.edits.next(),
      doc: header.doc,
      painted: painted === null ? "" : packBits(painted),
    });
  }

  /** Texts that follow the header. */
  dress() {
    const { header, words, hasMasked } = this.drawn;
    this.root.classList.toggle("av-compact", header.compact);
    this.titleBox.textContent = header.title;
    this.help.textContent = `${summaryText(this.drawn)} ${words.help}`;
    this.heatmap.stage.setAttribute("aria-label", [header.title, words.label].filter(Boolean).join(". "));
    this.lines.stage.setAttribute("aria-label", words.lines);
    this.lines.stage.hidden = !header.lines;
    this.chips.box.hidden = !header.chips;
    drawColourBar(this.bar, header, hasMasked ? words.hidden : null);
    this.controls.refresh();
    this.buttons = this.buttons?.language === words.zoomin ? this.buttons : this.buildTools();
  }

  buildTools() {
    const { words } = this.drawn;
    this.tools.replaceChildren();
    return {
      language: words.zoomin,
      letGo: addButton(this.tools, "×", words.letgo, () => this.release()),
      out: addButton(this.tools, "−", words.zoomout, () => this.zoomBy(1 / 1.5)),
      in: addButton(this.tools, "+", words.zoomin, () => this.zoomBy(1.5)),
      all: addButton(this.tools, "⤢", words.zoomall, () => this.setZoom(EVERYTHING)),
    };
  }

  /**
   * Says which head is on show, for the overview, unless a newer click has overtaken it.
   * @param {boolean} behind
   */
  select(behind) {
    const { header, group } = this.drawn;
    if (!header.tile || behind) return;
    if (!sameHead(group.selected, header.tile)) {
      group.selected = header.tile;
      tell(group, "selected");
    }
    this.wait();
  }

  /** @param {Group} group */
  join(group) {
    if (this.joined === group) return;
    this.leave();
    this.joined = group;
    group.listeners.add(this.listener);
  }

  leave() {
    this.joined?.listeners.delete(this.listener);
    this.joined = null;
  }

  /** @param {Change} what */
  hear(what) {
    if (!this.held) return;
    const { group } = this.held;
    if (what === "zoom" || what === "document") this.redraw();
    else if (what === "hover" || what === "pins") this.relight();
    else if (what === "edit") this.reedit();
    else if (what === "pointed") void this.fetchAhead(group.pointed);
    else if (what === "selected") {
      this.recall();
      void this.fetchAhead(group.selected);
      this.wait();
    }
  }

  /** Marks that another head was chosen and has not come yet; the mark shows if it takes long. */
  wait() {
    const { header, group } = this.drawn;
    this.root.classList.toggle("av-pending", header.tile !== null && !sameHead(header.tile, group.selected));
  }

  resize() {
    const width = this.root.clientWidth;
    if (!this.held || width === 0) return;
    const { header } = this.held;
    const beside = header.lines && width >= 700;
    this.pair.classList.toggle("av-beside", beside);
    this.heatmap.layout(beside ? Math.floor((width - 24) * 0.56) : width);
    if (header.lines) {
      this.lines.layout(beside ? width - 24 - this.heatmap.width : width, beside ? this.heatmap.plot : null);
    }
    this.draw();
  }

  draw() {
    if (!this.held || !this.heatmap.width) return;
    this.heatmap.draw();
    if (this.held.header.lines) this.lines.draw();
    this.light();
    this.drawTools();
    markPainted(this.root, "attnviz-head-painted", this.held.header.data);
  }

  drawTools() {
    const { group, words, header } = this.drawn;
    const { counted } = this.lines;
    const most = mostZoom(header.shape);
    const zooms = most > 1.01 && !header.compact;
    if (this.buttons) {
      for (const node of [this.buttons.in, this.buttons.out, this.buttons.all]) node.hidden = !zooms;
      this.buttons.out.disabled = this.buttons.all.disabled = group.zoom.z <= 1;
      this.buttons.in.disabled = group.zoom.z >= most - 0.01;
    }
    const notes = [];
    if (header.lines && counted.drawn < counted.total && counted.drawn >= MOST_LINES * 0.9) {
      notes.push(fill(words.strongest, { count: counted.drawn, total: counted.total }));
    }
    if (zooms && Math.max(...header.shape) > 40) notes.push(words.wheel);
    this.foot.textContent = notes.join(" · ");
  }

  light() {
    if (!this.held || !this.heatmap.width) return;
    const { header, group, words } = this.held;
    this.heatmap.light();
    if (header.lines) this.lines.light();
    if (header.chips) this.chips.light();
    this.say();
    const text = this.readout();
    this.read.textContent = text || words.idle;
    this.read.classList.toggle("av-idle", !text);
    if (this.buttons) this.buttons.letGo.hidden = group.pins.length === 0 && group.cell === null;
    this.root.dataset.pins = group.pins.map((p) => p.axis + p.i).join(" ");
  }

  /** Tokens to light: pins, then what is pointed at; a cell lights its query and its key. */
  lit() {
    const { header, group } = this.drawn;
    const [nq, nk] = header.shape;
    const found = group.pins.map((pin) => ({ ...pin, pin: true }));
    for (const { axis, i } of tokensOf(group.hover)) {
      if (!isPinned(group, axis, i)) found.push({ axis, i, pin: false });
    }
    return found.filter(({ axis, i }) => i < (axis === "q" ? nq : nk));
  }

  /**
   * The token whose weights tint the sentence: the one pointed at, else the last one pinned.
   * @returns {Pin | null}
   */
  lead() {
    const { hover, pins } = this.drawn.group;
    if (hover) return hover.axis === "cell" ? { axis: "q", i: hover.q } : hover;
    return pins[pins.length - 1] ?? null;
  }

  /** What is pointed at (or pinned last), in words. */
  readout() {
    const { hover, cell } = this.drawn.group;
    if (hover?.axis === "cell") return cellText(this.drawn, hover.q, hover.k);
    if (!hover && cell) return cellText(this.drawn, ...cell);
    const lead = this.lead();
    return lead ? strongestText(this.drawn, lead.axis, lead.i) : "";
  }

  /**
   * A press on a token pins it; on a cell, keeps the cell and pins its query.
   * @param {Hover} hit
   */
  press(hit) {
    const { group, words } = this.drawn;
    if (hit.axis === "cell") {
      const same = group.cell !== null && group.cell[0] === hit.q && group.cell[1] === hit.k;
      const pinned = isPinned(group, "q", hit.q);
      group.cell = same ? null : [hit.q, hit.k];
      if (same ? pinned : !pinned) togglePin(group, "q", hit.q);
      else tell(group, "pins");
      this.announce(this.readout());
    } else {
      togglePin(group, hit.axis, hit.i);
      if (group.cell && hit.axis === "q" && group.cell[0] === hit.i) group.cell = null;
      const now = isPinned(group, hit.axis, hit.i);
      this.announce(fill(now ? words.pinned : words.unpinned, { token: tokenText(this.drawn, hit.axis, hit.i) }));
    }
    this.emit();
  }

  release() {
    if (!this.held || !letGo(this.held.group)) return;
    this.announce(this.held.words.none);
    this.emit();
  }

  /** Tells Python what is pinned. */
  emit() {
    const { group } = this.drawn;
    this.component?.setStateValue("pins", {
      seq: group.pinnings.next(),
      doc: group.doc,
      start: group.start,
      tokens: group.pins.map(({ axis, i }) => [axis, i]),
      cell: group.cell,
    });
  }

  /** @param {Zoom} zoom */
  setZoom(zoom) {
    const { group, header } = this.drawn;
    group.zoom = clampZoom(zoom, header.shape);
    tell(group, "zoom");
  }

  /**
   * Zooms about a point, in cells; without one, about what is pointed at, the chosen cell or the middle.
   * @param {number} factor
   * @param {number} [q]
   * @param {number} [k]
   */
  zoomBy(factor, q, k) {
    const { group, header } = this.drawn;
    const { zoom, hover, cell } = group;
    const span = spans(zoom, header.shape);
    let centre = [zoom.q0 + span.q / 2, zoom.k0 + span.k / 2];
    if (hover?.axis === "cell") centre = [hover.q + 0.5, hover.k + 0.5];
    else if (cell) centre = [cell[0] + 0.5, cell[1] + 0.5];
    this.setZoom(zoomAt(zoom, factor, q ?? centre[0], k ?? centre[1], header.shape));
  }

  /** @param {string} text */
  announce(text) {
    this.live.textContent = text;
  }
}

/**
 * @param {Hover | null} hover
 * @returns {Pin[]}
 */
function tokensOf(hover) {
  if (hover === null) return [];
  if (hover.axis !== "cell") return [hover];
  return [
    { axis: "q", i: hover.q },
    { axis: "k", i: hover.k },
  ];
}

const NOTHING = new Uint16Array(0);

/**
 * @param {HeadHeader} header
 * @param {Uint8Array} payload
 * @returns {Promise<Source>}
 */
async function sourceOf(header, payload) {
  return header.raw === null ? { codes: joinPlanes(await inflate(payload)) } : readRawHead(header, payload);
}

export default viewComponent(HeadView);
