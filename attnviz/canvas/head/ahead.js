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
 * Fetches the head that is pointed at and, if the hand stays there, the heads around it, one at a time.
 * @param {{ pointed: Tile | null, counts: number[] }} group
 * @param {(tile: Tile) => Promise<void>} get
 * @param {() => Promise<unknown>} rest a while in which a hand that only passes by is gone
 */
export async function fetchAround(group, get, rest = aWhile) {
  const at = group.pointed;
  if (!at) return;
  await get(at);
  await rest();
  for (const near of neighbours(at, group.counts)) {
    if (group.pointed !== at) return;
    await get(near);
  }
}

function aWhile() {
  return new Promise((go) => {
    setTimeout(go, 150);
  });
}
