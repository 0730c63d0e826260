// What the views of one group share in the browser: the hovered token, pins, the cell, the zoom, the chosen head.

import { NO_EDIT } from "./edit.js";
import { decodeBase64, packBits, unpackBits } from "./packing.js";
import { Latest, Sequence } from "./component.js";
import { EVERYTHING } from "./zoom.js";

/** @import { KnownHead } from "../head/head_supply.js" */
/** @import { KnownSentence } from "../overview/known_sentences.js" */
/** @import { AllHeads } from "./raw_scores.js" */
/** @import { Axis, Edit, HeadHeader, Hover, Pin, HeadEdit, Zoom } from "./types.js" */
/** @typedef {"hover" | "pins" | "document" | "zoom" | "selected" | "pointed" | "edit" | "all" | "over" | "left" | "sentence" | "counts" | "found" | "wish"} Change */
/** @typedef {ReturnType<typeof emptyGroup>} Group */

export const MOST_SENTENCES = 12;

function emptyGroup() {
  return {
    /** @type {Set<(what: Change) => void>} */
    listeners: new Set(),
    /** @type {Hover | null} */
    hover: null,
    /** @type {Pin[]} */
    pins: [],
    /** @type {[number, number] | null} */
    cell: null,
    /** @type {string | null} the tokens that all this is about */
    doc: null,
    /** @type {string} the name of the pins that Python began with */
    start: "",
    /** @type {Zoom} */
    zoom: { ...EVERYTHING },
    /** @type {[number, number] | null} layer and head on show */
    selected: null,
    /** @type {[number, number] | null} layer and head pointed at */
    pointed: null,
    /** @type {Promise<void> | null} the head that was chosen, while it is fetched */
    coming: null,
    /** @type {string | null} the tiles of the overview */
    tiles: null,
    /** @type {Promise<void>} that these tiles are on screen: a sentence's head, which takes longer to draw, comes after them */
    tilesPainted: Promise.resolve(),
    /** @type {{ doc: string | null, rows: Float32Array } | null} rows (Q, K) whose nearest heads are searched for */
    wanted: null,
    /** @type {[number, number][]} layer and head of those that were found */
    found: [],
    /** @type {[number, number] | null} the head that another view asks to be chosen */
    wish: null,
    /** @type {number[]} heads of each layer of the overview */
    counts: [],
    /** @type {Edit} what the visitor has changed of mask and scale */
    edit: { ...NO_EDIT },
    /** whether a hand has changed the edit and not yet let go: Python's answers to older ones are then not taken */
    editing: false,
    /** whether "before" is held down */
    peeking: false,
    /** @type {string} the name of the edit that Python sent last */
    editName: "",
    edits: new Sequence(),
    /** @type {number[]} heads whose lines are laid over those of the head on show */
    over: [],
    /** @type {string} the heads that Python sent last */
    overName: "",
    overs: new Sequence(),
    /** @type {AllHeads | null} every head of these tokens before its softmax, once they have come */
    all: null,
    /** @type {{ at: [number, number], codes: Uint8Array, doc: string | null, tiles: string | null } | null} tiles under the edit, of a long sentence */
    edited: null,
    picks: new Sequence(),
    pinnings: new Sequence(),
    // of the sentences that were read last: kept here, because Streamlit may take a view down and build it anew
    /** @type {Latest<KnownSentence>} their small pictures, by what was asked for */
    readBefore: new Latest(MOST_SENTENCES),
    /** @type {Latest<KnownHead>} the heads that were on show with them, by their tiles */
    shownBefore: new Latest(MOST_SENTENCES),
  };
}

// Each component is a script of its own, so what they share stands on the global object.
const KEY = Symbol.for("attnviz.groups");

/** The group of that name, made when first asked for. @param {string} name @returns {Group} */
export function groupOf(name) {
  const shared = /** @type {{ [KEY]?: Map<string, Group> }} */ (globalThis);
  const all = (shared[KEY] ??= new Map());
  const group = all.get(name) ?? emptyGroup();
  all.set(name, group);
  return group;
}

/** A view in the group that it listens to. */
export class Member {
  /** @param {(what: Change) => void} hear */
  constructor(hear) {
    this.hear = hear;
    /** @type {Group | null} */
    this.group = null;
  }

