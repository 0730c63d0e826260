// The sentence as chips: a list box in which a token is pointed at, walked to, pinned, and tinted by its weight.

class Chips {
  constructor(view) {
    this.view = view;
    this.box = el("div", "av-sentence");
    this.rows = [];
    this.tinted = [];
    this.axis = "q";
  }

  build() {
    const { header, words } = this.view;
    this.box.replaceChildren();
    this.rows = [];
    const both = header.k !== null;
    if (!both) this.box.append(this.direction());
    this.add("q", header.q, both ? words.queries : words.sentence, both);
    if (both) this.add("k", header.k, words.keys, true);
  }

  // One sentence looking at itself: a chip asks either what it looks at or what looks at it.
  direction() {
    const { words } = this.view;
    const group = el("div", "av-direction", null, { role: "radiogroup", "aria-label": words.sentence });
    for (const [axis, text] of [["q", words.looks], ["k", words.lookedat]]) {
      const button = el("button", "av-toggle", text, { type: "button", role: "radio", "data-axis": axis });
      button.setAttribute("aria-checked", String(this.axis === axis));
      button.addEventListener("click", () => {
        this.axis = axis;
        for (const other of group.children) other.setAttribute("aria-checked", String(other.dataset.axis === axis));
        this.light();
      });
      group.append(button);
    }
    return group;
  }

  add(axis, tokens, name, titled) {
    const row = el("div", "av-chips", null, {
      role: "listbox",
      "aria-multiselectable": "true",
      "aria-label": name,
      "data-axis": axis,
    });
    const segments = new Set(this.view.header.segments[axis === "q" ? 0 : 1]);
    const chips = tokens.map((token, i) => {
      const chip = el("span", "av-chip", shown(token), { role: "option", "aria-selected": "false" });
      chip.tabIndex = i === 0 ? 0 : -1;
      chip.dataset.i = String(i);
      if (segments.has(i)) row.append(el("span", "av-segment", null, { "aria-hidden": "true" }));
      row.append(chip);
      return chip;
    });
    if (titled) this.box.append(el("div", `av-row-name av-name-${axis}`, name));
    this.box.append(row);
    const entry = { axis, row, chips };
    this.rows.push(entry);
    this.listen(entry);
  }

  // In one sentence the direction says which axis a chip stands for; in two, its row does.
  axisOf(entry) {
    return this.view.header.k === null ? this.axis : entry.axis;
  }

  listen(entry) {
    const { row, chips } = entry;
    const of = (e) => {
      const chip = e.target.closest?.(".av-chip");
      return chip ? Number(chip.dataset.i) : null;
    };
    row.addEventListener("pointerover", (e) => {
      const i = of(e);
      if (i !== null && e.pointerType !== "touch") hoverOn(this.view.group, { axis: this.axisOf(entry), i });
    });
    row.addEventListener("pointerleave", () => hoverOn(this.view.group, null));
    row.addEventListener("click", (e) => {
      const i = of(e);
      if (i !== null) this.view.press({ axis: this.axisOf(entry), i });
    });
    row.addEventListener("keydown", (e) => {
      const i = of(e);
      if (i === null) return;
      const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
      if (e.key in steps) this.go(entry, Math.max(0, Math.min(chips.length - 1, i + steps[e.key])));
      else if (e.key === "Home") this.go(entry, 0);
      else if (e.key === "End") this.go(entry, chips.length - 1);
      else if (e.key === "Enter" || e.key === " ") this.view.press({ axis: this.axisOf(entry), i });
      else if (e.key === "Escape") this.view.release();
      else return;
      e.preventDefault();
    });
    row.addEventListener("focusin", (e) => {
      const i = of(e);
      if (i === null || !e.target.matches(":focus-visible")) return;
      hoverOn(this.view.group, { axis: this.axisOf(entry), i });
      this.view.announce(this.view.readout());
    });
    row.addEventListener("focusout", () => hoverOn(this.view.group, null));
  }

  go(entry, i) {
    for (const chip of entry.chips) if (chip.tabIndex === 0) chip.tabIndex = -1;
    entry.chips[i].tabIndex = 0;
    entry.chips[i].focus();
  }

  chip(axis, i) {
    const entry = this.view.header.k === null ? this.rows[0] : this.rows.find((row) => row.axis === axis);
    return entry?.chips[i];
  }

  light() {
    for (const chip of this.tinted) {
      chip.style.background = "";
      chip.style.color = "";
      chip.classList.remove("av-lit-q", "av-lit-k", "av-pinned");
      chip.setAttribute("aria-selected", "false");
    }
    this.tinted = [];
    const { header, group, codes, table } = this.view;
    if (!this.rows.length) return;
    const [nq, nk] = header.shape;
    const lit = this.view.lit();
    const lead = this.view.lead();
    if (lead) {
      const axis = lead.axis === "q" ? "k" : "q";
      for (let j = 0; j < (axis === "k" ? nk : nq); j++) {
        const code = axis === "k" ? codes[lead.i * nk + j] : codes[j * nk + lead.i];
        if (code === MASKED_16) continue;
        const t = place(valueOf(code, header.top, header.signed), header.scale, header.signed);
        if (Math.abs(header.signed ? t - 0.5 : t) < 0.02) continue;
        const chip = this.chip(axis, j);
        chip.style.background = cssOf(table[code]);
        chip.style.color = isBright(table[code]) ? "#14161c" : "#ffffff";
        this.tinted.push(chip);
      }
    }
    if (lead) this.bringIntoView(this.chip(lead.axis, lead.i));
    for (const { axis, i, pin } of lit) {
      if (group.hover?.axis === "cell" && axis === "k" && header.k === null && !pin) {
        this.mark(this.chip(axis, i), "av-lit-k");
        continue;
      }
      const chip = this.chip(axis, i);
      this.mark(chip, axis === "q" ? "av-lit-q" : "av-lit-k");
      if (pin) {
        chip.classList.add("av-pinned");
        chip.setAttribute("aria-selected", "true");
      }
    }
  }

  // Scroll the box, never the page.
  bringIntoView(chip) {
    const box = chip.parentElement;
    const [top, bottom] = [chip.offsetTop - box.offsetTop, chip.offsetTop - box.offsetTop + chip.offsetHeight];
    if (top < box.scrollTop) box.scrollTop = top - 3;
    else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight + 3;
  }

  mark(chip, name) {
    chip.classList.add(name);
    this.tinted.push(chip);
  }
}
