// y = x W^T over one memory that holds a model's weights and its numbers: by the kernel in WebAssembly, or without it.

/** How a weight's numbers are stored: 32 bits each, or GGUF's blocks of 32; and the bytes that so many numbers take. */
export const KINDS = { F32: { id: 0, size: 128 }, Q8_0: { id: 1, size: 34 }, Q4_1: { id: 2, size: 20 } };
const PAGE = 65536;

/**
 * @typedef {{ at: number; kind: keyof typeof KINDS; shape: number[] }} Weight where it lies, rows first
 * @typedef {ReturnType<typeof createMemory>} Room
 */

/** Bytes of one row of a weight. @param {Weight} weight */
export function rowBytes({ kind, shape }) {
  return (shape[shape.length - 1] / 32) * KINDS[kind].size;
}

/**
 * One memory, and what multiplies in it.
 * @param {number} bytes how much it holds to begin with
 * @param {BufferSource | null} kernel the program of kernel.wat; null: plain JavaScript
 */
export function createMemory(bytes, kernel) {
  const memory = kernel ? new WebAssembly.Memory({ initial: Math.ceil(bytes / PAGE) }) : plainMemory(bytes);
  const engine = { memory: /** @type {WebAssembly.Memory} */ (memory) };
  const program = kernel && new WebAssembly.Instance(new WebAssembly.Module(kernel), { engine });
  let used = bytes;

  /** Numbers that belong to the caller until the next `rewind`. @param {number} count */
  function take(count) {
    used = (used + 15) & ~15;
    const from = used;
    used += 4 * count;
    return from;
  }

  return {
    get buffer() {
      return memory.buffer;
    },
    take,
    /** Forget what was taken, and have place for so many numbers. Views made before are void. @param {number} count */
    rewind(count) {
      used = bytes;
      const missing = bytes + 4 * count - memory.buffer.byteLength;
      if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
    },
    /** A view of numbers in the memory. @param {number} at @param {number} count */
    floats: (at, count) => new Float32Array(memory.buffer, at, count),
    /** y (t, n) = x (t, k) times the weight (n, k) transposed. */
    /** @param {Weight} weight @param {number} x @param {number} y @param {number} t */
    multiply(weight, x, y, t) {
      const [n, k] = weight.shape;
      const before = used;
      const scratch = take(2 * k);
      if (program) {
        const run = /** @type {Function} */ (program.exports.matmul);
        run(KINDS[weight.kind].id, weight.at, rowBytes(weight), x, y, t, k, n, scratch);
      } else multiplyInJavaScript(memory.buffer, weight, x, y, t);
      used = before;
    },
  };
}

/** What grows like WebAssembly's memory, for browsers that have none. @param {number} bytes */
function plainMemory(bytes) {
  let buffer = new ArrayBuffer(bytes);
  return {
    get buffer() {
      return buffer;
    },
    /** @param {number} pages */
    grow(pages) {
      const larger = new Uint8Array(buffer.byteLength + pages * PAGE);
      larger.set(new Uint8Array(buffer));
      buffer = larger.buffer;
    },
  };
}

/** The same product in JavaScript. */
/** @param {ArrayBuffer} buffer @param {Weight} weight @param {number} x @param {number} y @param {number} t */
function multiplyInJavaScript(buffer, weight, x, y, t) {
  const [n, k] = weight.shape;
  const given = new Float32Array(buffer, x, t * k);
  const made = new Float32Array(buffer, y, t * n);
  const row = new Float32Array(k);
  for (let i = 0; i < n; i++) {
    unpack(buffer, weight, i, row);
    for (let token = 0; token < t; token += 4) {
      let [a, b, c, d] = [0, 0, 0, 0];
      const [p, q, r, s] = [0, 1, 2, 3].map((next) => Math.min(token + next, t - 1) * k);
      for (let j = 0; j < k; j++) {
        const w = row[j];
        a += w * given[p + j];
        b += w * given[q + j];
        c += w * given[r + j];
        d += w * given[s + j];
      }
      const sums = [a, b, c, d];
      for (let next = 0; next < 4 && token + next < t; next++) made[(token + next) * n + i] = sums[next];
    }
  }
}

/** Write one row of a weight as 32-bit numbers. */
/** @param {ArrayBuffer} buffer @param {Weight} weight @param {number} number which row @param {Float32Array} into */
export function unpack(buffer, weight, number, into) {
  const from = weight.at + number * rowBytes(weight);
  if (weight.kind === "F32") {
    into.set(new Float32Array(buffer, from, into.length));
    return;
  }
  const { size } = KINDS[weight.kind];
  const [bytes, signed] = [new Uint8Array(buffer, from), new Int8Array(buffer, from)];
  for (let j = 0, at = 0; j < into.length; j += 32, at += size) {
    const d = decodeHalf(bytes[at] | (bytes[at + 1] << 8));
    if (weight.kind === "Q8_0") for (let i = 0; i < 32; i++) into[j + i] = d * signed[at + 2 + i];
    else {
      const m = decodeHalf(bytes[at + 2] | (bytes[at + 3] << 8));
      for (let i = 0; i < 16; i++) {
        into[j + i] = d * (bytes[at + 4 + i] & 15) + m;
        into[j + 16 + i] = d * (bytes[at + 4 + i] >> 4) + m;
      }
    }
  }
}

const [bits, number] = (() => {
  const both = new ArrayBuffer(4);
  return [new Uint32Array(both), new Float32Array(both)];
})();

/** The number that 16 bits stand for. @param {number} h */
export function decodeHalf(h) {
  bits[0] = (h & 0x7fff) << 13;
  return (h & 0x8000 ? -1 : 1) * number[0] * 2 ** 112;
}