  /** @param {Group} group */
  join(group) {
    if (this.group === group) return;
    this.leave();
    this.group = group;
    group.listeners.add(this.hear);
  }

  leave() {
    this.group?.listeners.delete(this.hear);
    this.group = null;
  }
}

/** @param {Group} group @param {Change} what */
export function tell(group, what) {
  for (const listener of [...group.listeners]) listener(what);
}

/**
 * Starts afresh for other tokens; takes over pins that Python newly asks for, unless it has not heard the newest yet.
 * @param {Group} group @param {Pick<HeadHeader, "doc" | "pins" | "start" | "session" | "heard">} header
 */
export function startGroup(group, header) {
  const other = group.doc !== header.doc;
  if (other)
    Object.assign(group, { doc: header.doc, hover: null, pins: [], cell: null, start: "", zoom: { ...EVERYTHING } });
  const behind = header.pins !== null && group.pinnings.isBehind(header.session, header.heard);
  if (header.pins && (other || (group.start !== header.start && !behind))) {
    group.pins = header.pins.tokens.map(([axis, i]) => ({ axis, i }));
    group.cell = header.pins.cell;
    group.start = header.start;
    tell(group, "pins");
  }
  if (other) tell(group, "document");
}

/**
 * Takes over the edit that Python knows of, unless it has not heard the newest yet.
 * @param {Group} group @param {Pick<HeadHeader, "edit" | "editName" | "session" | "edits">} header
 * @param {[number, number]} shape of the painting
 */
export function adoptEdit(group, { edit, editName, session, edits }, shape) {
  if (edit === null || session === "") return;
  const behind = group.edits.isBehind(session, edits);
  if (behind || group.editing || group.editName === editName) return;
  group.editName = editName;
  group.edit = unpackEdit(edit, shape);
  tell(group, "edit");
}

/** Takes over the heads laid over each other that Python knows of, unless it has not heard the newest yet. */
/** @param {Group} group @param {Pick<HeadHeader, "over" | "session" | "overs">} header */
export function adoptOverlay(group, { over, session, overs }) {
  if (over === null || session === "") return;
  const name = over.join();
  if (group.overs.isBehind(session, overs) || group.overName === name) return;
  group.overName = name;
  group.over = over;
  tell(group, "over");
}

/** @param {HeadEdit} edit @param {[number, number]} shape @returns {Edit} */
export function unpackEdit(edit, [nq, nk]) {
  const bytes = decodeBase64(edit.painted);
  return { ...edit, painted: bytes.length === (nq * nk + 7) >> 3 ? unpackBits(bytes, nq * nk) : null };
}

/** An edit as Python reads it. @param {Edit} edit @returns {HeadEdit} */
export function packEdit(edit) {
  return { ...edit, painted: edit.painted === null ? "" : packBits(edit.painted) };
}

/** @param {Group} group @param {Hover | null} hover */
export function hoverOn(group, hover) {
  if (JSON.stringify(group.hover) === JSON.stringify(hover)) return;
  group.hover = hover;
  tell(group, "hover");
}

/** @param {Group} group @param {Axis} axis @param {number} i */
export function isPinned(group, axis, i) {
  return group.pins.some((pin) => pin.axis === axis && pin.i === i);
}

/** @param {Group} group @param {Axis} axis @param {number} i */
export function togglePin(group, axis, i) {
  if (isPinned(group, axis, i)) group.pins = group.pins.filter((pin) => pin.axis !== axis || pin.i !== i);
  else group.pins = [...group.pins, { axis, i }];
  tell(group, "pins");
}

/** Lets go of everything; answers whether there was anything. @param {Group} group */
export function clearPins(group) {
  const had = group.pins.length > 0 || group.cell !== null;
  group.pins = [];
  group.cell = null;
  group.hover = null;
  tell(group, "pins");
  return had;
}

/** Whether two heads, given as [layer, head], are the same one. */
/** @param {[number, number] | null} a @param {[number, number] | null} b */
export function isSameHead(a, b) {
  return a === b || (a !== null && b !== null && a[0] === b[0] && a[1] === b[1]);
}
