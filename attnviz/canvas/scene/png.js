// A PNG of pixels, written without a page.

import { zlibSync } from "fflate";
import { toRgb } from "../shared/colour.js";

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? 0xedb88320 ^ (rest >>> 1) : rest >>> 1;
  return rest;
});

/** The checksum of a chunk. @param {Uint8Array} bytes */
function crc32(bytes) {
  let rest = 0xffffffff;
  for (const byte of bytes) rest = TABLE[(rest ^ byte) & 255] ^ (rest >>> 8);
  return (rest ^ 0xffffffff) >>> 0;
}

/** @param {string} name @param {Uint8Array} data */
function chunk(name, data) {
  const bytes = new Uint8Array(data.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, data.length);
  for (let i = 0; i < 4; i++) bytes[4 + i] = name.charCodeAt(i);
  bytes.set(data, 8);
  view.setUint32(data.length + 8, crc32(bytes.subarray(4, data.length + 8)));
  return bytes;
}

/** Places of pixels in a palette of at most 256 colours; null where there are more. @param {Uint32Array} pixels */
function findPalette(pixels) {
  /** @type {Map<number, number>} */
  const places = new Map();
  const codes = new Uint8Array(pixels.length);
  for (let i = 0; i < pixels.length; i++) {
    let place = places.get(pixels[i]);
    if (place === undefined) {
      place = places.size;
      if (place === 256) return null;
      places.set(pixels[i], place);
    }
    codes[i] = place;
  }
  return { codes, colours: [...places.keys()] };
}

/** Rows of bytes, each behind the number of its filter: none. @param {Uint8Array} bytes @param {number} wide */
function filterRows(bytes, wide) {
  const rows = bytes.length / wide;
  const lines = new Uint8Array(rows * (wide + 1));
  for (let row = 0; row < rows; row++) lines.set(bytes.subarray(row * wide, (row + 1) * wide), row * (wide + 1) + 1);
  return zlibSync(lines, { level: 9 });
}

/** The bytes of a PNG file. @param {Uint32Array} pixels 0xAABBGGRR, row by row @param {number} columns */
export function pngBytes(pixels, columns) {
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, columns);
  view.setUint32(4, pixels.length / columns);
  header[8] = 8;
  const palette = findPalette(pixels);
  header[9] = palette ? 3 : 6;
  const parts = [Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk("IHDR", header)];
  if (palette) {
    const { colours, codes } = palette;
    parts.push(chunk("PLTE", Uint8Array.from(colours.flatMap(toRgb))));
    const opacities = Uint8Array.from(colours, (c) => c >>> 24);
    parts.push(chunk("tRNS", opacities));
    parts.push(chunk("IDAT", filterRows(codes, columns)));
  } else {
    const bytes = new Uint8Array(pixels.buffer.slice(pixels.byteOffset, pixels.byteOffset + pixels.byteLength));
    parts.push(chunk("IDAT", filterRows(bytes, 4 * columns)));
  }
  parts.push(chunk("IEND", new Uint8Array(0)));
  const file = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    file.set(part, at);
    at += part.length;
  }
  return file;
}
