// Ways of sharing keys and values side by side, below each other where there is no room.

import { columnsScene, drawColumn, columnMarks, sharingFigure } from "./columns_scene.js";
import { readTheme } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import { setAttribute, el } from "../shared/dom.js";
import { Glide, interpolateNumber, marksBetween } from "../scene/glide.js";
import { offerPicture } from "../shared/offer.js";
import { sizeCanvas } from "../shared/surface.js";

/** @import { ColumnMarks } from "./columns_scene.js" */
/** @import { Component, SharingHeader } from "../shared/types.js" */

/** @param {ColumnMarks} from @param {ColumnMarks} to */
function columnBetween(from, to) {
  const [heads, share] = [marksBetween(from.heads, to.heads), interpolateNumber(from.share, to.share)];
  return (/** @type {number} */ at) => ({ heads: heads(at), share: share(at) });
}

/** @extends {View<SharingHeader>} */
class SharingColumns extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    /** @type {Glide<ColumnMarks>[]} of each column */
    this.glides = [];
    offerPicture(root, () => [["sharing", { ...this.header, title: "" }, new Uint8Array()]], sharingFigure);
  }

  /** @param {Component} component */
  async show(component) {
    const { columns } = this.receive(component).header;
    if (columns.length !== this.glides.length) {
      this.glides = columns.map((_column, at) => {
        const canvas = el("canvas", "", null, { role: "img" });
        return new Glide(canvas, (/** @type {ColumnMarks} */ marks) => this.draw(canvas, at, marks), columnBetween);
      });
      this.root.replaceChildren(...this.glides.map(({ picture }) => picture));
    }
    this.glides.forEach(({ picture }, at) => setAttribute(picture, "aria-label", columns[at].spoken));
    this.resize();
  }

  resize() {
    this.glides.forEach((glide, at) => glide.to(columnMarks(this.shown.columns[at])));
  }

  /** @param {HTMLCanvasElement} canvas @param {number} at @param {ColumnMarks} marks */
  draw(canvas, at, marks) {
    const scene = columnsScene(this.shown, readTheme(this.root, this.shown.colours), canvas.clientWidth);
    canvas.style.height = `${scene.height}px`;
    drawColumn(sizeCanvas(canvas, scene.width, scene.height, false), scene, at, marks);
  }
}

export default viewComponent(SharingColumns);
