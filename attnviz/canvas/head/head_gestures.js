// What a press does to a head, and what Python is told of pins and of a change.

import { packBits } from "../shared/codes.js";
import { fill } from "../shared/dom.js";
import { isPinned, letGo, tell, togglePin } from "../shared/group.js";
import { tokenText } from "./head_readout.js";

/** @import { HeadView } from "./head.js" */
/** @import { Hover } from "../shared/types.js" */

/**
 * A press on a token pins it; on a cell, keeps the cell and pins its query.
 * @param {HeadView} view
 * @param {Hover} hit
 */
export function press(view, hit) {
  const { group, words } = view.drawn;
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

/**
 * Lets go of what is pinned and pointed at; answers whether there was anything.
 * @param {HeadView} view
 */
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

/**
 * Tells Python what is pinned.
 * @param {HeadView} view
 */
export function emitPins({ component, drawn: { group } }) {
  component?.setStateValue("pins", {
    seq: group.pinnings.next(),
    doc: group.doc,
    start: group.start,
    tokens: group.pins.map(({ axis, i }) => [axis, i]),
    cell: group.cell,
  });
}

/**
 * Tells Python which heads are laid over the one on show.
 * @param {HeadView} view
 */
export function emitOver({ component, drawn: { group } }) {
  component?.setStateValue("over", { seq: group.overs.next(), heads: group.over });
}

/**
 * Tells Python what is changed of mask and scale.
 * @param {HeadView} view
 */
export function emitEdit({ component, drawn: { group, header } }) {
  const { painted } = group.edit;
  group.editing = false;
  component?.setStateValue("edit", {
    ...group.edit,
    seq: group.edits.next(),
    doc: header.doc,
    painted: painted === null ? "" : packBits(painted),
  });
}
