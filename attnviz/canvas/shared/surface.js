// Canvases: their size in device pixels, lines and boxes on them, one redraw a frame.

import { canvasContext, drawingContext } from "../scene/canvas_context.js";
import { el } from "./dom.js";
import { sharpness } from "./window.js";

/** @import { DrawingContext, Rectangle, Theme } from "./types.js" */

/** What a hand and the keyboard move about on, described by the element of this id. */
/** @param {string} className @param {string} testid @param {string} describedby */
export function createStage(className, testid, describedby) {
  const attributes = { tabindex: "0", role: "application", "aria-describedby": describedby, "data-testid": testid };
  return el("div", className, null, attributes);
}

/** Says how a context draws from now on. @param {DrawingContext} context @param {Partial<DrawingContext>} how */
export function drawWith(context, how) {
  Object.assign(context, how);
}

/**
 * Gives the canvas its size in CSS pixels; answers an empty context whose unit is one CSS pixel.
 * @param {HTMLCanvasElement} canvas @param {number} width @param {number} height
 */
export function sizeCanvas(canvas, width, height) {
  const ratio = sharpness(canvas);
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.style.visibility) canvas.style.visibility = "";
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  const context = canvasContext(canvas);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return drawingContext(canvas);
}

/** Lays an element over a place of a drawing. @template {HTMLElement} T @param {T} element @param {Rectangle} place */
export function layOver(element, { x, y, w, h }) {
  Object.assign(element.style, { left: `${x}px`, top: `${y}px`, width: `${w}px`, height: `${h}px` });
  return element;
}

/** Strokes lines across a rectangle at these heights, and down it at these places. */
/** @param {DrawingContext} context @param {Rectangle} rectangle @param {number[]} heights @param {number[]} places */
export function strokeGrid(context, { x, y, w, h }, heights, places) {
  context.beginPath();
  for (const at of heights) {
    context.moveTo(x, at);
    context.lineTo(x + w, at);
  }
  for (const at of places) {
    context.moveTo(at, y);
    context.lineTo(at, y + h);
  }
  context.stroke();
}

/** Strokes a line from corner to corner. */
/** @param {DrawingContext} context @param {...[number, number]} corners */
export function strokePath(context, ...corners) {
  context.beginPath();
  for (const [x, y] of corners) context.lineTo(x, y);
  context.stroke();
}

/** Saves a context, and clips it to a rectangle with so much around it. */
/** @param {DrawingContext} context @param {Rectangle} rectangle @param {number} beside */
export function clipTo(context, { x, y, w, h }, beside, above = beside) {
  context.save();
  context.beginPath();
  context.rect(x - beside, y - above, w + 2 * beside, h + 2 * above);
  context.clip();
}

/** Begins a path around a rectangle with round corners. */
/** @param {DrawingContext} context @param {Rectangle} rectangle @param {number} radius */
export function roundedRect(context, { x, y, w, h }, radius) {
  context.beginPath();
  context.roundRect(x, y, w, h, Math.max(0, Math.min(radius, w / 2, h / 2)));
}

/** Fills a rectangle with so much of a colour. */
/** @param {DrawingContext} context @param {Rectangle} rectangle @param {string} fillStyle */
export function fillBox(context, rectangle, fillStyle, globalAlpha = 1, radius = 0) {
  drawWith(context, { fillStyle, globalAlpha });
  if (radius) {
    roundedRect(context, rectangle, radius);
    context.fill();
  } else context.fillRect(rectangle.x, rectangle.y, rectangle.w, rectangle.h);
  context.globalAlpha = 1;
}

/** Strokes inside the edge of a rectangle with round corners. */
/** @param {DrawingContext} context @param {Rectangle} rectangle @param {number} radius @param {string} strokeStyle */
export function frameBox(context, { x, y, w, h }, radius, strokeStyle, lineWidth = 1) {
  drawWith(context, { strokeStyle, lineWidth });
  roundedRect(context, { x: x + lineWidth / 2, y: y + lineWidth / 2, w: w - lineWidth, h: h - lineWidth }, radius);
  context.stroke();
}

/**
 * Strokes a rectangle so that it is seen on any ground.
 * @param {DrawingContext} context @param {Rectangle} rectangle @param {string} colour @param {number} width
 * @param {string} ground the colour beside it
 */
export function outline(context, { x, y, w, h }, colour, width, ground) {
  drawWith(context, { strokeStyle: ground, lineWidth: width + 2 });
  context.strokeRect(x, y, w, h);
  drawWith(context, { strokeStyle: colour, lineWidth: width });
  context.strokeRect(x, y, w, h);
}

