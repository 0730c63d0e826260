// One head large: heatmap, token lines and sentence, lit together; pins are told to Python when a gesture ends.

class HeadView {
  constructor(root) {
    this.root = root;
    this.head = el("div", "av-head");
    this.titleBox = el("div", "av-title");
    this.read = el("div", "av-readout", "", { "data-testid": "readout" });
    this.tools = el("div", "av-tools");
    this.help = el("div", "av-sr");
    this.help.id = "help";
    this.live = el("div", "av-sr", "", { "aria-live": "polite", role: "status" });
    this.pair = el("div", "av-pair");
    this.bar = el("div", "av-bar-row");
    this.foot = el("div", "av-foot");
    this.heatmap = new Heatmap(this);
    this.lines = new Lines(this);
    this.chips = new Chips(this);
    this.head.append(this.titleBox, this.read, this.tools);
    this.pair.append(this.heatmap.stage, this.lines.stage);
    root.tabIndex = -1;
    root.addEventListener("keydown", (e) => {
      if (e.key === "Escape" && !e.defaultPrevented) this.release();
    });
    root.append(this.help, this.live, this.head, this.chips.box, this.pair, this.bar, this.foot);
    this.relight = onceAFrame(() => this.light());
    this.redraw = onceAFrame(() => this.draw());
    this.data = null;
  }

  async show(bytes, component) {
    const [header, payload] = readHeader(bytes);
    const turn = (this.turn = (this.turn || 0) + 1);
    this.component = component;
    let codes = this.codes;
    if (this.data !== header.data) codes = joinPlanes(await inflate(payload));
    if (turn !== this.turn) return;
    this.keep(header, codes);
    if (!this.overtaken(header)) this.take(header, codes);
  }

  // An answer about a head that a newer click has left behind is not drawn.
  overtaken(header) {
    const group = groupOf(header.group);
    const late = header.ack < group.seq && performance.now() - group.pickedAt < 4000;
    return late && this.document === header.doc && header.tile !== null && String(header.tile) !== String(group.selected);
  }

  // Heads seen before are drawn at once when chosen again, and drawn anew when Python answers. Other tiles (another
  // model), tokens or options make them void.
  keep(header, codes) {
    if (!header.tile) return;
    const validity = [header.doc, header.look, groupOf(header.group).tiles].join();
    if (this.validity !== validity || !this.seen || this.seenSize > 24e6) {
      this.seen = new Map();
      this.seenSize = 0;
    }
    this.validity = validity;
    this.seen.set(String(header.tile), [header, codes]);
    this.seenSize += codes.length;
  }

  // Ask the server for a head by itself: it is here before the script that a click starts has run.
  async fetchAhead(tile) {
    const { header } = this;
    const name = String(tile);
    const asking = (this.asking ??= new Set());
    if (!header?.ahead || !tile || this.seen?.has(name) || asking.has(name)) return;
    asking.add(name);
    try {
      const answer = await fetch(new URL(`${header.ahead}/${tile.join(".")}`, appRoot()));
      if (!answer.ok) return;
      const [fresh, payload] = readHeader(new Uint8Array(await answer.arrayBuffer()));
      const codes = joinPlanes(await inflate(payload));
      if (fresh.doc !== this.header.doc || fresh.look !== this.header.look) return;
      this.keep(fresh, codes);
      this.recall();
    } catch {
      return; // the script's own answer is on its way
    } finally {
      asking.delete(name);
    }
  }

  recall() {
    const { header, group } = this;
    const valid = this.validity === [header.doc, header.look, group.tiles].join() && group.tiles;
    const found = valid && header.tile && this.seen?.get(String(group.selected));
    if (!found || String(header.tile) === String(group.selected)) return;
    const [old, codes] = found;
    this.take({ ...old, ack: group.seq, pins: null, heard: 0 }, codes);
  }

