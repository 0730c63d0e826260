// What Python's packing.py packs: blobs (u32 length of the header, JSON header, payload), values as 16-bit or 8-bit codes on a
// square-root scale, booleans as bits.

export const MASKED_16 = 65535;
export const MASKED_8 = 255;

/** Reads 16-bit codes from their two planes: all high bytes, then all low bytes. @param {Uint8Array} bytes */
export function joinPlanes(bytes) {
  const n = bytes.length >> 1;
  const codes = new Uint16Array(n);
  for (let i = 0; i < n; i++) codes[i] = (bytes[i] << 8) | bytes[n + i];
  return codes;
}

/** The value that a 16-bit code stands for; `top` is the largest magnitude on the scale. */
/** @param {number} code @param {number} top @param {boolean} signed */
export function decodeValue(code, top, signed) {
  if (!signed) return (code / 65534) ** 2 * top;
  const root = (code - 32767) / 32767;
  return Math.sign(root) * root * root * top;
}

/**
 * Values as codes, written into `codes`; answers whether any cell is hidden. Python's side is packing.encode16.
 * @param {Float32Array} values
 * @param {Uint8Array | null} hidden 1 = masked
 * @param {number} top @param {boolean} signed @param {Uint16Array} codes
 */
export function encode16(values, hidden, top, signed, codes) {
  let any = false;
  for (let i = 0; i < values.length; i++) {
    const share = values[i] / top;
    if ((hidden !== null && hidden[i] === 1) || !Number.isFinite(share)) {
      codes[i] = MASKED_16;
      any = true;
    } else if (signed) {
      codes[i] = 32767 + Math.round(Math.sign(share) * Math.sqrt(Math.min(1, Math.abs(share))) * 32767);
    } else codes[i] = share > 0 ? Math.round(Math.sqrt(share > 1 ? 1 : share) * 65534) : 0;
  }
  return any;
}

/** How far a code is from zero, in steps of its scale. @param {number} code @param {boolean} signed */
export function codeMagnitude(code, signed) {
  return signed ? Math.abs(code - 32767) : code;
}

/** The first `n` bits as zeros and ones; the first cell is the highest bit. */
/** @param {Uint8Array} bytes @param {number} n */
export function unpackBits(bytes, n) {
  const cells = new Uint8Array(n);
  for (let i = 0; i < n; i++) cells[i] = (bytes[i >> 3] >> (7 - (i & 7))) & 1;
  return cells;
}

/** Zeros and ones as bits, the first cell the highest. @param {Uint8Array} cells */
export function packCells(cells) {
  const bytes = new Uint8Array((cells.length + 7) >> 3);
  for (let i = 0; i < cells.length; i++) if (cells[i]) bytes[i >> 3] |= 128 >> (i & 7);
  return bytes;
}

/** The same as base64, what Python's `unpack_bits` reads. @param {Uint8Array} cells */
export const packBits = (cells) => encodeBase64(packCells(cells));

/** @param {Uint8Array} bytes */
export function encodeBase64(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** The positions of the `most` strongest cells, strongest first; masked cells are left out. */
/** @param {Uint16Array} codes @param {boolean} signed @param {number} most */
export function strongestCells(codes, signed, most) {
  /** @type {[number, number][]} */
  const best = [];
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] === MASKED_16) continue;
    const size = codeMagnitude(codes[i], signed);
    if (best.length === most && size <= best[most - 1][0]) continue;
    best.push([size, i]);
    best.sort((a, b) => b[0] - a[0]);
    best.length = Math.min(most, best.length);
  }
  return best.map(([, i]) => i);
}

/**
 * A matrix (nq, nk) made smaller: each cell is the strongest of the step x step codes it covers.
 * @param {Uint16Array} codes @param {[number, number]} shape @param {number} step @param {boolean} signed
 * @returns {{ codes: Uint16Array, rows: number, columns: number }}
 */
export function strongestOfBlocks(codes, [nq, nk], step, signed) {
  const [rows, columns] = [Math.ceil(nq / step), Math.ceil(nk / step)];
  if (step === 1) return { codes, rows, columns };
  const largest = new Int32Array(rows * columns).fill(-1);
  const strongest = new Uint16Array(rows * columns).fill(MASKED_16);
  for (let q = 0; q < nq; q++) {
    const row = Math.floor(q / step) * columns;
    for (let k = 0; k < nk; k++) {
      const code = codes[q * nk + k];
      if (code === MASKED_16) continue;
      const size = codeMagnitude(code, signed);
      const at = row + Math.floor(k / step);
      if (size > largest[at]) {
        largest[at] = size;
        strongest[at] = code;
      }
    }
  }
  return { codes: strongest, rows, columns };
}

/** Of blobs; in those made before it was written it is 0. `VERSION` of base/packed.py is the same. */
const VERSION = 1;

/** Splits a blob into its header and its payload. @template T @param {Uint8Array} bytes @returns {[T, Uint8Array]} */
export function readHeader(bytes) {
  if (bytes[3] > VERSION) throw new Error(`version ${bytes[3]} of the format is not known: load the page again`);
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true) & 0xffffff;
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  return [header, bytes.subarray(4 + size)];
}

/** The bytes that base64 stands for. @param {string} text */
export const decodeBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

/** A blob of a header and a payload. @param {object} header @param {Uint8Array} payload */
export function writeHeader(header, payload) {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const bytes = new Uint8Array(4 + text.length + payload.length);
  new DataView(bytes.buffer).setUint32(0, (VERSION << 24) | text.length, true);
  bytes.set(text, 4);
  bytes.set(payload, 4 + text.length);
  return bytes;
}

/** Unpacks what zlib packed. @param {Uint8Array} bytes */
export const inflate = (bytes) => pipeThrough(bytes, new DecompressionStream("deflate"));

/** Packs as zlib does. @param {Uint8Array} bytes */
export const deflate = (bytes) => pipeThrough(bytes, new CompressionStream("deflate"));

/** @param {Uint8Array} bytes @param {GenericTransformStream} machine */
async function pipeThrough(bytes, machine) {
  const stream = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(machine);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The numbers of a float32 payload. It is copied: a subarray may begin at an address that no float can. */
/** @param {Uint8Array} bytes */
export function toFloats(bytes) {
  return new Float32Array(bytes.slice().buffer);
}

const LINK_VERSION = "1";
/** Characters of a link that hold what is on a canvas. */
const LONGEST_IN_LINK = 6 * 1024;

/** A value as the app's links hold it; empty where it is too large for one. @param {object} value */
export async function packForLink(value) {
  const bytes = await deflate(new TextEncoder().encode(JSON.stringify(value)));
  const text = LINK_VERSION + encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return text.length > LONGEST_IN_LINK ? "" : text;
}

/** The value that a link holds. @param {string} text */
export async function unpackFromLink(text) {
  if (!text.startsWith(LINK_VERSION) || text.length > LONGEST_IN_LINK) throw new RangeError(text.slice(0, 12));
  const base64 = text.slice(LINK_VERSION.length).replaceAll("-", "+").replaceAll("_", "/");
  const bytes = await inflate(decodeBase64(base64));
  return JSON.parse(new TextDecoder().decode(bytes));
}
