// Where the head on show sits: from tokens through embedding and blocks to the next token. A press on a block chooses its
// layer, a press on a head the head. Every number and sentence is Python's.

import { View, viewComponent } from "../shared/component.js";
import { nextButton } from "../shared/controls.js";
import { around, button, el, fill, liveRegion, named } from "../shared/dom.js";
import { groupOf, Member, tell } from "../shared/group.js";
import { filledShare } from "./strip_scene.js";

/** @import { Component, ModelPart, ModelStripHeader } from "../shared/types.js" */

/** @extends {View<ModelStripHeader>} */
class ModelStrip extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.flow = el("div", "av-wrap ms-flow");
    this.inside = el("div", "ms-inside", null, { "data-testid": "inside" });
    this.live = liveRegion();
    root.append(this.flow, this.inside, this.live);
    root.dataset.testid = "model-strip";
    /** @type {HTMLButtonElement[]} */
    this.blocks = [];
    /** @type {[number, number]} layer and head that are lit */
    this.at = [0, 0];
    this.member = new Member((what) => {
      const chosen = this.member.group?.selected;
      if (what === "selected" && chosen) this.light(chosen);
    });
  }

  /** @param {Component} component */
  async show(component) {
    const { header, before } = this.receive(component);
    const group = groupOf(header.group);
    this.member.join(group);
    if (before?.name !== header.name) this.build();
    this.light(group.selected ?? header.at);
  }

  leave() {
    this.member.leave();
  }

  build() {
    const { before, after, blocks, words } = this.header;
    const row = el("div", "av-wrap ms-blocks", null, { role: "group", "aria-label": words.blocks });
    this.blocks = blocks.of.map((_part, layer) => {
      const attributes = { "data-layer": String(layer), tabindex: "-1" };
      const block = button("ms-block", null, () => this.pick([layer, this.at[1]]), attributes);
      row.append(named(block, fill(words.layer, { layer })));
      return block;
    });
    row.addEventListener("keydown", (e) => this.key(e, this.blocks));
    const middle = box(blocks, "ms-middle");
    middle.insertBefore(row, middle.children[1] ?? null);
    this.flow.replaceChildren(...before.map((part) => box(part)), middle, ...after.map((part) => box(part)));
  }

  /** @param {[number, number]} at */
  light(at) {
    const { blocks, heads, words } = this.header;
    const layer = Math.min(at[0], this.blocks.length - 1);
    const head = Math.min(at[1], heads[layer] - 1);
    const lit = `${this.header.name} ${layer}.${head}`;
    if (this.inside.dataset.at === lit) return;
    this.at = [layer, head];
    this.inside.dataset.at = lit;
    this.blocks.forEach((block, i) => {
      block.setAttribute("aria-pressed", String(i === layer));
      block.tabIndex = i === layer ? 0 : -1;
    });
    const { norms, attention, mlp } = blocks.of[layer];
    const middle = box(attention, "ms-attention");
    middle.insertBefore(this.heads(heads[layer], head), middle.children[1] ?? null);
    const title = el("div", "av-strong ms-title", fill(words.inside, { layer, head }));
    const parts = around("av-wrap ms-flow", middle, box(mlp), box(norms, "ms-aside"));
    this.inside.replaceChildren(title, parts);
  }

  /** @param {number} count @param {number} lit */
  heads(count, lit) {
    const { words } = this.header;
    const row = el("div", "av-wrap ms-heads", null, { role: "group", "aria-label": words.heads });
    const buttons = Array.from({ length: count }, (_none, head) => {
      const press = () => {
        this.pick([this.at[0], head]);
        const now = this.inside.querySelector(`[data-head="${head}"]`); // the row was built anew
        if (now instanceof HTMLElement) now.focus({ preventScroll: true });
      };
      const name = { "aria-pressed": String(head === lit), "aria-label": fill(words.head, { head }) };
      const one = button("ms-head", String(head), press, { "data-head": String(head), ...name });
      one.tabIndex = head === lit ? 0 : -1;
      row.append(one);
      return one;
    });
    row.addEventListener("keydown", (e) => this.key(e, buttons));
    return row;
  }

  /** Walks among buttons of one row. @param {KeyboardEvent} event @param {HTMLButtonElement[]} buttons */
  key(event, buttons) {
    const to = nextButton(event, buttons);
    if (to !== null) buttons[to].focus();
  }

  /** Chooses a head as a press on its tile does. @param {[number, number]} at */
  pick([layer, wanted]) {
    const { group } = this.member;
    if (!group) return;
    const head = Math.min(wanted, this.header.heads[layer] - 1);
    group.selected = [layer, head];
    this.live.textContent = fill(this.header.words.inside, { layer, head });
    tell(group, "selected");
    group.picks.send(this, "pick", { layer, head });
  }
}

/** A part: its name, what is in it, and a bar as long as its share. @param {ModelPart} part */
function box({ title, lines, share, said }, more = "") {
  const node = el("div", `ms-box ${more}`.trim());
  node.append(el("div", "av-strong", title));
  const shapes = lines.map((line) => line.replaceAll(" × ", "\u00a0×\u00a0")); // a shape is not broken between lines
  for (const line of shapes) node.append(el("div", "ms-line", line));
  if (share !== null) {
    const bar = el("div", "ms-bar", null, { "aria-hidden": "true" });
    const filled = el("div", "ms-share");
    filled.style.width = `${filledShare(share) * 100}%`;
    bar.append(filled);
    node.append(el("div", "ms-said", said), bar);
  }
  return node;
}

export default viewComponent(ModelStrip);
