// Files that a browser makes and hands to its visitor.

import { el } from "./dom.js";
import { canvasContext } from "../scene/canvas_context.js";

/** An SVG as pixels, `scale` of them for each of its own. @param {string} svg @param {number} scale */
export async function renderPng(svg, scale) {
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await picture.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(picture.naturalWidth * scale);
  canvas.height = Math.ceil(picture.naturalHeight * scale);
  canvasContext(canvas).drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((/** @type {(made: Blob) => void} */ resolve, reject) => {
    canvas.toBlob((made) => (made ? resolve(made) : reject(new Error("PNG"))), "image/png");
  });
}

/** @param {Blob} file @param {string} name */
export function download(file, name) {
  const href = URL.createObjectURL(file);
  el("a", "", null, { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/**
 * Copies a text. Pages that come without encryption have no clipboard of their own, but may still ask for a copy of
 * what is selected.
 * @param {string} text @param {HTMLElement} root
 */
export async function copy(text, root) {
  if (globalThis.isSecureContext && navigator.clipboard) {
    try {
      await navigator.clipboard.writeText(text);
      return;
    } catch {
      // a page inside a frame may be refused; what is selected can still be copied
    }
  }
  const field = el("textarea", "", null, { "aria-hidden": "true", tabindex: "-1" });
  Object.assign(field.style, { position: "absolute", width: "1px", height: "1px", opacity: "0" });
  field.value = text;
  root.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("clipboard");
}
