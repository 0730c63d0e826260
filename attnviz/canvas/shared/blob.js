// One blob of bytes: u32 length of the header, JSON header, payload. Python's side is packing.py.

/**
 * Splits a blob into its header and its payload.
 * @template T
 * @param {Uint8Array} bytes
 * @returns {[T, Uint8Array]}
 */
export function readHeader(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  return [header, bytes.subarray(4 + size)];
}

/**
 * Unpacks what zlib packed.
 * @param {Uint8Array} bytes
 */
export async function inflate(bytes) {
  const copy = new Uint8Array(bytes);
  const stream = new Blob([copy]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/**
 * The numbers of a float32 payload. It is copied: a subarray may begin at an address that no float can.
 * @param {Uint8Array} bytes
 */
export function floats(bytes) {
  return new Float32Array(bytes.slice().buffer);
}
