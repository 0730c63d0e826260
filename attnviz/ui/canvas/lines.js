// Token lines: queries on the left, keys on the right, one line a weight. All lines on the base canvas,
// those of lit tokens on the overlay, so that a hover redraws little.

const MOST_LINES = 4000;
const LEVELS = 24;

class Lines {
  constructor(view) {
    this.view = view;
    this.stage = el("div", "av-stage av-lines", null, { role: "img", "data-testid": "lines" });
    this.base = el("canvas", "av-fade");
    this.names = el("canvas", "av-over");
    this.over = el("canvas", "av-over");
    this.stage.append(this.base, this.names, this.over);
    this.listen();
  }

  layout(width, beside) {
    const { header, theme, labelsQ, labelsK, words } = this.view;
    const [nq, nk] = header.shape;
    this.font = 12;
    const context = this.base.getContext("2d");
    context.font = `${this.font}px ${theme.font}`;
    this.room = Math.min(LONGEST_LABEL, width * 0.3);
    const title = Math.max(...[words.queries, words.keys].map((text) => context.measureText(text).width * 1.05));
    const left = Math.ceil(Math.max(title, labelsQ.width(context, this.room))) + 12;
    const right = Math.ceil(Math.max(title, labelsK.width(context, this.room))) + 12;
    const top = beside ? beside.y : 22;
    const high = beside ? beside.h : Math.max(120, Math.min(560, Math.max(nq, nk) * 22));
    const wide = Math.max(60, Math.min(width, 620) - left - right);
    this.plot = { x: left, y: top, w: wide, h: high };
    this.width = left + wide + right;
    this.height = Math.ceil(top + high + 4);
    this.stage.dataset.plot = [left, top, wide, high].map((v) => v.toFixed(2)).join(",");
  }

  rows() {
    const [nq, nk] = this.view.header.shape;
    const { zoom } = this.view.group;
    const span = spans(zoom, nq, nk);
    return { nq, nk, ...zoom, span, hq: this.plot.h / span.q, hk: this.plot.h / span.k };
  }

  // Levels of strength, weakest first; each the flat list q, k, q, k... of its lines.
  strongest(r) {
    const { codes, header } = this.view;
    const sizes = this.sizes();
    const [qa, qb] = [Math.floor(r.q0), Math.min(r.nq, Math.ceil(r.q0 + r.span.q))];
    const [ka, kb] = [Math.floor(r.k0), Math.min(r.nk, Math.ceil(r.k0 + r.span.k))];
    const counts = new Uint32Array(65536);
    for (let q = qa; q < qb; q++) {
      for (let i = q * r.nk + ka, end = q * r.nk + kb; i < end; i++) counts[sizes[i]] += 1;
    }
    const total = (qb - qa) * (kb - ka) - counts[MASKED_16];
    let cut = 65534;
    let kept = 0;
    while (cut > 0 && kept + counts[cut] <= MOST_LINES) kept += counts[cut--];
    cut = Math.max(cut, Math.floor(65534 * Math.sqrt((0.006 * header.scale.top) / header.top)));
    const levels = Array.from({ length: LEVELS }, () => []);
    let drawn = 0;
    for (let q = qa; q < qb; q++) {
      for (let k = ka, i = q * r.nk + ka; k < kb; k++, i++) {
        if (sizes[i] <= cut || sizes[i] === MASKED_16) continue;
        levels[Math.min(LEVELS - 1, Math.floor(this.strength(codes[i]) * LEVELS))].push(q, k);
        drawn += 1;
      }
    }
    return { levels, drawn, total };
  }

  // Magnitudes of all codes: themselves where there is no sign.
  sizes() {
    const { codes, header, data } = this.view;
    if (!header.signed) return codes;
    if (this.sizesOf !== data) {
      this.sizesOf = data;
      this.magnitudes = codes.map((c) => (c === MASKED_16 ? c : Math.min(65534, Math.abs(c - 32767) * 2)));
    }
    return this.magnitudes;
  }

  strength(code) {
    const { header } = this.view;
    const value = Math.abs(valueOf(code, header.top, header.signed));
    const share = Math.min(1, value / header.scale.top);
    return header.scale.root ? Math.sqrt(share) : share;
  }

