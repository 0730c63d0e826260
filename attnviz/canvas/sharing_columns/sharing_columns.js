// Ways of sharing keys and values side by side, below each other where there is no room.

import { columnsScene, drawColumn, WIDE } from "./columns_scene.js";
import { themeOf } from "../shared/colour.js";
import { View, viewComponent } from "../shared/component.js";
import { around, el } from "../shared/dom.js";
import { sized } from "../shared/surface.js";

/** @import { Component, SharingHeader } from "../shared/types.js" */

/** @extends {View<SharingHeader>} */
class SharingColumns extends View {
  /** @param {HTMLElement} root */
  constructor(root) {
    super(root);
    /** @type {HTMLCanvasElement[]} */
    this.canvases = [];
  }

  /** @param {Component} component */
  async show(component) {
    const { columns } = this.receive(component).header;
    this.canvases = columns.map(({ spoken }) => el("canvas", "", null, { role: "img", "aria-label": spoken }));
    this.root.replaceChildren(...this.canvases.map((canvas) => around("column", canvas)));
    this.resize();
  }

  resize() {
    if (!this.held) return;
    const scene = columnsScene(this.held, themeOf(this.root, this.held.colours));
    this.canvases.forEach((canvas, at) => {
      canvas.style.aspectRatio = `${WIDE} / ${scene.height}`;
      const { clientWidth: width, clientHeight: height } = canvas;
      const context = sized(canvas, width, height, false);
      context.scale(width / WIDE, width / WIDE);
      drawColumn(context, scene, at);
    });
  }
}

export default viewComponent(SharingColumns);
