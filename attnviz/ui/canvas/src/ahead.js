// Which heads to fetch before they are chosen: the one that is pointed at, then its neighbours, while it is pointed at.

/** @typedef {[number, number]} Tile layer and head */

/**
 * The heads around one, those of its own layer first, as far as they exist.
 * @param {Tile} tile
 * @param {number[]} counts heads of each layer
 * @returns {Tile[]}
 */
export function neighbours([layer, head], counts) {
  /** @type {Tile[]} */
  const around = [
    [layer, head + 1],
    [layer, head - 1],
    [layer + 1, head],
    [layer - 1, head],
  ];
  return around.filter(([l, h]) => h >= 0 && h < (counts[l] ?? 0));
}

/**
 * Fetches a head and, if the hand stays there, the heads around it, one at a time, until it has gone elsewhere.
 * @param {Tile} tile
 * @param {number[]} counts
 * @param {(tile: Tile) => Promise<void>} get
 * @param {() => boolean} stays whether the hand is still there
 * @param {() => Promise<unknown>} rest a while in which a hand that only passes by is gone
 */
export async function fetchAround(tile, counts, get, stays, rest = () => new Promise((go) => setTimeout(go, 150))) {
  await get(tile);
  await rest();
  for (const near of neighbours(tile, counts)) {
    if (!stays()) return;
    await get(near);
  }
}