  take(header, codes) {
    const fresh = this.document !== header.doc;
    Object.assign(this, { header, codes, words: header.words, data: header.data, document: header.doc });
    this.join(groupOf(header.group));
    adopt(this.group, header);
    this.select();
    this.hasMasked = codes.includes(MASKED_16);
    const key = JSON.stringify([header.signed, header.top, header.scale]);
    if (this.tableKey !== key) this.table = pixelTable(header);
    this.tableKey = key;
    this.group.zoom = clampZoom(this.group.zoom, ...header.shape);
    if (fresh || this.shape !== JSON.stringify([header.segments, header.chips])) {
      this.labelsQ = new Labels(header.q);
      this.labelsK = header.k === null ? this.labelsQ : new Labels(header.k);
      if (header.chips) this.chips.build();
      this.shape = JSON.stringify([header.segments, header.chips]);
    }
    this.dress();
    this.layoutAndDraw();
  }

  // Texts that follow the header.
  dress() {
    const { header, words, root } = this;
    this.theme = identity(root, themeOf(root), header.colours);
    root.classList.toggle("av-compact", header.compact);
    this.titleBox.textContent = header.title;
    this.help.textContent = `${this.summary()} ${words.help}`;
    this.heatmap.stage.setAttribute("aria-label", [header.title, words.label].filter(Boolean).join(". "));
    this.lines.stage.setAttribute("aria-label", words.lines);
    this.lines.stage.hidden = !header.lines;
    this.chips.box.hidden = !header.chips;
    drawColourBar(this.bar, header, words, this.hasMasked);
    if (this.toolsFor !== words.zoomin) this.buildTools();
  }

  buildTools() {
    const { words } = this;
    this.toolsFor = words.zoomin;
    this.tools.replaceChildren();
    const button = (text, name, act) => {
      const node = el("button", "av-button", text, { type: "button", "aria-label": name, title: name });
      node.addEventListener("click", act);
      this.tools.append(node);
      return node;
    };
    this.letGoButton = button("×", words.letgo, () => this.release());
    this.outButton = button("−", words.zoomout, () => this.zoomBy(1 / 1.5));
    this.inButton = button("+", words.zoomin, () => this.zoomBy(1.5));
    this.allButton = button("⤢", words.zoomall, () => this.setZoom({ z: 1, q0: 0, k0: 0 }));
  }

  // Which head is on show, for the overview; an answer that a newer click has overtaken is not said.
  select() {
    const { header, group } = this;
    if (!header.tile) return;
    if (header.ack < group.seq && performance.now() - group.pickedAt < 4000) return;
    group.seq = Math.max(group.seq, header.ack);
    if (JSON.stringify(group.selected) !== JSON.stringify(header.tile)) {
      group.selected = header.tile;
      tell(group, "selected");
    }
    this.wait();
  }

  join(group) {
    if (this.group === group) return;
    this.leave();
    this.group = group;
    this.listener = (what) => {
      if (what === "zoom") this.redraw();
      else if (what === "hover" || what === "pins") this.relight();
      else if (what === "document") this.redraw();
      else if (what === "pointed") this.fetchAhead(group.pointed);
      else if (what === "selected") {
        this.recall();
        this.fetchAhead(group.selected);
        this.wait();
      }
    };
    group.listeners.add(this.listener);
  }

  // Another head was chosen and has not come yet: said quietly, if it takes long.
  wait() {
    const { tile } = this.header;
    this.root.classList.toggle("av-pending", tile !== null && String(tile) !== String(this.group.selected));
  }

  leave() {
    this.group?.listeners.delete(this.listener);
    this.group = null;
  }

  layoutAndDraw() {
    const width = this.root.clientWidth;
    if (!this.header || width === 0) return;
    const { header } = this;
    const beside = header.lines && width >= 700;
    this.pair.classList.toggle("av-beside", beside);
    const half = beside ? Math.floor((width - 24) * 0.56) : width;
    this.heatmap.layout(half);
    if (header.lines) this.lines.layout(beside ? width - 24 - this.heatmap.width : width, beside ? this.heatmap.plot : null);
    this.draw();
  }

