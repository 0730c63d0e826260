// The grid of a mask: cells that may look in colour, the others hatched, what is pointed at, in words too.

const WEIGHT_SCALE = { signed: false, top: 1, scale: { top: 1, root: true } };

class MaskPicture {
  drawLegend() {
    const { words, header } = this;
    this.legend.classList.toggle("av-legend", !header.weights);
    if (header.weights) {
      drawColourBar(this.legend, { ...header, ...WEIGHT_SCALE }, { hidden: words.cut }, true);
      return;
    }
    const swatch = el("span", "av-swatch");
    swatch.style.background = cssOf(this.ink());
    this.legend.replaceChildren(
      swatch,
      el("span", "av-bar-name", words.kept),
      el("span", "av-bar-hatch"),
      el("span", "av-bar-name", words.cut),
    );
  }

  layoutAndDraw() {
    const width = this.root.clientWidth;
    if (!this.cells || width === 0) return;
    const [nq, nk] = this.header.shape;
    const context = this.base.getContext("2d");
    const room = Math.min(LONGEST_LABEL, width * 0.26);
    this.room = room;
    this.font = 12;
    context.font = `${this.font}px ${this.theme.font}`;
    const left = Math.ceil(this.labelsQ.width(context, room)) + 10;
    const widest = this.labelsK.width(context, room);
    const slanted = widest * 0.5;
    let cell = Math.min(34, (width - left - 6) / nk);
    this.flat = widest + 6 <= cell;
    const right = this.flat ? 6 : Math.min(Math.max(6, slanted - cell / 2 + 4), width * 0.16);
    cell = Math.min(34, (width - left - right) / nk, Math.max(6, 640 / nq));
    const top = this.flat ? this.font + 12 : Math.ceil(widest * 0.867) + 14;
    this.plot = { x: left, y: top, w: cell * nk, h: cell * nq };
    this.cell = cell;
    this.width = Math.ceil(left + cell * nk + right);
    this.height = Math.ceil(top + cell * nq + 4);
    Object.assign(this.pad.style, {
      left: `${left}px`,
      top: `${top}px`,
      width: `${cell * nk}px`,
      height: `${cell * nq}px`,
    });
    this.stage.dataset.plot = [left, top, cell * nk, cell * nq].map((v) => v.toFixed(2)).join(",");
    this.draw();
  }

