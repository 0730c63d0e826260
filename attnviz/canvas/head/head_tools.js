// The small buttons above the large head: let go, zoom; and the notes below it.

import { addButton, el, fill, setProperty, setText } from "../shared/dom.js";
import { MOST_LINES } from "../lines/lines_scene.js";
import { EVERYTHING, largestZoom } from "../shared/zoom.js";

/** @import { HeadComponent } from "./head.js" */

export class HeadTools {
  /** @param {HeadComponent} view */
  constructor(view) {
    this.view = view;
    this.box = el("div", "av-tools");
    this.deeds = el("div", "av-wrap av-deeds"); // what can be done with the head, once its picture is understood
    this.isFull = false; // whether what changes the picture stands along it
    /** @type {ReturnType<HeadTools["build"]> | null} */
    this.buttons = null;
  }

  /**
   * Puts the view's parts on the page: what the head is and does, its picture with what changes it along its lower edge, and
   * its lines beside it.
   */
  place() {
    const { root, help, live, head, controls, finder, chips, pair, main, side, bar, foot, said, read } = this.view;
    const { titleBox, heatmap, lines, drawn, guess } = this.view;
    const { edit, compact } = drawn.header;
    const full = edit !== null && !compact;
    this.isFull = full;
    const how = `${full} ${drawn.header.chips}`;
    if (root.dataset.mainPicture === how) return;
    root.dataset.mainPicture = how;
    const { squares, stage } = lines;
    if (full) {
      head.replaceChildren(titleBox, controls.silence, read, this.box, said);
      this.deeds.replaceChildren(guess.button, finder.button);
      main.replaceChildren(heatmap.stage, controls.box, controls.changed);
      side.replaceChildren(finder.box, this.view.steps.box, stage, squares.box, this.deeds, bar);
      pair.replaceChildren(main, side);
      root.replaceChildren(help, live, head, chips.box, pair, foot);
      return;
    }
    head.replaceChildren(titleBox, read, this.box);
    pair.replaceChildren(heatmap.stage, said, squares.box, this.view.steps.box, stage);
    root.replaceChildren(help, live, head, controls.box, chips.box, pair, bar, foot);
  }

  refresh() {
    const { words } = this.view.drawn;
    if (this.buttons?.language !== words.zoomin) this.buttons = this.build();
  }

  build() {
    const { view, box } = this;
    const { words } = view.drawn;
    box.replaceChildren();
    return {
      language: words.zoomin,
      letGo: addButton(box, "×", words.letgo, () => view.release()),
      out: addButton(box, "−", words.zoomout, () => view.zoomBy(1 / 1.5)),
      in: addButton(box, "+", words.zoomin, () => view.zoomBy(1.5)),
      all: addButton(box, "1:1", words.zoomall, () => view.setZoom(EVERYTHING)),
    };
  }

  draw() {
    const { group, words, header } = this.view.drawn;
    const { counted } = this.view.lines;
    const most = largestZoom(header.shape);
    const { heatmap } = this.view;
    // as long as every row has its label, the whole is as near as one can get
    const far = group.zoom.z > 1 || heatmap.plot.h / header.shape[0] < heatmap.need;
    const zooms = most > 1.01 && !header.compact && (far || header.edit === null);
    if (this.buttons) {
      for (const node of [this.buttons.in, this.buttons.out, this.buttons.all]) setProperty(node, "hidden", !zooms);
      setProperty(this.buttons.out, "disabled", group.zoom.z <= 1);
      setProperty(this.buttons.all, "disabled", group.zoom.z <= 1);
      setProperty(this.buttons.in, "disabled", group.zoom.z >= most - 0.01);
    }
    const notes = [];
    if (header.lines && counted.drawn < counted.total && counted.drawn >= MOST_LINES * 0.9) {
      notes.push(fill(words.strongest, { count: counted.drawn, total: counted.total }));
    }
    if (zooms && Math.max(...header.shape) > 40) notes.push(words.wheel);
    setText(this.view.foot, notes.join(" · "));
  }

  light() {
    const { group } = this.view.drawn;
    const { steps } = this.view;
    const nothing = steps.possible || (group.pins.length === 0 && group.cell === null);
    if (this.buttons) setProperty(this.buttons.letGo, "hidden", nothing);
  }
}
