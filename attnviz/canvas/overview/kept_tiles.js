// The small pictures of the sentences that were read last, unpacked: one that is read again is drawn without unpacking.

import { inflate } from "../shared/blob.js";

const MOST = 12;

/** @type {Map<string, Uint8Array>} by the fingerprint of what was sent, the latest last */
const kept = new Map();

/**
 * The bytes that were packed into `payload`, which `name` is the fingerprint of: at once where they are known.
 * @param {string} name
 * @param {Uint8Array} payload
 * @returns {Uint8Array | Promise<Uint8Array>}
 */
export function unpackedTiles(name, payload) {
  const known = kept.get(name);
  if (known) return keep(name, known);
  return inflate(payload).then((tiles) => keep(name, tiles));
}

/**
 * @param {string} name
 * @param {Uint8Array} tiles
 */
function keep(name, tiles) {
  kept.delete(name);
  kept.set(name, tiles);
  for (const oldest of kept.keys()) {
    if (kept.size <= MOST) break;
    kept.delete(oldest);
  }
  return tiles;
}
