// The matrix as a picture: base canvas (cells, labels) and overlay canvas (what is lit).

const SLANT = Math.PI / 3;

class HeatmapPicture {
  constructor(view) {
    this.view = view;
    this.stage = el("div", "av-stage av-heat", null, {
      tabindex: "0",
      role: "application",
      "aria-describedby": "help",
      "data-testid": "heatmap",
    });
    this.base = el("canvas");
    this.over = el("canvas", "av-over");
    this.stage.append(this.base, this.over);
    this.drag = null;
  }

  // Sizes of labels and plot, for the width there is.
  layout(width) {
    const { header, theme, labelsQ, labelsK } = this.view;
    const [nq, nk] = header.shape;
    const compact = header.compact;
    this.font = compact ? 10 : 12;
    const context = this.base.getContext("2d");
    context.font = `${this.font}px ${theme.font}`;
    const room = Math.min(compact ? 64 : LONGEST_LABEL, width * 0.26);
    this.room = room;
    const left = Math.ceil(labelsQ.width(context, room)) + 10;
    const widest = labelsK.width(context, room);
    const tallest = compact ? 340 : 620;
    const most = compact ? 40 : 60;
    let right = 6;
    let cell = Math.min(most, (width - left - right) / nk);
    this.flat = widest + 6 <= cell;
    if (!this.flat) {
      right = Math.min(Math.max(6, widest * Math.cos(SLANT) - cell / 2 + 4), width * 0.16);
      cell = Math.min(most, (width - left - right) / nk);
    }
    const top = this.flat ? this.font + 12 : Math.ceil(widest * Math.sin(SLANT)) + 14;
    const cellH = Math.max(Math.min(cell, tallest / nq), Math.min(14, tallest / nq));
    const cellW = nq === nk ? Math.min(cell, tallest / nq) : cell;
    this.plot = { x: left, y: top, w: cellW * nk, h: (nq === nk ? cellW : cellH) * nq };
    this.width = Math.ceil(left + this.plot.w + right);
    this.height = Math.ceil(top + this.plot.h + 4);
    this.stage.dataset.plot = [left, top, this.plot.w, this.plot.h].map((v) => v.toFixed(2)).join(",");
  }

  cells() {
    const [nq, nk] = this.view.header.shape;
    const span = spans(this.view.group.zoom, nq, nk);
    return { nq, nk, w: this.plot.w / span.k, h: this.plot.h / span.q, ...this.view.group.zoom, span };
  }

  x(k) {
    const c = this.cells();
    return this.plot.x + (k - c.k0) * c.w;
  }

  y(q) {
    const c = this.cells();
    return this.plot.y + (q - c.q0) * c.h;
  }

  // Pictures of the codes at full size and, when zoomed out, of the largest of 2x2, 4x4... cells.
  picture(pixelsPerCell) {
    const view = this.view;
    let step = 1;
    while (pixelsPerCell * step < 0.75) step *= 2;
    const key = `${view.header.data}|${view.tableKey}|${step}`;
    this.pictures ??= new Map();
    if (this.picturesOf !== view.header.data) this.pictures.clear();
    this.picturesOf = view.header.data;
    if (!this.pictures.has(key)) {
      if (this.pictures.size > 6) this.pictures.clear();
      this.pictures.set(key, this.paint(step));
    }
    return [this.pictures.get(key), step];
  }

  paint(step) {
    const { codes, table, header } = this.view;
    const [nq, nk] = header.shape;
    const [h, w] = [Math.ceil(nq / step), Math.ceil(nk / step)];
    const canvas = document.createElement("canvas");
    canvas.width = w;
    canvas.height = h;
    const ink = canvas.getContext("2d");
    const image = ink.createImageData(w, h);
    const pixels = new Uint32Array(image.data.buffer);
    if (step === 1) {
      for (let i = 0; i < pixels.length; i++) pixels[i] = table[codes[i]];
    } else {
      const best = new Int32Array(w * h).fill(-1);
      const top = new Uint16Array(w * h).fill(MASKED_16);
      for (let q = 0; q < nq; q++) {
        const row = Math.floor(q / step) * w;
        for (let k = 0; k < nk; k++) {
          const code = codes[q * nk + k];
          if (code === MASKED_16) continue;
          const size = header.signed ? Math.abs(code - 32767) : code;
          const at = row + Math.floor(k / step);
          if (size > best[at]) {
            best[at] = size;
            top[at] = code;
          }
        }
      }
      for (let i = 0; i < pixels.length; i++) pixels[i] = table[top[i]];
    }
    ink.putImageData(image, 0, 0);
    return canvas;
  }

