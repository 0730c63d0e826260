// The mosaic itself: where tiles go, the atlas of their pixels, labels, brackets, outlines.

const GAP = 2;
const GROUP_GAP = 7;

class OverviewPicture {
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
}
