// All heads at once: a mosaic of thumbnails on one canvas, a floating preview, a focus that arrow keys move.

class OverviewView extends OverviewPicture {
  constructor(root) {
    super();
    this.root = root;
    this.label = el("div", "av-sr");
    this.label.id = "summary";
    this.live = el("div", "av-sr", "", { "aria-live": "polite", role: "status" });
    this.stage = el("div", "av-stage", null, {
      tabindex: "0",
      role: "application",
      "aria-describedby": "summary",
      "data-testid": "overview",
    });
    this.base = el("canvas");
    this.over = el("canvas", "av-over");
    this.scroll = el("div", "av-scroll");
    this.stage.append(this.base, this.over);
    this.scroll.append(this.stage);
    this.preview = el("div", "av-preview", null, { "aria-hidden": "true", popover: "manual" });
    this.previewTitle = el("div", "av-preview-title");
    this.previewNote = el("div", "av-preview-note");
    this.previewCanvas = el("canvas");
    this.preview.append(this.previewTitle, this.previewCanvas, this.previewNote);
    this.bar = el("div", "av-bar-row");
    root.append(this.label, this.live, this.scroll, this.bar, this.preview);
    this.data = null;
    this.at = null; // the tile under the pointer or the keyboard
    this.redraw = onceAFrame(() => this.draw());
    this.relight = onceAFrame(() => this.light());
    this.listen();
  }

  listen() {
    const stage = this.stage;
    stage.addEventListener("pointermove", (e) => {
      if (e.pointerType !== "touch") this.point(this.tileAt(e));
    });
    stage.addEventListener("pointerleave", () => this.point(null));
    stage.addEventListener("click", (e) => {
      const tile = this.tileAt(e);
      if (tile !== null) this.pick(tile);
    });
    stage.addEventListener("keydown", (e) => this.key(e));
    stage.addEventListener("blur", () => this.point(null));
    this.gone = new AbortController();
    const options = { capture: true, passive: true, signal: this.gone.signal };
    globalThis.addEventListener("scroll", () => this.hidePreview(), options);
    stage.addEventListener("focus", () => {
      if (stage.matches(":focus-visible") && this.places && this.at === null) this.point(this.chosen(), true);
    });
  }

  async show(bytes, component) {
    const [header, payload] = readHeader(bytes);
    groupOf(header.group).tiles = header.data;
    this.component = component;
    this.header = header;
    const turn = (this.turn = (this.turn || 0) + 1);
    if (this.data !== header.data) {
      const codes = await inflate(payload);
      if (turn !== this.turn) return;
      this.codes = codes;
      this.data = header.data;
      this.atlas = null;
    }
    this.join(groupOf(header.group));
    this.index();
    const words = header.words;
    const total = this.tiles.length;
    this.stage.setAttribute("aria-label", words.label);
    this.label.textContent =
      fill(words.summary, { layers: header.heads.length, heads: total }) + " " + words.help;
    drawColourBar(this.bar, { ...header, signed: false }, words, this.codes.includes(MASKED_8));
    this.theme = identity(this.root, themeOf(this.root), header.colours);
    this.draw();
  }

  join(group) {
    if (this.group === group) return;
    this.leave();
    this.group = group;
    this.listener = (what) => {
      if (what !== "selected" || !this.places) return;
      this.relight();
      this.bringIntoView(this.chosen());
    };
    group.listeners.add(this.listener);
  }

  leave() {
    this.group?.listeners.delete(this.listener);
    this.group = null;
  }

  tileAt(event) {
    if (!this.places) return null;
    const box = this.stage.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const found = this.places.findIndex(
      ([px, py]) => x >= px - 1 && x < px + this.tw + 1 && y >= py - 1 && y < py + this.th + 1,
    );
    return found < 0 ? null : found;
  }

  point(i, byKey = false) {
    if (i === this.at && !byKey) return;
    this.at = i;
    this.stage.style.cursor = i === null ? "" : "pointer";
    this.relight();
    if (i === null) {
      this.hidePreview();
      return;
    }
    if (byKey) {
      this.live.textContent = [this.name(i), this.note(i)].filter(Boolean).join(", ");
      this.bringIntoView(i);
    }
    this.drawPreview(i);
    clearTimeout(this.pointing);
    this.pointing = setTimeout(() => {
      if (this.at !== i || !this.group) return;
      this.group.pointed = [this.tiles[i].layer, this.tiles[i].head];
      tell(this.group, "pointed");
    }, 30);
  }

  // Scroll the box, never the page.
  bringIntoView(i) {
    const y = this.places[i][1];
    const box = this.scroll;
    if (y < box.scrollTop) box.scrollTop = y - 8;
    else if (y + this.th > box.scrollTop + box.clientHeight) box.scrollTop = y + this.th - box.clientHeight + 8;
  }