  draw() {
    if (!this.plot) return;
    const { theme, header, plot, cell } = this;
    const [nq, nk] = header.shape;
    const context = sized(this.base, this.width, this.height);
    context.fillStyle = hatch(context, theme, header.colours.masked);
    context.fillRect(plot.x, plot.y, plot.w, plot.h);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.picture(nq, nk), plot.x, plot.y, plot.w, plot.h);
    if (cell >= 5) {
      context.strokeStyle = theme.background;
      context.lineWidth = cell >= 12 ? 1 : 0.5;
      context.beginPath();
      for (let q = 0; q <= nq; q++) {
        context.moveTo(plot.x, plot.y + q * cell);
        context.lineTo(plot.x + plot.w, plot.y + q * cell);
      }
      for (let k = 0; k <= nk; k++) {
        context.moveTo(plot.x + k * cell, plot.y);
        context.lineTo(plot.x + k * cell, plot.y + plot.h);
      }
      context.stroke();
    }
    this.drawLabels(context, nq, nk);
    this.tell();
    this.light();
    painted(this.root, "attnviz-mask-painted", this.data);
  }

  picture(nq, nk) {
    const canvas = (this.offscreen ??= document.createElement("canvas"));
    if (canvas.width !== nk || canvas.height !== nq) {
      canvas.width = nk;
      canvas.height = nq;
    }
    const ink = canvas.getContext("2d");
    const image = ink.createImageData(nk, nq);
    const pixels = new Uint32Array(image.data.buffer);
    const solid = this.ink();
    for (let i = 0; i < pixels.length; i++) {
      if (this.cells[i]) pixels[i] = this.weights && this.weights[i] !== MASKED_16 ? this.table[this.weights[i]] : solid;
    }
    ink.putImageData(image, 0, 0);
    return canvas;
  }

  // The colour of a cell that may look: the theme's own, a little towards the background.
  ink() {
    const { primary, background } = this.theme;
    const mixed = [primary, background].map((c, i) => rgb(/^#[0-9a-f]{6}$/i.test(c) ? c : i ? "#ffffff" : "#7a2382"));
    const [r, g, b] = mixed[0].map((v, j) => Math.round(v * 0.82 + mixed[1][j] * 0.18));
    return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
  }

  drawLabels(context, nq, nk) {
    const { theme, plot, cell, header } = this;
    context.font = `${this.font}px ${theme.font}`;
    context.textBaseline = "middle";
    context.textAlign = "right";
    const stepQ = thin(cell, this.font + 2);
    for (let q = 0; q < nq; q++) {
      const empty = !this.cells.subarray(q * nk, (q + 1) * nk).some(Boolean);
      if (q % stepQ && !empty) continue;
      context.fillStyle = empty ? theme.k : theme.text;
      const { text } = this.labelsQ.cut(context, q, this.room);
      if (q % stepQ === 0) context.fillText(text, plot.x - 6, plot.y + (q + 0.5) * cell);
      if (empty) context.fillRect(plot.x - 4, plot.y + q * cell + 1, 3, Math.max(1, cell - 2));
    }
    context.fillStyle = theme.text;
    const stepK = thin(cell, this.flat ? 1 : this.font + 2);
    for (let k = 0; k < nk; k += stepK) this.columnLabel(context, k, false);
  }

  columnLabel(context, k, lit) {
    const { plot, cell, theme, header } = this;
    const { text, width } = this.labelsK.cut(context, k, this.room);
    const x = plot.x + (k + 0.5) * cell;
    context.save();
    context.translate(x, this.flat ? plot.y - 10 : plot.y - 6);
    if (!this.flat) context.rotate(-Math.PI / 3);
    const align = this.flat ? "center" : "left";
    context.textAlign = align;
    if (lit) pill(context, text, 0, 0, width, align, header.colours.k, theme, this.font);
    else context.fillText(text, 0, 0);
    context.restore();
  }

  light() {
    if (!this.plot) return;
    const { theme, plot, cell, header } = this;
    const context = sized(this.over, this.width, this.height);
    const at = this.hover || this.cursor;
    this.read.textContent = at ? this.readout(at) : "";
    this.stage.dataset.at = at ? at.join(",") : "";
    if (!at) return;
    const [q, k] = at;
    context.font = `${this.font}px ${theme.font}`;
    const outline = (x, y, w, h, colour, width) => {
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.strokeRect(x, y, w, h);
    };
    if (q >= 0) {
      const { text, width } = this.labelsQ.cut(context, q, this.room);
      pill(context, text, plot.x - 6, plot.y + (q + 0.5) * cell, width, "right", header.colours.q, theme, this.font);
      outline(plot.x, plot.y + q * cell, plot.w, cell, theme.q, 1.5);
    }
    if (k >= 0) {
      outline(plot.x + k * cell, plot.y, cell, plot.h, theme.k, 1.5);
      this.columnLabel(context, k, true);
    }
    if (q >= 0 && k >= 0) {
      outline(plot.x + k * cell, plot.y + q * cell, cell, cell, theme.background, 4.5);
      outline(plot.x + k * cell, plot.y + q * cell, cell, cell, theme.text, 2.5);
    }
  }

  name(axis, i) {
    const list = axis === "q" || this.header.k === null ? this.header.q : this.header.k;
    return `${shown(list[i]).trim()} (${i})`;
  }

  readout([q, k]) {
    const { words, header } = this;
    const nk = header.shape[1];
    if (q < 0 || k < 0) return "";
    const i = q * nk + k;
    const names = { query: this.name("q", q), key: this.name("k", k) };
    const notes = [fill(this.cells[i] ? words.may : words.maynot, names)];
    if (this.weights && this.cells[i] && this.weights[i] !== MASKED_16) {
      notes.push(fill(words.weight, { value: inDigits(valueOf(this.weights[i], 1, false)) }));
    }
    if (this.locked?.[i]) notes.push(words.locked);
    if (!this.cells.subarray(q * nk, (q + 1) * nk).some(Boolean)) notes.push(fill(words.empty, { query: names.query }));
    return notes.join(" · ");
  }

  tell() {
    let kept = 0;
    for (const cell of this.cells) kept += cell;
    this.count.textContent = fill(this.words.summary, { kept, total: this.cells.length });
    this.undoButton.disabled = this.past.length === 0;
    this.redoButton.disabled = this.future.length === 0;
    this.root.dataset.kept = String(kept);
  }

  // The cell under a pointer; -1 stands for the label beside a row or above a column.
  hit(event, clamp = false) {
    const box = this.stage.getBoundingClientRect();
    const [nq, nk] = this.header.shape;
    let q = Math.floor((event.clientY - box.top - this.plot.y) / this.cell);
    let k = Math.floor((event.clientX - box.left - this.plot.x) / this.cell);
    if (clamp) return [Math.max(0, Math.min(nq - 1, q)), Math.max(0, Math.min(nk - 1, k))];
    if (q < 0) q = -1;
    if (k < 0) k = -1;
    return q >= nq || k >= nk || (q < 0 && k < 0) ? null : [q, k];
  }
}