  draw() {
    const { theme, header, hasMasked } = this.view;
    const context = sized(this.base, this.width, this.height);
    const { x, y, w, h } = this.plot;
    const c = this.cells();
    if (hasMasked) {
      context.fillStyle = hatch(context, theme, header.colours.masked);
      context.fillRect(x, y, w, h);
    }
    const [picture, step] = this.picture(Math.min(c.w, c.h) * devicePixelRatio);
    context.save();
    context.beginPath();
    context.rect(x, y, w, h);
    context.clip();
    context.imageSmoothingEnabled = false;
    context.drawImage(picture, x - c.k0 * c.w, y - c.q0 * c.h, picture.width * step * c.w, picture.height * step * c.h);
    this.drawNumbers(context, c);
    this.drawSegments(context, c);
    context.restore();
    context.strokeStyle = theme.border;
    context.lineWidth = 1;
    context.strokeRect(x - 0.5, y - 0.5, w + 1, h + 1);
    this.drawLabels(context, c);
    this.stage.style.touchAction = c.z > 1 ? "none" : "pan-y";
    this.stage.dataset.zoom = [c.z, c.q0, c.k0].map((v) => v.toFixed(3)).join(",");
    this.light();
  }

  drawNumbers(context, c) {
    if (c.w < 34 || c.h < 22) return;
    const view = this.view;
    const size = Math.min(13, Math.floor(c.w / 3.4));
    context.font = `${size}px ${view.theme.font}`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let q = Math.floor(c.q0); q < Math.min(c.nq, c.q0 + c.span.q); q++) {
      for (let k = Math.floor(c.k0); k < Math.min(c.nk, c.k0 + c.span.k); k++) {
        const code = view.codes[q * c.nk + k];
        if (code === MASKED_16) continue;
        const value = view.value(q, k);
        context.fillStyle = isBright(view.table[code]) ? "#14161c" : "#ffffff";
        context.globalAlpha = Math.abs(value) < 0.005 ? 0.45 : 0.95;
        const text = Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2).replace("-", "−");
        context.fillText(text, this.plot.x + (k + 0.5 - c.k0) * c.w, this.plot.y + (q + 0.5 - c.q0) * c.h);
      }
    }
    context.globalAlpha = 1;
  }

  drawSegments(context, c) {
    const [rows, columns] = this.view.header.segments;
    const { x, y, w, h } = this.plot;
    context.setLineDash([5, 4]);
    for (const [colour, width] of [["#00000080", 3], ["#ffffff", 1.2]]) {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.beginPath();
      for (const q of rows) {
        context.moveTo(x, y + (q - c.q0) * c.h);
        context.lineTo(x + w, y + (q - c.q0) * c.h);
      }
      for (const k of columns) {
        context.moveTo(x + (k - c.k0) * c.w, y);
        context.lineTo(x + (k - c.k0) * c.w, y + h);
      }
      context.stroke();
    }
    context.setLineDash([]);
  }

  drawLabels(context, c) {
    const { theme, labelsQ, labelsK } = this.view;
    context.font = `${this.font}px ${theme.font}`;
    context.fillStyle = theme.text;
    context.textBaseline = "middle";
    context.globalAlpha = 0.9;
    const stepQ = thin(c.h, this.font + 2);
    context.textAlign = "right";
    for (let q = Math.ceil(c.q0 / stepQ) * stepQ; q < Math.min(c.nq, c.q0 + c.span.q); q += stepQ) {
      const y = this.plot.y + (q + 0.5 - c.q0) * c.h;
      if (y < this.plot.y - 1 || y > this.plot.y + this.plot.h) continue;
      context.fillText(labelsQ.cut(context, q, this.room).text, this.plot.x - 6, y);
    }
    const need = this.flat && c.w > 30 ? 1 : this.font + 2;
    const stepK = thin(c.w, need);
    for (let k = Math.ceil(c.k0 / stepK) * stepK; k < Math.min(c.nk, c.k0 + c.span.k); k += stepK) {
      const x = this.plot.x + (k + 0.5 - c.k0) * c.w;
      if (x < this.plot.x - 1 || x > this.plot.x + this.plot.w) continue;
      this.columnLabel(context, labelsK.cut(context, k, this.room).text, x);
    }
    context.globalAlpha = 1;
  }

  columnLabel(context, text, x) {
    if (this.flat) {
      context.textAlign = "center";
      context.fillText(text, x, this.plot.y - 10);
      return;
    }
    context.save();
    context.translate(x, this.plot.y - 6);
    context.rotate(-SLANT);
    context.textAlign = "left";
    context.fillText(text, 0, 0);
    context.restore();
  }

  // The overlay: rows and columns of lit tokens, the cell, their labels as pills.
  light() {
    const { theme, header, group } = this.view;
    const context = sized(this.over, this.width, this.height);
    const { x, y, w, h } = this.plot;
    const c = this.cells();
    const dash = (axis, i, width, alpha) => {
      context.globalAlpha = alpha;
      for (const [colour, grow] of [[theme.background, width + 2], [axis === "q" ? theme.q : theme.k, width]]) {
        context.strokeStyle = colour;
        context.lineWidth = grow;
        const out = Math.max(0, width - (axis === "q" ? c.h : c.w) / 8);
        if (axis === "q") context.strokeRect(x, this.y(i) - out, w, c.h + 2 * out);
        else context.strokeRect(this.x(i) - out, y, c.w + 2 * out, h);
      }
      context.globalAlpha = 1;
    };
    context.save();
    context.beginPath();
    context.rect(x - 2, y - 2, w + 4, h + 4);
    context.clip();
    for (const lit of this.view.lit()) dash(lit.axis, lit.i, lit.pin ? 2 : 1.5, lit.pin ? 1 : 0.85);
    const cells = group.cell ? [[group.cell, 3]] : [];
    if (group.hover?.axis === "cell") cells.push([[group.hover.q, group.hover.k], 2]);
    for (const [[q, k], width] of cells) {
      context.strokeStyle = theme.background;
      context.lineWidth = width + 2;
      context.strokeRect(this.x(k), this.y(q), c.w, c.h);
      context.strokeStyle = theme.text;
      context.lineWidth = width;
      context.strokeRect(this.x(k), this.y(q), c.w, c.h);
    }
    context.restore();
    this.lightLabels(context, c);
    if (this.drag?.box) {
      const [x0, y0, x1, y1] = this.drag.box;
      context.fillStyle = theme.primary;
      context.globalAlpha = 0.15;
      context.fillRect(x0, y0, x1 - x0, y1 - y0);
      context.globalAlpha = 1;
      context.strokeStyle = theme.primary;
      context.strokeRect(x0, y0, x1 - x0, y1 - y0);
    }
  }

  lightLabels(context, c) {
    const { theme, header, labelsQ, labelsK } = this.view;
    context.font = `${this.font}px ${theme.font}`;
    for (const { axis, i } of this.view.lit()) {
      if (axis === "q") {
        const y = this.plot.y + (i + 0.5 - c.q0) * c.h;
        if (y < this.plot.y || y > this.plot.y + this.plot.h) continue;
        const { text, width } = labelsQ.cut(context, i, this.room);
        pill(context, text, this.plot.x - 6, y, width, "right", header.colours.q, theme, this.font);
      } else {
        const x = this.plot.x + (i + 0.5 - c.k0) * c.w;
        if (x < this.plot.x || x > this.plot.x + this.plot.w) continue;
        const { text, width } = labelsK.cut(context, i, this.room);
        if (this.flat) {
          pill(context, text, x, this.plot.y - 10, width, "center", header.colours.k, theme, this.font);
        } else {
          context.save();
          context.translate(x, this.plot.y - 6);
          context.rotate(-SLANT);
          pill(context, text, 0, 0, width, "left", header.colours.k, theme, this.font);
          context.restore();
        }
      }
    }
  }

  // What lies under a pointer: a cell, a row label, a column label, or nothing.
  hit(event) {
    const box = this.stage.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const c = this.cells();
    const [q, k] = [(py - this.plot.y) / c.h + c.q0, (px - this.plot.x) / c.w + c.k0];
    const inY = py >= this.plot.y && py < this.plot.y + this.plot.h;
    const inX = px >= this.plot.x && px < this.plot.x + this.plot.w;
    const [qi, ki] = [Math.min(c.nq - 1, Math.floor(q)), Math.min(c.nk - 1, Math.floor(k))];
    if (inX && inY) return { axis: "cell", q: qi, k: ki, at: [q, k], px, py };
    if (inY && px < this.plot.x) return { axis: "q", i: qi };
    if (inX && py < this.plot.y) return { axis: "k", i: ki };
    return null;
  }
}