  drawPreview(i) {
    this.previewTitle.textContent = this.name(i);
    this.previewNote.textContent = this.note(i);
    const [h, w] = this.header.shape;
    const q = this.header.q;
    const k = this.header.k || q;
    const small = globalThis.innerWidth < 560;
    const side = small ? 150 : 208;
    const font = 10;
    const room = small ? 44 : 62;
    const measure = this.previewCanvas.getContext("2d");
    measure.font = `${font}px ${this.theme.font}`;
    const rows = (this.previewRows ??= {});
    if (rows.q !== q) Object.assign(rows, { q, left: new Labels(q), top: new Labels(k) });
    const left = Math.ceil(Math.min(room, rows.left.width(measure, room))) + 6;
    const top = Math.ceil(Math.min(room, rows.top.width(measure, room))) + 6;
    const [dw, dh] = w >= h ? [side, Math.max(side / 2, (side * h) / w)] : [Math.max(side / 2, (side * w) / h), side];
    const context = sized(this.previewCanvas, left + dw + 2, top + dh + 2);
    this.drawTile(context, i, left, top, dw, dh);
    context.font = `${font}px ${this.theme.font}`;
    context.fillStyle = this.theme.text;
    context.globalAlpha = 0.85;
    context.textBaseline = "middle";
    context.textAlign = "right";
    const stepQ = thin(dh / q.length, font + 2);
    for (let r = 0; r < q.length; r += stepQ) {
      context.fillText(rows.left.cut(context, r, room).text, left - 4, top + ((r + 0.5) * dh) / q.length);
    }
    const stepK = thin(dw / k.length, font + 2);
    context.textAlign = "left";
    for (let c = 0; c < k.length; c += stepK) {
      context.save();
      context.translate(left + ((c + 0.5) * dw) / k.length, top - 4);
      context.rotate(-Math.PI / 2);
      context.fillText(rows.top.cut(context, c, room).text, 0, 0);
      context.restore();
    }
    context.globalAlpha = 1;
    this.placePreview(i);
  }

  // Beside the mosaic if the window has room there, else beside the tile, else under or above it. In the browser's
  // top layer, so that no column cuts it off.
  placePreview(i) {
    const panel = this.preview;
    if (!this.popped) panel.showPopover?.();
    this.popped = true;
    panel.classList.add("av-on");
    const stage = this.scroll.getBoundingClientRect();
    const inner = this.stage.getBoundingClientRect();
    const [x, y] = [inner.left + this.places[i][0], inner.top + this.places[i][1]];
    const { offsetWidth: w, offsetHeight: h } = panel;
    const { innerWidth, innerHeight } = globalThis;
    const edge = Math.min(stage.right, inner.right) + 12;
    const right = edge + w < innerWidth - 8 ? edge : x + this.tw + 12;
    const spots = [right, x - w - 12].filter((left) => left >= 8 && left + w <= innerWidth - 8);
    const clamp = (v, most) => Math.max(8, Math.min(most - 8, v));
    const under = y + this.th + 10 + h < innerHeight ? y + this.th + 10 : y - h - 10;
    const left = spots.length ? spots[0] : clamp(x + this.tw / 2 - w / 2, innerWidth - w);
    panel.style.left = `${left}px`;
    panel.style.top = `${spots.length ? clamp(y + this.th / 2 - h / 2, innerHeight - h) : under}px`;
  }

  hidePreview() {
    this.preview.classList.remove("av-on");
    if (this.popped) this.preview.hidePopover?.();
    this.popped = false;
  }

  key(event) {
    const moves = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
    const from = this.at ?? this.chosen();
    if (event.key in moves) this.point(this.neighbour(from, ...moves[event.key]), true);
    else if (event.key === "Enter" || event.key === " ") this.pick(from);
    else if (event.key === "Escape") this.point(null);
    else if (event.key === "Home") this.point(this.sorted[0], true);
    else if (event.key === "End") this.point(this.sorted[this.sorted.length - 1], true);
    else return;
    event.preventDefault();
  }

  neighbour(from, dx, dy) {
    if (!this.gridded) {
      const rank = this.sorted.indexOf(from) + dx + dy * this.columns;
      return this.sorted[Math.max(0, Math.min(this.sorted.length - 1, rank))];
    }
    const [dl, dh] = this.across ? [dx, dy] : [dy, dx];
    const { heads } = this.header;
    const layer = Math.max(0, Math.min(heads.length - 1, this.tiles[from].layer + dl));
    const head = Math.max(0, Math.min(heads[layer] - 1, this.tiles[from].head + dh));
    return this.tileNumber(layer, head);
  }

  pick(i) {
    const { layer, head } = this.tiles[i];
    const group = this.group;
    group.selected = [layer, head];
    group.seq += 1;
    group.pickedAt = performance.now();
    this.live.textContent = `${this.name(i)}, ${this.header.words.chosen}`;
    performance.clearMarks("attnviz-picked");
    performance.mark("attnviz-picked");
    tell(group, "selected");
    this.component.setTriggerValue("pick", { layer, head, seq: group.seq });
  }
}

export default function (component) {
  const root = component.parentElement.querySelector(".av-root");
  if (!root.view) {
    root.view = new OverviewView(root);
    root.stopWatching = watchSize(root, () => root.view.draw());
  }
  root.view.show(component.data, component);
  return () => {
    root.stopWatching();
    root.view.leave();
    root.view.gone.abort();
    root.view = null;
    root.replaceChildren();
  };
}
