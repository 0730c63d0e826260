// Where the head on show sits: from tokens through embedding and blocks to the next token. A press on a block chooses its
// layer, a press on a head the head. Every number and sentence is Python's.

import { readTheme } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import { nextButton } from "../shared/controls.js";
import { createBox, createButton, el, fill, liveRegion, setName } from "../shared/dom.js";
import { groupOf, Member, tell } from "../shared/group.js";
import { layOver, sizeCanvas } from "../shared/surface.js";
import { drawStrip, modelStripFigure, placeStrip } from "./strip_scene.js";

/** @import { PlacedBox } from "./strip_scene.js" */
/** @import { Component, ModelStripHeader } from "../shared/types.js" */

/** @extends {View<ModelStripHeader>} */
class ModelStrip extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    this.canvas = el("canvas", "av-drawn");
    this.flow = el("div", "ms-flow");
    this.inside = el("div", "ms-inside", null, { "data-testid": "inside" });
    this.live = liveRegion();
    root.append(createBox("ms-stage", this.canvas, this.flow, this.inside), this.live);
    root.dataset.testid = "model-strip";
    this.offer("strip", modelStripFigure);
    /** @type {HTMLButtonElement[]} */
    this.blocks = [];
    /** @type {HTMLButtonElement[]} */
    this.heads = [];
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

  get displayed() {
    return { ...super.displayed, at: this.at };
  }

  leave() {
    this.member.leave();
  }

  resize() {
    if (this.held) this.draw();
  }

  build() {
    const { blocks, words } = this.header;
    this.blocks = blocks.of.map((_part, layer) => {
      const block = createButton("ms-block", null, () => this.pick([layer, this.at[1]]), {
        "data-layer": String(layer),
      });
      return setName(block, fill(words.layer, { layer }));
    });
    this.flow.replaceChildren(rowOf(words.blocks, this.blocks));
    delete this.inside.dataset.at;
  }

  /** @param {[number, number]} at */
  light(at) {
    const { heads, words, name } = this.header;
    const layer = Math.min(at[0], this.blocks.length - 1);
    const head = Math.min(at[1], heads[layer] - 1);
    const lit = `${name} ${layer}.${head}`;
    if (this.inside.dataset.at !== lit) {
      this.at = [layer, head];
      this.inside.dataset.at = lit;
      this.heads = Array.from({ length: heads[layer] }, (_none, i) => this.headButton(i));
      this.inside.replaceChildren(rowOf(words.heads, this.heads));
      for (const [buttons, pressed] of /** @type {[HTMLButtonElement[], number][]} */ ([
        [this.blocks, layer],
        [this.heads, head],
      ])) {
        buttons.forEach((each, i) => {
          each.setAttribute("aria-pressed", String(i === pressed));
          each.tabIndex = i === pressed ? 0 : -1;
        });
      }
    }
    this.draw();
  }

  /** @param {number} head */
  headButton(head) {
    const press = () => {
      this.pick([this.at[0], head]);
      this.heads[head]?.focus({ preventScroll: true }); // the row was built anew
    };
    const label = fill(this.header.words.head, { head });
    return createButton("ms-head", null, press, { "data-head": String(head), "aria-label": label });
  }

  /** Draws the strip, and lays its words and buttons over it. */
  draw() {
    const width = this.root.clientWidth;
    if (!width) return;
    const room = { width, touch: matchMedia("(pointer: coarse)").matches, bar: true };
    const scene = placeStrip(this.header, this.at, room);
    drawStrip(sizeCanvas(this.canvas, scene.width, scene.height), scene, readTheme(this.root, this.header.colours));
    const { above, below, dashed, names } = scene;
    Object.assign(this.inside.style, { marginTop: `${dashed.y}px`, height: `${dashed.h}px` });
    for (const [buttons, boxes, row] of /** @type {[HTMLButtonElement[], PlacedBox[], HTMLElement][]} */ ([
      [this.blocks, above, this.flow],
      [this.heads, below, this.inside],
    ])) {
      const places = boxes.flatMap((box) => box.places);
      buttons.forEach((each, i) => layOver(each, places[i]));
      row.querySelectorAll(".av-words").forEach((old) => old.remove());
      const title = row === this.inside ? [layOver(el("div", "av-words", names.join(" ")), { ...dashed, h: 40 })] : [];
      row.prepend(...title, ...boxes.map(textOverBox));
    }
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

/** Buttons in a row, among which keys walk. @param {string} name @param {HTMLButtonElement[]} buttons */
function rowOf(name, buttons) {
  const row = createBox("", ...buttons);
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", name);
  row.addEventListener("keydown", (event) => {
    const to = nextButton(event, buttons);
    if (to !== null) buttons[to].focus();
  });
  return row;
}

/** What is written in a box, over its drawing. @param {PlacedBox} box */
function textOverBox({ part, x, y, w, h }) {
  const said = part.share === null ? [] : [part.shareLabel];
  const words = el("div", "av-words ms-box", [part.title, ...part.lines, ...said].join("\n"));
  return layOver(words, { x: x + 11, y: y + 8, w: w - 22, h: h - 16 });
}

export default viewComponent(ModelStrip);
