// Which tokens of a head are pinned and pointed at, what a press does to them, and what Python is told of that and of a change.

import { fill } from "../shared/dom.js";
import { isPinned, letGo, tell, togglePin } from "../shared/group.js";
import { tokenText } from "./head_readout.js";
import { packBits } from "../shared/packing.js";
import { tellingRow } from "./said.js";

/** @import { Group } from "../shared/group.js" */
/** @import { HeadView } from "./head.js" */
/** @import { Drawn, Hover, Pin, Shape } from "../shared/types.js" */

/** A press on a token pins it, in a story in the place of any other; on a cell, keeps the cell and pins its query. */
/** @param {HeadView} view @param {Hover} hit */
export function press(view, hit) {
  const { group, header, words } = view.drawn;
  if (header.story)
    group.pins = group.pins.filter(({ axis, i }) => tokensOf(hit).some((t) => t.axis === axis && t.i === i));
  if (hit.axis === "cell") {
    const same = group.cell !== null && group.cell[0] === hit.q && group.cell[1] === hit.k;
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

/** Lets go of what is pinned and pointed at; answers whether there was anything. @param {HeadView} view */
export function release(view) {
  const { group, words } = view.drawn;
  const pointed = group.hover !== null;
  const pinned = letGo(group);
  if (pinned) {
    view.announce(words.none);
    emitPins(view);
  }
  return pinned || pointed;
}

/** Tells Python what is pinned. @param {HeadView} view */
export function emitPins(view) {
  const { group } = view.drawn;
  group.pinnings.send(view, "pins", {
    doc: group.doc,
    start: group.start,
    tokens: group.pins.map(({ axis, i }) => [axis, i]),
    cell: group.cell,
  });
}

/** Tells Python what is changed of mask and scale. @param {HeadView} view */
export function emitEdit(view) {
  const { group, header } = view.drawn;
  const { painted } = group.edit;
  group.editing = false;
  group.edits.send(view, "edit", {
    ...group.edit,
    doc: header.doc,
    painted: painted === null ? "" : packBits(painted),
  });
}

/** Tokens to light: pins, then what is pointed at; a cell lights its query and its key. */
/** @param {Group} group @param {Shape} shape */
export function litTokens(group, [nq, nk]) {
  const found = group.pins.map((pin) => ({ ...pin, pin: true }));
  for (const { axis, i } of tokensOf(group.hover)) {
    if (!isPinned(group, axis, i)) found.push({ axis, i, pin: false });
  }
  return found.filter(({ axis, i }) => i < (axis === "q" ? nq : nk));
}

/** The token whose weights tint the sentence: the one pointed at, else the last one pinned. */
/** @param {Group} group @returns {Pin | null} */
export function leadToken({ hover, pins }) {
  if (hover) return hover.axis === "cell" ? { axis: "q", i: hover.q } : hover;
  return pins[pins.length - 1] ?? null;
}

/** The query that is told of: of the cell, else the last one pinned, else the one that tells most. @param {Drawn} drawn */
export function toldRow(drawn) {
  const { group, header } = drawn;
  const [nq] = header.shape;
  const pinned = group.pins.findLast(({ axis, i }) => axis === "q" && i < nq);
  return Math.min(group.cell?.[0] ?? pinned?.i ?? header.sentence?.row ?? tellingRow(drawn), nq - 1);
}

/** @param {Hover | null} hover @returns {Pin[]} */
function tokensOf(hover) {
  if (hover === null) return [];
  if (hover.axis !== "cell") return [hover];
  return [
    { axis: "q", i: hover.q },
    { axis: "k", i: hover.k },
  ];
}