  draw() {
    const { theme } = this.view;
    const context = sized(this.base, this.width, this.height);
    const r = this.rows();
    const found = this.strongest(r);
    this.counted = found;
    this.clip(context);
    found.levels.forEach((lines, level) => this.stroke(context, lines, (level + 0.5) / LEVELS, r, theme.dark ? 0.12 : 0.06));
    this.tint(context);
    context.restore();
    this.drawLabels(sized(this.names, this.width, this.height), r, theme);
    this.light();
  }

  clip(context) {
    const { x, y, w, h } = this.plot;
    context.save();
    context.beginPath();
    context.rect(x - 2, y - 1, w + 4, h + 2);
    context.clip();
  }

  ink(positive) {
    const { colours, signed } = this.view.header;
    if (!signed) return "#000000";
    return positive ? colours.scores[3][1] : colours.scores[1][1];
  }

  // From Q's colour to K's over all lines at once: stroking each with a gradient takes ten times as long.
  tint(context) {
    const { theme, header } = this.view;
    if (header.signed) return;
    const { x, y, w, h } = this.plot;
    const gradient = context.createLinearGradient(x, 0, x + w, 0);
    gradient.addColorStop(0.1, theme.q);
    gradient.addColorStop(0.9, theme.k);
    context.globalCompositeOperation = "source-in";
    context.fillStyle = gradient;
    context.fillRect(x - 2, y - 1, w + 4, h + 2);
    context.globalCompositeOperation = "source-over";
  }

