// All heads in a line, as dots: larger the more a head tells of the touched word. Sliding along it chooses the head.

import { createBox, el, fill, setAttribute, setProperty, setText } from "../shared/dom.js";
import { clamp } from "../shared/numbers.js";
import { drawWith, sizeCanvas, writeText } from "../shared/surface.js";
import { placeOn } from "../shared/window.js";

/** @import { Theme, Words } from "../shared/types.js" */
/** @typedef {[number, number]} Tile layer and head */

/** Pixels from dot to dot at least, of a line of dots, of the smallest dot and what the largest has more, and below the dots. */
const [PITCH, LINE, SMALL, MORE, BELOW] = [3.2, 26, 1.4, 3.6, 20];
/** A weight from which a head's dot has a colour. */
const TELLING = 0.5;

/** Where each head's dot stands, whole layers in a line. @param {number[]} counts heads of each layer @param {number} width */
export function placeDots(counts, width) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const lines = Math.max(1, Math.ceil((total * PITCH) / width));
  const layers = Math.ceil(counts.length / lines);
  const wide = Math.max(...Array.from({ length: lines }, (_none, at) => counts.slice(at * layers, (at + 1) * layers).reduce((sum, count) => sum + count, 0))); // prettier-ignore
  const pitch = (width - 2 * (SMALL + MORE)) / Math.max(1, wide - 1);
  const dots = counts.flatMap((count, layer) => {
    const line = Math.floor(layer / layers);
    const before = counts.slice(line * layers, layer).reduce((sum, heads) => sum + heads, 0);
    return Array.from({ length: count }, (_none, head) => ({
      tile: /** @type {Tile} */ ([layer, head]),
      x: SMALL + MORE + (before + head) * pitch,
      y: (line + 0.5) * LINE,
    }));
  });
  return { dots, height: lines * LINE, layers, lines };
}

export class HeadsStrip {
  /** @param {(tile: Tile, ended: boolean) => void} choose */
  constructor(choose) {
    this.choose = choose;
    this.caption = el("div", "rb-small");
    this.canvas = el("canvas", "rb-dots", null, {
      role: "slider",
      tabindex: "0",
      "aria-valuemin": "0",
      "data-testid": "heads-strip",
    });
    this.box = createBox("rb-strip", this.caption, this.canvas);
    /** @type {ReturnType<typeof placeDots>} */
    this.places = { dots: [], height: 0, layers: 1, lines: 1 };
    this.at = 0;
    this.held = false;
    this.canvas.addEventListener("pointerdown", (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      this.held = true;
      this.pick(event, false);
    });
    this.canvas.addEventListener("pointermove", (event) => this.held && this.pick(event, false));
    this.canvas.addEventListener("pointerup", (event) => {
      if (this.held) this.pick(event, true);
      this.held = false;
    });
    this.canvas.addEventListener("pointercancel", () => (this.held = false));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param {PointerEvent} event @param {boolean} ended */
  pick(event, ended) {
    const [x, y] = placeOn(this.canvas, event);
    const far = this.places.dots.map(
      (dot) => Math.abs(dot.x - x) + 3 * Math.abs(dot.y - clamp(y, 0, this.places.height)),
    );
    this.choose(this.places.dots[far.indexOf(Math.min(...far))].tile, ended);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const { dots } = this.places;
    const [layer, head] = dots[this.at].tile;
    const layerAt = (/** @type {number} */ to) => dots.findIndex(({ tile }) => tile[0] === to && tile[1] === head);
    const to = { ArrowRight: this.at + 1, ArrowLeft: this.at - 1, ArrowUp: layerAt(layer + 1), ArrowDown: layerAt(layer - 1), PageUp: layerAt(layer + 1), PageDown: layerAt(layer - 1), Home: 0, End: dots.length - 1 }[event.key]; // prettier-ignore
    if (to === undefined) return;
    event.preventDefault();
    if (dots[to]) this.choose(dots[to].tile, true);
  }

  /**
   * @param {number[]} counts @param {Tile} tile @param {Float32Array | null} telling how much each head tells
   * @param {number} width @param {Theme} theme @param {Words} words @param {{ token: string, model: string, title: string }} texts
   */
  draw(counts, tile, telling, width, theme, words, { token, model, title }) {
    this.places = placeDots(counts, width);
    const { dots, height } = this.places;
    this.at = Math.max(
      0,
      dots.findIndex(({ tile: [l, h] }) => l === tile[0] && h === tile[1]),
    );
    const isOne = dots.length === 1;
    setText(this.caption, isOne ? title : fill(words.strip, { count: dots.length, model, token }));
    setProperty(this.canvas, "hidden", isOne);
    if (isOne) return;
    const name = fill(words.head, { layer: tile[0], head: tile[1] });
    setAttribute(this.canvas, "aria-valuemax", String(dots.length - 1));
    setAttribute(this.canvas, "aria-valuenow", String(this.at));
    setAttribute(this.canvas, "aria-valuetext", name);
    setAttribute(this.canvas, "aria-label", words.heads);
    const context = sizeCanvas(this.canvas, width, height + BELOW);
    dots.forEach(({ x, y }, i) => {
      const share = telling ? telling[i] : 0;
      const isTelling = share >= TELLING;
      drawWith(context, {
        fillStyle: isTelling ? theme.weight : theme.text,
        globalAlpha: isTelling ? 0.4 + 0.5 * share : 0.3,
      });
      disc(context, x, y, SMALL + MORE * share);
      context.fill();
    });
    const { x, y } = dots[this.at];
    drawWith(context, { globalAlpha: 1, strokeStyle: theme.primary, lineWidth: 2.5 });
    disc(context, x, y, 10);
    context.stroke();
    writeText(context, name, clamp(x, 48, width - 48), Math.max(y + 20, height + 8), { ...theme, text: theme.primary }, "14px", 1, "center"); // prettier-ignore
  }
}

/** @param {import("../shared/types.js").DrawingContext} context @param {number} x @param {number} y @param {number} radius */
function disc(context, x, y, radius) {
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
}