/**
 * A canvas on which nothing is drawn: it is taken from the page's layers, each of which every frame of a moving hand
 * carries along.
 * @param {HTMLCanvasElement} canvas
 */
export function clearCanvas(canvas) {
  if (!canvas.style.visibility) canvas.style.visibility = "hidden";
}

/**
 * Writes a text in the theme's colour, from `x` to the right.
 * @param {DrawingContext} context @param {string} text @param {number} x @param {number} y its middle
 * @param {Pick<Theme, "text" | "font">} theme @param {string} type weight and size
 * @param {number} [globalAlpha] @param {CanvasTextAlign} [textAlign]
 */
export function writeText(context, text, x, y, theme, type, globalAlpha = 1, textAlign = "left") {
  drawWith(context, { font: `${type} ${theme.font}`, fillStyle: theme.text, globalAlpha });
  drawWith(context, { textAlign, textBaseline: "middle" });
  context.fillText(text, x, y);
  context.globalAlpha = 1;
}

/** A function that calls `draw` at most once a frame; its `forget` takes back what was asked. @param {() => void} draw */
export function oncePerFrame(draw) {
  let asked = 0;
  const ask = () => {
    asked ||= requestAnimationFrame(() => {
      asked = 0;
      draw();
    });
  };
  ask.forget = () => {
    if (asked) cancelAnimationFrame(asked);
    asked = 0;
  };
  return ask;
}

/** Notes where the plot is on a stage: tests point there. @param {HTMLElement} stage @param {Rectangle} plot */
export function notePlot(stage, { x, y, w, h }) {
  stage.dataset.plot = [x, y, w, h].map((v) => v.toFixed(2)).join(",");
}

/** Leaves a mark when the frame just drawn is on screen, two frames later: benchmarks and tests read it. */
/** @param {HTMLElement} root @param {string} name @param {string} detail */
export function markPainted(root, name, detail) {
  root.dataset.painted = detail;
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      performance.clearMarks(name);
      performance.mark(name, { detail });
    }),
  );
}

/** Notes how long the work of a frame took, from `start` to now; benchmarks read it. */
/** @param {string} name @param {number} start */
export function measureTime(name, start) {
  performance.clearMeasures(name);
  performance.measure(name, { start });
}

/** Calls `then` when the frame that is being drawn is on screen. @param {(nothing: void) => void} then */
export function afterPainting(then) {
  requestAnimationFrame(() => setTimeout(then, 0));
}

/** Milliseconds after which nobody waits for a picture any more. */
const PATIENCE = 250;

/** So many milliseconds. @param {number} long @returns {Promise<void>} */
export function pause(long) {
  return new Promise((go) => {
    setTimeout(go, long);
  });
}

/** When the frame that is being drawn is on screen. A page that nobody looks at draws none: it is not waited for. */
/** @returns {Promise<void>} */
export function nextPaint() {
  return Promise.race([new Promise(afterPainting), pause(PATIENCE)]);
}

/** Calls `then` when a picture that is still coming has been drawn, or takes too long. */
/** @param {Promise<void> | null} coming null where it is drawn in this frame @param {() => void} then */
export function afterDrawing(coming, then) {
  void Promise.race([coming, pause(PATIENCE)]).then(() => requestAnimationFrame(() => afterPainting(then)));
}

/** A function that has `act` called when nothing has asked for it any more for `rest` milliseconds. */
/** @param {() => void} act */
export function runSoon(act, rest = 120) {
  let waiting = 0;
  return () => {
    clearTimeout(waiting);
    waiting = window.setTimeout(act, rest);
  };
}

/** Says whether any of an element is in the window, at first and at every change. @param {Element} element @param {(isInWindow: boolean) => void} say */
export function watchWindow(element, say) {
  // a busy page is told of several changes at once, the newest last
  new IntersectionObserver((changes) => say(changes[changes.length - 1].isIntersecting)).observe(element);
}

/** Watches width and pixel ratio; answers how to stop. @param {HTMLElement} root @param {() => void} changed */
export function watchSize(root, changed) {
  let width = -1;
  let ratio = -1;
  const observer = new ResizeObserver(() => {
    const now = root.clientWidth;
    if (now === 0 || (now === width && ratio === sharpness(root))) return;
    width = now;
    ratio = sharpness(root);
    changed();
  });
  observer.observe(root);
  return () => observer.disconnect();
}