  draw() {
    if (!this.header || !this.heatmap.plot) return;
    this.heatmap.draw();
    if (this.header.lines) this.lines.draw();
    this.light();
    this.drawTools();
    painted(this.root, "attnviz-head-painted", this.data);
  }

  drawTools() {
    const { group, words, header } = this;
    const can = mostZoom(...header.shape) > 1.01;
    for (const node of [this.inButton, this.outButton, this.allButton]) node.hidden = !can || header.compact;
    this.outButton.disabled = this.allButton.disabled = group.zoom.z <= 1;
    this.inButton.disabled = group.zoom.z >= mostZoom(...header.shape) - 0.01;
    const notes = [];
    const counted = this.lines.counted;
    if (header.lines && counted && counted.drawn < counted.total && counted.drawn >= MOST_LINES * 0.9) {
      notes.push(fill(words.strongest, { count: counted.drawn, total: counted.total }));
    }
    if (can && !header.compact && Math.max(...header.shape) > 40) notes.push(words.wheel);
    this.foot.textContent = notes.join(" · ");
  }

  light() {
    if (!this.header || !this.heatmap.plot) return;
    this.heatmap.light();
    if (this.header.lines) this.lines.light();
    if (this.header.chips) this.chips.light();
    const text = this.readout();
    this.read.textContent = text || this.words.idle;
    this.read.classList.toggle("av-idle", !text);
    this.letGoButton.hidden = this.group.pins.length === 0 && this.group.cell === null;
    this.root.dataset.pins = this.group.pins.map((p) => p.axis + p.i).join(" ");
  }

  // Tokens to light: pins, then what is pointed at; a cell lights its query and its key.
  lit() {
    const [nq, nk] = this.header.shape;
    const found = this.group.pins.map((pin) => ({ ...pin, pin: true }));
    const hover = this.group.hover;
    const more = !hover ? [] : hover.axis === "cell" ? [{ axis: "q", i: hover.q }, { axis: "k", i: hover.k }] : [hover];
    for (const { axis, i } of more) {
      if (!isPinned(this.group, axis, i)) found.push({ axis, i, pin: false });
    }
    return found.filter(({ axis, i }) => i < (axis === "q" ? nq : nk));
  }

  // The token whose weights tint the sentence: the one pointed at, else the last one pinned.
  lead() {
    const hover = this.group.hover;
    if (hover) return hover.axis === "cell" ? { axis: "q", i: hover.q } : hover;
    return this.group.pins[this.group.pins.length - 1] || null;
  }

  code(q, k) {
    return this.codes[q * this.header.shape[1] + k];
  }

  value(q, k) {
    return valueOf(this.code(q, k), this.header.top, this.header.signed);
  }

  token(axis, i) {
    return shown(axis === "q" || this.header.k === null ? this.header.q[i] : this.header.k[i]).trim();
  }

  // What is pointed at (or pinned last), in words.
  readout() {
    const { words, group } = this;
    const hover = group.hover;
    const cell = hover?.axis === "cell" ? [hover.q, hover.k] : hover ? null : group.cell;
    if (cell) {
      const [q, k] = cell;
      if (q >= this.header.shape[0] || k >= this.header.shape[1]) return "";
      const names = { query: `${this.token("q", q)} (${q})`, key: `${this.token("k", k)} (${k})` };
      if (this.code(q, k) === MASKED_16) return fill(words.masked, names);
      return fill(words.gives, { ...names, value: inDigits(this.value(q, k)) });
    }
    const lead = this.lead();
    return lead ? this.most(lead.axis, lead.i) : "";
  }

