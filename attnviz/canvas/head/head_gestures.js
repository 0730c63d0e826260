// Which tokens of a head are pinned and pointed at, what a press does to them, and what Python is told of that and of a change.

import { fill } from "../shared/dom.js";
import { isPinned, clearPins, packEdit, tell, togglePin } from "../shared/group.js";
import { mostTellingRow, tokenText } from "./head_readout.js";

/** @import { Group } from "../shared/group.js" */
/** @import { HeadComponent } from "./head.js" */
/** @import { Drawn, Hover, Pin, Shape } from "../shared/types.js" */

/** A press on a token pins it; on a cell, keeps the cell and pins its query. */
/** @param {HeadComponent} view @param {Hover} hit */
export function press(view, hit) {
  const { group, words } = view.drawn;
  if (hit.axis === "cell") {
    const same = isChosenCell(group, hit);
    const pinned = isPinned(group, "q", hit.q);
    group.cell = same ? null : [hit.q, hit.k];
    if (same ? pinned : !pinned) togglePin(group, "q", hit.q);
    else tell(group, "pins");
    view.announce(view.readout());
  } else {
    togglePin(group, hit.axis, hit.i);
    if (group.cell && hit.axis === "q" && group.cell[0] === hit.i) group.cell = null;
    const now = isPinned(group, hit.axis, hit.i);
    view.announce(fill(now ? words.pinned : words.unpinned, { token: tokenText(view.drawn, hit.axis, hit.i) }));
  }
  emitPins(view);
}

/** @param {Group} group @param {Hover} hit */
function isChosenCell({ cell }, hit) {
  return hit.axis === "cell" && cell !== null && cell[0] === hit.q && cell[1] === hit.k;
}

/** Lets go of what is pinned and pointed at; answers whether there was anything. @param {HeadComponent} view */
export function release(view) {
  const { group, words } = view.drawn;
  const pointed = group.hover !== null;
  const pinned = clearPins(group);
  if (pinned) {
    view.announce(words.none);
    emitPins(view);
  }
  return pinned || pointed;
}

/** Tells Python what is pinned. @param {HeadComponent} view */
export function emitPins(view) {
  const { group } = view.drawn;
  group.pinnings.send(view, "pins", {
    doc: group.doc,
    start: group.start,
    tokens: group.pins.map(({ axis, i }) => [axis, i]),
    cell: group.cell,
  });
}

/** Tells Python what is changed of mask and scale. @param {HeadComponent} view */
export function emitEdit(view) {
  const { group, header } = view.drawn;
  group.editing = false;
  group.edits.send(view, "edit", { ...packEdit(group.edit), doc: header.doc });
}

/** Tokens to light: pins, then what is pointed at; a cell lights its query and its key. */
/** @param {Group} group @param {Shape} shape */
export function highlightedTokens(group, [nq, nk]) {
  const found = group.pins.map((pin) => ({ ...pin, pin: true }));
  for (const { axis, i } of hoveredTokens(group.hover)) {
    if (!isPinned(group, axis, i)) found.push({ axis, i, pin: false });
  }
  return found.filter(({ axis, i }) => i < (axis === "q" ? nq : nk));
}

/** The token whose weights tint the sentence: the one pointed at, else the last one pinned. */
/** @param {Group} group @returns {Pin | null} */
export function firstPinnedToken({ hover, pins }) {
  if (hover) return hover.axis === "cell" ? { axis: "q", i: hover.q } : hover;
  return pins[pins.length - 1] ?? null;
}

/** The query that is told of: of the cell, else the last one pinned, else the one that tells most. @param {Drawn} drawn */
export function describedRow(drawn) {
  const { group, header } = drawn;
  const [nq] = header.shape;
  const pinned = group.pins.findLast(({ axis, i }) => axis === "q" && i < nq);
  return Math.min(group.cell?.[0] ?? pinned?.i ?? header.sentence?.row ?? mostTellingRow(drawn), nq - 1);
}

/** @param {Hover | null} hover @returns {Pin[]} */
function hoveredTokens(hover) {
  if (hover === null) return [];
  if (hover.axis !== "cell") return [hover];
  return [
    { axis: "q", i: hover.q },
    { axis: "k", i: hover.k },
  ];
}