  stroke(context, lines, t, r, least) {
    if (!lines.length) return;
    const { codes, header } = this.view;
    const { x, y, w } = this.plot;
    const [x0, x1, bend] = [x + 3, x + w - 3, w * 0.4];
    const signs = header.signed ? [true, false] : [true];
    for (const positive of signs) {
      context.beginPath();
      for (let n = 0; n < lines.length; n += 2) {
        const [q, k] = [lines[n], lines[n + 1]];
        if (header.signed && codes[q * r.nk + k] > 32767 !== positive) continue;
        const ya = y + (q + 0.5 - r.q0) * r.hq;
        const yb = y + (k + 0.5 - r.k0) * r.hk;
        context.moveTo(x0, ya);
        context.bezierCurveTo(x0 + bend, ya, x1 - bend, yb, x1, yb);
      }
      context.strokeStyle = this.ink(positive);
      context.globalAlpha = least + (1 - least) * t * 0.95;
      context.lineWidth = 0.75 + 2.75 * t;
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  drawLabels(context, r, theme) {
    const { labelsQ, labelsK, words } = this.view;
    context.font = `${this.font}px ${theme.font}`;
    context.fillStyle = theme.text;
    context.textBaseline = "middle";
    context.globalAlpha = 0.9;
    const column = (labels, n, first, span, cell, x, align) => {
      context.textAlign = align;
      const step = thin(cell, this.font + 2);
      for (let i = Math.ceil(first / step) * step; i < Math.min(n, first + span); i += step) {
        const y = this.plot.y + (i + 0.5 - first) * cell;
        if (y < this.plot.y - 1 || y > this.plot.y + this.plot.h) continue;
        context.fillText(labels.cut(context, i, this.room).text, x, y);
      }
    };
    column(labelsQ, r.nq, r.q0, r.span.q, r.hq, this.plot.x - 6, "right");
    column(labelsK, r.nk, r.k0, r.span.k, r.hk, this.plot.x + this.plot.w + 6, "left");
    context.globalAlpha = 1;
    context.font = `600 11px ${theme.font}`;
    context.fillStyle = theme.q;
    context.textAlign = "right";
    context.fillText(words.queries, this.plot.x - 6, this.plot.y - 12);
    context.fillStyle = theme.k;
    context.textAlign = "left";
    context.fillText(words.keys, this.plot.x + this.plot.w + 6, this.plot.y - 12);
  }

  light() {
    const { group, theme, header, labelsQ, labelsK, codes } = this.view;
    const context = sized(this.over, this.width, this.height);
    const lit = this.view.lit();
    this.base.classList.toggle("av-faded", lit.length > 0);
    if (!lit.length) return;
    const r = this.rows();
    const levels = Array.from({ length: LEVELS }, () => []);
    const cell = group.hover?.axis === "cell" ? group.hover : null;
    const add = (q, k) => {
      const code = codes[q * r.nk + k];
      if (code === MASKED_16 || this.strength(code) < (header.scale.root ? 0.08 : 0.006)) return;
      levels[Math.min(LEVELS - 1, Math.floor(this.strength(code) * LEVELS))].push(q, k);
    };
    for (const { axis, i, pin } of lit) {
      if (cell && axis === "k" && !pin) continue;
      for (let j = 0; j < (axis === "q" ? r.nk : r.nq); j++) {
        if (axis === "q") add(i, j);
        else add(j, i);
      }
    }
    this.clip(context);
    levels.forEach((lines, level) => this.stroke(context, lines, (level + 0.5) / LEVELS, r, 0.25));
    this.tint(context);
    if (cell) {
      context.setLineDash([6, 4]);
      context.strokeStyle = theme.text;
      context.lineWidth = 1.5;
      context.beginPath();
      const [ya, yb] = [this.plot.y + (cell.q + 0.5 - r.q0) * r.hq, this.plot.y + (cell.k + 0.5 - r.k0) * r.hk];
      const { x, w } = this.plot;
      context.moveTo(x + 3, ya);
      context.bezierCurveTo(x + w * 0.4, ya, x + w * 0.6, yb, x + w - 3, yb);
      context.stroke();
    }
    context.restore();
    context.font = `${this.font}px ${theme.font}`;
    for (const { axis, i } of lit) {
      const left = axis === "q";
      const y = this.plot.y + (i + 0.5 - (left ? r.q0 : r.k0)) * (left ? r.hq : r.hk);
      if (y < this.plot.y || y > this.plot.y + this.plot.h) continue;
      const { text, width } = (left ? labelsQ : labelsK).cut(context, i, this.room);
      const x = left ? this.plot.x - 6 : this.plot.x + this.plot.w + 6;
      pill(context, text, x, y, width, left ? "right" : "left", left ? header.colours.q : header.colours.k, theme, this.font);
    }
  }

  // A token of the left or right half; between the columns the nearer one counts.
  hit(event) {
    const box = this.stage.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    if (py < this.plot.y || py >= this.plot.y + this.plot.h) return null;
    const r = this.rows();
    const third = this.plot.w * 0.3;
    if (px < this.plot.x + third) return { axis: "q", i: Math.floor((py - this.plot.y) / r.hq + r.q0) };
    if (px > this.plot.x + this.plot.w - third) return { axis: "k", i: Math.floor((py - this.plot.y) / r.hk + r.k0) };
    return null;
  }

  listen() {
    this.drag = null;
    this.stage.addEventListener("pointerdown", (e) => {
      const { zoom } = this.view.group;
      this.drag = { y: e.clientY, zoom: { ...zoom }, moved: false };
      this.view.root.focus({ preventScroll: true });
    });
    for (const end of ["pointercancel", "pointerleave"]) this.stage.addEventListener(end, () => (this.drag = null));
    this.stage.addEventListener("pointermove", (e) => {
      if (this.drag && e.buttons && this.drag.zoom.z > 1) {
        const r = this.rows();
        const dy = e.clientY - this.drag.y;
        this.drag.moved ||= Math.abs(dy) > 5;
        if (this.drag.moved) {
          const { z, q0, k0 } = this.drag.zoom;
          this.view.setZoom({ z, q0: q0 - dy / r.hq, k0: k0 - dy / r.hk });
          return;
        }
      }
      if (e.pointerType === "touch") return;
      const hit = this.hit(e);
      hoverOn(this.view.group, hit);
      this.stage.style.cursor = hit ? "pointer" : "";
    });
    this.stage.addEventListener("pointerleave", () => hoverOn(this.view.group, null));
    this.stage.addEventListener("click", (e) => {
      const hit = this.drag?.moved ? null : this.hit(e);
      this.drag = null;
      if (hit) this.view.press(hit);
    });
    this.stage.addEventListener(
      "wheel",
      (e) => {
        const { z } = this.view.group.zoom;
        if (!(e.ctrlKey || e.metaKey || z > 1)) return;
        const box = this.stage.getBoundingClientRect();
        const r = this.rows();
        const share = Math.max(0, Math.min(1, (e.clientY - box.top - this.plot.y) / this.plot.h));
        e.preventDefault();
        const pixels = e.deltaMode === 1 ? e.deltaY * 16 : e.deltaY;
        this.view.zoomBy(Math.exp(-pixels / 300), r.q0 + share * r.span.q, r.k0 + share * r.span.k);
      },
      { passive: false },
    );
  }
}
