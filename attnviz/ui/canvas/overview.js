// All heads at once: a mosaic of thumbnails on one canvas, a floating preview, a focus that arrow keys move.

const GAP = 2;
const GROUP_GAP = 7;

class OverviewView {
  constructor(root) {
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
    this.preview = el("div", "av-preview", null, { "aria-hidden": "true" });
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
    this.scroll.addEventListener("scroll", () => this.preview.classList.remove("av-on"));
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

  // Every tile's layer, head and the heads that share its keys and values.
  index() {
    const { heads, kv, measure } = this.header;
    this.tiles = [];
    heads.forEach((n, layer) => {
      const size = Math.max(1, Math.round(n / Math.max(1, kv[layer])));
      for (let head = 0; head < n; head++) {
        this.tiles.push({ layer, head, share: size > 1 ? Math.floor(head / size) : -1, size });
      }
    });
    this.measured = null;
    if (measure) {
      const seen = measure.filter((v) => v !== null);
      const [low, high] = [Math.min(...seen), Math.max(...seen)];
      this.measured = measure.map((v) => (v === null ? 0 : high > low ? (v - low) / (high - low) : 1));
    }
    this.sorted = this.tiles.map((_, i) => i);
    if (this.header.order === "measure" && measure) {
      this.sorted.sort((a, b) => (measure[b] ?? -Infinity) - (measure[a] ?? -Infinity) || a - b);
    }
  }

  tileNumber(layer, head) {
    return this.tiles.findIndex((t) => t.layer === layer && t.head === head);
  }

  chosen() {
    const s = this.group.selected;
    const found = s ? this.tileNumber(s[0], s[1]) : 0;
    return Math.max(0, found);
  }

  name(i) {
    const { layer, head } = this.tiles[i];
    return fill(this.header.words.tile, { layer: this.header.layers[layer], head });
  }

  // Where tiles go: layers along the longer side if it fits, or all in order of the measure.
  layout() {
    const { heads, shape } = this.header;
    const width = this.root.clientWidth;
    const most = Math.max(...heads);
    const aspect = Math.max(0.5, Math.min(2, shape[1] / shape[0]));
    const sizes = heads.map((n, l) => Math.max(1, Math.round(n / Math.max(1, this.header.kv[l]))));
    this.alike = sizes.every((s) => s === sizes[0]) && heads.every((n) => n === most);
    this.sharing = this.alike ? sizes[0] : 1;
    this.gridded = this.header.order !== "measure" || !this.header.measure;
    this.edge = 40;
    this.under = 0;
    const places = this.gridded ? this.grid(width, most, aspect) : this.ranking(width, aspect);
    const right = Math.max(...places.map(([x]) => x)) + this.tw + 4;
    const bottom = Math.max(...places.map(([, y]) => y)) + this.th + this.under + 4;
    Object.assign(this, { places, width: right, height: bottom });
  }

  grid(width, most, aspect) {
    const { heads } = this.header;
    const { edge } = this;
    const gaps = this.tiles.reduce((n, t) => Math.max(n, t.share), 0) * GROUP_GAP;
    const wide = (width - edge - 12) / heads.length - GAP;
    const across = (this.across = heads.length >= most && wide >= (width < 480 ? 28 : 20));
    const room = across ? wide : (width - edge - 12 - gaps) / most - GAP;
    const cap = across ? (heads.length > 12 ? 46 : 58) : width < 480 ? 40 : Math.max(28, Math.min(58, 520 / heads.length));
    this.tw = Math.max(12, Math.floor(Math.min(room, cap * Math.min(1.6, aspect))));
    this.th = Math.max(12, Math.round(this.tw / aspect));
    const along = (head, size, side) => head * (side + GAP) + (size > 1 ? Math.floor(head / size) * GROUP_GAP : 0);
    return this.tiles.map(({ layer, head, size }) =>
      across
        ? [edge + layer * (this.tw + GAP), 24 + along(head, size, this.th)]
        : [edge + along(head, size, this.tw), 30 + layer * (this.th + GAP)],
    );
  }

  ranking(width, aspect) {
    const gap = 6;
    this.under = 14;
    this.columns = Math.max(4, Math.floor((width - 4) / (Math.min(52, Math.max(36, width / 22)) + gap)));
    this.tw = Math.floor((width - 4) / this.columns) - gap;
    this.th = Math.round(this.tw / aspect);
    const places = [];
    this.sorted.forEach((i, n) => {
      places[i] = [
        2 + (n % this.columns) * (this.tw + gap),
        4 + Math.floor(n / this.columns) * (this.th + this.under + gap),
      ];
    });
    return places;
  }

  paintAtlas() {
    const [h, w] = this.header.shape;
    const n = this.tiles.length;
    const columns = Math.max(1, Math.min(n, Math.floor(4096 / w)));
    const atlas = document.createElement("canvas");
    atlas.width = columns * w;
    atlas.height = Math.ceil(n / columns) * h;
    const ink = atlas.getContext("2d");
    const image = ink.createImageData(atlas.width, atlas.height);
    const pixels = new Uint32Array(image.data.buffer);
    const steps = ramp(this.header.colours.weights);
    const table = new Uint32Array(256);
    for (let c = 0; c < 255; c++) {
      table[c] = steps[Math.round(place((c / 254) ** 2, this.header.scale, false) * 255)];
    }
    const [r, g, b] = rgb(this.header.colours.masked);
    table[MASKED_8] = (((this.theme.dark ? 70 : 95) << 24) | (b << 16) | (g << 8) | r) >>> 0;
    for (let t = 0; t < n; t++) {
      const [x0, y0] = [(t % columns) * w, Math.floor(t / columns) * h];
      for (let y = 0; y < h; y++) {
        const row = (y0 + y) * atlas.width + x0;
        const from = (t * h + y) * w;
        for (let x = 0; x < w; x++) pixels[row + x] = table[this.codes[from + x]];
      }
    }
    ink.putImageData(image, 0, 0);
    this.atlas = { canvas: atlas, columns, w, h, dark: this.theme.dark };
  }

  drawTile(context, i, x, y, wide, high) {
    const { canvas, columns, w, h } = this.atlas;
    context.imageSmoothingEnabled = w * 1.5 > wide * devicePixelRatio;
    context.imageSmoothingQuality = "high";
    context.drawImage(canvas, (i % columns) * w, Math.floor(i / columns) * h, w, h, x, y, wide, high);
  }

  draw() {
    if (!this.header || !this.codes || this.root.clientWidth === 0) return;
    this.layout();
    if (!this.atlas || this.atlas.dark !== this.theme.dark) this.paintAtlas();
    const context = sized(this.base, this.width, this.height);
    this.drawLabels(context);
    this.tiles.forEach((_, i) => {
      const [x, y] = this.places[i];
      context.globalAlpha = this.header.dim && this.measured ? 0.25 + 0.75 * this.measured[i] : 1;
      this.drawTile(context, i, x, y, this.tw, this.th);
    });
    context.globalAlpha = 1;
    this.light();
    this.stage.dataset.tiles = JSON.stringify([this.tw, this.th, this.places]);
    painted(this.root, "attnviz-overview-painted", this.data);
  }

  drawLabels(context) {
    context.font = `11px ${this.theme.font}`;
    context.fillStyle = this.theme.text;
    context.textBaseline = "middle";
    context.globalAlpha = 0.75;
    if (this.gridded) {
      this.drawNumbers(context);
      this.drawBrackets(context);
    } else {
      this.drawRanks(context);
    }
    context.globalAlpha = 1;
  }

  // Under each tile of the ranking: layer · head, and the measure if there is room.
  drawRanks(context) {
    const { layers, measure } = this.header;
    context.font = `10px ${this.theme.font}`;
    this.tiles.forEach(({ layer, head }, i) => {
      const [x, y] = [this.places[i][0], this.places[i][1] + this.th + 8];
      context.textAlign = "left";
      context.fillText(`${layers[layer]}·${head}`, x, y);
      if (this.tw < 46 || measure[i] === null) return;
      context.textAlign = "right";
      context.fillText(measure[i].toFixed(Math.abs(measure[i]) >= 10 ? 0 : 2), x + this.tw, y);
    });
  }

  drawNumbers(context) {
    const { words, layers, heads } = this.header;
    const { across, edge } = this;
    const [halfW, halfH] = [this.tw / 2, this.th / 2];
    const stepLayer = thin((across ? this.tw : this.th) + GAP, across ? 18 : 14);
    layers.forEach((id, layer) => {
      if (layer % stepLayer) return;
      const [x, y] = this.places[this.tileNumber(layer, 0)];
      context.textAlign = across ? "center" : "right";
      context.fillText(String(id), across ? x + halfW : edge - 8, across ? 17 : y + halfH);
    });
    const most = Math.max(...heads);
    const first = this.tileNumber(heads.indexOf(most), 0);
    const stepHead = thin((across ? this.th : this.tw) + GAP, across ? 14 : 18);
    const offset = this.sharing > 1 ? 12 : 6;
    for (let head = 0; head < most; head += stepHead) {
      const [x, y] = this.places[first + head];
      context.textAlign = across ? "right" : "center";
      if (across) context.fillText(String(head), edge - offset, y + halfH);
      else context.fillText(String(head), x + halfW, offset > 6 ? 15 : 18);
    }
    context.font = `10px ${this.theme.font}`;
    context.globalAlpha = 0.6;
    context.textAlign = "left";
    context.fillText(`${across ? words.layer : words.head} →`, edge, 5);
    context.save();
    context.translate(6, across ? 26 : 34);
    context.rotate(Math.PI / 2);
    context.fillText(`${across ? words.head : words.layer} →`, 0, 0);
    context.restore();
  }

  // Heads that share keys and values: a bracket along the head axis, in the colour of K.
  drawBrackets(context) {
    const { heads } = this.header;
    if (this.sharing < 2) return;
    context.globalAlpha = 1;
    context.strokeStyle = this.theme.k;
    context.lineWidth = 2;
    context.lineCap = "round";
    for (let head = 0; head < heads[0]; head += this.sharing) {
      const last = Math.min(heads[0], head + this.sharing) - 1;
      const [x0, y0] = this.places[head];
      const [x1, y1] = this.places[last];
      context.beginPath();
      if (this.across) {
        context.moveTo(this.edge - 5, y0 + 1);
        context.lineTo(this.edge - 8, y0 + 1);
        context.lineTo(this.edge - 8, y1 + this.th - 1);
        context.lineTo(this.edge - 5, y1 + this.th - 1);
      } else {
        context.moveTo(x0 + 1, 27);
        context.lineTo(x0 + 1, 24);
        context.lineTo(x1 + this.tw - 1, 24);
        context.lineTo(x1 + this.tw - 1, 27);
      }
      context.stroke();
    }
  }

  light() {
    if (!this.places) return;
    const context = sized(this.over, this.width, this.height);
    const outline = (i, colour, width, grow) => {
      const [x, y] = this.places[i];
      context.strokeStyle = colour;
      context.lineWidth = width;
      roundedRect(context, x - grow, y - grow, this.tw + 2 * grow, this.th + 2 * grow, 3);
      context.stroke();
    };
    if (this.at !== null) {
      const { layer, share } = this.tiles[this.at];
      if (share >= 0) {
        this.tiles.forEach((t, i) => {
          if (t.layer === layer && t.share === share && i !== this.at) outline(i, this.theme.k, 1.5, 0.5);
        });
      }
    }
    if (this.group.selected) {
      outline(this.chosen(), this.theme.background, 5, 1.5);
      outline(this.chosen(), this.theme.primary, 3, 1.5);
    }
    if (this.at !== null) outline(this.at, this.theme.text, 2, 1);
    this.stage.dataset.at = this.at === null ? "" : `${this.tiles[this.at].layer},${this.tiles[this.at].head}`;
    this.stage.dataset.selected = this.group.selected ? this.group.selected.join(",") : "";
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

  note(i) {
    const { words, measure, measureName } = this.header;
    const { layer, head, share, size } = this.tiles[i];
    const notes = [];
    if (measure && measure[i] !== null) {
      notes.push(fill(words.measured, { measure: measureName, value: measure[i].toFixed(2) }));
    }
    if (share >= 0) {
      const last = Math.min((share + 1) * size, this.header.heads[layer]) - 1;
      notes.push(fill(words.shared, { heads: `${share * size}–${last}` }));
    }
    return notes.join(" · ");
  }

  point(i, byKey = false) {
    if (i === this.at && !byKey) return;
    this.at = i;
    this.stage.style.cursor = i === null ? "" : "pointer";
    this.relight();
    if (i === null) {
      this.preview.classList.remove("av-on");
      return;
    }
    if (byKey) {
      this.live.textContent = [this.name(i), this.note(i)].filter(Boolean).join(", ");
      this.bringIntoView(i);
    }
    this.drawPreview(i);
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
    const small = this.root.clientWidth < 560;
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

  placePreview(i) {
    const panel = this.preview;
    panel.classList.add("av-on");
    const root = this.root.getBoundingClientRect();
    const stage = this.stage.getBoundingClientRect();
    const [x, y] = [this.places[i][0] + stage.left - root.left, this.places[i][1] + stage.top - root.top];
    const [pw, ph] = [panel.offsetWidth, panel.offsetHeight];
    let left = x + this.tw + 12;
    if (left + pw > root.width) left = x - pw - 12;
    if (left < 0) left = Math.max(0, Math.min(root.width - pw, x + this.tw / 2 - pw / 2));
    const beside = left >= x + this.tw || left + pw <= x;
    let top = beside ? y + this.th / 2 - ph / 2 : y + this.th + 10;
    const lowest = globalThis.innerHeight - root.top - ph - 8;
    const highest = 8 - root.top;
    if (!beside && top > lowest) top = y - ph - 10;
    panel.style.left = `${left}px`;
    panel.style.top = `${beside ? Math.max(highest, Math.min(lowest, top)) : top}px`;
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
    root.view = null;
    root.replaceChildren();
  };
}