  most(axis, i) {
    const { words } = this;
    const [nq, nk] = this.header.shape;
    if (i >= (axis === "q" ? nq : nk)) return "";
    const seen = [];
    for (let j = 0; j < (axis === "q" ? nk : nq); j++) {
      const [q, k] = axis === "q" ? [i, j] : [j, i];
      if (this.code(q, k) !== MASKED_16) seen.push([this.value(q, k), j]);
    }
    seen.sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]));
    const other = axis === "q" ? "k" : "q";
    const list = seen
      .slice(0, 3)
      .map(([v, j]) => fill(words.share, { token: this.token(other, j), value: inDigits(v) }))
      .join(", ");
    const name = `${this.token(axis, i)} (${i})`;
    return axis === "q" ? fill(words.most, { token: name, keys: list }) : fill(words.mostby, { token: name, queries: list });
  }

  // The five strongest cells in words, for those who hear the picture.
  summary() {
    const { codes, header, words } = this;
    const name = this.data + this.document;
    if (this.summaryOf === name) return this.summed;
    const n = header.shape[1];
    const best = [];
    for (let i = 0; i < codes.length; i++) {
      if (codes[i] === MASKED_16) continue;
      const size = header.signed ? Math.abs(codes[i] - 32767) : codes[i];
      if (best.length === 5 && size <= best[4][0]) continue;
      best.push([size, i]);
      best.sort((a, b) => b[0] - a[0]);
      best.length = Math.min(5, best.length);
    }
    const pairs = best.map(([, i]) => {
      const [q, k] = [Math.floor(i / n), i % n];
      return fill(words.gives, { query: this.token("q", q), key: this.token("k", k), value: inDigits(this.value(q, k)) });
    });
    this.summaryOf = name;
    this.summed = fill(words.summary, { pairs: pairs.join("; ") });
    return this.summed;
  }

  // A press on a token pins it; on a cell, keeps the cell and pins its query.
  press(hit) {
    const { group } = this;
    if (hit.axis === "cell") {
      const same = group.cell && group.cell[0] === hit.q && group.cell[1] === hit.k;
      const pinned = isPinned(group, "q", hit.q);
      group.cell = same ? null : [hit.q, hit.k];
      if (same ? pinned : !pinned) togglePin(group, "q", hit.q);
      else tell(group, "pins");
      this.announce(this.readout());
    } else {
      togglePin(group, hit.axis, hit.i);
      if (group.cell && hit.axis === "q" && group.cell[0] === hit.i) group.cell = null;
      const now = isPinned(group, hit.axis, hit.i);
      this.announce(fill(now ? this.words.pinned : this.words.unpinned, { token: this.token(hit.axis, hit.i) }));
    }
    this.emit();
  }

  release() {
    if (letGo(this.group)) {
      this.announce(this.words.none);
      this.emit();
    }
  }

  emit() {
    const { group } = this;
    group.pinSeq += 1;
    group.pinnedAt = performance.now();
    this.component.setStateValue("pins", {
      seq: group.pinSeq,
      doc: group.doc,
      start: group.start,
      tokens: group.pins.map(({ axis, i }) => [axis, i]),
      cell: group.cell,
    });
  }

  setZoom(zoom) {
    this.group.zoom = clampZoom(zoom, ...this.header.shape);
    tell(this.group, "zoom");
  }

  zoomBy(factor, q = null, k = null) {
    const [nq, nk] = this.header.shape;
    const { zoom, hover, cell } = this.group;
    const span = spans(zoom, nq, nk);
    const at = hover?.axis === "cell" ? [hover.q + 0.5, hover.k + 0.5] : cell ? [cell[0] + 0.5, cell[1] + 0.5] : null;
    const centre = at || [zoom.q0 + span.q / 2, zoom.k0 + span.k / 2];
    this.setZoom(zoomAt(zoom, factor, q ?? centre[0], k ?? centre[1], nq, nk));
  }

  announce(text) {
    this.live.textContent = text;
  }
}

export default function (component) {
  const root = component.parentElement.querySelector(".av-root");
  if (!root.view) {
    root.view = new HeadView(root);
    root.stopWatching = watchSize(root, () => root.view.layoutAndDraw());
  }
  root.view.show(component.data, component);
  return () => {
    root.stopWatching();
    root.view.leave();
    root.view = null;
    root.replaceChildren();
  };
}
